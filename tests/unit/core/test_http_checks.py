import ast
import builtins

import pytest

from twinsmith.core.execution import Execution, ProbeResult
from twinsmith.core.services.http_checks import (
    checks_of,
    evidence_of,
    failures_of,
    log_findings,
    probes_of,
    setup_of,
    severity_of,
    traceback_of,
)
from twinsmith.core.services.http_words import PASSWORD_MARK, WORDS
from twinsmith.core.services.interface import (
    HEALTH,
    LOGIN,
    PROTECTED,
    REGISTER,
    Field,
    Interface,
    Route,
    default_interface,
)
from twinsmith.core.verdict import Finding, Severity

SEVERITIES: tuple[Severity, ...] = ("note", "blocking", "blocking", "blocking")
ACCOUNTS = Interface(routes=(HEALTH, REGISTER, LOGIN, PROTECTED))
NOTES = default_interface("a service that stores notes")
assert NOTES is not None


def names(*routes: Route) -> list[str]:
    return [probe.name for probe in checks_of(Interface(routes=routes))]


@pytest.mark.parametrize("interface", [ACCOUNTS, NOTES], ids=["accounts", "notes"])
def test_every_check_is_python_with_a_name_of_its_own(interface: Interface) -> None:
    probes = probes_of(interface)
    found = [probe.name for probe in probes.checks]
    assert len(set(found)) == len(found) > 15
    known = defined(probes.setup) | set(dir(builtins)) | {"http"}
    for probe in probes.checks:
        assert "$" not in probe.name + probe.source
        assert used(probe.source) <= known | defined(probe.source), probe.name


def defined(source: str) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.FunctionDef(name=name) | ast.arg(arg=name) | ast.ExceptHandler(name=str(name)):
                found.add(name)
            case ast.Name(id=name, ctx=ast.Store()):
                found.add(name)
            case ast.Import(names=aliases):
                found |= {alias.name for alias in aliases}
    return found


def used(source: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}


def test_the_words_use_nothing_that_is_not_there() -> None:
    own = set(dir(builtins)) | {"http"}
    assert used(WORDS) <= defined(WORDS) | own
    assert f'return f"{PASSWORD_MARK}-{{who}}-pw"' in WORDS


def test_the_setup_knows_the_routes() -> None:
    for node in ast.parse(setup_of(ACCOUNTS)).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "ROUTES":
            routes = ast.literal_eval(node.value)
            break
    assert [route["path"] for route in routes] == ["/health", "/register", "/login", "/me"]
    assert routes[1]["fields"] == {"username": "string", "password": "string"}


def test_an_interface_gets_the_checks_it_allows_and_no_others() -> None:
    assert names(HEALTH) == [
        "answers GET /health",
        "answers 404 to a path it does not have",
        "answers 404 or 405 to a method it does not have",
    ]
    assert not any("token" in name for name in names(REGISTER, LOGIN)[:15] if "gives" not in name)
    nameless = Route(
        method="POST", path="/login", purpose="login", fields=(Field(name="password"),)
    )
    assert "registers a new user" not in names(REGISTER, nameless)
    create = Route(method="POST", path="/a", purpose="create", fields=(Field(name="text"),))
    read = Route(method="GET", path="/a/{id}", purpose="read")
    assert "reads what was created" not in names(create)
    assert "reads what was created" in names(create, read)
    assert "creates nothing without a token" not in names(create, read)


def test_a_field_is_named_as_the_service_names_it() -> None:
    fields = (Field(name="email"), Field(name="passwd"))
    by_mail = [
        Route(method="POST", path="/register", purpose="register", fields=fields),
        Route(method="POST", path="/login", purpose="login", fields=fields),
    ]
    checks = {probe.name: probe for probe in checks_of(Interface(routes=tuple(by_mail)))}
    assert "login('sam', email=text)" in checks["login gives nothing to SQL in email"].source
    needed = checks["POST /login refuses missing and empty values"].source
    assert "for name in ['email', 'passwd']:" in needed


def test_notes_are_told_by_their_name() -> None:
    notes = [probe.name for probe in checks_of(ACCOUNTS) if severity_of(probe) == "note"]
    assert notes == ["note: answers 401 to a missing or bad token"]


def test_failures_are_told_in_order_without_pages() -> None:
    probes = probes_of(Interface(routes=(HEALTH,)))
    page = "there(ask('GET /health')): GET /health gave 500 '<!doctype html>\\n<p>Oh</p>'"
    first, second, third = (probe.name for probe in probes.checks)
    results = (
        ProbeResult(name=second, outcome="passed"),
        ProbeResult(name=first, outcome="failed", detail=page),
    )
    failed, missing = failures_of(probes, Execution(candidate=1, results=results, problem="gone"))
    assert (failed.what, failed.severity) == (first, "blocking")
    assert failed.evidence == "there(ask('GET /health')): GET /health gave 500 an HTML page"
    assert (missing.what, missing.evidence) == (third, "gone")


LOG = """ * Running on http://127.0.0.1:8000
[2026-11-15 09:24:58,000] ERROR in app: Exception on /login [POST]
Traceback (most recent call last):
  File "/packages/flask/app.py", line 1511, in wsgi_app
    response = self.full_dispatch_request()
               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "solution.py", line 64, in login
    token = jwt.encode({}, SECRET).decode()
            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
AttributeError: 'str' object has no attribute 'decode'
127.0.0.1 - - "POST /login HTTP/1.1" 500 -
Traceback (most recent call last):
  File "solution.py", line 1, in other
ValueError: second
"""


def test_the_first_traceback_is_cut_to_the_programs_own_lines() -> None:
    assert traceback_of(LOG).splitlines() == [
        '  File "solution.py", line 64, in login',
        "    token = jwt.encode({}, SECRET).decode()",
        "            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^",
        "AttributeError: 'str' object has no attribute 'decode'",
    ]
    assert traceback_of("nothing went wrong\n") == ""


@pytest.mark.parametrize(
    "line",
    [
        "thread '<unnamed>' panicked at solution.rs:12:5:",
        "2026/11/15 10:00:00 http: panic serving 127.0.0.1:4242: 1",
        "terminate called after throwing an instance of 'std::out_of_range'",
        "Can't locate object method at solution.pl line 7.",
    ],
)
def test_other_languages_say_in_their_own_way_where_they_broke(line: str) -> None:
    log = f"listening\n{line}\nfirst\nsecond\nthird\n"
    assert traceback_of(log) == f"{line}\nfirst\nsecond"


def test_evidence_is_short_and_leaves_notes_out() -> None:
    findings = [
        Finding(what=f"check {n}", where="service", evidence=f"e{n}", severity=severity)
        for n, severity in enumerate(SEVERITIES)
    ]
    assert evidence_of(findings, "") == "- check 1: e1\n- check 2: e2"
    shown = evidence_of(findings, LOG)
    assert shown.endswith("AttributeError: 'str' object has no attribute 'decode'")
    assert "\n\nIts log:\n  File" in shown


def test_a_password_in_a_log_is_a_finding() -> None:
    assert log_findings(LOG) == ()
    (finding,) = log_findings(f"{LOG}registering amy with {PASSWORD_MARK}-amy-pw\n")
    assert (finding.where, finding.severity) == ("log", "blocking")
    assert finding.evidence == f"registering amy with {PASSWORD_MARK}-amy-pw"
