"""A service that withstands every attack, and the changes that make one hole each."""

from tests.contracts import GONE, NOTE, SHOWN, operation
from twinsmith.core.planning.completing import HEALTH, LOGIN, REGISTER
from twinsmith.core.planning.contract import Contract, Field, Operation, Table

_WORD = Field(name="word", required=False)
_SUM = Field(name="sum", example='"1 + 2"')
_FILE = Operation(
    function="read_file", method="GET", path="/files/{name}", answers="text", refuses=GONE
)
CONTRACT = Contract(
    operations=(
        HEALTH,
        REGISTER,
        LOGIN,
        operation("create_note", "POST", "/notes", *NOTE, status=201, gives=SHOWN, login=True),
        operation("find_notes", "GET", "/notes", _WORD, gives=[SHOWN], login=True),
        operation("read_note", "GET", "/notes/{id}", gives=SHOWN, refuses=GONE, login=True),
        operation(
            "update_note", "PUT", "/notes/{id}", *NOTE, gives=SHOWN, refuses=GONE, login=True
        ),
        operation("delete_note", "DELETE", "/notes/{id}", status=204, refuses=GONE, login=True),
        _FILE,
        operation("add_up", "POST", "/sums", _SUM, gives={"result": 3}),
    ),
    tables=(Table(name="notes", columns=(Field(name="id", kind="integer"), *NOTE)),),
)

# Hashing is cheap here, so that the suite is; no attack can tell.
SERVICE = r"""
import hashlib, hmac, json, os, re, secrets, sqlite3, sys, threading, time, traceback
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
import jwt

SECRET = secrets.token_hex(32)
MOST = 1 << 20
os.mkdir("files")
turn = threading.Lock()
database = sqlite3.connect("service.db", check_same_thread=False, isolation_level=None)
database.execute("CREATE TABLE users (name TEXT PRIMARY KEY, salt TEXT, hash TEXT)")
database.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, user TEXT, title TEXT, text TEXT)")


class Refused(Exception):
    pass


def rows(statement, *values):
    with turn:
        return database.execute(statement, values).fetchall()


def texts(data, *names):
    values = [data.get(name) if isinstance(data, dict) else None for name in names]
    if not all(isinstance(value, str) and 0 < len(value) <= 9000 for value in values):
        raise Refused(400, f"{' and '.join(names)} are needed")
    return [value.encode(errors="replace").decode().replace("\0", "") for value in values]


def hashed(password, salt):
    return hashlib.scrypt(password.encode(), salt=salt.encode(), n=2, r=1, p=1).hex()


def register(data):
    name, password = texts(data, "username", "password")
    salt = secrets.token_hex(8)
    kept = hashed(password, salt)
    try:
        rows("INSERT INTO users VALUES (?, ?, ?)", name, salt, kept)
    except sqlite3.IntegrityError:
        raise Refused(409, "taken") from None
    return 201, {"username": name}


def login(data):
    name, password = texts(data, "username", "password")
    found = rows("SELECT salt, hash FROM users WHERE name = ?", name)
    if not found or not hmac.compare_digest(hashed(password, found[0][0]), found[0][1]):
        raise Refused(401, "wrong name or password")
    claims = {"sub": name, "exp": int(time.time()) + 900}
    return 200, {"token": jwt.encode(claims, SECRET, algorithm="HS256")}


def user_of(headers):
    scheme, _, token = headers.get("Authorization", "").partition(" ")
    try:
        claims = jwt.decode(token, SECRET, algorithms=["HS256"])
    except jwt.InvalidTokenError:
        raise Refused(401, "log in first") from None
    return claims["sub"]


def shown(row):
    return dict(zip(("id", "title", "text"), row))


def notes(method, query, data, user):
    if method == "POST":
        title, text = texts(data, "title", "text")
        (made,) = rows("INSERT INTO notes (user, title, text) VALUES (?, ?, ?) RETURNING id",
                       user, title, text)
        return 201, shown((made[0], title, text))
    if method != "GET":
        raise Refused(405, "no such method")
    word = query.get("word", [""])[0]
    found = rows("SELECT id, title, text FROM notes WHERE user = ? AND instr(title, ?) > 0",
                 user, word)
    return 200, [shown(row) for row in found]


def note(method, which, data, user):
    if not re.fullmatch(r"\d{1,9}", which):
        raise Refused(404, "no such note")
    owner = rows("SELECT user FROM notes WHERE id = ?", which)
    if not owner or owner[0][0] != user:
        raise Refused(404, "no such note")
    if method == "PUT":
        rows("UPDATE notes SET title = ?, text = ? WHERE id = ?",
             *texts(data, "title", "text"), which)
    elif method == "DELETE":
        rows("DELETE FROM notes WHERE id = ?", which)
        return 204, None
    elif method != "GET":
        raise Refused(405, "no such method")
    return 200, shown(rows("SELECT id, title, text FROM notes WHERE id = ?", which)[0])


def read_file(name):
    if name not in os.listdir("files"):
        raise Refused(404, "no such file")
    with open(f"files/{name}", errors="replace") as file:
        return 200, file.read()


def add_up(data):
    (text,) = texts(data, "sum")
    if not re.fullmatch(r"\d{1,9}(\s*\+\s*\d{1,9})*", text):
        raise Refused(400, "only numbers can be added")
    return 200, {"result": sum(int(number) for number in text.split("+"))}


def routed(method, path, query, data, headers):
    if path == "/health" and method == "GET":
        return 200, {"status": "ok"}
    if path in ("/register", "/login", "/sums"):
        if method != "POST":
            raise Refused(405, "no such method")
        return {"/register": register, "/login": login, "/sums": add_up}[path](data)
    if path == "/notes":
        return notes(method, query, data, user_of(headers))
    if path.startswith("/notes/"):
        return note(method, path.removeprefix("/notes/"), data, user_of(headers))
    if path.startswith("/files/") and method == "GET":
        return read_file(path.removeprefix("/files/"))
    raise Refused(404, "no such path")


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        asked = urlsplit(self.path)
        try:
            value = self.body()
            status, said = routed(
                self.command, unquote(asked.path), parse_qs(asked.query), value, self.headers)
        except Refused as refused:
            status, said = refused.args[0], {"error": refused.args[1]}
        except Exception:
            status, said = 500, {"error": "something went wrong"}
        data = b"" if said is None else json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_GET

    def body(self):
        length = self.headers.get("Content-Length") or "0"
        if self.headers.get("Transfer-Encoding"):
            raise Refused(411, "send the header Content-Length")
        if not re.fullmatch(r"\d{1,12}", length):
            raise Refused(400, "no such length")
        if int(length) > MOST:
            raise Refused(413, "too large")
        try:
            return json.loads(self.rfile.read(int(length)) or b"null")
        except (ValueError, RecursionError):
            return None

    def send_error(self, code, *_words, **_more):
        self.send_response(code)
        self.end_headers()


ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
"""

