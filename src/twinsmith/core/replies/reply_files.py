"""The fenced blocks of a reply, and the program files that they hold.

No pattern here looks far ahead in vain: a hostile reply must not take long to read.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from twinsmith.core.program import ENDINGS, FILE_NAMES, MOST_BYTES, Program, SourceFile
from twinsmith.core.replies.python_names import parsed
from twinsmith.core.replies.repair_others import functions
from twinsmith.core.replies.source_text import has_entities, unescaped, without_margin

TAGS: Mapping[str, frozenset[str]] = {
    "python": frozenset({"python", "py", "python3", "py3"}),
    "rust": frozenset({"rust", "rs"}),
    "go": frozenset({"go", "golang"}),
    "c": frozenset({"c", "h"}),
    "cpp": frozenset({"cpp", "c++", "cc", "cxx", "hpp"}),
    "perl": frozenset({"perl", "pl"}),
}
_FENCE = re.compile(
    r"(?P<before>.*?)(?<![`~])(?P<mark>`{3,}+|~{3,}+)[ \t]*+(?P<tag>[\w+#.-]*+)(?P<rest>[^`~]*+)"
)
_LONGEST_LINE = 200
_MOST_BLOCKS = 50
_WORDS = r"(?:[Ff]ile(?:[ _-]?[Nn]ame)?(?:[ \t]*\d)?[ \t]*[:=]?[ \t]*)?"
_FILE = r"(?P<name>[^\s`*\"'()<>=,;:]+\.(?:py|p[lm]|rs|go|[ch]pp|[ch]))"
_BEHIND = r"[ \t]*(?:$|:|[ \t][-–—(])"  # noqa: RUF001
_QUOTE = r"[`*\"']{0,4}"
_ABOVE = re.compile(
    rf"[ \t]*(?:\#{{1,6}}|[-*+]|\d+[.)])?[ \t]*{_QUOTE}{_WORDS}{_QUOTE}{_FILE}{_QUOTE}{_BEHIND}"
)
_COMMENT = re.compile(
    rf"[ \t]*(?:\#+|//+|/\*+)[ \t]*{_WORDS}{_QUOTE}{_FILE}{_QUOTE}(?:[ \t]*\*/)?{_BEHIND}"
)
_IN_FENCE = re.compile(rf"[ \t:]*(?:\w+[=:])?{_QUOTE}{_FILE}{_QUOTE}[ \t]*$")
_TEST = re.compile(r"(?:.*/)?(?:tests?/.*|(?:test_[^/]*|tests?|[^/]*_tests?|conftest)\.\w+)")
_PYTHON_HEAD = re.compile(r"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)", re.MULTILINE)
_HEADERS = (".h", ".hpp")
_LINKED = ("c", "cpp", "go")
"""Languages in which all files of a program are built together, without mentioning each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One fenced block of a reply."""

    tag: str
    source: str
    name: str = ""
    """The file name that the block is given; empty where it has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """A program that a reply writes as several files."""

    source: str
    """The text of the main file."""
    files: tuple[SourceFile, ...]


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a reply; the last may have no end, because the reply was cut."""
    found: list[Block] = []
    mark, tag, name, above, lines = "", "", "", "", list[str]()
    for line in text.split("\n"):
        fence = _FENCE.fullmatch(line)
        if fence is None or not _is_fence(fence, mark):
            lines.append(line)
            above = above if mark else _nearer(line, above)
            continue
        if mark:
            # It may stand behind the last line of the code.
            lines.append(fence["before"].rstrip())
            found.append(_block(tag, name, lines))
        closes = mark and not fence["tag"] and not fence["rest"].strip()
        name = _name_outside(fence, above)
        mark, tag = ("", "") if closes else (fence["mark"], fence["tag"])
        above, lines = "", [fence["rest"].strip()] if "(" in fence["rest"] else []
    if mark:
        found.append(_block(tag, name, lines))
    return [block for block in found if block.source.strip()]


def _block(tag: str, name: str, lines: Sequence[str]) -> Block:
    """A block under the name that stands outside it, or in its first comment."""
    first = next((line for line in lines if line.strip() and not line.startswith("#!")), "")
    inside = _COMMENT.match(first[:_LONGEST_LINE])
    name = name or (inside["name"] if inside else "")
    return Block(tag=tag, source="\n".join(lines), name=name.removeprefix("./"))


def _is_fence(found: re.Match[str], opened: str) -> bool:
    """Whether a line with a fence opens a block, or ends the one that is open."""
    if found["before"].strip() and (found["rest"].strip() or (opened and found["tag"])):
        return False
    return not opened or found["mark"].startswith(opened)


def _nearer(line: str, above: str) -> str:
    """The line above a block that may name its file: a heading that does, else the nearer line."""
    if not line.strip():
        return above
    heading = above.startswith("#") and _ABOVE.match(above[:_LONGEST_LINE])
    return above if heading and not _ABOVE.match(line[:_LONGEST_LINE]) else line


def _name_outside(fence: re.Match[str], above: str) -> str:
    """The file that is named in a fence, or on the line above it."""
    for pattern, text in (
        (_IN_FENCE, fence["tag"]),
        (_IN_FENCE, fence["rest"]),
        (_ABOVE, fence["before"] or above),
    ):
        if named := pattern.match(text[:_LONGEST_LINE]):
            return named["name"]
    return ""


def as_blocks(program: Program) -> str:
    """A program as fenced blocks, as a reply would have them; a single file has no name."""
    main = SourceFile(name=FILE_NAMES[program.language], text=program.source)
    files = (main, *program.files)
    runs = [run for file in files for run in re.findall("`{3,}", file.text)]
    mark = f"{max(runs, key=len)}`" if runs else "```"
    shown = [
        f"{file.name}\n{mark}{program.language}\n{file.text.rstrip()}\n{mark}" for file in files
    ]
    return "\n\n".join(shown) if program.files else shown[0].partition("\n")[2]


def defines(source: str, language: str) -> set[str]:
    """The names of functions and classes in a source, even where it cannot be parsed."""
    if language == "python":
        return set(_PYTHON_HEAD.findall(source))
    return functions(source, language) if language in TAGS else set()


def tidy(source: str, language: str) -> str:
    """A block without a common margin, and with HTML's marks as plain characters."""
    source = source.strip("\n") + "\n" if source.strip() else ""
    source = without_margin(source)
    if language != "python" and language in TAGS and has_entities(source, language):
        source = unescaped(source)
    return source


