"""Finding the program in a model's reply."""

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from twinsmith.core.errors import BadReply
from twinsmith.core.program import Kind, Program, SourceFile
from twinsmith.core.replies.python_names import defined, parsed, problem
from twinsmith.core.replies.repair import Repaired, repair
from twinsmith.core.replies.repair_others import functions
from twinsmith.core.replies.reply_files import TAGS, Block, blocks, defines, parts, tidy

_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)
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
_BRACED_END = re.compile(r".*[;}]\s*(?://.*)?$|\s*#\s*endif|.*\*/\s*$")
_PERL_LOOKS = re.compile(r"\bFindBin\b|__FILE__")
"""Signs that a Perl program finds its modules by where it lies; `use lib '.'` does not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The program in a reply, and the repairs in words."""

    program: Program
    repairs: tuple[str, ...] = ()


def read_program(
    text: str, *, language: str = "python", entry: str = "", kind: Kind = "function"
) -> Program:
    """The program in a reply, mended; BadReply says what is missing."""
    return read_reply(text, language=language, entry=entry, kind=kind).program


def read_reply(
    text: str, *, language: str = "python", entry: str = "", kind: Kind = "function"
) -> Reading:
    """The program in a reply, and what had to be mended; BadReply says what is missing."""
    several = parts(blocks(_plain(text)), language, entry)
    source = several.source if several else source_in(text, language, entry=entry)
    files = several.files if several else ()
    mended = _mended(source, files, language, entry, kind)
    _check(mended.source, files, language, entry, kind)
    program = Program(source=mended.source, entry=entry, language=language, kind=kind, files=files)
    return Reading(program=program, repairs=mended.repairs)


def source_in(text: str, language: str, *, entry: str = "") -> str:
    """The source in a reply as it was written: the fenced block that holds it, or plain lines."""
    text = _plain(text)
    fenced = _of_language(blocks(text), language)
    source = _chosen(fenced, language, entry) if fenced else _lines_of_code(text, language)
    return tidy(source, language)


def _plain(text: str) -> str:
    """A reply without the thoughts that its model wrote before it."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    return _THOUGHT.sub("", text)


def _mended(
    source: str, files: Sequence[SourceFile], language: str, entry: str, kind: Kind
) -> Repaired:
    """The main file, repaired; names that it imports from the other files count as defined."""
    taken = _taken(source, files) if language == "python" else set()
    asked = "" if entry in taken else entry
    beside = _modules(files)
    mended = repair(source, language=language, entry=asked, kind=kind, beside=beside)
    source = mended.source
    if language == "perl" and files and not _PERL_LOOKS.search(source):
        words = "the folder named where its modules lie"
        return Repaired(source=_looking(source, files), repairs=(*mended.repairs, words))
    return Repaired(source=source, repairs=mended.repairs)


def _taken(source: str, files: Sequence[SourceFile]) -> set[str]:
    """The names that a Python module imports from files beside it."""
    modules = _modules(files)
    texts = {file.name.removesuffix(".py").replace("/", "."): file.text for file in files}
    tree = parsed(source)
    found: set[str] = set()
    for node in tree.body if tree else ():
        match node:
            case ast.Import():
                paths = {alias.asname or alias.name: alias.name for alias in node.names}
            case ast.ImportFrom(module=str(module), level=0):
                paths = {alias.asname or alias.name: module for alias in node.names}
            case _:
                continue
        for name, path in paths.items():
            if name == "*" and (everything := parsed(texts.get(path, ""))):
                found |= defined(everything)
            elif path.partition(".")[0] in modules:
                found.add(name.partition(".")[0])
    return found - {"*"}


def _modules(files: Sequence[SourceFile]) -> frozenset[str]:
    """The names under which Python finds files that lie beside a program."""
    return frozenset(file.name.partition("/")[0].removesuffix(".py") for file in files)


def _looking(source: str, files: Sequence[SourceFile]) -> str:
    """A Perl program with `use lib`, so that it finds its modules wherever it is started."""
    folders = {file.name.rpartition("/")[0] for file in files} | {""}
    places = (f'"$FindBin::Bin/{folder}"' for folder in sorted(folders))
    first = source.partition("\n")[0] + "\n" if source.startswith("#!") else ""
    return f"{first}use FindBin; use lib {', '.join(places)};\n{source.removeprefix(first)}"


def _of_language(blocks: Sequence[Block], language: str) -> list[Block]:
    """The blocks marked with the language; else those without a mark; else all."""
    tags = TAGS.get(language, frozenset({language}))
    if language == "c":
        tags |= TAGS["cpp"]
    said = [block for block in blocks if block.tag.lower() in tags]
    silent = [block for block in blocks if not block.tag]
    return said or silent or list(blocks)


def _chosen(blocks: Sequence[Block], language: str, entry: str) -> str:
    """The longest block that has the entry, after the blocks that it needs."""
    names = [defines(block.source, language) for block in blocks]
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


def _lines_of_code(text: str, language: str) -> str:
    """The lines of a reply without a fence, from the first line of code to the last."""
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


def _check(source: str, files: Sequence[SourceFile], language: str, entry: str, kind: Kind) -> None:
    """Raise BadReply, with one line that says why, where a source is not the wanted program."""
    needed = entry if kind in {"function", "library"} else _START.get(language, "")
    if language == "python":
        tree = parsed(source)
        if tree is None:
            raise BadReply(f"the program is not Python: {problem(source) or 'too deeply nested'}")
        names = defined(tree) | _taken(source, files)
        for file in files:
            if not parsed(file.text) and (why := problem(file.text)):
                raise BadReply(f"the file {file.name!r} is not Python: {why}")
    else:
        names = functions(source, language) if language in TAGS else {needed}
    if needed and needed not in names:
        raise BadReply(f"the program does not define {needed!r}; it defines {sorted(names)[:10]}")
    if not source.strip():
        raise BadReply(f"the reply holds no {language} program")


_START: Mapping[str, str] = {"rust": "main", "go": "main", "c": "main", "cpp": "main"}
