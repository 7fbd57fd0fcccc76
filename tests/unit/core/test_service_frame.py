import ast
import re

import pytest

from twinsmith.core.judging.security_findings import security_findings
from twinsmith.core.services.interface import Interface, Route, default_interface
from twinsmith.core.services.service_frame import (
    ENDING,
    beginning_of,
    framed,
    outline_of,
    rules_of,
    skeleton_of,
)

ROUTE = """@app.get("/now")
def now():
    return jsonify(time=time.time())
"""


def interface(task: str) -> Interface:
    found = default_interface(task)
    assert found is not None
    return found


ACCOUNTS = interface("an authentication API")
NOTES = interface("a service that stores notes")
BEGINNING = beginning_of(NOTES)


@pytest.mark.parametrize("of", [ACCOUNTS, NOTES], ids=["accounts", "notes"])
def test_the_beginning_is_python_without_findings(of: Interface) -> None:
    names = [node.name for node in ast.parse(beginning_of(of)).body if hasattr(node, "name")]
    assert names[:2] == ["error_as_json", "check_body"]
    assert security_findings(beginning_of(of)) == ()


def test_it_knows_every_body_by_method_and_path() -> None:
    for node in ast.parse(BEGINNING).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "BODIES":
            bodies = ast.unparse(node.value)
    kinds = "{'title': str, 'text': str}"
    assert bodies == f"{{('POST', '/notes'): {kinds}, ('PUT', '/notes/{{}}'): {kinds}}}"


def test_only_who_has_accounts_gets_tokens_and_their_rules() -> None:
    assert "def current_user" in beginning_of(ACCOUNTS)
    assert "check_password_hash" in rules_of(ACCOUNTS)
    assert "jwt" not in BEGINNING
    assert "token" not in rules_of(NOTES)


def test_the_outline_tells_what_functions_do_and_not_how() -> None:
    outline = outline_of(BEGINNING)
    assert "def check_body():\n" in outline
    assert "url_rule" not in outline
    assert "def health():\n    return jsonify" in outline


def test_the_skeleton_has_every_route_with_its_first_lines_and_its_answer() -> None:
    columns = "id INTEGER PRIMARY KEY, username TEXT UNIQUE, password_hash TEXT"
    assert skeleton_of(ACCOUNTS).split("\n\n\n") == [
        f'db.execute(\n    "CREATE TABLE IF NOT EXISTS users ({columns})"\n)',
        """@app.post("/register")
def register():
    data = request.get_json()  # data["username"], data["password"]
    # keep the user; abort(409) on sqlite3.IntegrityError, when the name is taken
    # return: jsonify(username=…), 201""",
        """@app.post("/login")
def login():
    data = request.get_json()  # data["username"], data["password"]
    # find the user; abort(401) when there is none or the password is wrong
    # return: jsonify(token=…), 200""",
        """@app.get("/me")
def me():
    username = current_user()
    # return: jsonify(username=…), 200
""",
    ]
    notes = skeleton_of(NOTES)
    assert '@app.put("/notes/<item_id>")\ndef update_notes(item_id):\n' in notes
    assert '    # delete it\n    # return: "", 204\n' in notes
    assert "    # return: jsonify([dict(row) for row in rows]), 200\n" in notes
    assert "notes (id INTEGER PRIMARY KEY, title TEXT, text TEXT)" in notes
    links = skeleton_of(interface("a URL shortener"))
    assert "shorten (id INTEGER PRIMARY KEY, url TEXT, code TEXT)" in links
    assert '@app.get("/<code>")\ndef read_item(code):\n' in links
    assert "    # return: redirect(the kept address, 302)\n" in links


def test_functions_have_names_of_their_own() -> None:
    paths = ("/users", "/users/{name}", "/users/{name}/mail", "/mail")
    routes = tuple(Route(method="GET", path=path, purpose="other") for path in paths)
    skeleton = skeleton_of(Interface(routes=routes))
    names = re.findall(r"def (\w+)", skeleton)
    assert names == ["get_users", "get_users_one", "get_users_one_mail", "get_mail"]


class TestFraming:
    def test_the_rest_comes_between_the_beginning_and_the_end(self) -> None:
        table = "db.execute('CREATE TABLE notes (a)')\n\n\n"
        assert framed(NOTES, table + ROUTE) == f"{BEGINNING}\n\n{table}{ROUTE}\n{ENDING}"

    def test_tables_and_decorators_that_were_left_out_are_put_in(self) -> None:
        read = "def read_notes(item_id):\n    return abort(404)\n\n\ndef other():\n    pass\n"
        table = skeleton_of(NOTES).partition("\n\n\n")[0]
        written = f'{table}\n\n\n@app.get("/notes/<item_id>")\n{read}'
        assert framed(NOTES, read) == f"{BEGINNING}\n\n{written}\n{ENDING}"

    def test_what_was_written_again_is_left_out(self) -> None:
        again = (
            "import os\nfrom flask import Flask\nimport json\n\napp = Flask('mine')\n\n"
            '@app.errorhandler(404)\ndef error_as_json(e):\n    return "no"\n\n'
            "db = sqlite3.connect('other.db')\n\n"
        )
        whole = framed(NOTES, again + ROUTE)
        assert whole.count("def error_as_json(") == whole.count("app = Flask(") == 1
        assert "other.db" not in whole
        assert "errorhandler(404)" not in whole
        assert "import json" in whole
        assert whole.endswith(f"{ROUTE}\n{ENDING}")

    def test_a_connection_of_its_own_becomes_the_one_that_is_there(self) -> None:
        own = "conn = sqlite3.connect('users.db')\nconn.execute('CREATE TABLE a (b)')\n"
        whole = framed(NOTES, own + ROUTE)
        assert "conn = db\nconn.execute('CREATE TABLE a (b)')\n" in whole
        assert whole.count("sqlite3.connect(") == 1

    def test_it_is_started_once_and_never_in_debug_mode(self) -> None:
        tables = "def tables():\n    pass\n\n"
        start = f"{tables}if __name__ == '__main__':\n    tables()\n    app.run(debug=True)\n"
        whole = framed(NOTES, ROUTE + start)
        assert whole.endswith(f"    pass\n\ntables()\n\n{ENDING}")
        assert security_findings(whole) == ()
        assert framed(NOTES, f"{ROUTE}app.run()\n").count("app.run(") == 1

    def test_what_is_not_python_stays_for_whoever_mends_it(self) -> None:
        assert framed(NOTES, "def f(:\n") == f"{BEGINNING}\n\ndef f(:\n"
