"""Mending text that is nearly Python: prose in it, and an end that is cut off."""

import re
from itertools import islice

from twinsmith.core.program import Kind
from twinsmith.core.replies.python_names import defined, parsed, problem
from twinsmith.core.replies.source_text import Mended

_MOST_ERRORS = 30
_MOST_CUT = 40
_MOST_BLOCKS = 20
_PARSED_AT_MOST = 3_000_000
_SENTENCE = re.compile(
    r"\s*(?:[-*•>]\s+|\d+[.)]\s+|\#+\s+)?[*_`\"“(]*[A-Za-z][\w'’]*[*_`:,.!\"”)]*"  # noqa: RUF001
    r"(?:\s+[*_`\"“(]*[A-Za-z\d]|\s*$)"
)
_MARKDOWN = re.compile(r"\s*(?:`{3,}|~{3,})[\w+-]*\s*$|\s*[-*=_]{3,}\s*$|\s*\#{2,}\s.*$|\s*\*\*.*$")
_HEADING = re.compile(r"#{2,}\s")
_STATEMENT = re.compile(
    r"\s*(?:def|class|return|if|elif|else|for|while|import|from|assert|with|try|except|finally"
    r"|raise|async|await|yield|pass|break|continue|global|nonlocal|del|lambda|not|and|or)\b|\s*@"
)


def readable(source: str, entry: str, kind: Kind) -> Mended | None:  # noqa: ARG001
    """Text that Python can read, with as few changes as do; None when nothing helps."""
    if parsed(source):
        return None
    prose, end = "prose removed", "an unfinished end removed"
    plain, cut = _without_prose(source), _without_end(source, entry)
    for text, words in (
        (plain, prose),
        (cut, end),
        (_without_end(plain, entry), f"{prose}, {end}"),
    ):
        if (tree := parsed(text)) and tree.body:
            return text, words
    return None


def _without_prose(source: str) -> str:
    """A source without lines that stop the parser and read as sentences or marks."""
    lines = source.split("\n")
    for _ in range(_tries(source, _MOST_ERRORS)):
        error = problem("\n".join(lines))
        if error is None or not error.lineno or error.lineno > len(lines):
            break
        if not _is_prose(lines[error.lineno - 1]):
            break
        del lines[error.lineno - 1]
    text = "\n".join(lines)
    if text == source:
        return source
    lines = text.rstrip().split("\n")
    while lines and (not lines[-1].strip() or _HEADING.match(lines[-1])):
        lines.pop()
    return "\n".join(lines).lstrip("\n") + "\n"


def _tries(source: str, most: int) -> int:
    return min(most, _PARSED_AT_MOST // (len(source) + 1))


def _is_prose(line: str) -> bool:
    """Whether a line that stops the parser is no code at all."""
    first = line.lstrip()[:1]
    if _MARKDOWN.match(line) or (first.isalpha() and not first.isascii()):
        return True
    return bool(_SENTENCE.match(line)) and not _STATEMENT.match(line) and "=" not in line


def _without_end(source: str, entry: str) -> str:
    """The longest beginning of a source that can be parsed and still has the entry function."""
    lines = source.rstrip().split("\n")
    ends = [len(lines) - cut for cut in range(1, min(_MOST_CUT, len(lines)))]
    outer = [i for i in range(1, len(lines)) if re.match(r"[\w@]", lines[i])]
    ends += [end for end in reversed(outer) if not ends or end < ends[-1]][:_MOST_BLOCKS]
    for end in islice(ends, _tries(source, len(ends))):
        text = "\n".join(lines[:end]).rstrip() + "\n"
        tree = parsed(text)
        if tree and tree.body and (not entry or entry in defined(tree)):
            return text
    return source
