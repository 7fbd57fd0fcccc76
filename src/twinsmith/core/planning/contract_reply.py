"""Reading a contract from a slow thinker's reply: it is parsed, mended and held to the task."""

import json
import keyword
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeGuard

from twinsmith.core.errors import BadReply
from twinsmith.core.planning.completing import completed, known_part, with_own_names
from twinsmith.core.planning.contract import (
    KINDS,
    METHODS,
    Accepts,
    Contract,
    Field,
    Kind,
    Method,
    Operation,
    Refusal,
    Table,
)
from twinsmith.core.planning.from_examples import (
    NO_CONTENT,
    found_or_not,
    kind_of,
    records,
    told_by,
    unnamed,
    widened,
)
from twinsmith.core.planning.plan_stubs import plan_in
from twinsmith.core.planning.requirement import quoted
from twinsmith.core.replies.reply_json import object_in, words

MOST_ROUTES = 16
MOST_FIELDS = 12
LONGEST_EXAMPLE = 600
REDIRECTS = (301, 302, 303, 307)
STATUSES = (200, 201, 202, NO_CONTENT, *REDIRECTS)
REFUSALS = (400, 401, 403, 404, 409, 410, 413, 415, 422)
_PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>|(?<=/):(\w+)|\{(\w+)(?::\w+)?\}")
_PATH = re.compile(r"/(?:[\w.~-]+|\{\w+\})?(?:/(?:[\w.~-]+|\{\w+\}))*")
_NAMED = re.compile(
    r"(?<![\w/.<:])(/[a-z][\w-]*(?:/(?:[a-z][\w-]*|[{<:][\w:]+[}>]?))*)(?![\w/]*[.]\w)",
    re.IGNORECASE,
)


def read_contract(text: str, task: str, *, login: str) -> Contract:
    """The contract in a reply; BadReply says what is wrong with it."""
    raw = plan_in(text) or _object_in(text)
    listed = _spelled(raw.get("routes"))
    if not isinstance(listed, list):
        raise BadReply("the plan has no list of routes; ask again")
    found: dict[tuple[str, str], Operation] = {}
    for each in listed[:MOST_ROUTES]:
        operation = _operation(each, task, login=bool(login))
        known = found.get(operation.shape)
        found[operation.shape] = _joined(known, operation) if known else operation
    named = named_paths(task)
    missing = [path for path in named if path not in {s[1] for s in found}]
    if missing:
        raise BadReply(f"the task names {missing[0]}, and no route has that path; keep its paths")
    login = login or _entry_in(found.values())
    tables = tuple(_tables(_spelled(raw.get("tables")), login=bool(login)))
    tables += tuple(unnamed(found.values(), tables))
    tables = tables or tuple(records(tuple(found.values())))
    tables = tuple(widened(each, found.values()) for each in tables)
    told = (told_by(each, tuple(found.values())) for each in found.values())
    operations = with_own_names(tuple(told))
    plan = completed(Contract(operations=operations, tables=tables), login=login, named=named)
    whole = tuple(found_or_not(each, plan.tables) for each in plan.operations)
    return replace(plan, operations=whole)


def _spelled(raw: object) -> object:
    """The JSON of a plan with names that Python can use: `from` becomes `from_`."""
    match raw:
        case dict():
            return {_usable(str(name)): _spelled(value) for name, value in raw.items()}
        case list():
            return [_spelled(each) for each in raw]
    return raw


def _usable(name: str) -> str:
    return f"{name}_" if keyword.iskeyword(name) else name


def _entry_in(operations: Iterable[Operation]) -> str:
    """The words that ask for the login route of a plan; empty where it has none."""
    parts = (known_part(each) for each in operations)
    return next((each.quote or each.function for each in parts if each.part == "login"), "")


def _object_in(text: str) -> Mapping[str, object]:
    """The plan in a reply that is JSON; BadReply asks for stubs where it is none."""
    try:
        return object_in(text, "the plan")
    except BadReply:
        told = 'write stubs that begin with a line such as @post("/things", status=201)'
        raise BadReply(f"the plan has no stubs; {told}") from None


def named_paths(task: str) -> tuple[str, ...]:
    """The paths that a task itself names, with parameters as `{}`."""
    found = (re.sub(r"[{<:][\w:]+[}>]?", "{}", match[1]) for match in _NAMED.finditer(task))
    return tuple(dict.fromkeys(path.rstrip("/") for path in found if len(path) > 1))


def _operation(raw: object, task: str, *, login: bool) -> Operation:
    if not isinstance(raw, dict):
        raise BadReply(f"a route of the plan is {raw!r:.60}, not an object; ask again")
    method = str(raw.get("method", "")).strip().upper()
    path = normal_path(str(raw.get("path", "")))
    path = re.sub(r"(?<=\{)\w+(?=\})", lambda match: _usable(match[0]), path)
    if not _is_method(method):
        raise BadReply(f"method {method!r:.20} of {path} is none of {', '.join(METHODS)}")
    if not _PATH.fullmatch(path):
        raise BadReply(f"path {path!r:.60} cannot be asked; ask again")
    function = _name(words(raw, "function"))
    if not function:
        raise BadReply(f"the function of {method} {path} has no name")
    gives = raw.get("gives")
    status = raw.get("status")
    operation = Operation(
        function=function,
        method=method,
        path=path,
        quote=quoted(words(raw, "quote"), task) or words(raw, "quote"),
        login=login and raw.get("login") is True,
        takes=_fields(raw, leaving=_parameters(path)),
        accepts=_accepts(raw, method),
        status=status if isinstance(status, int) and status in STATUSES else 200,
        gives=_example(gives),
        refuses=tuple(_refusals(raw.get("refuses"))),
    )
    if operation.accepts == "json" and _is_the_body(operation.takes):
        operation = replace(operation, accepts="text")
    if operation.status == NO_CONTENT or gives in (None, "", {}, []):
        return replace(operation, gives="", answers="nothing" if gives in (None, "") else "json")
    if operation.status in REDIRECTS:
        return replace(operation, answers="redirect")
    if isinstance(gives, str):
        return replace(operation, answers="html" if gives.lstrip().startswith("<") else "text")
    return operation


