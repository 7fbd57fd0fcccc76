"""Services that do everything right: each mistake is one change away."""

# Hashing is cheap here, so that the suite is; no check can tell.
ACCOUNTS = """
import base64, hashlib, hmac, os, secrets, sqlite3, time
import jwt
from flask import Flask, g, jsonify, request

app = Flask(__name__)
SECRET = os.environ.get("SECRET_KEY") or secrets.token_hex(32)


def database():
    if "database" not in g:
        g.database = sqlite3.connect("users.db", timeout=5)
    return g.database


@app.teardown_appcontext
def close(_error):
    connection = g.pop("database", None)
    if connection is not None:
        connection.close()


def hashed(password, salt):
    return hashlib.scrypt(password.encode(), salt=salt, n=2, r=1, p=1).hex()


def account():
    data = request.get_json(silent=True)
    data = data if isinstance(data, dict) else {}
    name, password = data.get("username"), data.get("password")
    usable = isinstance(name, str) and isinstance(password, str) and 0 < len(name) <= 80
    return (name, password) if usable and 0 < len(password) <= 200 else None


def user_of(token):
    try:
        return jwt.decode(token, SECRET, algorithms=["HS256"])["sub"]
    except (jwt.InvalidTokenError, KeyError):
        return None


@app.get("/health")
def health():
    return jsonify(status="ok")


@app.post("/register")
def register():
    given = account()
    if given is None:
        return jsonify(error="username and password are needed"), 400
    name, password = given
    salt = os.urandom(16)
    try:
        with database() as connection:
            connection.execute(
                "INSERT INTO users VALUES (?, ?, ?)", (name, salt.hex(), hashed(password, salt))
            )
    except sqlite3.IntegrityError:
        return jsonify(error="taken"), 409
    return jsonify(username=name), 201


@app.post("/login")
def login():
    given = account()
    if given is None:
        return jsonify(error="username and password are needed"), 400
    name, password = given
    row = database().execute("SELECT salt, hash FROM users WHERE name = ?", (name,)).fetchone()
    if row is None or not hmac.compare_digest(hashed(password, bytes.fromhex(row[0])), row[1]):
        return jsonify(error="wrong name or password"), 401
    claims = {"sub": name, "exp": int(time.time()) + 900}
    return jsonify(token=jwt.encode(claims, SECRET, algorithm="HS256"))


@app.get("/me")
def me():
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    name = user_of(token) if scheme == "Bearer" else None
    if name is None:
        return jsonify(error="log in first"), 401
    return jsonify(username=name)


with sqlite3.connect("users.db") as connection:
    connection.execute("CREATE TABLE users (name TEXT PRIMARY KEY, salt TEXT, hash TEXT)")
app.run(host="127.0.0.1", port=int(os.environ["PORT"]))
"""

NOTES = """
import json, os, re, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

notes, lock = {}, threading.Lock()


def answer(method, path, data):
    one = re.fullmatch(r"/notes/(\\d{1,9})", path)
    number = int(one.group(1)) if one else 0
    if (method, path) == ("GET", "/health"):
        return 200, {"status": "ok"}
    if method in ("POST", "PUT"):
        texts = [data.get(name) for name in ("title", "text")] if isinstance(data, dict) else [None]
        if not all(isinstance(text, str) for text in texts) or not texts[0]:
            return 400, {"error": "title and text are needed"}
        note = dict(zip(("title", "text"), texts))
    if (method, path) == ("GET", "/notes"):
        return 200, list(notes.values())
    if (method, path) == ("POST", "/notes"):
        with lock:
            number = len(notes) + 1
            notes[number] = {"id": number, **note}
        return 201, notes[number]
    if not one and path != "/notes":
        return 404, {"error": "no such path"}
    if method == "GET" and number in notes:
        return 200, notes[number]
    if method == "PUT" and number in notes:
        notes[number] = {"id": number, **note}
        return 200, notes[number]
    if method == "DELETE" and number in notes:
        del notes[number]
        return 204, None
    return (404 if one else 405), {"error": "not there"}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            data = json.loads(raw or b"null")
        except ValueError:
            data = None
        status, value = answer(self.command, self.path, data)
        body = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_PUT = do_DELETE = do_GET


ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
"""

