"""Source code as text, in any language: what is code in it, and what is a comment or a literal.

No pattern here looks far ahead in vain: a hostile source must not take long to read.
"""

import re
from collections.abc import Callable, Mapping

from twinsmith.core.program import Kind

Mended = tuple[str, str]
"""A mended source, and in words what was done to it."""
Step = Callable[[str, str, Kind], Mended | None]
"""One repair: source, entry and kind in, a mended source out; None where nothing was mended."""

_SHORT = r""""(?:\\.?|[^"\\\n])*"?"""
_C_COMMENT = r"//[^\n]* | /\*.*?(?:\*/|\Z)"
_LITERALS: Mapping[str, str] = {
    "rust": rf"""{_C_COMMENT} | \bb?r(?P<fence>\#*)".*?(?:"(?P=fence)|\Z)
    | "(?:\\.?|[^"\\])*"? | '(?:\\[^\n][^'\n]{{0,10}}|[^'\\\n])'""",
    "go": rf"{_C_COMMENT} | {_SHORT} | `[^`]*`? | '(?:\\.|[^'\\\n]){{1,10}}'",
    "c": rf"""{_C_COMMENT} | \b[0-9](?:'?\w)*
    | \b(?:u8|[uUL])?R"(?P<mark>[^()\\\s"]{{0,16}})\(.*?(?:\)(?P=mark)"|\Z)
    | {_SHORT} | '(?:\\.|[^'\\\n]){{1,10}}'""",
    "perl": rf"""^=[a-z].*?(?:^=cut\b[^\n]*|\Z) | ^__(?:END|DATA)__.*\Z
    | (?<![$\\{{])\#[^\n]* | {_SHORT} | (?<![\w$&])'(?:\\.|[^'\\\n])*'""",
}
_FLAGS = re.VERBOSE | re.DOTALL | re.MULTILINE
_LITERAL = {language: re.compile(text, _FLAGS) for language, text in _LITERALS.items()}
_LITERAL["cpp"] = _LITERAL["c"]

_ENTITIES = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'", "#39": "'", "#x27": "'"}
_ENTITY = re.compile(rf"&({'|'.join(_ENTITIES)});")
_MARKS = {
    **dict.fromkeys("“”„‟″", '"'),
    **dict.fromkeys("‘’‚′", "'"),  # noqa: RUF001
    **dict.fromkeys("−–‐‑", "-"),  # noqa: RUF001
    **dict.fromkeys("\u00a0\u2002\u2003\u2009\u202f\u3000", " "),
    **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff", ""),
    **dict(zip("×÷≤≥≠…", ("*", "/", "<=", ">=", "!=", "..."), strict=True)),  # noqa: RUF001
    **dict(zip("（），：；！", "(),:;!", strict=True)),  # noqa: RUF001
}
_MARK = re.compile(f"[{re.escape(''.join(_MARKS))}]")
_QUOTED = "[“”]([^“”\n]*)[“”]|[‘’]([^‘’\n]*)[‘’]"  # noqa: RUF001


def bare(source: str, language: str) -> str:
    """The source with comments and literals blanked out, everything else at its place."""
    return _LITERAL[language].sub(_blank, source)


def _blank(found: re.Match[str]) -> str:
    if found[0][0].isdigit():
        return found[0]
    return re.sub(r"[^\n]", " ", found[0])


def outline(bare_source: str, opening: str = "{", closing: str = "}") -> str:
    """A bare source with whatever is inside brackets blanked out too."""
    depth, letters = 0, []
    for letter in bare_source:
        depth -= letter in closing and depth > 0
        letters.append(letter if depth == 0 or letter == "\n" else " ")
        depth += letter in opening
    return "".join(letters)


def plain(name: str) -> str:
    """A name without case and underscores: HasCloseElements and has_close_elements are the same."""
    return name.replace("_", "").lower()


def unescaped(source: str) -> str:
    """A source with HTML's marks as the characters that they stand for."""
    return _ENTITY.sub(lambda found: _ENTITIES[found[1]], source)


def has_entities(source: str, language: str) -> bool:
    """Whether code was written as HTML, with `&lt;` and the like outside of literals."""
    code = bare(source, language)
    found = {entity[1] for entity in _ENTITY.finditer(code)}
    rest = _ENTITY.sub(" ", code)
    return bool(found) and not re.search(rf"\b(?:{'|'.join(map(re.escape, found))})\b", rest)


def straight(source: str, language: str) -> str:
    """A source with typographic quotes, dashes and spaces outside literals as plain ones."""
    if not _MARK.search(source):
        return source
    known = re.compile(f"{_LITERAL[language].pattern} | {_QUOTED} | {_MARK.pattern}", _FLAGS)
    return known.sub(_straightened, source)


def _straightened(found: re.Match[str]) -> str:
    text = found[0]
    if text[0] not in _MARKS:
        return text
    if len(text) == 1:
        return _MARKS[text]
    return f"{_MARKS[text[0]]}{text[1:-1]}{_MARKS[text[-1]]}"


def without_margin(source: str) -> str:
    """A source that is indented as a whole, moved to the margin."""
    depths = [len(line) - len(line.lstrip()) for line in source.split("\n") if line.strip()]
    least = min(depths, default=0)
    if not least:
        return source
    return "\n".join(line[least:] if line.strip() else "" for line in source.split("\n"))