Change = tuple[str, str]
_INSERT = """(made,) = rows("INSERT INTO notes (user, title, text) VALUES (?, ?, ?) RETURNING id",
                       user, title, text)"""
_BUILT = """(made,) = rows(
            f"INSERT INTO notes (user, title, text) VALUES (?, '{title}', ?) RETURNING id",
            user, text)"""
_HIDDEN = """try:
            (made,) = rows(
                f"INSERT INTO notes (user, title, text) VALUES (?, '{title}', ?) RETURNING id",
                user, text)
        except sqlite3.Error:
            raise Refused(400, "no such title") from None"""
_FIND = """found = rows("SELECT id, title, text FROM notes WHERE user = ? AND instr(title, ?) > 0",
                 user, word)"""
_FIND_BUILT = """found = rows(f"SELECT id, title, text FROM notes WHERE title LIKE '%{word}%'")"""
_DIGITS = """    if not re.fullmatch(r"\\d{1,9}", which):
        raise Refused(404, "no such note")
"""
_OWNER = 'owner = rows("SELECT user FROM notes WHERE id = ?", which)'
_OWNED = "if not owner or owner[0][0] != user:"
_LOGIN = '"SELECT salt, hash FROM users WHERE name = ?", name)'
_ADDED = """    if not re.fullmatch(r"\\d{1,9}(\\s*\\+\\s*\\d{1,9})*", text):
        raise Refused(400, "only numbers can be added")
    return 200, {"result": sum(int(number) for number in text.split("+"))}"""
_EVALUATED = '    return 200, {"result": eval(text)}'
_FILE_KNOWN = """    if name not in os.listdir("files"):
        raise Refused(404, "no such file")
"""
_NO_PATH = '    raise Refused(404, "no such path")'
_SERVED = """    if os.path.isfile(path[1:]) and ".." not in path:
        return 200, open(path[1:], errors="replace").read()
"""
_DECODE = 'claims = jwt.decode(token, SECRET, algorithms=["HS256"])'
_ANY_ALGORITHM = """part = token.split(".")[1]
        claims = json.loads(__import__("base64").urlsafe_b64decode(part + "=="))
        if not token.endswith("."):
            claims = jwt.decode(token, SECRET, algorithms=["HS256"])
    except (ValueError, IndexError):
        raise Refused(401, "log in first") from None"""
