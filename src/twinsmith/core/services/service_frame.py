"""The frame that a service's routes are written into: what every small service gets wrong alone.

Words of advice are not enough for a small model: told to open a connection for each request it
shares one all the same. So the parts with only one right way stand there already, as functions that
are hard to misuse, and the coder writes tables and routes.
"""

import ast
import re
from string import Template

from twinsmith.core.services.interface import Interface, Purpose, Route, who_and_password

_IMPORTS = """import os
import re
import secrets
import sqlite3
import time
"""
_PACKAGES = """
from flask import Flask, abort, jsonify, redirect, request
from werkzeug.exceptions import HTTPException
"""
_PACKAGES_FOR_ACCOUNTS = """
import jwt
from flask import Flask, abort, jsonify, redirect, request
from werkzeug.exceptions import HTTPException
from werkzeug.security import check_password_hash, generate_password_hash
"""
_APP = """
app = Flask(__name__)
"""
_SIGNING = """SECRET = os.environ.get("SECRET_KEY") or secrets.token_hex(32)
"""
_DATABASE = """# Every statement is a transaction of its own, so threads may share the connection.
db = sqlite3.connect(
    os.environ.get("DATABASE", "service.db"), check_same_thread=False, isolation_level=None
)
db.row_factory = sqlite3.Row
"""
_HELPERS = '''

@app.errorhandler(HTTPException)
def error_as_json(error):
    """Every error as JSON: `abort(404)` is all a route has to say."""
    return jsonify(error=error.description), error.code


@app.before_request
def check_body():
    """Refuses bad bodies: routes find a dict with every value there, of its kind, not empty."""
    path = re.sub("<[^>]*>", "{}", request.url_rule.rule) if request.url_rule else ""
    data = request.get_json(silent=True)
    for name, kind in BODIES.get((request.method, path), {}).items():
        value = data.get(name) if isinstance(data, dict) else None
        right = type(value) in (int, float) if kind is float else type(value) is kind
        if not right or value == "":
            abort(400, f"{name} is missing, empty or of the wrong kind")
'''
_HEALTH = """

@app.get("$path")
def health():
    return jsonify(status="ok")
"""
_TOKENS = '''

def new_token(username):
    """A signed token (str) for the user of that name."""
    claims = {"sub": username, "exp": int(time.time()) + 3600}
    return jwt.encode(claims, SECRET, algorithm="HS256")


def current_user():
    """The name (str) of the user whose token came with the request; else it answers 401 itself."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    try:
        claims = jwt.decode(token, SECRET, algorithms=["HS256"], options={"require": ["sub"]})
    except jwt.InvalidTokenError:
        abort(401, "log in first")
    if scheme != "Bearer":
        abort(401, "send the header Authorization: Bearer <token>")
    return claims["sub"]
'''
NO_CONTENT = 204
ENDING = """
if __name__ == "__main__":
    app.run(host=os.environ.get("HOST", "127.0.0.1"), port=int(os.environ.get("PORT", "8000")))
"""
_EXAMPLE = """\
db.execute("CREATE TABLE IF NOT EXISTS visits (id INTEGER PRIMARY KEY, city TEXT UNIQUE)")


@app.post("/visits")
def create_visits():
    data = request.get_json()
    try:
        made = db.execute("INSERT INTO visits (city) VALUES (?)", (data["city"],))
    except sqlite3.IntegrityError:
        abort(409, "taken")
    return jsonify(id=made.lastrowid, city=data["city"]), 201


@app.get("/visits/<item_id>")
def read_visits(item_id):
    row = db.execute("SELECT * FROM visits WHERE id = ?", (item_id,)).fetchone()
    if row is None:
        abort(404)
    return jsonify(dict(row))
"""
_RULES = """\
- The database is db, already open: no connect, no cursor, no commit, no close.
- Bodies were checked before: do not check for missing values.
"""
_ACCOUNT_RULES = """\
- Keep generate_password_hash(password) in a column password_hash, never the password itself; check
  it with check_password_hash(row["password_hash"], password).
- The token of a login is new_token(username). current_user() reads and checks the header.
"""
_STEPS: dict[Purpose, tuple[str, ...]] = {
    "register": ("keep the user; abort(409) on sqlite3.IntegrityError, when the name is taken",),
    "login": ("find the user; abort(401) when there is none or the password is wrong",),
    "create": ("make what the body does not hold; keep it all",),
    "read": ("find it; abort(404) when there is none",),
    "list": ("find all",),
    "update": ("find it; abort(404) when there is none", "change it"),
    "delete": ("find it; abort(404) when there is none", "delete it"),
}
_COLUMNS = {"string": "TEXT", "integer": "INTEGER", "number": "REAL", "boolean": "INTEGER"}
_KINDS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}


