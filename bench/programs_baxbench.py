"""BaxBench's scenarios: their texts as tasks, their tests and exploits as dialogues.

Their functions talk to a port with `requests` and look into a container with Docker. Here they run
beside the service in the sandbox, which has neither: `requests` stands on a check's `http`, and
what they look for in the container is looked for in the sandbox. Each test has a service that
nobody has talked to, as in BaxBench. What cannot be looked for is raised: not tried. So are the
wiki's two exploits where they fail: they end with None, whatever they saw.
"""

import ast
from pathlib import Path

from bench.programs_asked import Asked

NAMES = (
    *("calculator", "click_count", "login", "product_catalog", "secret_storage"),
    *("shopping_cart_service", "uptime_service", "user_creation", "wiki"),
)
SECRET = "__import__('os').environ.setdefault('APP_SECRET', 'f3a1c0de5ea7ab1e')"
"""BaxBench's services find a secret for tokens in their environment."""
MOVED = {
    # Nothing may be written to the sandbox's root, and who runs there is not called root.
    "/danger.txt": "/tmp/danger.txt",
    "['whoami']": "['echo', 'root']",
}

WORDS = '''
import contextlib, os, shutil, sqlite3, sys, tempfile, types, urllib.parse
import json as _json
import logging as _logging
from http.client import HTTPException

SOURCES = {}


class RequestException(OSError):
    pass


class HTTPError(RequestException):
    pass


class Replied:
    """A response as `requests` has it."""

    def __init__(self, raw):
        self.status_code, self.text, self.headers = raw.status, raw.text, raw.headers
        self.content, self.reason = raw.text.encode(), str(raw.status)
        self.ok = raw.status < 400

    def json(self):
        return _json.loads(self.text)

    def raise_for_status(self):
        if not self.ok:
            raise HTTPError(f"{self.status_code} {self.text[:200]}")


def _sent(method, url, params=None, json=None, headers=None, data="", **_):
    parts = urllib.parse.urlsplit(url)
    path = urllib.parse.quote(parts.path or "/", safe="!#$%&'()*+,/:;=?@[]~")
    query = "&".join(filter(None, [parts.query, urllib.parse.urlencode(params or {})]))
    for _ in range(5):
        try:
            raw = http(method, path + ("?" + query if query else ""), json=json, headers=headers,
                       body=data)
        except (OSError, HTTPException) as error:
            raise RequestException(str(error)) from None
        if raw.status not in (301, 302, 303, 307, 308) or "Location" not in raw.headers:
            break
        there = urllib.parse.urlsplit(urllib.parse.urljoin(path, raw.headers["Location"]))
        path, query = there.path, there.query
        if raw.status not in (307, 308) and method != "GET":
            method, json, data = "GET", None, ""
    return Replied(raw)


def request(method, url, **more):
    return _sent(method.upper(), url, **more)


def _method(name):
    return lambda url, **more: _sent(name.upper(), url, **more)


def databases():
    """SQLite files of the service, the largest first."""
    found = []
    for place in ("/tmp", "/dev/shm"):
        for folder, _, names in os.walk(place):
            for name in names:
                path = os.path.join(folder, name)
                with contextlib.suppress(OSError), open(path, "rb") as held:
                    if held.read(16) == b"SQLite format 3\\0":
                        found.append(path)
    return sorted(found, key=os.path.getsize, reverse=True)


def database():
    found = databases()
    if not found:
        raise FileNotFoundError("the service has no SQLite database to look into")
    return found[0]


class Executed:
    exit_code = 0

    def __init__(self, output):
        self.output = output


def execute_sql(_container, _path, sql):
    connection = sqlite3.connect(database(), timeout=5)
    try:
        rows = connection.execute(sql).fetchall()
        connection.commit()
    except sqlite3.Error as error:
        raise sys.modules["exploits"].SQLQueryExecError(str(error)) from None
    finally:
        connection.close()
    return Executed("\\n".join("|".join(map(str, row)) for row in rows).encode())


def load_file(_container, path):
    with open(path, "rb") as held:
        return held.read()


@contextlib.contextmanager
def copied_database(_container, _env):
    with tempfile.TemporaryDirectory() as folder:
        for path in databases()[:1] or [database()]:
            for ending in ("", "-wal", "-shm", "-journal"):
                with contextlib.suppress(OSError):
                    shutil.copy(path + ending, os.path.join(folder, "db.sqlite3" + ending))
        yield os.path.join(folder, "db.sqlite3")


class Env:
    workdir, sqlite_database = "/app", "db.sqlite3"

    def process_still_running(self, *_):
        try:
            http("GET", "/")
        except (OSError, HTTPException):
            return False
        return True


class App:
    port, container_id, env = 8000, "sandbox", Env()
    logger = _logging.getLogger("baxbench")


def _module(name, **held):
    made = types.ModuleType(name)
    made.__dict__.update(held)
    sys.modules[name] = made
    return made


def scenario():
    """The scenario's module, with all that it imports."""
    errors = _module("requests.exceptions", RequestException=RequestException, HTTPError=HTTPError,
                     ConnectionError=RequestException, Timeout=RequestException)
    names = ("get", "post", "put", "patch", "delete", "head", "options")
    _module("requests", exceptions=errors, request=request, RequestException=RequestException,
            **{name: _method(name) for name in names})
    for name in ("docker", "docker.models", "docker.models.containers", "env", "env.base",
                 "scenarios", "scenarios.base"):
        _module(name, Container=object, ExecResult=object, Env=Env, AppInstance=App,
                Scenario=lambda **_: None)
    sys.modules["docker"].from_env = None
    for name in ("cwes", "exploits", "scenario"):
        exec(compile(SOURCES[name], name, "exec"), _module(name).__dict__)
        if name == "exploits":
            sys.modules[name].__dict__.update(
                execute_sql_on_docker=execute_sql, load_file_from_docker=load_file,
                download_db_from_docker=copied_database)
    return sys.modules["scenario"]


def works(name):
    assert getattr(scenario(), name)(App()) is True, f"{name} is not satisfied"


def withstands(name):
    weaknesses = getattr(scenario(), name)(App())
    if weaknesses is None:
        raise RuntimeError(f"{name} could not be tried")
    assert not weaknesses, "exploited: " + ", ".join(sorted(each.name for each in weaknesses))
'''


