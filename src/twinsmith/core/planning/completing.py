"""Completing a contract: a health route, accounts where a task has logins, users known by token."""

import ast
import builtins
import json
import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cache

from twinsmith.core.planning.contract import Contract, Field, Operation, Refusal, Table
from twinsmith.core.planning.words import SERVICE_WORDS
from twinsmith.core.services.http_words import WORDS
from twinsmith.core.syntax import parse

WHO = ("user", "username", "user_id", "userid", "user_name", "owner", "owner_id")
_WHOSE = re.compile(r"/users/\{id\}|(?:/users)?/\{(?:" + "|".join(WHO) + r")\}")
_ENTERING = ("login", "signin", "log_in")
_JOINING = ("register", "signup", "sign_up")
UNKNOWN, NOT_FOUND = 401, 404
HEALTH = Operation(
    function="health", method="GET", path="/health", gives='{"status": "ok"}', part="health"
)
CREDENTIALS = (
    Field(name="username", example='"ann"'),
    Field(name="password", example='"correct-horse-7"'),
)
REGISTER = Operation(
    function="register",
    method="POST",
    path="/register",
    takes=CREDENTIALS,
    status=201,
    gives='{"username": "ann"}',
    refuses=(Refusal(status=409, when="the name is taken"),),
    part="register",
)
LOGIN = Operation(
    function="login",
    method="POST",
    path="/login",
    takes=CREDENTIALS,
    gives='{"token": "…"}',
    refuses=(Refusal(status=401, when="the name or the password is wrong"),),
    part="login",
)


KIT_NAMES = (
    "Store",
    "answer",
    "app",
    "body",
    "current_user",
    "form",
    "jsonify",
    "login",
    "part",
    "query",
    "register",
    "serve",
    "text",
)
"""Names that the frame of a service defines, so that its pieces cannot use them."""


