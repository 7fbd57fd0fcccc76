"""A good service passes every check in the real sandbox; each mistake is caught by its check."""

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from tests import contracts
from tests.contracts import probes_of
from tests.sandboxes import run, sandbox
from tests.services import ACCOUNTS, ME_IN_PIECES, NOTES, NOTES_IN_PIECES, SHORTENER
from twinsmith.core.execution import Execution, Limits
from twinsmith.core.judging.security_findings import security_findings
from twinsmith.core.planning.completing import HEALTH
from twinsmith.core.planning.contract import Contract
from twinsmith.core.planning.dialogue import service_setup
from twinsmith.core.planning.python_kit import assembled
from twinsmith.core.probe import Probe, Probes
from twinsmith.core.services.http_checks import CPU_SECONDS, PROBE_SECONDS, log_findings
from twinsmith.core.services.service_tests import as_test_file
from twinsmith.flow.build.pieces import FLASK_KIT
from twinsmith.kits import kit

LIMITS = Limits(probe_seconds=PROBE_SECONDS, cpu_seconds=CPU_SECONDS)


ACCOUNT_PROBES = probes_of(contracts.ACCOUNTS)
NOTE_PROBES = probes_of(contracts.NOTES)
SHORTENER_PROBES = probes_of(contracts.SHORTENER)


async def failed(source: str, probes: Probes) -> dict[str, str]:
    execution = await executed(source, probes)
    return {r.name: r.detail for r in execution.results if r.outcome != "passed"}


async def executed(source: str, probes: Probes) -> Execution:
    execution = await run(source, kind="service", probes=probes, limits=LIMITS)
    assert len(execution.results) == len(probes.checks), execution.problem
    return execution


def changed(source: str, old: str, new: str) -> str:
    assert source.count(old) == 1, f"{old!r} stands there {source.count(old)} times"
    return source.replace(old, new)


@pytest.mark.parametrize(
    ("source", "probes"),
    [(ACCOUNTS, ACCOUNT_PROBES), (NOTES, NOTE_PROBES), (SHORTENER, SHORTENER_PROBES)],
    ids=["accounts", "notes", "shortener"],
)
async def test_a_good_service_passes_everything(source: str, probes: Probes) -> None:
    sandbox()
    execution = await executed(source, probes)
    assert {r.name: r.detail for r in execution.results if r.outcome != "passed"} == {}
    assert log_findings(execution.log) == ()
    assert security_findings(source) == ()


@pytest.mark.parametrize(
    ("contract", "pieces"),
    [(contracts.ACCOUNTS, ME_IN_PIECES), (contracts.NOTES, NOTES_IN_PIECES)],
    ids=["accounts", "notes"],
)
async def test_pieces_in_the_kit_pass_everything(
    contract: Contract, pieces: Mapping[str, str]
) -> None:
    program = assembled(contract, pieces, kit(FLASK_KIT))
    probes = probes_of(contract)
    execution = await sandbox().run(program, probes, LIMITS)
    assert len(execution.results) == len(probes.checks), execution.problem
    assert {r.name: r.detail for r in execution.results if r.outcome != "passed"} == {}
    assert log_findings(execution.log) == ()
    assert security_findings(program.source) == security_findings(kit(FLASK_KIT)) == ()


