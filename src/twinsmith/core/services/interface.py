"""What a service offers over HTTP: routes as data, read from a model's words or off the task."""

import json
import re
from dataclasses import dataclass, replace
from typing import Literal, TypeGuard, get_args

from twinsmith.core.errors import BadReply
from twinsmith.core.replies.reply_json import value_in

FieldKind = Literal["string", "integer", "number", "boolean"]
Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Purpose = Literal[
    "health",
    "register",
    "login",
    "protected",
    "create",
    "read",
    "list",
    "update",
    "delete",
    "other",
]
FIELD_KINDS: tuple[FieldKind, ...] = get_args(FieldKind)
METHODS: tuple[Method, ...] = get_args(Method)
PURPOSES: tuple[Purpose, ...] = get_args(Purpose)
MOST_ROUTES = 12
MOST_FIELDS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One value in a request's JSON body."""

    name: str
    kind: FieldKind = "string"


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One thing that can be asked: parameters stand in the path as `{name}`."""

    method: Method
    path: str
    purpose: Purpose
    fields: tuple[Field, ...] = ()
    token: bool = False
    ok: int = 200
    gives: tuple[str, ...] = ()
    """Names in the JSON object of a good reply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interface:
    """Everything a service answers."""

    routes: tuple[Route, ...]

    def first(self, purpose: Purpose) -> Route | None:
        """The first route with that purpose."""
        return next((route for route in self.routes if route.purpose == purpose), None)

    def text(self) -> str:
        """One line a route, for a person and for a prompt."""
        return "\n".join(map(_line, self.routes))


SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {
            "routes": {
                "type": "array",
                "minItems": 1,
                "maxItems": 8,
                "items": {
                    "type": "object",
                    "properties": {
                        "method": {"enum": list(METHODS)},
                        "path": {"type": "string", "pattern": "^/[a-z0-9_{}/-]{0,40}$"},
                        "purpose": {"enum": list(PURPOSES)},
                        "fields": {
                            "type": "array",
                            "maxItems": 6,
                            "items": {
                                "type": "object",
                                "properties": {
                                    "name": {"type": "string", "pattern": "^[a-z][a-z_]{0,20}$"},
                                    "kind": {"enum": list(FIELD_KINDS)},
                                },
                                "required": ["name", "kind"],
                                "additionalProperties": False,
                            },
                        },
                        "token": {"type": "boolean"},
                        "ok": {"enum": [200, 201, 204, 302]},
                        "gives": {
                            "type": "array",
                            "maxItems": 6,
                            "items": {"type": "string", "pattern": "^[a-z][a-z_]{0,20}$"},
                        },
                    },
                    "required": ["method", "path", "purpose", "fields", "token", "ok", "gives"],
                    "additionalProperties": False,
                },
            }
        },
        "required": ["routes"],
        "additionalProperties": False,
    }
)

_PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>|:(\w+)|\{(\w+)(?::\w+)?\}")
_PATH = re.compile(r"/[\w{}./~-]*")
_AUTHENTICATION = re.compile(
    r"authenticat|\bauth\b|\b(?:log|sign)(?:s|ging|ing)?[ -]?(?:in|up)\b|\baccounts?\b",
    re.IGNORECASE,
)
_SHORTENER = re.compile(
    r"\b(?:url|link)s?\b.{0,20}\bshorten|\bshorten\w*\b.{0,20}\b(?:url|link)", re.IGNORECASE
)
_KEPT = re.compile(
    r"\b(?:stor|keep|manag|sav|creat\w+, read|crud (?:api|service) for)\w* (?:and \w+ )?"
    r"(?:a list of |the |some |my |our )?([a-z]{3,20}s)\b",
    re.IGNORECASE,
)
_USERS = re.compile(r"users|passwords|accounts|credentials")
NAME_AND_PASSWORD = (Field(name="username"), Field(name="password"))
HEALTH = Route(method="GET", path="/health", purpose="health", gives=("status",))
REGISTER = Route(
    method="POST",
    path="/register",
    purpose="register",
    fields=NAME_AND_PASSWORD,
    ok=201,
    gives=("username",),
)
LOGIN = Route(
    method="POST", path="/login", purpose="login", fields=NAME_AND_PASSWORD, gives=("token",)
)
PROTECTED = Route(method="GET", path="/me", purpose="protected", token=True, gives=("username",))