@cache
def reserved() -> frozenset[str]:
    """Names that checks, the kit and Python itself use already."""
    defined = {
        node.name
        for words in (WORDS, SERVICE_WORDS)
        for node in parse(words).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    there = {"store", "user", "http", "stand_in", "openapi", "os", "json"}
    return frozenset({*there, *KIT_NAMES, *defined, *dir(builtins)})


def completed(contract: Contract, *, login: str, named: Collection[str] = ()) -> Contract:
    """A contract with the routes that every service has, and accounts where the task has logins.

    Routes of paths that somebody named, parameters as `{}`, stay as they are.
    """
    operations = [known_part(each) for each in contract.operations]
    if login:
        operations = [_entrance(each) for each in operations]
    parts = {each.part for each in operations}
    if login and not any(each.login for each in operations):
        # Who logs in does it for something; what somebody spelled out stays as it is.
        operations = [
            replace(each, login=not each.part and each.shape[1] not in named) for each in operations
        ]
    needed = bool(login) or "login" in parts or any(each.login for each in operations)
    if needed and "login" not in parts:
        register = next((each for each in operations if each.part == "register"), REGISTER)
        entering = tuple(f for f in register.takes if f in who_and_password(register.takes))
        operations.insert(0, replace(LOGIN, takes=entering or CREDENTIALS, quote=login))
    if needed and "register" not in parts:
        entering = next(each.takes for each in operations if each.part == "login")
        operations.insert(0, replace(REGISTER, takes=entering, quote=login))
    if not any(each.path == HEALTH.path for each in operations):
        operations.insert(0, HEALTH)
    operations = [
        (each if each.shape[1] in named else _asked_by_token(each)) if needed else _open(each)
        for each in operations
    ]
    tables = [_owned(table) for table in contract.tables] if needed else contract.tables
    return replace(contract, operations=tuple(operations), tables=tuple(tables))


def _entrance(operation: Operation) -> Operation:
    """A route to register or log in that lacks a password, replaced by the kit's own."""
    last = operation.path.rpartition("/")[2].lower()
    usual = LOGIN if last in _ENTERING else REGISTER if last in _JOINING else None
    if usual is None or operation.part or operation.method != "POST" or operation.parameters:
        return operation
    return replace(usual, path=operation.path, quote=operation.quote)


def _open(operation: Operation) -> Operation:
    """A route that needs no token, for services where nobody can log in."""
    return replace(operation, login=False)


def _asked_by_token(operation: Operation) -> Operation:
    """A route without the user in its path and body: the token says who asks."""
    if not operation.login or operation.part:
        return operation
    path = _WHOSE.sub("", operation.path) or "/"
    # The kit has seen to who asks before a piece is called.
    refuses = tuple(each for each in operation.refuses if not _about_who_asks(each))
    takes = tuple(field for field in operation.takes if field.name.lower() not in WHO)
    example = operation.example()
    gives = operation.gives
    if gives and isinstance(example, dict):
        told = {("user" if n.lower() in WHO else n): v for n, v in example.items()}
        gives = json.dumps(told | {"user": "ann"} if "user" in told else told)
    return replace(operation, path=path, takes=takes, gives=gives, refuses=refuses)


def _about_who_asks(refusal: Refusal) -> bool:
    told = refusal.when.lower()
    unknown = refusal.status == NOT_FOUND and re.search(r"\buser\b", told)
    return refusal.status == UNKNOWN or "token" in told or bool(unknown)


def _owned(table: Table) -> Table:
    """A table whose rows name their owner in the column `user`, as tokens do."""
    columns = [
        replace(column, name="user", kind="string") if column.name.lower() in WHO else column
        for column in table.columns
    ]
    if columns[0].name == "user":
        columns.insert(0, Field(name="id", kind="integer"))
    return replace(table, columns=tuple({column.name: column for column in columns}.values()))


def joined(plan: Contract, more: Contract, *, login: str, named: Collection[str] = ()) -> Contract:
    """A plan with the routes and tables of another that it lacks."""
    taken = {each.shape for each in plan.operations}
    # What bears the same name and method is the same, wherever it lies.
    done = {(each.method, each.function) for each in plan.operations}
    added = [
        each
        for each in more.operations
        if not each.part and each.shape not in taken and (each.method, each.function) not in done
    ]
    tables = {table.name: table for table in (*more.tables, *plan.tables)}
    for table in more.tables:
        known = {column.name for column in tables[table.name].columns}
        extra = tuple(column for column in table.columns if column.name not in known)
        whole = (*tables[table.name].columns, *extra)
        tables[table.name] = replace(tables[table.name], columns=whole)
    operations = with_own_names((*plan.operations, *added))
    whole_plan = replace(plan, operations=operations, tables=tuple(tables.values()))
    return completed(whole_plan, login=login, named=named)


def known_part(operation: Operation) -> Operation:
    """A route marked as health, login or register where it is one that the kit brings."""
    pair = who_and_password(operation.takes)
    last = operation.path.rpartition("/")[2].lower()
    if operation.shape == HEALTH.shape and operation.example() in ({}, HEALTH.example()):
        return replace(HEALTH, quote=operation.quote)
    example = operation.example()
    names = [str(name).lower() for name in example] if isinstance(example, dict) else []
    if operation.parameters or operation.method != "POST":
        return operation
    if not operation.takes and any("token" in name for name in names):
        # Nobody gets a token for nothing.
        operation, pair = replace(operation, takes=CREDENTIALS), CREDENTIALS
    if not pair:
        return operation
    if any("token" in name for name in names) or last in _ENTERING:
        return replace(_silent(operation), part="login", login=False)
    if last in (*_JOINING, "users", "accounts"):
        return replace(_silent(operation), part="register", login=False)
    return operation


def _silent(operation: Operation) -> Operation:
    """A route whose answer shows no password."""
    example = operation.example()
    told = example if isinstance(example, dict) else {}
    kept = {name: value for name, value in told.items() if "pass" not in name.lower()}
    return replace(operation, gives=json.dumps(kept, ensure_ascii=False) if kept else "")


def who_and_password(fields: Sequence[Field]) -> tuple[Field, ...]:
    """The fields that are user name and password; empty where one of the two is missing."""
    texts = [field for field in fields if field.kind == "string"]
    names = [field for field in texts if "pass" not in field.name.lower()]
    secrets = [field for field in texts if "pass" in field.name.lower()]
    return (names[0], secrets[0]) if names and secrets else ()


def with_own_names(operations: tuple[Operation, ...]) -> tuple[Operation, ...]:
    """The operations, renamed so that each function has a name of its own."""
    taken = set(reserved())
    renamed = []
    for each in operations:
        name = each.function
        if name in taken and not each.part:
            words = [word for word in re.findall(r"\w+", each.path) if word not in name]
            name = "_".join([name, *words[:1]]) if words else f"{name}_it"
            name = name if name.isidentifier() else f"{each.method.lower()}_{each.function}"
        while name in taken and not each.part:
            name += "_too"
        taken.add(name)
        renamed.append(replace(each, function=name))
    return tuple(renamed)
