"""Services for the benchmark's sentences that leave routes open, each in words of its own.

Each is a source with changes; every change makes it wrong. One has an OpenAPI document, as the
product delivers it; the routes of the others are read off their source.
"""

import json

from tests.programs_services import HEAD, TAIL

ROOMS = f"""{HEAD}
bookings = {{}}
last = 0

@app.post("/reservations")
def book():
    global last
    data = request.json
    if data["end_time"] <= data["start_time"]:
        return jsonify(error="end"), 400
    for b in bookings.values():
        if b["room_name"] == data["room_name"] and (
            b["start_time"] < data["end_time"] and data["start_time"] < b["end_time"]
        ):
            return jsonify(error="taken"), 409
    last += 1
    bookings[last] = {{**data, "reservation_id": last}}
    return jsonify(reservation=bookings[last]), 201

@app.get("/reservations")
def listed():
    return jsonify(list(bookings.values()))

@app.delete("/reservations/<int:number>")
def cancel(number):
    return ("", 204) if bookings.pop(number, None) else (jsonify(error="?"), 404)
{TAIL}"""

WAREHOUSE = f"""{HEAD}
articles = {{}}

@app.route("/api/articles", methods=["POST"])
def add():
    data = request.get_json()
    if data["quantity"] < 0:
        return jsonify(error="quantity"), 400
    number = len(articles) + 1
    articles[number] = {{"id": number, "name": data["name"], "quantity": data["quantity"]}}
    return jsonify(articles[number]), 201

@app.route("/api/articles/low-stock", methods=["GET"])
def low():
    return jsonify(articles=[a for a in articles.values() if a["quantity"] < 5])

@app.route("/api/articles/<int:article_id>", methods=["GET"])
def see(article_id):
    found = articles.get(article_id)
    return (jsonify(found), 200) if found else (jsonify(error="?"), 404)

def moved(article_id, change, amount):
    found = articles.get(article_id)
    if amount <= 0 or found is None or found["quantity"] + change < 0:
        return jsonify(error="no"), 400
    found["quantity"] += change
    return jsonify(found)

@app.route("/api/articles/<int:article_id>/take-out", methods=["POST"])
def take(article_id):
    data = request.get_json()
    return moved(article_id, -data["amount"], data["amount"])

@app.route("/api/articles/<int:article_id>/put-in", methods=["POST"])
def put(article_id):
    data = request.get_json()
    return moved(article_id, data["amount"], data["amount"])
{TAIL}"""

DIARY = f"""{HEAD}
import secrets

people, tokens, entries = {{}}, {{}}, {{}}

def who():
    return tokens.get(request.headers.get("Authorization", "").removeprefix("Bearer "))

@app.post("/signup")
def signup():
    data = request.json
    if data["username"] in people:
        return jsonify(error="taken"), 409
    people[data["username"]] = data["password"]
    return jsonify(username=data["username"]), 201

@app.post("/login")
def login():
    data = request.json
    if people.get(data["username"]) != data["password"]:
        return jsonify(error="no"), 401
    token = secrets.token_hex(8)
    tokens[token] = data["username"]
    return jsonify(token=token)

@app.post("/entries")
def write():
    data = request.json
    if not who():
        return jsonify(error="no"), 401
    number = len(entries) + 1
    entries[number] = {{"id": number, "title": data["title"], "text": data["text"], "by": who()}}
    return jsonify(id=number), 201

@app.get("/entries")
def listed():
    if not who():
        return jsonify(error="no"), 401
    return jsonify([e for e in entries.values() if e and e["by"] == who()])

@app.route("/entries/<int:entry_id>", methods=["GET", "DELETE"])
def one(entry_id):
    if not who():
        return jsonify(error="no"), 401
    found = entries.get(entry_id)
    if not found or found["by"] != who():
        return jsonify(error="?"), 404
    if request.method == "DELETE":
        entries[entry_id] = None
        return "", 204
    return jsonify(found)
{TAIL}"""

