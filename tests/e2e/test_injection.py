"""One story: SQL that is put together from text is found, told, mended and accepted."""

import json
from pathlib import Path

import pytest

from tests.conftest import Command
from tests.service_plans import Plan, route
from twinsmith.core.events import Json

ADDED, FOUND = "adds contacts with a name and a phone", "finds contacts by their name"
KEPT: dict[str, Json] = {"id": 1, "name": "Ann", "phone": "0123"}
PLAN = Plan(
    task=f"A REST API in Python that {ADDED} and {FOUND}",
    tables={"contacts": {"id": "integer", "name": "string", "phone": "string"}},
    routes=(
        route(
            ADDED,
            "add_contact",
            "POST /contacts",
            takes={"name": "Ann", "phone": "0123"},
            status=201,
            gives=KEPT,
        ),
        route(FOUND, "find_contacts", "GET /contacts", takes={"name": "Ann"}, gives=[KEPT]),
    ),
    dialogues={
        ADDED: """def test_1():
    first = add_contact(name="Bob", phone="42")
    assert first.status == 201 and first["name"] == "Bob" and first["phone"] == "42"
""",
        FOUND: """def test_1():
    add_contact(name="Bob", phone="42")
    add_contact(name="Eve", phone="43")
    assert [each["phone"] for each in find_contacts(name="Eve")] == ["43"]
""",
    },
)
SERVICE = """```python
import json
import os
import sqlite3
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

database = sqlite3.connect(":memory:", check_same_thread=False)
database.execute("CREATE TABLE contacts (id INTEGER PRIMARY KEY, name TEXT, phone TEXT)")
lock = threading.Lock()


def find(name):
    with lock:
        rows = FOUND
    return [dict(zip(("id", "name", "phone"), row)) for row in rows]


def add(name, phone):
    with lock:
        made = database.execute("INSERT INTO contacts (name, phone) VALUES (?, ?)", (name, phone))
    return {"id": made.lastrowid, "name": name, "phone": phone}


class Service(BaseHTTPRequestHandler):
    def do_GET(self):
        asked = urlsplit(self.path)
        if asked.path == "/health":
            return self.answer(200, {"status": "ok"})
        if asked.path != "/contacts":
            return self.answer(404, {"error": "no such path"})
        return self.answer(200, find(parse_qs(asked.query).get("name", [""])[0]))

    def do_POST(self):
        if self.path != "/contacts":
            return self.answer(404, {"error": "no such path"})
        try:
            sent = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
        except ValueError:
            sent = None
        values = [sent.get(each) for each in ("name", "phone")] if isinstance(sent, dict) else [""]
        if not all(isinstance(each, str) and each for each in values):
            return self.answer(400, {"error": "name and phone are needed"})
        return self.answer(201, add(*values))

    def other(self):
        self.answer(405, {"error": "no such method"})

    do_PUT = do_PATCH = do_DELETE = other

    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Service).serve_forever()
```"""
SPELLED = (
    "database.execute(f\"SELECT id, name, phone FROM contacts WHERE name = '{name}'\").fetchall()"
)
BOUND = (
    'database.execute("SELECT id, name, phone FROM contacts WHERE name = ?", (name,)).fetchall()'
)
WRONG, RIGHT = (SERVICE.replace("FOUND", query) for query in (SPELLED, BOUND))


@pytest.mark.parametrize("later", [RIGHT, WRONG], ids=["mended", "not mended"])
def test_an_injection_is_found_told_and_mended_or_never_accepted(
    command: Command, tmp_path: Path, later: str
) -> None:
    command.env |= {"TWINSMITH_BUILD_FRAME": "off", "TWINSMITH_BUILD_CANDIDATES": "4"}
    script = PLAN.script(WRONG, WRONG, WRONG, WRONG)
    replies = script["replies"]
    assert isinstance(replies, list)
    # Whoever is told what was found has another answer.
    told = {"role": "coder", "when": "An earlier version", "text": later}
    command.use_script({**script, "replies": [told, *replies]})
    out = tmp_path / "out"
    code = 0 if later == RIGHT else 1
    done = json.loads(command("build", PLAN.task, "--out", str(out), "--json", code=code).stdout)
    report = json.loads((out / "report.json").read_text())
    first = report["verdicts"][0]
    shown = [each for each in first["findings"] if each["severity"] == "blocking"]
    # The gate names the line, and the critic the input that shows it.
    assert "SQL is put together from text" in shown[0]["what"]
    assert "WHERE name = '{name}'" in shown[0]["evidence"]
    query = next(
        each for each in shown if each["where"] == "GET /contacts reads no SQL in its query"
    )
    assert "name=z' OR '1'='1, and it is read as SQL" in query["evidence"]
    anew = report["candidates"][2]
    assert (anew["way"], anew["ensemble"]) == ("refined", 1)
    assert "An earlier version was refused: SQL is put together from text" in anew["told"]
    assert "z' OR '1'='1" in anew["told"]
    if later == WRONG:
        assert not done["solved"]
        assert "SQL is put together from text" in done["reason"]
        assert not (out / "solution.py").exists()
        return
    assert (done["solved"], done["winner"]) == (True, 3)
    assert "WHERE name = ?" in (out / "solution.py").read_text()
    page = (out / "report.md").read_text()
    finding, refined, accepted = (
        page.index(words)
        for words in (
            "SQL is put together from text; use ? for every value: rows",
            "its coder was told: An earlier version was refused: SQL",
            "**chosen**",
        )
    )
    assert finding < accepted < refined
    assert ", 0 failed that count" in command("verify", str(out)).stdout