@pytest.mark.parametrize(("old", "ends"), [("", "OK"), ("del notes[number]", "FAILED")])
def test_the_tests_handed_over_run_by_themselves(tmp_path: Path, old: str, ends: str) -> None:
    (tmp_path / "service.py").write_text(NOTES.replace(old, "pass") if old else NOTES)
    text = as_test_file(NOTE_PROBES, file="service.py", name="test_service.py", build=(), run=())
    (tmp_path / "test_service.py").write_text(text)
    command = [sys.executable, "-W", "error", "-m", "unittest", "test_service.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert f"Ran {len(NOTE_PROBES.checks)} tests" in done.stderr
    assert done.stderr.splitlines()[-1].startswith(ends)


FRESH = (
    "assert create_note(title='a', text='b')['id'] == 1\nassert len(list_notes()) == 1",
    "create_note(title='c', text='d')\nassert list_notes()[0]['title'] == 'c'",
)


def test_the_tests_handed_over_start_a_service_anew_where_a_check_wants_it(tmp_path: Path) -> None:
    (tmp_path / "service.py").write_text(NOTES)
    # The same name for both, as two critics may give it: none of them is lost.
    checks = [Probe(name="one note", origin="plan", source=each, fresh=True) for each in FRESH]
    setup = f"{NOTE_PROBES.setup}\n{service_setup(contracts.NOTES)}"
    probes = Probes(checks=(*NOTE_PROBES.checks, *checks), setup=setup)
    text = as_test_file(probes, file="service.py", name="test_service.py", build=(), run=())
    (tmp_path / "test_service.py").write_text(text)
    command = [sys.executable, "-W", "error", "-m", "unittest", "test_service.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert f"Ran {len(probes.checks)} tests" in done.stderr
    assert done.stderr.splitlines()[-1] == "OK", done.stderr


async def test_checks_pass_in_any_order() -> None:
    backwards = replace(ACCOUNT_PROBES, checks=ACCOUNT_PROBES.checks[::-1])
    assert await failed(ACCOUNTS, backwards) == {}


PLAIN = "    return hashlib.scrypt(password.encode(), salt=salt, n=2, r=1, p=1).hex()"
SELECT = '"SELECT salt, hash FROM users WHERE name = ?", (name,)'
PER_REQUEST = """    if "database" not in g:
        g.database = sqlite3.connect("users.db", timeout=5)
    return g.database"""
DECODE = 'return jwt.decode(token, SECRET, algorithms=["HS256"])["sub"]'
MISTAKES = {
    "plain passwords": (PLAIN, "    return password", "stores no password in plain"),
    "a fast hash": (
        PLAIN,
        "    return hashlib.sha256(password.encode()).hexdigest()",
        "stores no password in plain",
    ),
    "injectable SQL": (
        SELECT,
        "f\"SELECT salt, hash FROM users WHERE name = '{name}'\"",
        "login gives nothing to SQL in username",
    ),
    "one connection for all threads": (
        PER_REQUEST,
        '    return shared\n\nshared = sqlite3.connect("users.db")',
        "registers a new user",
    ),
    "no signature check": (
        DECODE,
        'return jwt.decode(token, options={"verify_signature": False})["sub"]',
        "protected route refuses a forged token",
    ),
    "no token check": (
        '    if name is None:\n        return jsonify(error="log in first"), 401\n',
        "",
        "protected route refuses who has no token",
    ),
    "the token's bytes are decoded": (
        'jwt.encode(claims, SECRET, algorithm="HS256"))',
        'jwt.encode(claims, SECRET, algorithm="HS256").decode("utf-8"))',
        "logs in with the right password and gives a token",
    ),
    "Bearer is not taken off": (
        'name = user_of(token) if scheme == "Bearer" else None',
        'name = user_of(request.headers.get("Authorization", ""))',
        "protected route takes the token as Authorization: Bearer",
    ),
    "a default secret": (
        "or secrets.token_hex(32)",
        'or "your_secret_key"',
        "protected route refuses a token signed with a well-known secret",
    ),
    "a missing value is a KeyError": (
        'data.get("username"), data.get("password")',
        'data["username"], data["password"]',
        "POST /register refuses missing and empty values",
    ),
    "any JSON is taken for an object": (
        "    data = data if isinstance(data, dict) else {}\n",
        "",
        "POST /login refuses what is not a JSON object",
    ),
    "types are not looked at": (
        "isinstance(name, str) and isinstance(password, str) and 0 < len(name) <= 80",
        "name and password",
        "POST /register is not upset by values of wrong types",
    ),
    "a second registration replaces the first": (
        "INSERT INTO users",
        "INSERT OR REPLACE INTO users",
        "refuses a user name that is taken",
    ),
    "only the beginning of a password counts": (
        "password.encode(), salt=salt",
        "password.encode()[:8], salt=salt",
        "refuses a wrong password with 401 or 403",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
async def test_each_mistake_is_caught_by_its_check(mistake: str) -> None:
    old, new, check = MISTAKES[mistake]
    assert check in await failed(changed(ACCOUNTS, old, new), ACCOUNT_PROBES)


async def test_a_password_in_the_log_is_found() -> None:
    chatty = changed(
        ACCOUNTS,
        "    salt = os.urandom(16)\n",
        "    salt = os.urandom(16)\n    print(password, flush=True)\n",
    )
    (finding,) = log_findings((await executed(chatty, ACCOUNT_PROBES)).log)
    assert finding.severity == "blocking"


NOTE_MISTAKES = {
    "nothing is deleted": ("        del notes[number]\n", "", "deletes what was created"),
    "nothing is updated": (
        '        notes[number] = {"id": number, **note}\n        return 200',
        "        return 200",
        "updates what was created",
    ),
    "the last one is read, whichever is asked for": (
        'if method == "GET" and number in notes:\n        return 200, notes[number]',
        'if method == "GET" and number in notes:\n        return 200, notes[max(notes)]',
        "reads what was created",
    ),
    "the list is empty": ("list(notes.values())", "[]", "lists what was created"),
    "what is not there is an error of the service": (
        "(404 if one else 405)",
        "(500 if one else 405)",
        "answers 404 to what is not there",
    ),
    "quotes are lost": (
        'note = dict(zip(("title", "text"), texts))',
        'note = dict(zip(("title", "text"), [text.replace("\'", "") for text in texts]))',
        "keeps text with quotes as it is",
    ),
}


@pytest.mark.parametrize("mistake", NOTE_MISTAKES)
async def test_each_mistake_in_keeping_things_is_caught(mistake: str) -> None:
    old, new, check = NOTE_MISTAKES[mistake]
    assert check in await failed(changed(NOTES, old, new), NOTE_PROBES)


SEARCHING = """
import json, os, sqlite3
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

database = sqlite3.connect(":memory:", check_same_thread=False)
database.execute("CREATE TABLE notes (title TEXT, mark TEXT)")
database.executemany("INSERT INTO notes VALUES (?, '')", [("Milk",), ("Tea",), ("it's",)])


class Service(BaseHTTPRequestHandler):
    def do_GET(self):
        asked = urlsplit(self.path)
        word = (parse_qs(asked.query).get("word") or [""])[0]
        known = asked.path in ("/health", "/search")
        rows = QUERY.fetchall() if asked.path == "/search" else []
        body = json.dumps([{"title": row[0]} for row in rows]).encode()
        self.send_response(200 if known else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_PATCH(self):
        self.send_error(405)


ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Service).serve_forever()
"""
GOOD_QUERY = """database.execute("SELECT title FROM notes WHERE title LIKE ?", (f"%{word}%",))"""


@pytest.mark.parametrize(
    ("query", "sent"),
    [
        (GOOD_QUERY, ""),
        ("database.execute(f\"SELECT title FROM notes WHERE title = '{word}'\")", "1'='1"),
        ("database.execute(f\"SELECT title FROM notes WHERE title LIKE '%{word}%'\")", "1=1--"),
        ('database.execute(f"SELECT title FROM notes WHERE rowid = {word or 0}")', ""),
    ],
    ids=["bound", "equal", "like", "number"],
)
async def test_sql_in_a_query_is_noticed_and_only_where_it_is_read(query: str, sent: str) -> None:
    contract = Contract(operations=(HEALTH, contracts.SEARCH))
    found = await failed(SEARCHING.replace("QUERY", query), probes_of(contract))
    assert list(found) == ([] if query == GOOD_QUERY else ["GET /search reads no SQL in its query"])
    assert all(sent in detail for detail in found.values())
