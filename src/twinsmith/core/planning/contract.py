"""The contract of a service: the rows it keeps, and its routes, each answered by one function."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from twinsmith.core.events import Json

Kind = Literal["string", "integer", "number", "boolean", "list", "object"]
Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Answers = Literal["json", "text", "html", "nothing", "redirect"]
Accepts = Literal["json", "query", "text", "form"]
Part = Literal["", "register", "login", "health"]
KINDS: tuple[Kind, ...] = get_args(Kind)
METHODS: tuple[Method, ...] = get_args(Method)
PYTHON_KINDS: dict[Kind, str] = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "list": "list",
    "object": "dict",
}
_PARAMETER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A named value that a route takes or a table keeps; its example is JSON text, or empty."""

    name: str
    kind: Kind = "string"
    example: str = ""
    required: bool = True
    default: str = "null"
    """The value that holds where the field is not sent, as JSON text."""

    def value(self) -> Json:
        """The example of the field, or a made-up value of its kind."""
        if self.example:
            found: Json = json.loads(self.example)
            return found
        plain: dict[Kind, Json] = {
            "string": f"some {self.name}",
            "integer": 3,
            "number": 2.5,
            "boolean": True,
            "list": ["a", "b"],
            "object": {"a": 1},
        }
        return plain[self.kind]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of one kind that a service keeps, with their columns."""

    name: str
    columns: tuple[Field, ...]

    @property
    def key(self) -> Field:
        """The column that a row is found by: `id`, else the first one."""
        return next((column for column in self.columns if column.name == "id"), self.columns[0])

    def text(self) -> str:
        """The table as a coder reads it: `books(id: int, title: str)`."""
        inside = ", ".join(f"{each.name}: {PYTHON_KINDS[each.kind]}" for each in self.columns)
        return f"{self.name}({inside})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A refusal of a route: the HTTP status, and when it is answered."""

    status: int
    when: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One route, and the function that answers it; parameters stand in the path as `{name}`."""

    function: str
    method: Method
    path: str
    quote: str = ""
    """The words of the task that ask for this route."""
    login: bool = False
    takes: tuple[Field, ...] = ()
    accepts: Accepts = "json"
    status: int = 200
    answers: Answers = "json"
    gives: str = ""
    """An example of a successful answer, as JSON text; empty where nobody gave one."""
    refuses: tuple[Refusal, ...] = ()
    part: Part = ""
    """The part of the kit that answers this route; empty where a model has to write it."""

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters in the path."""
        return tuple(_PARAMETER.findall(self.path))

    @property
    def shape(self) -> tuple[str, str]:
        """Method and path, with every parameter as `{}`."""
        return self.method, _PARAMETER.sub("{}", self.path)

    def example(self) -> Json:
        """An example of a successful answer, as a JSON value."""
        found: Json = json.loads(self.gives) if self.gives else {}
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """Everything that a service keeps and answers."""

    operations: tuple[Operation, ...]
    tables: tuple[Table, ...] = ()
    title: str = "Service"

    @property
    def accounts(self) -> bool:
        """Whether somebody can log in."""
        return any(each.part == "login" for each in self.operations)

    @property
    def pieces(self) -> tuple[Operation, ...]:
        """The operations that a model has to write: all that the kit does not bring."""
        return tuple(each for each in self.operations if not each.part)

    def part(self, wanted: Part) -> Operation | None:
        """The operation that the kit brings as this part; None where there is none."""
        return next((each for each in self.operations if each.part == wanted), None)

    def called(self, function: str) -> Operation:
        """The operation that a function answers."""
        return next(each for each in self.operations if each.function == function)

    def kind_of(self, parameter: str) -> Kind:
        """The kind of a path parameter: that of the column with its name, else of the rows' key."""
        for table in self.tables:
            for column in table.columns:
                if column.name == parameter and column is not table.key:
                    return column.kind
        keys = [table.key.kind for table in self.tables]
        if parameter == "id" or parameter.endswith(("_id", "Id")):
            return keys[0] if keys and len(set(keys)) == 1 else "integer" if keys else "string"
        named = (t.key.kind for t in self.tables if t.key.name == parameter)
        return next(named, "string")

    def text(self) -> str:
        """The routes as a person reads them, one a line."""
        return "\n".join(line(each) for each in self.operations)


def arguments(operation: Operation, contract: Contract) -> Iterator[tuple[str, str]]:
    """Names and Python types of the arguments of a route's function: user, path, then the rest."""
    if operation.login:
        yield "user", "str"
    for name in operation.parameters:
        yield name, PYTHON_KINDS[contract.kind_of(name)]
    for field in operation.takes:
        kind = PYTHON_KINDS[field.kind]
        yield field.name, kind if field.required else optional(field)


def optional(field: Field) -> str:
    """The Python type and default of a value that need not be sent: `int = 20`."""
    kind, default = PYTHON_KINDS[field.kind], json.loads(field.default)
    return f"{kind} | None = None" if default is None else f"{kind} = {default!r}"


def signature(operation: Operation, contract: Contract) -> str:
    """The `def` line of the function that answers a route."""
    inside = ", ".join(f"{name}: {kind}" for name, kind in arguments(operation, contract))
    return f"def {operation.function}({inside}):"


def line(operation: Operation) -> str:
    """A route as a person reads it."""
    parts = [f"{operation.method} {operation.path}"]
    if operation.takes:
        where = {"json": "JSON", "query": "the query", "text": "text", "form": "a form"}
        names = ", ".join(f"{f.name} ({f.kind})" for f in operation.takes)
        parts.append(f"takes {where[operation.accepts]} {names}")
    if operation.login:
        parts.append("needs the header Authorization: Bearer <token>, else 401")
    what = f"answers {operation.status}"
    if operation.answers in ("text", "html"):
        what += f" with {'plain text' if operation.answers == 'text' else 'HTML'}"
    elif operation.gives and operation.answers == "json":
        what += f" with JSON such as {operation.gives}"
    parts.append(what)
    parts += [f"{refusal.status} when {refusal.when}" for refusal in operation.refuses]
    return "; ".join(parts)
