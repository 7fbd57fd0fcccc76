"""Signatures of C functions: which can be called with JSON values, and how."""

import re
from dataclasses import dataclass
from typing import Literal

from twinsmith.adapters.sandbox.languages.c_source import (
    Definition,
    bare_source,
    definitions,
    split_parameters,
)

Role = Literal["scalar", "string", "list", "length", "out"]

_QUALIFIER = re.compile(
    r"\b(?:const|volatile|restrict|__restrict(?:__)?|register|static|inline|__inline(?:__)?|extern"
    r"|_Noreturn)\b"
)
_KINDS = {"void": "v", "char": "c", "bool": "b", "_Bool": "b", "float": "f", "double": "f"}
_INTEGER_WORDS = frozenset({"signed", "unsigned", "short", "long", "int", "char"})
_INTEGER_NAME = re.compile(
    r"u?int(?:_fast|_least)?(?:8|16|32|64)_t|u?intptr_t|u?intmax_t|s?size_t|ptrdiff_t|off_t|time_t"
)
_TYPEDEF = re.compile(r"\btypedef\s+([\w\s]+?)\s+(\w+)\s*;")
_LENGTH = re.compile(
    r"(?i:.*(?:len|length|size|sz|count|cnt|num|elems|elements))\d*"
    r"|(?:n|num|len|size|count|nr)_\w+|num[A-Z]\w*|[nm][a-z]?\d*|[a-z]n|\w+_n|[a-z]\w*N|N"
)
_OUT_LENGTH = re.compile(r"(?=.*(?:ret|out|res)).*(?:size|len|count|n$)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class CType:
    """A type of C that has a JSON value: a simple type behind no, one or two stars."""

    base: str
    kind: str
    """The kind of value as the driver tells it: b(ool) c(har) i(nteger) f(loat); v(oid)."""
    stars: int
    constant: bool

    @property
    def is_list(self) -> bool:
        return self.stars == (2 if self.kind == "c" else 1)

    @property
    def integer(self) -> bool:
        return self.kind == "i" and self.stars == 0

    @property
    def element(self) -> str:
        """The driver's two words for the items of a list of this type."""
        if self.kind == "c" and self.stars:
            return "'s', sizeof(char *)"
        if self.kind == "i":
            return f"TWINSMITH_INTEGER({self.base})"
        return f"'{self.kind}', sizeof({self.base})"

    @property
    def listed(self) -> str:
        return "char *" if self.kind == "c" else self.base


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter of a C function, and its role in a call."""

    type: CType
    role: Role
    lists: tuple[int, ...] = ()
    """The places of the lists that a length counts; empty for other parameters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """The signature of a C function that the driver can call."""

    name: str
    result: CType
    parameters: tuple[Parameter, ...]


def signatures(source: str, headers: str = "") -> list[Signature]:
    """The functions of a source that can be called; the others are left out."""
    bare = bare_source(source)
    types = _TYPEDEF.findall(f"{bare_source(headers)}\n{bare}")
    aliases = {name: _QUALIFIER.sub(" ", base) for base, name in types}
    found = {one.name: one for one in definitions(bare) if one.name != "main"}
    return [one for each in found.values() if (one := signature(each, aliases))]


def signature(definition: Definition, aliases: dict[str, str]) -> Signature | None:
    """The signature of a function; None where a type has no JSON value."""
    result = _type(definition.result, aliases)
    written = [_parameter(text, aliases) for text in split_parameters(definition.parameters)]
    parameters = [each for each in written if each]
    if result is None or len(parameters) < len(written):
        return None
    roles = _roles(parameters, result)
    outs = sum(one.role == "out" for one in roles or ())
    if roles is None or outs > 1 or (result.is_list and not outs):
        return None
    return Signature(name=definition.name, result=result, parameters=tuple(roles))


def _type(text: str, aliases: dict[str, str]) -> CType | None:
    """The type that a text without a name spells; None where it is not known."""
    stars = text.count("*")
    words = _QUALIFIER.sub(" ", text.replace("*", " ")).split()
    if len(words) == 1 and words[0] in aliases:
        words = aliases[words[0]].split()
    kind = _kind(words)
    if not kind or stars > (2 if kind == "c" else 1) or (kind == "v" and stars):
        return None
    constant = "const" in text.split("*", maxsplit=1)[0].split()
    return CType(base=" ".join(words), kind=kind, stars=stars, constant=constant)


def _kind(words: list[str]) -> str:
    if len(words) == 1 and words[0] in _KINDS:
        return _KINDS[words[0]]
    if words and _INTEGER_WORDS.issuperset(words):
        return "i"
    return "i" if len(words) == 1 and _INTEGER_NAME.fullmatch(words[0]) else ""


def _parameter(text: str, aliases: dict[str, str]) -> tuple[CType, str] | None:
    """The type and name of a parameter; None where the type is not known."""
    dimensions = text.count("[")
    match = re.fullmatch(r"(.*[\s*])(\w+)", re.sub(r"\[[^\]]*\]", "", text).strip(), re.DOTALL)
    if not match or dimensions > 1:
        return None
    found = _type(match[1] + "*" * dimensions, aliases)
    return None if found is None or found.kind == "v" else (found, match[2])


def _roles(parameters: list[tuple[CType, str]], result: CType) -> list[Parameter] | None:
    """The parameters with their roles in a call; None where a list has no length."""
    roles: list[Parameter] = []
    lists: tuple[int, ...] = ()
    for i, (kind, name) in enumerate(parameters):
        if lists and kind.integer and _LENGTH.fullmatch(name):
            roles.append(Parameter(type=kind, role="length", lists=lists))
            lists = ()
        elif kind.is_list and not _is_out(kind, name, result, parameters[i + 1 :]):
            roles.append(Parameter(type=kind, role="list"))
            lists = (*lists, i)
        elif lists:
            return None
        elif kind.stars == 0:
            roles.append(Parameter(type=kind, role="scalar"))
        else:
            roles.append(Parameter(type=kind, role="out" if kind.is_list else "string"))
    return None if lists else roles


def _is_out(kind: CType, name: str, result: CType, following: list[tuple[CType, str]]) -> bool:
    """Whether a parameter is where the function puts the length of its result."""
    if kind.kind != "i" or kind.constant or not result.stars:
        return False
    counted = bool(following) and following[0][0].integer and _LENGTH.fullmatch(following[0][1])
    named = _OUT_LENGTH.match(name) or _LENGTH.fullmatch(name)
    return bool(named) and not counted
