"""A model's reply in, the program in it out."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from twinsmith.core.errors import BadReply
from twinsmith.core.program import Kind, Program
from twinsmith.core.python_names import defined, parsed, problem
from twinsmith.core.repair import repair
from twinsmith.core.repair_others import functions
from twinsmith.core.source_text import has_entities, unescaped, without_margin

_FENCE = re.compile(
    r"(?P<before>.*?)(?<![`~])(?P<mark>`{3,}+|~{3,}+)[ \t]*+(?P<tag>[\w+#.-]*+)(?P<rest>[^`~]*+)"
)
_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)
_TAGS: Mapping[str, frozenset[str]] = {
    "python": frozenset({"python", "py", "python3", "py3"}),
    "rust": frozenset({"rust", "rs"}),
    "go": frozenset({"go", "golang"}),
    "c": frozenset({"c", "h"}),
    "cpp": frozenset({"cpp", "c++", "cc", "cxx", "hpp"}),
    "perl": frozenset({"perl", "pl"}),
}
_BEGINS: Mapping[str, re.Pattern[str]] = {
    "python": re.compile(
        r"\s*(?:from\s+[\w.]+\s+import\b|import\s+[\w.]+(?:\s*,\s*[\w.]+|\s+as\s+\w+)*\s*$|def\s+\w+\s*\("
        r"|async\s+def\s|class\s+\w+.*:|@\w|[A-Za-z_]\w*\s*(?::[^=]*)?=[^=]|\"\"\"|#!|if\s+__name__)"
    ),
    "rust": re.compile(
        r"\s*(?:use\s+\w+::|(?:pub\s+)?(?:fn|struct|enum|mod|impl|trait|const)\b|#!?\[)"
    ),
    "go": re.compile(r"\s*(?:package\s+\w+\s*$|import\s*[(\"]|func\s|type\s+\w+\s|var\s|const\s)"),
    "c": re.compile(
        r"\s*(?:\#\s*(?:include|define|if|pragma)|typedef\b|(?:static|struct|const|unsigned|int|char"
        r"|void|double|float|long|bool|size_t|u?int\d+_t|enum|template|using|namespace|class|std::"
        r"|vector<|string)\b.*[({;<]|/\*)"
    ),
    "perl": re.compile(r"\s*(?:#!|use\s+[\w:.]+.*;|package\s+[\w:]+|sub\s+\w+|my\s+[$@%(]|our\s)"),
}
_PERL_END = re.compile(r".*[;}]\s*(?:#.*)?$|__(?:END|DATA)__")
_PYTHON_HEAD = re.compile(r"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)", re.MULTILINE)
_BRACED_END = re.compile(r".*[;}]\s*(?://.*)?$|\s*#\s*endif|.*\*/\s*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A program, and what was mended in it, in words."""

    program: Program
    repairs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Block:
    """One fenced block."""

    tag: str
    source: str


def read_program(
    text: str, *, language: str = "python", entry: str = "", kind: Kind = "function"
) -> Program:
    """The program in a reply, mended; BadReply says what is missing."""
    return read_reply(text, language=language, entry=entry, kind=kind).program


def read_reply(
    text: str, *, language: str = "python", entry: str = "", kind: Kind = "function"
) -> Reading:
    """The program in a reply, and what had to be mended; BadReply says what is missing."""
    found = source_in(text, language, entry=entry)
    mended = repair(found, language=language, entry=entry, kind=kind)
    _check(mended.source, language, entry, kind)
    program = Program(source=mended.source, entry=entry, language=language, kind=kind)
    return Reading(program=program, repairs=mended.repairs)


