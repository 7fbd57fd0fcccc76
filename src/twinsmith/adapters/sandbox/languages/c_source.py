"""The functions that a C or C++ source defines, found without a compiler."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from twinsmith.core.brackets import parts

_LITERAL = re.compile(
    r"""//(?:\\\n|[^\n])*|/\*.*?\*/"""
    r"""|\b[0-9](?:'?\w)*"""  # a number; C++ parts its digits with '
    r"""|\b(?:u8|[uUL])?R"(?P<mark>[^()\\\s]*)\(.*?\)(?P=mark)\""""
    r"""|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""",
    re.DOTALL,
)
_DIRECTIVE = re.compile(r"\s*#\s*(\w+)\s*(.*)")
_DEFINED = re.compile(r"(!?)\s*defined\s*\(?\s*(\w+)\s*\)?")
_ATTRIBUTE = re.compile(r"__attribute__\s*\(\(.*?\)\)|\[\[.*?\]\]|\balignas\s*\([^)]*\)", re.DOTALL)
_LINKAGE = re.compile(r'^\s*extern\s*""')
_WORD = re.compile(r"->|[A-Za-z_]\w*|::|[^\s\w]")
_NO_NAME = re.compile(
    r"if|for|while|switch|return|catch|sizeof|alignof|decltype|noexcept|throw|requires"
    r"|int|char|void|bool|float|double|long|short|signed|unsigned|auto|const|\W+"
)
_PREDEFINED = frozenset({"__GNUC__", "__linux__", "__linux", "__unix__", "linux", "unix"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """One function of a C or C++ source, as its head is written."""

    result: str
    """The text before the function's name: its result and qualifiers."""
    name: str
    parameters: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Branch:
    live: bool
    done: bool
    """Whether an earlier branch of the same condition was compiled."""


def bare_source(source: str, *, cplusplus: bool = False) -> str:
    """The source without comments, texts, directives and branches that are not compiled."""
    text = _LITERAL.sub(_blank, source).replace("\\\n", " ")
    defined = {*_PREDEFINED, *(("__cplusplus",) if cplusplus else ())}
    kept: list[str] = []
    branches: list[_Branch] = []
    for line in text.split("\n"):
        live = all(branch.live for branch in branches)
        directive = _DIRECTIVE.match(line)
        if not directive:
            kept.append(line if live else "")
        elif directive[1] != "define":
            _enter(branches, directive[1], directive[2], defined)
        elif live:
            defined.add(re.split(r"\W", directive[2], maxsplit=1)[0])
    return "\n".join(kept)


def definitions(bare: str) -> list[Definition]:
    """The functions defined at the outermost level, in the order of the source."""
    return [found for head in _heads(bare) if (found := _definition(head))]


def split_parameters(text: str) -> list[str]:
    """The parameters of a function, split at the commas outside of brackets."""
    listed = parts(text)
    return [] if listed == ["void"] else listed


def _blank(match: re.Match[str]) -> str:
    text = match.group()
    if text.startswith("/"):
        return " " + "\n" * text.count("\n")
    if text[0].isdigit():
        return text
    return "''" if text.endswith("'") else '""'


def _enter(branches: list[_Branch], word: str, condition: str, defined: set[str]) -> None:
    """Follow one directive of the preprocessor into or out of a branch."""
    if word in ("if", "ifdef", "ifndef"):
        live = _holds(word, condition.split(), defined)
        branches.append(_Branch(live=live, done=live))
    elif word in ("elif", "else") and branches:
        done = branches.pop().done
        live = not done and (word == "else" or _holds("if", condition.split(), defined))
        branches.append(_Branch(live=live, done=done or live))
    elif word == "endif" and branches:
        branches.pop()


def _holds(word: str, condition: list[str], defined: set[str]) -> bool:
    """Whether a branch is compiled; a condition that is not understood counts as true."""
    if not condition:
        return True
    if word != "if":
        return (condition[0] in defined) == (word == "ifdef")
    if match := _DEFINED.fullmatch(" ".join(condition)):
        return (match[2] in defined) == (not match[1])
    return condition != ["0"]


def _heads(bare: str) -> Iterator[str]:
    """The text before each block at the outermost level; `extern "C"` is no level."""
    depth = parens = start = 0
    for match in re.finditer(r"[(){};]", bare):
        char = match.group()
        if depth:
            depth += (char == "{") - (char == "}")
            start = match.end()
        elif char in "()":
            parens += (char == "(") - (char == ")")
        elif not parens:  # inside parentheses, braces are a default value's
            head = bare[start : match.start()]
            start = match.end()
            if char == "{" and not _LINKAGE.fullmatch(head.rstrip()):
                yield head
                depth = 1


def _definition(head: str) -> Definition | None:
    head = _LINKAGE.sub("", _ATTRIBUTE.sub(" ", head))
    angles, at, found = 0, 0, None
    previous: re.Match[str] | None = None
    while match := _WORD.search(head, at):
        at = match.end()
        word = match.group()
        angles += (word == "<") - (word == ">")
        if word == "=" and angles == 0:
            return None
        if word == "(":
            close = _closing(head, match.start())
            if angles == 0 and previous and not _NO_NAME.fullmatch(previous.group()):
                found = (previous.start(), previous.group(), head[at:close])
            at = close + 1
        previous = match
    if not found:
        return None
    start, name, parameters = found
    result = head[:start].strip()
    if not result or result.endswith(("::", "~")) or re.search(r"\boperator\b", result):
        return None
    return Definition(result=result, name=name, parameters=parameters.strip())


def _closing(text: str, start: int) -> int:
    depth = 0
    for i in range(start, len(text)):
        depth += (text[i] == "(") - (text[i] == ")")
        if depth == 0:
            return i
    return len(text)