def _parameters(path: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\{(\w+)\}", path))


def _joined(one: Operation, other: Operation) -> Operation:
    """Two routes of the same path and method, joined into one."""
    known = {field.name for field in one.takes}
    refusals = {refusal.status: refusal for refusal in (*other.refuses, *one.refuses)}
    return replace(
        one,
        quote=one.quote or other.quote,
        takes=(*one.takes, *(f for f in other.takes if f.name not in known)),
        gives=one.gives or other.gives,
        refuses=tuple(refusals.values()),
    )


def _accepts(raw: Mapping[str, object], method: str) -> Accepts:
    """The form in which a client sends the values of a route."""
    if method in ("GET", "DELETE"):
        return "query"
    match raw.get("accepts"):
        case "form":
            return "form"
        case "text":
            return "text"
    return "json"


def _is_the_body(takes: Sequence[Field]) -> bool:
    """Whether a route takes a single text that the plan calls the body itself."""
    names = [each.name.lower() for each in takes]
    return names in (["body"], ["request_body"], ["raw_body"]) and takes[0].kind == "string"


def _fields(raw: Mapping[str, object], *, leaving: Sequence[str]) -> tuple[Field, ...]:
    """The fields that a route takes, by their examples, and kinds and defaults if there are any."""
    found: dict[str, Field] = {}
    takes, kinds, defaults = (_mapping(raw.get(each)) for each in ("takes", "kinds", "defaults"))
    for name, value in list(takes.items())[:MOST_FIELDS]:
        plain = re.sub(r"\W", "_", str(name))[:40]
        if plain in leaving or not plain.isidentifier():
            continue
        field = _field(plain, value)
        if (kind := kind_named(str(kinds.get(name)))) and kind != field.kind:
            whole = (field.kind, kind) == ("integer", "number")
            field = Field(name=plain, kind=kind, example=field.example if whole else "")
        if name in defaults:
            default = json.dumps(defaults[name])
            field = replace(field, required=False, default=default)
        found.setdefault(plain, field)
    return tuple(found.values())


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _field(name: str, value: object) -> Field:
    """A field by its example; small models sometimes write the kind in its place."""
    if isinstance(value, str) and (kind := kind_named(value)):
        return Field(name=name, kind=kind)
    return Field(name=name, kind=kind_of(value), example=_example(value))


def kind_named(text: str) -> Kind | None:
    """The kind of value that a word names; None where it names none."""
    word = text.strip().strip("<>").lower()
    spellings: dict[str, Kind] = {"str": "string", "int": "integer", "float": "number"}
    spellings |= {"bool": "boolean", "array": "list", "dict": "object", "text": "string"}
    spellings |= {kind: kind for kind in KINDS}
    return spellings.get(word)


def _example(value: object) -> str:
    if value is None:
        return ""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_EXAMPLE else ""


def _tables(raw: object, *, login: bool) -> Iterable[Table]:
    """The tables of a plan; users are left out, because the kit keeps them."""
    for name, columns in raw.items() if isinstance(raw, dict) else ():
        plain = _name(re.sub(r"\W", "_", str(name).lower()))
        if not plain or not isinstance(columns, dict) or not columns:
            continue
        names = [str(column) for column in columns]
        if login and any("password" in column for column in names):
            continue
        fields = [
            Field(name=str(column), kind=kind_named(str(kind)) or "string")
            for column, kind in list(columns.items())[:MOST_FIELDS]
            if str(column).isidentifier() and not keyword.iskeyword(str(column))
        ]
        if not any(field.name == "id" or field.name.endswith("_id") for field in fields[:1]):
            fields.insert(0, Field(name="id", kind="integer"))
        yield Table(name=plain, columns=tuple({f.name: f for f in fields}.values()))


def _refusals(raw: object) -> Iterable[Refusal]:
    seen: set[int] = set()
    for each in raw if isinstance(raw, list) else []:
        if not isinstance(each, dict):
            continue
        status, when = each.get("status"), words(each, "when")
        if isinstance(status, int) and status in REFUSALS and when and status not in seen:
            seen.add(status)
            yield Refusal(status=status, when=when)


def _name(text: str) -> str:
    text = text.strip().strip("_")[:40]
    good = text.isidentifier() and not keyword.iskeyword(text)
    return text if good else ""


def normal_path(path: str) -> str:
    """A path in one spelling: `notes/<int:id>` and `/notes/:id/` as `/notes/{id}`."""
    path = re.sub(r"^https?://[^/]*", "", path.strip().partition("?")[0])
    path = _PARAMETER.sub(lambda m: "{" + next(filter(None, m.groups())) + "}", path)
    return "/" + path.strip("/")


def _is_method(text: str) -> TypeGuard[Method]:
    return text in METHODS