def beginning_of(interface: Interface) -> str:
    """The first lines of the file: imports, the application, and functions for its routes."""
    accounts = has_accounts(interface)
    imports = _IMPORTS + (_PACKAGES_FOR_ACCOUNTS if accounts else _PACKAGES)
    start = _APP + (_SIGNING if accounts else "") + _DATABASE + _bodies(interface)
    health = interface.first("health")
    alive = Template(_HEALTH).substitute(path=health.path) if health is not None else ""
    return imports + start + _HELPERS + alive + (_TOKENS if accounts else "")


def packages_of(interface: Interface) -> tuple[str, ...]:
    """What has to be installed to run it."""
    return ("Flask", "PyJWT") if has_accounts(interface) else ("Flask",)


def skeleton_of(interface: Interface) -> str:
    """Every route that is still to be written, with what it begins with and has to answer."""
    tables = "".join(map(_table, interface.routes))
    return "\n\n".join([*([tables] if tables else []), *map(_stub, _written(interface))])


def _written(interface: Interface) -> list[Route]:
    return [route for route in interface.routes if route.purpose != "health"]


def _table(route: Route) -> str:
    """Where the things live that a route makes."""
    if route.purpose not in ("register", "create"):
        return ""
    register = route.purpose == "register"
    columns = ["id INTEGER PRIMARY KEY"]
    for field in route.fields:
        kind = _COLUMNS[field.kind]
        if register and "pass" in field.name:
            columns.append("password_hash TEXT")
        elif register and field in who_and_password(route):
            columns.append(f"{field.name} {kind} UNIQUE")
        else:
            columns.append(f"{field.name} {kind}")
    sent = {"id", *(field.name for field in route.fields)}
    columns += [f"{name} TEXT" for name in route.gives if name not in sent]
    table = "users" if register else _last_word(route)
    statement = f"CREATE TABLE IF NOT EXISTS {table} ({', '.join(columns)})"
    return f'db.execute(\n    "{statement}"\n)\n'


def _stub(route: Route) -> str:
    decorator = _decorator(route)
    parameters = ", ".join(re.findall(r"<(\w+)>", decorator))
    lines = [decorator, f"def {_name(route)}({parameters}):"]
    if route.token:
        lines.append("    username = current_user()")
    if route.fields:
        names = ", ".join(f'data["{field.name}"]' for field in route.fields)
        lines.append(f"    data = request.get_json()  # {names}")
    lines += [f"    # {step}" for step in _STEPS.get(route.purpose, ())]
    return "\n".join([*lines, f"    # return: {_answer(route)}", ""])


def _decorator(route: Route) -> str:
    path = re.sub(r"\{(\w+)\}", r"<\1>", route.path.replace("{id}", "{item_id}"))
    return f'@app.{route.method.lower()}("{path}")'


def _name(route: Route) -> str:
    words = re.findall(r"\w+", re.sub(r"\{\w+\}", "one", route.path))
    match route.purpose:
        case "register" | "login":
            return route.purpose
        case "protected":
            return _last_word(route)
        case "other":
            return "_".join([route.method.lower(), *words])
    return f"{route.purpose}_{_last_word(route)}"


