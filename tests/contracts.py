"""Contracts of small services that tests know by heart: accounts, notes and short links."""

import json

from twinsmith.core.events import Json
from twinsmith.core.planning.completing import HEALTH, LOGIN, REGISTER
from twinsmith.core.planning.contract import Contract, Field, Method, Operation, Refusal, Table
from twinsmith.core.probe import Probe, Probes
from twinsmith.core.services.http_checks import (
    account_checks,
    basic_checks,
    setup_of,
    usual_checks,
)

GONE = (Refusal(status=404, when="there is no such note"),)
NOTE = (Field(name="title", example='"Milk"'), Field(name="text", example='"two litres"'))
SHOWN: dict[str, Json] = {"id": 1, "title": "Milk", "text": "two litres"}


def operation(
    function: str,
    method: Method,
    path: str,
    *takes: Field,
    status: int = 200,
    gives: Json = None,
    refuses: tuple[Refusal, ...] = (),
    login: bool = False,
) -> Operation:
    """One route in a line."""
    return Operation(
        function=function,
        method=method,
        path=path,
        login=login,
        takes=takes,
        status=status,
        gives="" if gives is None else json.dumps(gives),
        refuses=refuses,
        accepts="query" if method in ("GET", "DELETE") else "json",
    )


ME = operation("me", "GET", "/me", gives={"username": "ann"}, login=True)
ACCOUNTS = Contract(operations=(HEALTH, REGISTER, LOGIN, ME))
CREATE = operation("create_note", "POST", "/notes", *NOTE, status=201, gives=SHOWN)
READ = operation("read_note", "GET", "/notes/{id}", gives=SHOWN, refuses=GONE)
NOTES = Contract(
    operations=(
        HEALTH,
        CREATE,
        operation("list_notes", "GET", "/notes", gives=[SHOWN]),
        READ,
        operation("update_note", "PUT", "/notes/{id}", *NOTE, gives=SHOWN, refuses=GONE),
        operation("delete_note", "DELETE", "/notes/{id}", status=204, refuses=GONE),
    ),
    tables=(Table(name="notes", columns=(Field(name="id", kind="integer"), *NOTE)),),
)
SEARCH = operation("search", "GET", "/search", Field(name="word"), gives=[SHOWN])
URL = Field(name="url", example='"https://example.com/a"')
SHORTENER = Contract(
    operations=(
        HEALTH,
        operation("shorten", "POST", "/shorten", URL, status=201, gives={"code": "aB3"}),
        operation("follow", "GET", "/{code}", status=302),
    ),
    tables=(Table(name="links", columns=(Field(name="code"), URL)),),
)


def all_checks(contract: Contract) -> tuple[Probe, ...]:
    """Everything that is known to ask of a service with this contract."""
    return (*basic_checks(contract), *account_checks(contract), *usual_checks(contract))


def probes_of(contract: Contract) -> Probes:
    """The same, ready to run."""
    return Probes(checks=all_checks(contract), setup=setup_of(contract))
