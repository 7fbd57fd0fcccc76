"""Services that do what sentences of the benchmark ask for, and mistakes that its truth refuses.

Each is a source with changes; every change makes it wrong.
"""

HEAD = """import os
from flask import Flask, jsonify, request

app = Flask(__name__)
"""
TAIL = """
app.run(host="127.0.0.1", port=int(os.environ["PORT"]), threaded=False)
"""

LEDGER = f"""{HEAD}
accounts = {{}}

@app.post("/accounts")
def opened():
    number = len(accounts) + 1
    accounts[number] = {{"id": number, "owner": request.json["owner"], "balance": 0}}
    return jsonify(accounts[number]), 201

@app.get("/accounts/<int:number>")
def shown(number):
    return (jsonify(accounts[number]), 200) if number in accounts else (jsonify(error="?"), 404)

@app.post("/accounts/<int:number>/<move>")
def moved(number, move):
    if number not in accounts:
        return jsonify(error="unknown"), 404
    amount = (request.get_json(silent=True) or {{}}).get("amount")
    if type(amount) is not int or amount <= 0:
        return jsonify(error="amount"), 400
    change = amount if move == "deposit" else -amount
    if accounts[number]["balance"] + change < 0:
        return jsonify(error="too little"), 409
    accounts[number]["balance"] += change
    return jsonify(accounts[number])
{TAIL}"""

CONTACTS = f"""{HEAD}
contacts = {{}}
last = 0

@app.post("/contacts")
def added():
    global last
    data = request.get_json(silent=True) or {{}}
    if not all(isinstance(data.get(k), str) and data[k] for k in ("name", "phone")):
        return jsonify(error="name and phone"), 400
    last += 1
    contacts[last] = {{"id": last, "name": data["name"], "phone": data["phone"]}}
    return jsonify(contacts[last]), 201

@app.get("/contacts")
def listed():
    try:
        limit, offset = int(request.args.get("limit", 20)), int(request.args.get("offset", 0))
    except ValueError:
        return jsonify(error="number"), 400
    if not 1 <= limit <= 100:
        return jsonify(error="limit"), 400
    word = request.args.get("q", "").lower()
    found = sorted((c for c in contacts.values() if word in c["name"].lower()),
                   key=lambda c: c["name"])
    return jsonify(total=len(found), items=found[offset:offset + limit])

@app.delete("/contacts/<int:number>")
def removed(number):
    return ("", 204) if contacts.pop(number, None) else (jsonify(error="?"), 404)
{TAIL}"""

ORDERS = f"""{HEAD}
orders = {{}}
MOVES = {{"pay": (("new",), "paid"), "ship": (("paid",), "shipped"),
         "cancel": (("new", "paid"), "cancelled")}}

@app.post("/orders")
def made():
    item = (request.get_json(silent=True) or {{}}).get("item")
    if not item:
        return jsonify(error="item"), 400
    number = len(orders) + 1
    orders[number] = {{"id": number, "item": item, "state": "new"}}
    return jsonify(orders[number]), 201

@app.get("/orders")
def listed():
    return jsonify([o for o in orders.values() if o["state"] == request.args.get("state")])

@app.get("/orders/<int:number>")
def shown(number):
    return (jsonify(orders[number]), 200) if number in orders else (jsonify(error="?"), 404)

@app.post("/orders/<int:number>/<move>")
def moved(number, move):
    if number not in orders or move not in MOVES:
        return jsonify(error="unknown"), 404
    before, after = MOVES[move]
    if orders[number]["state"] not in before:
        return jsonify(error="not now"), 409
    orders[number]["state"] = after
    return jsonify(orders[number])
{TAIL}"""

GUESTBOOK = (
    """import os
from html import escape
from flask import Flask, redirect, request

app = Flask(__name__)
entries = []

@app.get("/")
def page():
    items = "".join(f"<li><b>{escape(n)}</b> {escape(m)}</li>" for n, m in reversed(entries))
    form = '<form method="post" action="/sign"><input name="name"><input name="message"></form>'
    return f"<!doctype html><ul>{items}</ul>{form}"

@app.post("/sign")
def sign():
    name, message = request.form.get("name", ""), request.form.get("message", "")
    if not name or not message:
        return "name and message are needed", 400
    entries.append((name, message))
    return redirect("/", 303)
"""
    + TAIL
)

TEXT_COUNTS = """import os
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    def answer(self, text):
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.end_headers()
        self.wfile.write(text.encode())

    def do_GET(self):
        self.answer("ok\\n")

    def do_POST(self):
        text = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        lines = text.count("\\n") + (text != "" and not text.endswith("\\n"))
        self.answer(f"lines {lines}\\nwords {len(text.split())}\\ncharacters {len(text)}\\n")

HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
"""

PYTHON_SERVICES: dict[str, tuple[str, tuple[tuple[str, str], ...]]] = {
    "ledger": (
        LEDGER,
        (
            ("+ change < 0:", "+ change < -1000000:"),
            ("or amount <= 0", "or amount < 0"),
            ("type(amount) is not int", "not isinstance(amount, (int, float))"),
        ),
    ),
    "contacts": (
        CONTACTS,
        (
            ("total=len(found)", "total=len(found[offset:offset + limit])"),
            ('word in c["name"].lower()', 'word in c["name"]'),
            ('key=lambda c: c["name"]', 'key=lambda c: -c["id"]'),
        ),
    ),
    "orders": (
        ORDERS,
        (
            ('(("new", "paid"), "cancelled")', '(("new", "paid", "shipped"), "cancelled")'),
            ('if o["state"] == request.args.get("state")', ""),
        ),
    ),
    "guestbook": (
        GUESTBOOK,
        (("{escape(m)}", "{m}"), ("reversed(entries)", "entries"), ('redirect("/", 303)', '""')),
    ),
    "text-counts": (
        TEXT_COUNTS,
        (
            ("characters {len(text)}", "characters {len(text.encode())}"),
            ('(text != "" and not text.endswith("\\n"))', "0"),
        ),
    ),
}