def read_interface(text: str) -> Interface:
    """The interface in a reply, with what small models get wrong put right."""
    raw = value_in(text, "the interface")
    listed = raw.get("routes") if isinstance(raw, dict) else raw
    if not isinstance(listed, list):
        raise BadReply("the interface has no list of routes; ask again")
    routes: dict[tuple[str, str], Route] = {}
    for each in listed[:MOST_ROUTES]:
        route = _route(each)
        routes.setdefault((route.method, _shape(route.path)), route)
    if not routes:
        raise BadReply("the interface has no route; ask again")
    return Interface(routes=tuple(routes.values()))


def default_interface(task: str) -> Interface | None:
    """What a task names by itself: accounts, a shortener of links, things that are kept."""
    routes: list[Route] = []
    if _AUTHENTICATION.search(task):
        routes += [REGISTER, LOGIN, PROTECTED]
    if _SHORTENER.search(task):
        routes += _shortener()
    elif kept := _KEPT.search(task):
        name = kept.group(1).lower()
        if not _USERS.fullmatch(name):
            routes += _collection(name)
    return Interface(routes=(HEALTH, *routes)) if routes else None


def completed(interface: Interface, task: str) -> Interface:
    """The interface with what the task asks for and its description lacks, without contradictions.

    Nobody needs a token where nobody can log in.
    """
    wanted = default_interface(task) or Interface(routes=(HEALTH,))
    routes = [_without_contradiction(route) for route in interface.routes]
    taken = {(route.method, _shape(route.path)) for route in routes}
    for route in wanted.routes:
        there = any(each.purpose == route.purpose for each in routes)
        if not there and (route.method, _shape(route.path)) not in taken:
            routes.append(route)
    if not any(route.purpose == "login" for route in routes):
        routes = [replace(route, token=False) for route in routes]
    return _with_same_names(Interface(routes=tuple(routes)))


def _route(raw: object) -> Route:
    if not isinstance(raw, dict):
        raise BadReply(f"a route of the interface is {raw!r:.60}, not an object; ask again")
    method = str(raw.get("method", "")).strip().upper()
    path = normal_path(str(raw.get("path", "")))
    if not _is_method(method):
        raise BadReply(
            f"method {method!r:.20} of {path} is none of {', '.join(METHODS)}; ask again"
        )
    if not _PATH.fullmatch(path):
        raise BadReply(f"path {path!r:.60} of the interface cannot be asked; ask again")
    purpose = str(raw.get("purpose", "other")).strip().lower()
    route = Route(
        method=method,
        path=path,
        purpose=purpose if _is_purpose(purpose) else "other",
        fields=_fields(raw.get("fields")) if method in ("POST", "PUT", "PATCH") else (),
        token=_is_true(raw.get("token")),
        ok=_status(raw.get("ok")),
        gives=tuple(_word(each) for each in _listed(raw.get("gives")) if _word(each)),
    )
    return replace(route, purpose=_purpose(route))


def normal_path(path: str) -> str:
    """`notes/<int:id>` and `/notes/:id/` as `/notes/{id}`."""
    path = path.strip().partition("?")[0]
    path = re.sub(r"^https?://[^/]*", "", path)
    path = _PARAMETER.sub(lambda m: "{" + next(filter(None, m.groups())) + "}", path)
    return "/" + path.strip("/")


def _shape(path: str) -> str:
    return re.sub(r"\{\w+\}", "{}", path)


def _purpose(route: Route) -> Purpose:
    """What it is for; where that was not said or cannot be, by its method and path."""
    last = route.path.rpartition("/")[2]
    by_name: dict[str, Purpose] = {
        "health": "health",
        "register": "register",
        "signup": "register",
        "login": "login",
        "signin": "login",
    }
    if last in by_name:
        return by_name[last]
    has_parameter = "{" in route.path
    if route.purpose in ("register", "login") and not who_and_password(route):
        # Small models call any making and any asking so.
        return "create" if route.method == "POST" and not has_parameter else "other"
    if route.purpose == "list" and has_parameter:
        return "read"
    if route.purpose == "read" and not has_parameter:
        return "list" if route.method == "GET" and not route.token else "other"
    if route.purpose == "protected" and has_parameter:
        # Whose it is would have to be known.
        return "other"
    if route.purpose in ("update", "delete") and not has_parameter:
        return "other"
    return route.purpose