SHORTENER = """
import os, secrets
from flask import Flask, jsonify, redirect, request

app = Flask(__name__)
links = {}


@app.get("/health")
def health():
    return jsonify(status="ok")


@app.post("/shorten")
def shorten():
    data = request.get_json(silent=True)
    url = data.get("url") if isinstance(data, dict) else None
    if not isinstance(url, str) or not url.startswith(("http://", "https://")) or len(url) > 2000:
        return jsonify(error="url is needed"), 400
    code = secrets.token_urlsafe(6)
    links[code] = url
    return jsonify(code=code, short_url=f"http://localhost/{code}"), 201


@app.get("/<code>")
def follow(code):
    return redirect(links[code]) if code in links else (jsonify(error="unknown"), 404)


app.run(host="127.0.0.1", port=int(os.environ["PORT"]))
"""


ME_IN_PIECES = {"me": 'def me(user: str):\n    return 200, {"username": user}\n'}
NOTES_IN_PIECES = {
    "create_note": """def create_note(title: str, text: str):
    return 201, store.add("notes", title=title, text=text)
""",
    "list_notes": """def list_notes():
    return 200, store.all("notes")
""",
    "read_note": """def read_note(id: int):
    note = store.get("notes", id)
    return (200, note) if note else (404, {"error": "no such note"})
""",
    "update_note": """def update_note(id: int, title: str, text: str):
    note = store.change("notes", id, title=title, text=text)
    return (200, note) if note else (404, {"error": "no such note"})
""",
    "delete_note": """def delete_note(id: int):
    return (204, {}) if store.remove("notes", id) else (404, {"error": "no such note"})
""",
}

NOTES_IN_GO = r"""
package main

import (
	"encoding/json"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
)

type note struct {
	ID    int    `json:"id"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

var (
	lock  sync.Mutex
	notes = map[int]note{}
	last  int
)

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if body != nil {
		json.NewEncoder(w).Encode(body)
	}
}

func fail(w http.ResponseWriter, status int, what string) {
	answer(w, status, map[string]string{"error": what})
}

func given(w http.ResponseWriter, r *http.Request) (note, bool) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		fail(w, 413, "too large")
		return note{}, false
	}
	var body map[string]any
	if json.Unmarshal(raw, &body) != nil || body == nil {
		fail(w, 400, "a JSON object is needed")
		return note{}, false
	}
	title, ok := body["title"].(string)
	text, also := body["text"].(string)
	if !ok || !also || title == "" || text == "" {
		fail(w, 400, "title and text are needed")
		return note{}, false
	}
	return note{Title: title, Text: text}, true
}

func all(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodGet:
		lock.Lock()
		defer lock.Unlock()
		listed := []note{}
		for n := 1; n <= last; n++ {
			if each, ok := notes[n]; ok {
				listed = append(listed, each)
			}
		}
		answer(w, 200, listed)
	case http.MethodPost:
		made, ok := given(w, r)
		if !ok {
			return
		}
		lock.Lock()
		defer lock.Unlock()
		last++
		made.ID = last
		notes[last] = made
		answer(w, 201, made)
	default:
		fail(w, 405, "no such method")
	}
}

func one(w http.ResponseWriter, r *http.Request) {
	number, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/notes/"))
	lock.Lock()
	found, ok := notes[number]
	lock.Unlock()
	if err != nil || !ok {
		fail(w, 404, "no such note")
		return
	}
	switch r.Method {
	case http.MethodGet:
		answer(w, 200, found)
	case http.MethodPut:
		made, fine := given(w, r)
		if !fine {
			return
		}
		made.ID = number
		lock.Lock()
		notes[number] = made
		lock.Unlock()
		answer(w, 200, made)
	case http.MethodDelete:
		lock.Lock()
		delete(notes, number)
		lock.Unlock()
		answer(w, 204, nil)
	default:
		fail(w, 405, "no such method")
	}
}

func main() {
	http.HandleFunc("/health", func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			fail(w, 405, "no such method")
			return
		}
		answer(w, 200, map[string]string{"status": "ok"})
	})
	http.HandleFunc("/notes", all)
	http.HandleFunc("/notes/", one)
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		fail(w, 404, "no such path")
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}
"""