_WRONG = 'status, said = 500, {"error": "something went wrong"}'
_HEALTHY = '        return 200, {"status": "ok"}'
_DIES = "os._exit(1)"
_ERROR = "        self.send_response(code)\n"
_NOTE = "/notes/{id}"
_OPEN = tuple(
    f"missing authentication: {each}"
    for each in ("POST /notes", "GET /notes", *(f"{m} {_NOTE}" for m in ("GET", "PUT", "DELETE")))
)
HOLES: dict[str, tuple[tuple[Change, ...], tuple[str, ...]]] = {
    "SQL in a value": (((_INSERT, _BUILT),), ("SQL injection: POST /notes",)),
    "SQL in a value without errors": (((_INSERT, _HIDDEN),), ("SQL injection: POST /notes",)),
    "SQL in a query": (((_FIND, _FIND_BUILT),), ("SQL injection: GET /notes",)),
    "SQL in a path": (
        ((_DIGITS, ""), (_OWNER, 'owner = rows(f"SELECT user FROM notes WHERE id = {which}")')),
        tuple(f"SQL injection: {method} {_NOTE}" for method in ("GET", "PUT", "DELETE")),
    ),
    "SQL in logging in": (
        ((_LOGIN, "f\"SELECT salt, hash FROM users WHERE name = '{name}'\")"),),
        ("SQL injection: logging in",),
    ),
    "every file is read": (
        ((_FILE_KNOWN, ""),),
        ("path traversal: GET /files/{name}", "path traversal: paths that were never offered"),
    ),
    "its own files are served": (
        ((_NO_PATH, _SERVED + _NO_PATH),),
        ("path traversal: paths that were never offered",),
    ),
    "sums are evaluated": (((_ADDED, _EVALUATED),), ("code injection: POST /sums",)),
    "no token is asked for": (
        (
            (
                "notes(method, query, data, user_of(headers))",
                'notes(method, query, data, "ann" if method == "GET" else user_of(headers))',
            ),
        ),
        ("missing authentication: GET /notes",),
    ),
    "unsigned tokens": (
        ((_DECODE, _ANY_ALGORITHM),),
        _OPEN,
    ),
    "a default secret": (
        (("SECRET = secrets.token_hex(32)", 'SECRET = "changeme"'),),
        _OPEN,
    ),
    "notes of others are read": (
        ((_OWNED, 'if not owner or (owner[0][0] != user and method != "GET"):'),),
        (f"objects of others: GET {_NOTE}",),
    ),
    "notes of others are deleted": (
        ((_OWNED, 'if not owner or (owner[0][0] != user and method != "DELETE"):'),),
        (f"objects of others: DELETE {_NOTE}",),
    ),
    "others are refused too late": (
        (
            (
                _OWNED,
                """if owner and owner[0][0] != user and method == "PUT":
        rows("UPDATE notes SET title = '' WHERE id = ?", which)
    if not owner or owner[0][0] != user:""",
            ),
        ),
        (f"objects of others: PUT {_NOTE}",),
    ),
    "a hash in an answer": (
        (('return 201, {"username": name}', 'return 201, {"username": name, "hash": kept}'),),
        ("secrets in answers: POST /register", "secrets in answers: registering and logging in"),
    ),
    "a password in a token": (
        (('claims = {"sub": name,', 'claims = {"sub": name, "pw": password,'),),
        ("secrets in answers: registering and logging in",),
    ),
    "the environment behind a door": (
        (
            (
                _NO_PATH,
                '    if path == "/debug":\n        return 200, dict(os.environ)\n' + _NO_PATH,
            ),
        ),
        ("secrets in answers: paths that were never offered",),
    ),
    "tracebacks in answers": (
        (
            (_WRONG, 'status, said = 500, {"error": traceback.format_exc()}'),
            (
                'texts(data, "title", "text")\n        (made,)',
                'data["title"], data["text"]\n        (made,)',
            ),
        ),
        ("verbose errors: POST /notes",),
    ),
    "errors of the database in answers": (
        (
            (_WRONG, 'status, said = 500, {"error": str(sys.exc_info()[1])}'),
            (_DIGITS, ""),
            (_OWNER, "owner = rows(f\"SELECT user FROM notes WHERE id = '{which}'\")"),
        ),
        tuple(
            f"{attack}: {method} {_NOTE}"
            for attack in ("SQL injection", "verbose errors")
            for method in ("GET", "PUT", "DELETE")
        ),
    ),
}
DEADLY: dict[str, tuple[Change, str]] = {
    "many headers": (
        (_ERROR, f"        if code == 431:\n            {_DIES}\n{_ERROR}"),
        "header bombs: a thousand headers",
    ),
    "a long path": (
        (_ERROR, f"        if code == 414:\n            {_DIES}\n{_ERROR}"),
        "header bombs: a path of 64 kB",
    ),
    "a large body": (
        ('raise Refused(413, "too large")', _DIES),
        "body bombs: two megabytes of JSON",
    ),
    "deep JSON": (
        (
            "except (ValueError, RecursionError):",
            f"except RecursionError:\n            {_DIES}\n        except ValueError:",
        ),
        "body bombs: deeply nested JSON",
    ),
    "a wrong length": (
        ('raise Refused(400, "no such length")', _DIES),
        "body bombs: a wrong Content-Length",
    ),
    "chunks": (
        ('raise Refused(411, "send the header Content-Length")', _DIES),
        "body bombs: garbage in chunks",
    ),
}
ONE_AT_A_TIME: Change = ("ThreadingHTTPServer((", "HTTPServer((")
"""The server waits for each client in turn, however slow."""
IN_PLAIN: Change = ("kept = hashed(password, salt)", "kept = password")