def _fields(raw: object) -> tuple[Field, ...]:
    """Names with kinds, as objects, as words or as one object."""
    if isinstance(raw, dict):
        raw = [{"name": name, "kind": kind} for name, kind in raw.items()]
    found: dict[str, Field] = {}
    for each in _listed(raw)[:MOST_FIELDS]:
        if isinstance(each, dict):
            name, kind = _word(each.get("name")), str(each.get("kind", each.get("type", "")))
        else:
            name, _, kind = str(each).partition(":")
            name = _word(name)
        if name:
            found.setdefault(name, Field(name=name, kind=_kind(kind)))
    return tuple(found.values())


def _kind(text: str) -> FieldKind:
    words: dict[str, FieldKind] = {
        "int": "integer",
        "integer": "integer",
        "float": "number",
        "number": "number",
        "bool": "boolean",
        "boolean": "boolean",
    }
    return words.get(text.strip().lower(), "string")


def _word(raw: object) -> str:
    text = str(raw).strip() if isinstance(raw, str) else ""
    return text if re.fullmatch(r"[A-Za-z_]\w{0,40}", text) else ""


def _listed(raw: object) -> list[object]:
    return raw if isinstance(raw, list) else []


def _is_true(raw: object) -> bool:
    return raw is True or (isinstance(raw, str) and raw.strip().lower() in ("true", "yes", "1"))


def _status(raw: object) -> int:
    number = re.search(r"\d{3}", str(raw))
    status = int(number.group()) if number else 200
    return status if 200 <= status < 400 else 200


def _is_method(text: str) -> TypeGuard[Method]:
    return text in METHODS


def _is_purpose(text: str) -> TypeGuard[Purpose]:
    return text in PURPOSES


def _without_contradiction(route: Route) -> Route:
    """Nobody has a token before logging in; what is protected needs one."""
    if route.purpose in ("health", "register", "login"):
        return replace(route, token=False)
    return replace(route, token=True) if route.purpose == "protected" else route


def _with_same_names(interface: Interface) -> Interface:
    """Who logs in names what was registered, and gets a token."""
    register, login = interface.first("register"), interface.first("login")
    if register is None or login is None:
        return interface
    if not who_and_password(register):
        register = replace(register, fields=NAME_AND_PASSWORD)
    known = tuple(field for field in login.fields if field in register.fields)
    entering = replace(login, fields=known)
    if not who_and_password(entering):
        entering = replace(login, fields=who_and_password(register))
    if not any("token" in name for name in login.gives):
        entering = replace(entering, gives=("token",))
    changed = {interface.first("register"): register, login: entering}
    return Interface(routes=tuple(changed.get(route, route) for route in interface.routes))


def who_and_password(route: Route) -> tuple[Field, ...]:
    """The two values that say who somebody is and prove it; nothing where one is missing."""
    texts = [field for field in route.fields if field.kind == "string"]
    names = [field for field in texts if "pass" not in field.name]
    secrets = [field for field in texts if "pass" in field.name]
    return (names[0], secrets[0]) if names and secrets else ()


def _collection(name: str) -> list[Route]:
    """The five routes of things that are kept."""
    item, fields = f"/{name}/{{id}}", (Field(name="title"), Field(name="text"))
    gives = ("id", "title", "text")
    return [
        Route(method="POST", path=f"/{name}", purpose="create", fields=fields, ok=201, gives=gives),
        Route(method="GET", path=f"/{name}", purpose="list"),
        Route(method="GET", path=item, purpose="read", gives=gives),
        Route(method="PUT", path=item, purpose="update", fields=fields, gives=gives),
        Route(method="DELETE", path=item, purpose="delete", ok=204),
    ]


def _shortener() -> list[Route]:
    url = (Field(name="url"),)
    return [
        Route(
            method="POST", path="/shorten", purpose="create", fields=url, ok=201, gives=("code",)
        ),
        Route(method="GET", path="/{code}", purpose="read", ok=302),
    ]


def _line(route: Route) -> str:
    parts = [f"{route.method} {route.path}"]
    if route.fields:
        parts.append("takes JSON " + ", ".join(f"{f.name} ({f.kind})" for f in route.fields))
    if route.token:
        parts.append("needs the header Authorization: Bearer <token>, else 401")
    what = f"answers {route.ok}"
    if route.purpose == "list":
        what += " with a JSON list of all items"
    elif 300 <= route.ok < 400:
        what += " with the header Location"
    elif route.gives:
        what += " with JSON " + ", ".join(route.gives)
    return "; ".join([*parts, what])