def source_in(text: str, language: str, *, entry: str = "") -> str:
    """The program in a reply, as it was written: the fenced block that holds it, or the lines."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    text = _THOUGHT.sub("", text)
    blocks = _of_language(_blocks(text), language)
    source = _chosen(blocks, language, entry) if blocks else _lines_of_code(text, language)
    source = source.strip("\n") + "\n" if source.strip() else ""
    source = without_margin(source)
    if language != "python" and language in _TAGS and has_entities(source, language):
        source = unescaped(source)
    return source


def _blocks(text: str) -> list[_Block]:
    """The fenced blocks; the last may have no end, because the reply was cut."""
    blocks: list[_Block] = []
    mark, tag, lines = "", "", list[str]()
    for line in text.split("\n"):
        fence = _FENCE.fullmatch(line)
        if fence is None or not _is_fence(fence, mark):
            lines.append(line)
            continue
        if mark:
            # It may stand behind the last line of the code.
            blocks.append(_Block(tag=tag, source="\n".join([*lines, fence["before"].rstrip()])))
        closes = mark and not fence["tag"] and not fence["rest"].strip()
        mark, tag = ("", "") if closes else (fence["mark"], fence["tag"])
        lines = [fence["rest"].strip()] if "(" in fence["rest"] else []
    if mark:
        blocks.append(_Block(tag=tag, source="\n".join(lines)))
    return [block for block in blocks if block.source.strip()]


def _is_fence(found: re.Match[str], opened: str) -> bool:
    """Whether a line opens a block, or may end the one that is open; or only speaks of fences."""
    if found["before"].strip() and (found["rest"].strip() or (opened and found["tag"])):
        return False
    return not opened or found["mark"].startswith(opened)


def _of_language(blocks: Sequence[_Block], language: str) -> list[_Block]:
    """Those that say they are in the language; else those that do not say; else all."""
    tags = _TAGS.get(language, frozenset({language}))
    if language == "c":
        tags |= _TAGS["cpp"]
    said = [block for block in blocks if block.tag.lower() in tags]
    silent = [block for block in blocks if not block.tag]
    return said or silent or list(blocks)


def _chosen(blocks: Sequence[_Block], language: str, entry: str) -> str:
    """The longest block that has the entry, after what it needs from the others."""
    names = [_defined(block.source, language) for block in blocks]
    alike = [i for i, own in enumerate(names) if entry in own]
    alike = alike or [i for i, own in enumerate(names) if own] or [*range(len(blocks))]
    best = max(alike, key=lambda i: (len(blocks[i].source), i))
    source = blocks[best].source
    if language == "go":
        return source  # each block is a file
    words = set(re.findall(r"\w+", source)) - names[best]
    needed = [
        block.source
        for block, own in zip(blocks, names, strict=True)
        if entry not in own and own & words
    ]
    return "\n\n".join([*needed, source])


def _defined(source: str, language: str) -> set[str]:
    """Functions and classes, even where the source cannot be parsed."""
    if language == "python":
        return set(_PYTHON_HEAD.findall(source))
    return functions(source, language) if language in _TAGS else set()


def _lines_of_code(text: str, language: str) -> str:
    """Of a reply without a fence: from the first line of code to the last."""
    begins = _BEGINS.get(_family(language))
    if begins is None or (language == "python" and parsed(text)):
        return text
    lines = text.split("\n")
    first = next((i for i, line in enumerate(lines) if begins.match(line)), None)
    if first is None:
        return text
    if language == "python":
        # A sentence may stand anywhere behind the code; the parser finds it.
        return "\n".join(lines[first:])
    ends = _PERL_END if language == "perl" else _BRACED_END
    last = max(i for i, line in enumerate(lines) if i == first or ends.match(line))
    return "\n".join(lines[first : max(first, last) + 1])


def _family(language: str) -> str:
    return "c" if language == "cpp" else language


def _check(source: str, language: str, entry: str, kind: Kind) -> None:
    """A reply that has no such program is told in one line."""
    needed = entry if kind in {"function", "library"} else _START.get(language, "")
    if language == "python":
        tree = parsed(source)
        if tree is None:
            raise BadReply(f"the program is not Python: {problem(source) or 'too deeply nested'}")
        names = defined(tree)
    else:
        names = functions(source, language) if language in _TAGS else {needed}
    if needed and needed not in names:
        raise BadReply(f"the program does not define {needed!r}; it defines {sorted(names)[:10]}")
    if not source.strip():
        raise BadReply(f"the reply holds no {language} program")


_START: Mapping[str, str] = {"rust": "main", "go": "main", "c": "main", "cpp": "main"}