def parts(found: Sequence[Block], language: str, entry: str) -> Parts | None:
    """The main file and the files beside it; None where a reply does not name such files."""
    found = found[:_MOST_BLOCKS]
    endings, tags = ENDINGS.get(language, ()), {"", *TAGS.get(language, ())}
    named = [block for block in found if block.name.endswith(endings)] if endings else []
    silent = [block for block in found if not block.name and block.tag.lower() in tags]
    main = _main([*silent, *named], language, entry) if named else None
    if main is None:
        return None
    # Of two under one name the later is the better one.
    others = {block.name: block for block in named if block.name != main.name}
    kept = _needed(main, [*others.values()], language)
    files = tuple(
        SourceFile(name=_beside(main, block, language), text=_readable(block.source, language))
        for block in kept
    )
    return Parts(source=tidy(main.source, language), files=files) if files else None


def _main(found: Sequence[Block], language: str, entry: str) -> Block | None:
    """The main file's block: it has its name, or the entry, or a start of the program."""
    ending = ENDINGS[language][0]
    able = [block for block in found if not block.name or block.name.endswith(ending)]
    program = [block for block in found if not _TEST.fullmatch(block.name)]

    def rank(block: Block) -> tuple[bool | int, ...]:
        own = defines(block.source, language)
        begins = "__name__" in block.source if language == "python" else "main" in own
        users = (each for each in program if each is not block)
        return (
            _file(block.name) == FILE_NAMES[language],
            entry in own,
            block in program,
            begins,
            not any(_mentions(each.source, block.name) for each in users),
            bool(block.name),
            len(block.source),
        )

    return max(able, key=rank, default=None)


def _needed(main: Block, others: Sequence[Block], language: str) -> list[Block]:
    """The blocks that the main file needs; no tests, demonstrations or alternatives."""
    if language in _LINKED:
        taken = {"main"} | defines(main.source, language)
        return [
            block
            for block in others
            if not _TEST.fullmatch(block.name)
            and (block.name.endswith(_HEADERS) or taken.isdisjoint(defines(block.source, language)))
        ]
    reached, rest = [main], [*others]
    while more := [
        block for block in rest if any(_mentions(each.source, block.name) for each in reached)
    ]:
        reached += more
        rest = [block for block in rest if block not in more]
    return [block for block in others if block in reached]


def _mentions(source: str, name: str) -> bool:
    """Whether a source mentions a file by its name, or by the folder that stands for it."""
    *folders, file = name.split("/")
    stem = file.partition(".")[0]
    word = folders[-1] if folders and stem in {"__init__", "mod"} else stem
    return bool(word) and re.search(rf"\b{re.escape(word)}\b", source) is not None


def _beside(main: Block, other: Block, language: str) -> str:
    """The name of a file relative to the main one, which may be moved out of its folder."""
    folders = main.name.split("/")[:-1]
    while folders:
        root = "/".join([*folders, ""])
        if other.name.startswith(root) and not (
            language == "python" and _imports(folders[-1], [main, other])
        ):
            return other.name.removeprefix(root)
        folders.pop()
    return other.name


def _imports(package: str, sources: Sequence[Block]) -> bool:
    pattern = re.compile(rf"^\s*(?:from|import)[ \t]+{re.escape(package)}\b", re.MULTILINE)
    return any(pattern.search(block.source) for block in sources)


def _readable(source: str, language: str) -> str:
    """The text of a file beside the main one; only its margin and HTML's marks are mended."""
    text = tidy(source, language)
    if language == "python" and len(text) <= MOST_BYTES and not parsed(text):
        plain = unescaped(text)
        return plain if parsed(plain) else text
    return text


def _file(name: str) -> str:
    return name.rpartition("/")[2]
