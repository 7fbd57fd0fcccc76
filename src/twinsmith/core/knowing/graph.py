"""Nodes and edges of a knowledge graph that any graph database can keep; checked when made."""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from twinsmith.core.errors import ConfigError

NodeKind = Literal[
    "Task",
    "Plan",
    "Candidate",
    "Error",
    "Fix",
    "Insight",
    "Practice",
    "Release",
    "Incident",
    "Model",
]
EdgeKind = Literal["CAUSED", "FIXED_BY", "LEARNED_FROM", "USED", "CONTRADICTS", "HELPED", "FAILED"]
Direction = Literal["out", "in", "both"]
Value = str | int | float | bool

NODE_KINDS: tuple[NodeKind, ...] = get_args(NodeKind)
EDGE_KINDS: tuple[EdgeKind, ...] = get_args(EdgeKind)

# The properties that a search looks through.
SEARCHED = ("text", "error", "subject")
# Adapters keep these beside the properties.
RESERVED = ("key", "words")
LONGEST_KEY = 400
LONGEST_TEXT = 1_000_000
MOST_WORDS = 32
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_WORD = re.compile(r"\w+")
_PART = re.compile(r"_+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SHORTEST_PLURAL = 4
_COMMON = (
    " a about an and are as at be by do does for from has have how i in is it its of on or that "
    "the this to was what when where which why with "
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRef:
    """The name of a node: a key that is unique within its kind."""

    kind: NodeKind
    key: str

    def __post_init__(self) -> None:
        """Refuse a kind or key that some graph database could not keep."""
        _check_kind(self.kind, NODE_KINDS)
        if not self.key or not self.key.isprintable() or len(self.key) > LONGEST_KEY:
            raise ConfigError(
                f"key {self.key[:40]!r} of a {self.kind} cannot be kept; "
                f"give 1 to {LONGEST_KEY} printable characters"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A node of the graph: a thing and its properties."""

    kind: NodeKind
    key: str
    properties: Mapping[str, Value] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse a name or properties that some graph database could not keep."""
        NodeRef(kind=self.kind, key=self.key)
        _check_properties(self.properties, f"{self.kind} {self.key!r}")

    @property
    def ref(self) -> NodeRef:
        """The name of this node."""
        return NodeRef(kind=self.kind, key=self.key)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """A relation between two nodes; there is at most one of a kind between them."""

    kind: EdgeKind
    source: NodeRef
    target: NodeRef
    properties: Mapping[str, Value] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse a kind or properties that some graph database could not keep."""
        _check_kind(self.kind, EDGE_KINDS)
        _check_properties(self.properties, f"{self.kind} of {self.source.key!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """A node beside the one that was asked about, and the edge between them."""

    of: NodeRef
    edge: Edge
    node: Node


def asked_words(text: str) -> tuple[str, ...]:
    """The words of a question that mean something, each once; all of them where none does."""
    words = [match[0].casefold() for match in _WORD.finditer(text)]
    telling = [word for word in words if f" {word} " not in _COMMON]
    return tuple(dict.fromkeys(_singular(word) for word in telling or words))[:MOST_WORDS]


def searchable(properties: Mapping[str, Value]) -> str:
    """All words that a node can be found by, with a blank before and after each.

    `readFile` and `read_file` are found as a whole and by `read` and `file`. Words are made here
    and not by a database, since every database has its own idea of lower case.
    """
    words: dict[str, None] = {}
    for name in SEARCHED:
        value = properties.get(name, "")
        for match in _WORD.finditer(value if isinstance(value, str) else ""):
            words[_singular(match[0].casefold())] = None
            words.update(
                (_singular(part.casefold()), None) for part in _PART.split(match[0]) if part
            )
    return f" {' '.join(words)} "


def hits(words: Iterable[str], properties: Mapping[str, Value]) -> int:
    """How many of the words a node can be found by."""
    known = searchable(properties)
    return sum(f" {word} " in known for word in words)


def in_order(neighbour: Neighbour) -> tuple[str, ...]:
    """The sort key of a neighbour: the same question gives the same order."""
    of, edge, node = neighbour.of, neighbour.edge, neighbour.node
    return (of.kind, of.key, edge.kind, node.kind, node.key, edge.source.key)


def check_name(name: str) -> str:
    """The name of a property, checked: only such a name may stand in the text of a query."""
    if _NAME.fullmatch(name) is None or name in RESERVED:
        raise ConfigError(
            f"property {name[:60]!r} cannot be kept; a name is a small letter and up to 39 small "
            f"letters, digits and underscores, and none of {', '.join(RESERVED)}"
        )
    return name


def _singular(word: str) -> str:
    return word[:-1] if len(word) >= _SHORTEST_PLURAL and word.endswith("s") else word


def _check_kind(kind: str, known: tuple[str, ...]) -> None:
    if kind not in known:
        raise ConfigError(f"kind {kind!r} is not known; one of {', '.join(known)}")


def _check_properties(properties: Mapping[str, Value], whose: str) -> None:
    for name, value in properties.items():
        check_name(name)
        wrong = _wrong(value)
        if wrong:
            raise ConfigError(f"property {name!r} of {whose} cannot be kept: {wrong}")


def _wrong(value: object) -> str:
    match value:
        case str() if len(value) > LONGEST_TEXT:
            return f"its text has {len(value)} characters; at most {LONGEST_TEXT}"
        case str():
            broken = re.search(r"[\ud800-\udfff]", value)
            return f"its text has half a character at {broken.start()}" if broken else ""
        case bool():
            return ""
        case int():
            return "" if -(2**63) <= value < 2**63 else f"{value} does not fit 64 bits"
        case float():
            return "" if math.isfinite(value) else f"{value} is no number"
    return f"a {type(value).__name__} is neither text, number nor truth value"
