import ast
import builtins
from dataclasses import replace

import pytest

from tests.contracts import (
    ACCOUNTS,
    CREATE,
    NOTES,
    READ,
    SEARCH,
    SHORTENER,
    URL,
    all_checks,
    operation,
    probes_of,
)
from twinsmith.core.planning.completing import HEALTH, LOGIN, REGISTER
from twinsmith.core.planning.contract import Contract, Field, Operation
from twinsmith.core.probe import ABOUT_ACCOUNTS
from twinsmith.core.services.http_checks import (
    account_checks,
    basic_checks,
    log_findings,
    setup_of,
    severity_of,
    usual_checks,
)
from twinsmith.core.services.http_words import PASSWORD_MARK, WORDS


def names(*operations: Operation) -> list[str]:
    return [probe.name for probe in all_checks(Contract(operations=operations))]


@pytest.mark.parametrize("contract", [ACCOUNTS, NOTES], ids=["accounts", "notes"])
def test_every_check_is_python_with_a_name_of_its_own(contract: Contract) -> None:
    probes = probes_of(contract)
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


def test_a_contract_gets_the_checks_it_allows_and_no_others() -> None:
    assert names(HEALTH) == [
        "answers GET /health",
        "answers 404 to a path it does not have",
        "answers 404 or 405 to a method it does not have",
    ]
    assert not any("protected" in name for name in names(REGISTER, LOGIN))
    nameless = replace(LOGIN, takes=(Field(name="password"),))
    assert "registers a new user" not in names(REGISTER, nameless)
    assert "reads what was created" not in names(CREATE)
    assert "reads what was created" in names(CREATE, READ)
    assert "creates nothing without a token" not in names(CREATE, READ)
    owned = (replace(CREATE, login=True), replace(READ, login=True))
    assert "creates nothing without a token" in names(REGISTER, LOGIN, *owned)


def test_what_things_usually_do_is_told_by_the_routes_beside_each_other() -> None:
    usual = {probe.name for probe in usual_checks(NOTES)}
    assert {
        "creates an item",
        "keeps text with quotes as it is",
        "lists what was created",
        "updates what was created",
        "deletes what was created",
    } <= usual
    # One that is not read where it was posted to may be anything.
    assert usual_checks(SHORTENER) == ()
    moved = operation("read_note", "GET", "/notes/{id}", status=302)
    told = {probe.name for probe in usual_checks(Contract(operations=(CREATE, moved)))}
    assert "reads what was created" in told
    assert "keeps text with quotes as it is" not in told


def test_bodies_are_tried_where_a_route_can_be_asked_by_itself() -> None:
    found = [probe.name for probe in basic_checks(NOTES)]
    assert [name for name in found if name.startswith("POST /notes")] == [
        "POST /notes refuses missing and empty values",
        "POST /notes refuses what is not a JSON object",
        "POST /notes is not upset by values of wrong types",
        "POST /notes is not upset by very long text",
    ]
    assert not any(name.startswith("PUT") for name in found)
    optional = operation("shorten", "POST", "/shorten", replace(URL, required=False))
    assert not any("POST" in name for name in names(HEALTH, optional))


def test_accounts_are_tried_apart_from_the_rest() -> None:
    checks = account_checks(ACCOUNTS)
    assert {probe.about for probe in checks} == {ABOUT_ACCOUNTS}
    assert not {probe.name for probe in checks} & {probe.name for probe in basic_checks(ACCOUNTS)}
    assert account_checks(NOTES) == ()


def test_a_field_is_named_as_the_service_names_it() -> None:
    fields = (Field(name="email"), Field(name="passwd"))
    by_mail = (replace(REGISTER, takes=fields), replace(LOGIN, takes=fields))
    checks = {probe.name: probe for probe in account_checks(Contract(operations=by_mail))}
    assert "login('sam', email=text)" in checks["login gives nothing to SQL in email"].source
    needed = checks["POST /login refuses missing and empty values"].source
    assert "for name in ['email', 'passwd']:" in needed


def test_notes_are_told_by_their_name() -> None:
    notes = [probe.name for probe in all_checks(ACCOUNTS) if severity_of(probe) == "note"]
    assert notes == ["note: answers 401 to a missing or bad token"]


LOG = ' * Running on http://127.0.0.1:8000\n127.0.0.1 - - "POST /login HTTP/1.1" 500 -\n'


def test_a_password_in_a_log_is_a_finding() -> None:
    assert log_findings(LOG) == ()
    (finding,) = log_findings(f"{LOG}registering amy with {PASSWORD_MARK}-amy-pw\n")
    assert (finding.where, finding.severity) == ("log", "blocking")
    assert finding.evidence == f"registering amy with {PASSWORD_MARK}-amy-pw"


def test_texts_of_a_query_are_tried_with_sql_and_the_rest_is_not() -> None:
    (found,) = basic_checks(Contract(operations=(SEARCH,)))[2:]
    assert (found.name, found.functions) == ("GET /search reads no SQL in its query", ("search",))
    assert "for name in ['word']:" in found.source
    assert severity_of(found) == "blocking"
    numbers = replace(SEARCH, takes=(Field(name="most", kind="integer"),))
    inside = replace(SEARCH, path="/{id}/search")
    for other in (numbers, inside, CREATE, READ):
        assert not any("in its query" in name for name in names(other))
