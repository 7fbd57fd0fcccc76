"""Where a service has what was wanted: from its OpenAPI document, or read off its source.

A program of the product has the document. The raw model's has none, so that its routes are read
with regular expressions, for the frameworks that models use; what is not found is "no route".
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from bench.programs_asked import Wanted

Json = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]
Place = Literal["path", "query", "body"]
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
SHORTEST_PART = 4
"""A shorter word has to stand by itself: `to` is no part of `customer`."""
_SAMPLES: Mapping[str, Json] = {
    "integer": 1,
    "number": 1.5,
    "boolean": True,
    "array": [],
    "object": {},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A value that a route takes, and one that would do."""

    name: str
    place: Place
    needed: bool = True
    sample: Json = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One method of one path."""

    method: str
    path: str
    title: str = ""
    """Its name and summary, where it has any."""
    fields: tuple[Field, ...] = ()


def found(wanted: Sequence[Wanted], routes: Sequence[Route]) -> dict[str, Json]:
    """What truth knows of a service: the route of each thing that was wanted and is there."""
    return {each.name: known for each in wanted if (known := _best(each, routes)) is not None}


def _best(wanted: Wanted, routes: Sequence[Route]) -> Json:
    """The route that fits best, as truth reads it."""
    fitting = []
    for number, route in enumerate(routes):
        hits = sum(_has(f"{route.path} {route.title}", word) for word in wanted.words)
        fields = _claimed(wanted, route)
        ruled_out = any(_has(route.path, word) for word in wanted.without)
        if route.method not in wanted.methods or not hits or ruled_out or fields is None:
            continue
        others = [f for f in route.fields if f.needed and f not in fields.values()]
        rank = (-hits, len(others), wanted.methods.index(route.method), len(route.path), number)
        fitting.append((rank, route, fields, others))
    if not fitting:
        return None
    _, route, fields, others = min(fitting, key=lambda each: each[0])
    return {
        "method": route.method,
        "path": route.path,
        "fields": {name: {"name": f.name, "place": f.place} for name, f in fields.items()},
        "others": [{"name": f.name, "place": f.place, "value": f.sample} for f in others],
    }


def _claimed(wanted: Wanted, route: Route) -> dict[str, Field] | None:
    """The field that each value goes to; parts of the path take what has no field of its name."""
    free = list(route.fields)
    claimed: dict[str, Field] = {}
    for name, words in wanted.fields:
        field = next((f for w in (name, *words) for f in free if _has(f.name, w)), None)
        if field is not None:
            claimed[name] = field
            free.remove(field)
    for name, _ in wanted.fields:
        if name not in claimed:
            field = next((f for f in free if f.place == "path"), None)
            if field is None:
                return None
            claimed[name] = field
            free.remove(field)
    return claimed


def _has(text: str, word: str) -> bool:
    """Whether a word is part of a text; a short one has to stand by itself."""
    parts = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text)
    words = re.sub(r"[^a-z0-9{]+", " ", parts.lower()).split()
    if word.isalnum() and len(word) < SHORTEST_PART:
        return word in words or f"{word}s" in words
    return word in text.lower() or word in " ".join(words)


def openapi_routes(text: str) -> tuple[Route, ...]:
    """The routes of an OpenAPI document in JSON; none where it is not one."""
    try:
        document = json.loads(text)
    except ValueError:
        return ()
    paths = document.get("paths") if isinstance(document, dict) else None
    if not isinstance(paths, dict):
        return ()
    return tuple(
        _openapi_route(document, method.upper(), path, item, operation)
        for path, item in paths.items()
        if isinstance(item, dict)
        for method, operation in item.items()
        if method.upper() in METHODS and isinstance(operation, dict)
    )


def _openapi_route(
    document: dict[str, Json], method: str, path: str, item: dict[str, Json], operation: Json
) -> Route:
    told = _object(document, operation)
    fields: list[Field] = []
    for each in (*_listed(item.get("parameters")), *_listed(told.get("parameters"))):
        given = _object(document, each)
        place = given.get("in")
        if place == "path" or place == "query":
            sample = _sample(_object(document, given.get("schema")) | _examples(given))
            needed = place == "path" or given.get("required") is True
            name = str(given.get("name"))
            fields.append(Field(name=name, place=place, needed=needed, sample=sample))
    named = {field.name for field in fields if field.place == "path"}
    fields += [
        Field(name=name, place="path")
        for name in re.findall(r"\{([^}]+)\}", path)
        if name not in named
    ]
    fields += _body_fields(document, told)
    title = f"{told.get('operationId', '')} {told.get('summary', '')}"
    return Route(method=method, path=path, title=title.strip(), fields=tuple(fields))


def _body_fields(document: dict[str, Json], operation: dict[str, Json]) -> Iterator[Field]:
    body = _object(document, operation.get("requestBody"))
    content = _object(document, body.get("content"))
    schema = _object(document, _object(document, content.get("application/json")).get("schema"))
    needed = _listed(schema.get("required"))
    for name, raw in _object(document, schema.get("properties")).items():
        sample = _sample(_object(document, raw))
        yield Field(name=name, place="body", needed=name in needed, sample=sample)


def _sample(schema: Mapping[str, Json]) -> Json:
    """A value that a schema allows."""
    examples = _listed(schema.get("examples")) or _listed(schema.get("enum"))
    for name in ("example", "default", "const"):
        if name in schema:
            return schema[name]
    if examples:
        return examples[0]
    kinds = schema.get("type")
    kind = kinds if isinstance(kinds, str) else next(iter(_listed(kinds)), "string")
    return _SAMPLES.get(str(kind), "text")


def _examples(parameter: dict[str, Json]) -> dict[str, Json]:
    return {"example": parameter["example"]} if "example" in parameter else {}


def _object(document: dict[str, Json], value: Json) -> dict[str, Json]:
    """An object, found elsewhere in the document where it is a reference."""
    for _ in range(8):
        if not isinstance(value, dict):
            return {}
        reference = value.get("$ref")
        if not isinstance(reference, str):
            return value
        value = document
        for part in reference.removeprefix("#/").split("/"):
            value = value.get(part) if isinstance(value, dict) else None
    return {}


def _listed(value: Json) -> list[Json]:
    return list(value) if isinstance(value, list | tuple) else []


_DECORATED = re.compile(
    r"@\w+\.(?P<how>route|get|post|put|patch|delete)\(\s*[rf]?[\"'](?P<path>/[^\"']*)[\"']"
    r"(?P<rest>[^\n]*)"
)
_HANDLED = re.compile(r"(?:HandleFunc|Handle)\(\s*\"(?:(?P<method>[A-Z]+) )?(?P<path>/[^\"]*)\"")
_METHOD = re.compile(r"\b(GET|POST|PUT|PATCH|DELETE)\b|Method(Get|Post|Put|Patch|Delete)\b")
_BODY = re.compile(
    r"(?:data|body|json|payload|content|get_json\(\))(?:\[|\.get\(\s*)[\"'](\w+)[\"']"
    r"|`json:\"(\w+)"
)
_QUERY = re.compile(r"args(?:\[|\.get\(\s*)[\"'](\w+)[\"']|Query\(\)\.Get\(\"(\w+)\"\)")
_PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")
_MODEL = re.compile(r"^class (\w+)\(.*\):\n((?:[ \t]+.*\n|\n)+)", re.MULTILINE)
_ATTRIBUTE = re.compile(r"^[ \t]+(\w+)\s*:\s*\w", re.MULTILINE)


def source_routes(source: str) -> tuple[Route, ...]:
    """The routes of a program that has no document: Flask, FastAPI and Go, by their usual forms."""
    models = {name: tuple(_ATTRIBUTE.findall(text)) for name, text in _MODEL.findall(source)}
    whole = _fields("", source, {})
    starts = [*_DECORATED.finditer(source), *_HANDLED.finditer(source)]
    ends = [*sorted(each.start() for each in starts), len(source)]
    routes: list[Route] = []
    for each in starts:
        end = next(place for place in ends if place > each.start())
        decorated = "how" in each.groupdict()
        inside = source[each.start() : end] if decorated else source
        for method, path in _ways(each, source):
            named = _fields(path, inside, models)
            fields = (
                named if decorated else (*_in_path(path), *(f for f in whole if f.place != "path"))
            )
            kept = tuple(f for f in fields if method not in ("GET", "DELETE") or f.place != "body")
            routes.append(Route(method=method, path=path, fields=kept))
    return tuple(routes)


def _ways(each: re.Match[str], source: str) -> Iterator[tuple[str, str]]:
    """Methods with the path; one of Go that ends in a slash also goes on with an id."""
    path = _PARAMETER.sub(r"{\1}", each["path"])
    if "how" in each.groupdict():
        how = each["how"].upper()
        named = _METHOD.findall(each["rest"]) if how == "ROUTE" else [(how, "")]
        for method, _ in named or [("GET", "")]:
            yield method, path
        return
    methods = {(one or other).upper() for one, other in _METHOD.findall(source)}
    for method in [each["method"]] if each["method"] else sorted(methods):
        yield method, f"{path}{{id}}" if path.endswith("/") and path != "/" else path


def _fields(path: str, text: str, models: Mapping[str, tuple[str, ...]]) -> tuple[Field, ...]:
    """Fields of a route by how its function reads them."""
    bodies = [one or other for one, other in _BODY.findall(text)]
    for name, attributes in models.items():
        if re.search(rf":\s*{name}\b", text):
            bodies += attributes
    queries = [one or other for one, other in _QUERY.findall(text)]
    return (
        *_in_path(path),
        *(Field(name=name, place="query", needed=False) for name in dict.fromkeys(queries)),
        *(Field(name=name, place="body") for name in dict.fromkeys(bodies)),
    )


def _in_path(path: str) -> tuple[Field, ...]:
    return tuple(Field(name=name, place="path") for name in re.findall(r"\{(\w+)\}", path))
