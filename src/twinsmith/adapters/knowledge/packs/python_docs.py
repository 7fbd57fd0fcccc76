"""Python: docstrings as the grammar finds them, nothing imported; or the chapters of its manual."""

import ast
import inspect
import re
from collections.abc import Iterator, Mapping

from twinsmith.adapters.knowledge.packs.article import Part, part
from twinsmith.core.syntax import parse

_BUILT_IN = {"functions": "builtins", "stdtypes": "builtins", "exceptions": "builtins"}
_DIRECTIVE = re.compile(
    r"( *)\.\. (?:\w+:)?"
    r"(function|class|method|classmethod|staticmethod|decorator|exception|describe):: (.+)"
)
_MODULE = re.compile(r"\.\. (?:module|currentmodule):: ([\w.]+)")
_UNDERLINE = re.compile(r"([=\-~^\"'*+#])\1{2,}\s*$")
_ROLE = re.compile(r":[\w:]+:`[!~]?([^`<]*?)(?:\s*<[^`>]*>)?`")
_LITERAL = re.compile(r"``(.+?)``")
_MARKUP = re.compile(
    r"^( *)\.\. (?:index|_[\w-]+|versionadded|versionchanged|deprecated|seealso|sectionauthor"
    r"|moduleauthor|testsetup|testcleanup|audit-event|only|highlight|availability|productionlist"
    r"|include|module|tabularcolumns|cssclass|impl-detail|XXX)\b.*(?:\n(?:\1 +.*|[ ]*)(?=\n))*",
    re.MULTILINE,
)
_TABLE = re.compile(r"^ *[+|].*[+|]$\n?|^\*\*Source code:\*\*.*$", re.MULTILINE)
_BLOCK = re.compile(r"^( *)\.\. (?:code-block|testcode|doctest|parsed-literal)::.*$", re.MULTILINE)


def docstrings(text: str, about: str, exported: Mapping[str, str] | None = None) -> Iterator[Part]:
    """What a module says of itself, of its functions, of its classes and of their methods."""
    tree = parse(text)
    said = ast.get_docstring(tree)
    if said and (found := part(about, about, _plain(said), 1)):
        yield found
    yield from _definitions(tree, about, exported or {})


def exports(text: str, about: str) -> dict[str, str]:
    """What a package calls its own, by the module that it was made in."""
    found = {}
    for node in parse(text).body:
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module:
            for alias in node.names:
                name = alias.asname or alias.name
                found[f"{about}.{node.module}.{alias.name}"] = f"{about}.{name}"
    return found


def manual(text: str, about: str) -> Iterator[Part]:
    """A chapter in reStructuredText: its sections, and each function and class in it."""
    module = found[1] if (found := _MODULE.search(text)) else _BUILT_IN.get(about, about)
    for line, symbol, head, body in _segments(text.split("\n"), module):
        if made := part(symbol, head, _plain(body), line):
            yield made


def _definitions(
    node: ast.Module | ast.ClassDef, owner: str, exported: Mapping[str, str]
) -> Iterator[Part]:
    for child in node.body:
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if child.name.startswith("_") and child.name not in {"__init__", "__call__"}:
            continue
        made_in, said = f"{owner}.{child.name}", ast.get_docstring(child)
        symbol = exported.get(made_in, made_in)
        if isinstance(child, ast.ClassDef):
            named = ", ".join(map(ast.unparse, child.bases))
            head = f"class {symbol}({named})" if named else f"class {symbol}"
            if said and (found := part(symbol, head, _plain(said), child.lineno)):
                yield found
            yield from _definitions(child, symbol, exported)
        elif said:
            returns = f" -> {ast.unparse(child.returns)}" if child.returns else ""
            head = f"{symbol}({ast.unparse(child.args)}){returns}"
            if found := part(symbol, head, _plain(said), child.lineno):
                yield found


def _segments(lines: list[str], module: str) -> Iterator[tuple[int, str, str, str]]:
    """Line, symbol, head and body of whatever begins with a title or a directive."""
    begun, symbol, head = 1, module, module
    body: list[str] = []
    owner, owner_indent = "", -1
    for number, line in enumerate(lines, 1):
        title = number < len(lines) and bool(_UNDERLINE.match(lines[number]))
        directive = _DIRECTIVE.match(line)
        if (title and line.strip() and not line.startswith(" ")) or directive:
            yield begun, symbol, head, "\n".join(body)
            begun, body = number, []
        if directive:
            indent, kind, signature = len(directive[1]), directive[2], directive[3].strip()
            if indent <= owner_indent:
                owner, owner_indent = "", -1
            name = signature.partition("(")[0].strip()
            inside = f"{owner}." if owner and "." not in name else ""
            symbol = f"{module}.{inside}{name}"
            head = f"{module}.{inside}{signature}"
            if kind in {"class", "exception"}:
                owner, owner_indent = name, indent
        elif title and line.strip() and not line.startswith(" "):
            words = _plain(line).strip()
            symbol = head = words if words.startswith(module) else f"{module}: {words}"
        elif not _UNDERLINE.match(line):
            body.append(line)
    yield begun, symbol, head, "\n".join(body)


def _plain(text: str) -> str:
    text = _BLOCK.sub("", _MARKUP.sub("\n", _TABLE.sub("", text) + "\n"))
    text = _LITERAL.sub(r"\1", _ROLE.sub(r"\1", text)).replace("::\n", ":\n")
    return inspect.cleandoc("\n" + text)