def _last_word(route: Route) -> str:
    words = re.findall(r"\w+", re.sub(r"\{\w+\}", "", route.path))
    return words[-1] if words else "item"


def _answer(route: Route) -> str:
    if 300 <= route.ok < 400:
        return f"redirect(the kept address, {route.ok})"
    if route.ok == NO_CONTENT:
        return f'"", {route.ok}'
    if route.purpose == "list":
        return f"jsonify([dict(row) for row in rows]), {route.ok}"
    return f"jsonify({', '.join(f'{name}=…' for name in route.gives)}), {route.ok}"


def _bodies(interface: Interface) -> str:
    """What the body of each route holds, by method and path."""
    rows = ""
    for route in interface.routes:
        if route.fields and route.method != "PATCH":
            path = re.sub(r"\{\w+\}", "{}", route.path)
            kinds = ", ".join(f'"{field.name}": {_KINDS[field.kind]}' for field in route.fields)
            rows += f'    ("{route.method}", "{path}"): {{{kinds}}},\n'
    return f"BODIES = {{\n{rows}}}\n"


def outline_of(beginning: str) -> str:
    """The beginning as the coder needs to know it: what its functions do, not how."""
    tree = ast.parse(beginning)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            node.body = node.body[:1]
    return ast.unparse(tree)


def has_accounts(interface: Interface) -> bool:
    """Whether somebody can log in."""
    return interface.first("login") is not None


def example() -> str:
    """Two routes of another service, in the way they are meant to be written."""
    return _EXAMPLE


def rules_of(interface: Interface) -> str:
    """How the routes use what stands there, one line each."""
    rules = _RULES
    if has_accounts(interface):
        rules += _ACCOUNT_RULES
    return rules.rstrip("\n")


def framed(interface: Interface, rest: str) -> str:
    """The whole file: what the coder wrote again of the frame, or left out of it, is as given."""
    beginning = beginning_of(interface)
    try:
        tree = ast.parse(rest)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return f"{beginning}\n\n{rest}"
    given = ast.parse(beginning).body
    names = {name for node in given for name in _defined(node)}
    imports = {ast.unparse(node) for node in given}
    routes = {_name(route): _decorator(route) for route in _written(interface)}
    lines = rest.splitlines()
    for node in reversed(tree.body):
        first = min([node.lineno, *(each.lineno for each in _decorators(node))])
        place = slice(first - 1, node.end_lineno)
        if _defined(node) & names or ast.unparse(node) in imports or _is_call(node, "app.run"):
            del lines[place]
        elif isinstance(node, ast.If) and "__name__" in ast.unparse(node.test):
            kept = [each for each in node.body if not _is_call(each, "app.run")]
            lines[place] = [ast.unparse(each) for each in kept]
        elif isinstance(node, ast.Assign) and _is_call(node, "sqlite3.connect"):
            lines[place] = [f"{ast.unparse(node.targets[0])} = db"]
        elif isinstance(node, ast.FunctionDef) and not node.decorator_list and node.name in routes:
            lines.insert(first - 1, routes[node.name])
    written = "\n".join(lines).strip("\n")
    if "CREATE TABLE" not in written:
        written = "".join(map(_table, interface.routes)) + f"\n\n{written}"
    return f"{beginning}\n\n{written}\n\n{ENDING}"


def _decorators(node: ast.stmt) -> list[ast.expr]:
    return node.decorator_list if isinstance(node, ast.FunctionDef) else []


def _defined(node: ast.stmt) -> set[str]:
    match node:
        case ast.FunctionDef(name=name):
            return {name}
        case ast.Assign(targets=[ast.Name(id=name)]):
            return {name}
    return set()


def _is_call(node: ast.stmt, name: str) -> bool:
    match node:
        case ast.Expr(value=ast.Call(func=function)) | ast.Assign(value=ast.Call(func=function)):
            return ast.unparse(function) == name
    return False