JOBS = """import heapq
import os
from fastapi import FastAPI, HTTPException
from pydantic import BaseModel
import uvicorn

app = FastAPI()
waiting = []
taken = {}
count = 0

class Job(BaseModel):
    payload: str
    priority: int

class Report(BaseModel):
    job_id: int

@app.post("/jobs")
def push(job: Job):
    global count
    count += 1
    heapq.heappush(waiting, (-job.priority, count, job.payload))
    return {"job_id": count}

@app.post("/jobs/next")
def following():
    if not waiting:
        raise HTTPException(404, "nothing waits")
    priority, number, payload = heapq.heappop(waiting)
    taken[number] = payload
    return {"job_id": number, "payload": payload}

@app.post("/jobs/done")
def done(report: Report):
    if taken.pop(report.job_id, None) is None:
        raise HTTPException(404, "unknown")
    return {"done": True}

uvicorn.run(app, host="127.0.0.1", port=int(os.environ["PORT"]))
"""

SEATS = f"""{HEAD}
events = {{}}

@app.post("/shows")
def create():
    number = f"e{{len(events) + 1}}"
    events[number] = (request.json["name"], request.json["seats"], set())
    return jsonify(id=number, note="x"), 201

@app.get("/shows/<which>")
def see(which):
    if which not in events:
        return jsonify(error="?"), 404
    title, capacity, people = events[which]
    return jsonify(title=title, left=capacity - len(people))

@app.put("/people/<which>")
def join(which):
    email = request.json["email_contact"]
    if which not in events:
        return jsonify(error="?"), 404
    title, capacity, people = events[which]
    if email in people or len(people) >= capacity:
        return jsonify(error="no"), 409
    people.add(email)
    return "", 204

@app.delete("/people/<which>")
def leave(which):
    events[which][2].discard(request.args["email_contact"])
    return "", 204
{TAIL}"""


def _operation(name: str, summary: str, /, **body: str) -> dict[str, object]:
    schema = {
        "type": "object",
        "required": [*body],
        "properties": {field: {"type": kind} for field, kind in body.items()},
    }
    told: dict[str, object] = {"operationId": name, "summary": summary}
    if body:
        told["requestBody"] = {"content": {"application/json": {"schema": schema}}}
    return told


SEATS_OPENAPI = json.dumps(
    {
        "openapi": "3.1.0",
        "paths": {
            "/shows": {"post": {"$ref": "#/components/x/create"}},
            "/shows/{which}": {"get": _operation("seeEvent", "How many seats an event has left")},
            "/people/{which}": {
                "parameters": [{"name": "which", "in": "path", "required": True}],
                "put": _operation("registerForEvent", "", email_contact="string"),
                "delete": {
                    "operationId": "unregister",
                    "parameters": [{"name": "email_contact", "in": "query", "required": True}],
                },
            },
        },
        "components": {
            "x": {
                "create": _operation("createEvent", "A new event", name="string", seats="integer")
            }
        },
    }
)
OPEN_SERVICES: dict[str, tuple[str, tuple[tuple[str, str], ...]]] = {
    "rooms": (
        ROOMS,
        (
            ('b["start_time"] < data["end_time"]', 'b["start_time"] <= data["end_time"]'),
            ('== data["room_name"] and', '!= data["room_name"] and'),
            ('if data["end_time"] <= data', 'if data["end_time"] < data'),
        ),
    ),
    "warehouse": (
        WAREHOUSE,
        (('found["quantity"] + change < 0', "False"), ('a["quantity"] < 5', 'a["quantity"] <= 5')),
    ),
    "diary": (
        DIARY,
        (
            ('or found["by"] != who()', ""),
            ('if e and e["by"] == who()', "if e"),
            ('!= data["password"]:', '== data["password"] + "x":'),
        ),
    ),
    "jobs": (
        JOBS,
        (
            ("-job.priority, count", "-job.priority, -count"),
            ("-job.priority, c", "job.priority, c"),
        ),
    ),
    "seats": (SEATS, (("email in people or ", ""), ("len(people) >= capacity", "False"))),
}
