"""Reading an OpenAPI document as a contract: what it leaves open is filled in."""

import json
import keyword
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from twinsmith.core.errors import ConfigError
from twinsmith.core.events import Json
from twinsmith.core.planning.completing import completed, with_own_names
from twinsmith.core.planning.contract import (
    METHODS,
    Accepts,
    Answers,
    Contract,
    Field,
    Kind,
    Operation,
    Refusal,
    Table,
)
from twinsmith.core.planning.contract_reply import normal_path
from twinsmith.core.planning.from_examples import kind_of

MOST_OPERATIONS = 24
DEEPEST = 6
_KINDS: dict[str, Kind] = {
    "string": "string",
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
    "array": "list",
    "object": "object",
}
_SAMPLES: dict[Kind, Json] = {"string": "text", "integer": 1, "number": 1.5, "boolean": True}


def contract_from(document: Mapping[str, Json]) -> Contract:
    """The contract that an OpenAPI document describes; ConfigError says why there is none."""
    version = document.get("openapi") or document.get("swagger")
    if not isinstance(version, str) or not version.startswith("3."):
        told = f"it says {version!r}" if version else "it has no 'openapi' version"
        raise ConfigError(f"the spec is no OpenAPI 3 document: {told}; give one with --spec")
    paths = document.get("paths")
    if not isinstance(paths, dict) or not paths:
        raise ConfigError("the spec has no paths; describe at least one operation")
    operations = list(_operations(paths, document))
    if not operations:
        raise ConfigError("the spec has no operation; describe at least one")
    if len(operations) > MOST_OPERATIONS:
        raise ConfigError(
            f"the spec has {len(operations)} operations; at most {MOST_OPERATIONS} are built at "
            "once: split it"
        )
    tables = tuple(_tables(operations))
    contract = Contract(operations=with_own_names(tuple(operations)), tables=tables)
    _refuse_other_security(document)
    named = frozenset(each.shape[1] for each in operations)
    return completed(contract, login="", named=named)


def _refuse_other_security(document: Mapping[str, Json]) -> None:
    """Refuse a document with other security than tokens sent as `Authorization: Bearer`."""
    components = _resolved(document.get("components"), document)
    for name, raw in _resolved(components.get("securitySchemes"), document).items():
        scheme = _resolved(raw, document)
        bearer = scheme.get("type") == "http" and str(scheme.get("scheme")).lower() == "bearer"
        if not bearer:
            kind = scheme.get("scheme") or scheme.get("type")
            raise ConfigError(
                f"the spec's security {name!r} is {kind!r}; bearer tokens can be built: use those"
            )


def _operations(paths: Mapping[str, Json], document: Mapping[str, Json]) -> Iterable[Operation]:
    for path, methods in paths.items():
        if not isinstance(methods, dict):
            raise ConfigError(f"the spec's path {path!r} is not an object; mend it")
        for method in METHODS:
            raw = methods.get(method.lower())
            if isinstance(raw, dict):
                shared = methods.get("parameters")
                more = shared if isinstance(shared, list) else []
                yield _operation(path, method, raw, more, document)


def _operation(
    path: str,
    method: str,
    raw: Mapping[str, Json],
    shared: list[Json],
    document: Mapping[str, Json],
) -> Operation:
    own = raw.get("parameters")
    parameters = [*shared, *(own if isinstance(own, list) else [])]
    found = [_resolved(each, document) for each in parameters]
    queries = [each for each in found if each.get("in") == "query"]
    accepts, body = _body(raw.get("requestBody"), document)
    takes = [_query(each, document) for each in queries] if queries and not body else body
    security = raw.get("security", document.get("security"))
    name = str(raw.get("operationId") or f"{method.lower()} {path}")
    for each in re.findall(r"\{([^{}]*)\}", path):
        _refuse_unusable(each)
    told = raw.get("summary") or raw.get("description") or ""
    plain = Operation(
        function=_snake(name),
        method=next(each for each in METHODS if each == method),
        path=normal_path(path),
        quote=" ".join(str(told).split())[:300],
        login=bool(security),
        takes=tuple(takes),
        accepts="query" if queries and not body else accepts,
    )
    return _answering(plain, raw.get("responses"), document)


def _answering(operation: Operation, raw: Json, document: Mapping[str, Json]) -> Operation:
    responses = raw if isinstance(raw, dict) else {}
    good = sorted(code for code in responses if str(code).startswith(("2", "3")))
    status = int(good[0]) if good and str(good[0]).isdigit() else 200
    refusals = tuple(
        Refusal(status=int(code), when=_described(each, document))
        for code, each in responses.items()
        if str(code).isdigit() and str(code).startswith("4") and code != "401"
    )
    answers, gives = _answer(responses.get(good[0]) if good else None, document)
    return replace(operation, status=status, refuses=refusals, answers=answers, gives=gives)


def _described(raw: Json, document: Mapping[str, Json]) -> str:
    told = str(_resolved(raw, document).get("description") or "it has to be refused")
    return " ".join(told.split())[:120]


def _answer(raw: Json, document: Mapping[str, Json]) -> tuple[Answers, str]:
    content = _resolved(raw, document).get("content")
    if not isinstance(content, dict) or not content:
        return "nothing", ""
    for media, answers in (("json", "json"), ("html", "html"), ("text", "text")):
        for name, each in content.items():
            if media in str(name):
                value = _media_example(each, document)
                told = json.dumps(value, ensure_ascii=False) if value is not None else ""
                known: dict[str, Answers] = {"json": "json", "html": "html", "text": "text"}
                return known[answers], told
    raise ConfigError(
        f"the spec answers with {next(iter(content))!r}; JSON, text and HTML can be built"
    )