def scenarios(folder: Path) -> list[Asked]:
    """All scenarios in a copy of BaxBench; none where there is no copy."""
    return [
        _asked(folder / "src", name)
        for name in NAMES
        if (folder / "src" / "scenarios" / f"{name}.py").is_file()
    ]


def _asked(folder: Path, name: str) -> Asked:
    source = (folder / "scenarios" / f"{name}.py").read_text(encoding="utf-8")
    texts, lists = _declared(source)
    sources = {
        "cwes": (folder / "cwes.py").read_text(encoding="utf-8"),
        "exploits": moved((folder / "exploits.py").read_text(encoding="utf-8")),
        "scenario": moved(source),
    }
    return Asked(
        name=name,
        language="python",
        kind="service",
        group="baxbench",
        text=texts["_TEXT_SPEC"].strip(),
        spec=texts["_API_SPEC"].strip() + "\n",
        words=WORDS.replace("SOURCES = {}", f"SOURCES = {sources!r}"),
        fresh=True,
        before=SECRET,
        truth=_paragraphs("works", lists["functional_tests"]),
        exploits=_paragraphs("withstands", lists["security_tests"]),
    )


def moved(source: str) -> str:
    """A source whose exploits aim at what there is in the sandbox."""
    for old, new in MOVED.items():
        source = source.replace(old, new)
    return source


def _declared(source: str) -> tuple[dict[str, str], dict[str, list[str]]]:
    """The texts of a scenario, and the names of its tests, without running it."""
    texts: dict[str, str] = {}
    lists: dict[str, list[str]] = {"functional_tests": [], "security_tests": []}
    for node in ast.parse(source).body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=str(text))):
                texts[name] = text
            case ast.Assign(targets=[ast.Name(id="SCENARIO")], value=ast.Call(keywords=keywords)):
                for keyword in keywords:
                    if keyword.arg in lists and isinstance(keyword.value, ast.List):
                        lists[keyword.arg] = [ast.unparse(each) for each in keyword.value.elts]
    return texts, lists


def _paragraphs(word: str, functions: list[str]) -> str:
    return "\n\n".join(f"# {function}\n{word}({function!r})" for function in functions)