def _media_example(raw: Json, document: Mapping[str, Json]) -> Json:
    media = _resolved(raw, document)
    if "example" in media:
        return media["example"]
    return _sample(media.get("schema"), document, 0)


def _body(raw: Json, document: Mapping[str, Json]) -> tuple[Accepts, list[Field]]:
    content = _resolved(raw, document).get("content")
    if not isinstance(content, dict) or not content:
        return "json", []
    for media, accepts in (("json", "json"), ("urlencoded", "form"), ("text", "text")):
        for name, each in content.items():
            if media in str(name):
                schema = _resolved(_resolved(each, document).get("schema"), document)
                known: dict[str, Accepts] = {"json": "json", "form": "form", "text": "text"}
                if accepts == "text":
                    return "text", [Field(name="text", example='"some text"')]
                return known[accepts], _properties(schema, document)
    raise ConfigError(f"the spec takes {next(iter(content))!r}; JSON, forms and text can be built")


def _properties(schema: Mapping[str, Json], document: Mapping[str, Json]) -> list[Field]:
    properties, required = schema.get("properties"), schema.get("required")
    named = required if isinstance(required, list) else []
    fields = []
    for name, each in properties.items() if isinstance(properties, dict) else ():
        plain = _resolved(each, document)
        fields.append(_field(str(name), plain, document, required=name in named or not named))
    return fields


def _query(parameter: Mapping[str, Json], document: Mapping[str, Json]) -> Field:
    schema = _resolved(parameter.get("schema"), document)
    if "example" in parameter:
        schema = {**schema, "example": parameter["example"]}
    name = str(parameter.get("name", ""))
    return _field(name, schema, document, required=parameter.get("required") is True)


def _field(
    name: str, schema: Mapping[str, Json], document: Mapping[str, Json], *, required: bool
) -> Field:
    _refuse_unusable(name)
    value = _sample(dict(schema), document, 0)
    told = json.dumps(value, ensure_ascii=False) if value is not None else ""
    return Field(name=name, kind=_kind(schema), example=told, required=required)


def _refuse_unusable(name: str) -> None:
    if not name.isidentifier() or keyword.iskeyword(name):
        raise ConfigError(f"the spec's value {name!r} is no name that can be used; rename it")


def _kind(schema: Mapping[str, Json]) -> Kind:
    kind = schema.get("type")
    words = kind if isinstance(kind, list) else [kind]
    return next((_KINDS[str(each)] for each in words if str(each) in _KINDS), "string")


def _sample(raw: Json, document: Mapping[str, Json], depth: int) -> Json:
    """A value that fits a schema: its own example, else a made-up one of its kind."""
    schema = _resolved(raw, document)
    examples, choices = schema.get("examples"), schema.get("enum")
    if "example" in schema:
        return schema["example"]
    if isinstance(examples, list) and examples:
        return examples[0]
    if isinstance(choices, list) and choices:
        return choices[0]
    if depth > DEEPEST or not schema:
        return None
    match _kind(schema):
        case "object":
            properties = schema.get("properties")
            inside = properties.items() if isinstance(properties, dict) else ()
            return {str(name): _sample(each, document, depth + 1) for name, each in inside}
        case "list":
            return [_sample(schema.get("items"), document, depth + 1)]
        case "string" if schema.get("format") == "date":
            return "2026-01-31"
        case "string" if schema.get("format") == "date-time":
            return "2026-01-31T12:00:00Z"
        case "string" if schema.get("format") == "email":
            return "ann@example.com"
        case kind:
            return _SAMPLES[kind]


def _resolved(raw: Json, document: Mapping[str, Json]) -> dict[str, Json]:
    """The object that a reference within the document points to; empty where it leads nowhere."""
    for _ in range(DEEPEST):
        if not isinstance(raw, dict):
            return {}
        place = raw.get("$ref")
        if place is None:
            return raw
        if not isinstance(place, str) or not place.startswith("#/"):
            raise ConfigError(f"the spec refers to {place!r}; references within it can be followed")
        raw = dict(document)
        for step in place.removeprefix("#/").split("/"):
            raw = (
                raw.get(step.replace("~1", "/").replace("~0", "~"))
                if isinstance(raw, dict)
                else None
            )
    return {}


def _tables(operations: Iterable[Operation]) -> Iterable[Table]:
    """A table for each collection that something is posted to."""
    seen: set[str] = set()
    for each in operations:
        words = re.findall(r"[a-z_]+", re.sub(r"\{\w+\}", "", each.path.lower()))
        example = each.example()
        if each.method != "POST" or not words or not isinstance(example, dict) or not example:
            continue
        name = words[-1]
        columns = {field.name: field.kind for field in each.takes}
        columns |= {str(n): kind_of(v) for n, v in example.items() if n not in columns}
        if name in seen or name in ("login", "register") or any("pass" in c for c in columns):
            continue
        seen.add(name)
        fields = [Field(name=n, kind=k) for n, k in columns.items() if n.isidentifier()]
        if not any(field.name == "id" for field in fields):
            fields.insert(0, Field(name="id", kind="integer"))
        yield Table(name=name, columns=tuple(fields))


def _snake(name: str) -> str:
    spaced = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name)
    plain = re.sub(r"\W+", "_", spaced).strip("_").lower()
    usable = plain.isidentifier() and not keyword.iskeyword(plain)
    return plain if usable else f"do_{plain or 'it'}"
