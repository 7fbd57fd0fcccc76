"""Mending text that is nearly Python: marks, indentation, prose, brackets and ends."""

import re
from collections.abc import Callable, Sequence
from itertools import combinations, islice

from twinsmith.core.program import Kind
from twinsmith.core.replies.python_names import defined, parsed, problem
from twinsmith.core.replies.source_text import Mended, straight, unescaped, without_margin

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
_OPENED = re.compile(r"'([(\[{])' was never closed")
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_OUTER = re.compile(r"(?:def|class|async|import|from|if __name__)\b|@")


def readable(source: str, entry: str, kind: Kind) -> Mended | None:  # noqa: ARG001
    """Text that Python can read, with as few changes as do; None when nothing helps."""
    if parsed(source):
        return None
    done: list[str] = []
    for words, spelled in _LETTERS:
        changed = spelled(source)
        if changed != source:
            source = changed
            done.append(words)
    if parsed(source):
        return source, ", ".join(done)
    for count in (1, 2, 3):
        for changes in combinations(_CHANGES, count):
            text = source
            for _, change in changes:
                text = change(text, entry)
            if (tree := parsed(text)) and tree.body:
                return text, ", ".join([*done, *(words for words, _ in changes)])
    return None


def _straight(source: str) -> str:
    return straight(source, "python")


def _evenly_indented(source: str) -> str:
    """A source with tabs as four spaces and without a common margin."""
    text = re.sub(r"^[ \t]+", lambda found: found[0].expandtabs(4), source, flags=re.MULTILINE)
    text = without_margin(text)
    if text != source or parsed(text):
        return text
    first, _, rest = text.partition("\n")
    return again if parsed(again := f"{first}\n{without_margin(rest)}") else text


def _without_prose(source: str, _entry: str) -> str:
    """A source without lines that stop the parser and read as sentences or marks."""
    text = _following_errors(source, _drop_sentence)
    if text == source:
        return source
    lines = text.rstrip().split("\n")
    while lines and (not lines[-1].strip() or _HEADING.match(lines[-1])):
        lines.pop()
    return "\n".join(lines).lstrip("\n") + "\n"


def _indented_bodies(source: str, _entry: str) -> str:
    return _following_errors(source, _indent)


def _closed_brackets(source: str, entry: str) -> str:
    """A source with brackets closed up to the end of the entry function."""
    lines = source.split("\n")
    head = re.compile(rf"\s*(?:async\s+)?def\s+{re.escape(entry)}\s*\(")
    begins = next((i for i, line in enumerate(lines) if entry and head.match(line)), None)
    if begins is None:
        return source
    end = _end_of_statement(lines, begins) + 1
    return "\n".join([_following_errors("\n".join(lines[:end]), _close), *lines[end:]])


def _following_errors(source: str, act: Callable[[list[str], int, str], bool]) -> str:
    """A source after `act` was tried on the line of each syntax error, while that helps."""
    lines = source.split("\n")
    for _ in range(_tries(source, _MOST_ERRORS)):
        error = problem("\n".join(lines))
        if error is None or not error.lineno or error.lineno > len(lines):
            break
        if not act(lines, error.lineno - 1, error.msg):
            break
    return "\n".join(lines)


def _tries(source: str, most: int) -> int:
    return min(most, _PARSED_AT_MOST // (len(source) + 1))


def _drop_sentence(lines: list[str], at: int, _message: str) -> bool:
    if not _is_prose(lines[at]):
        return False
    del lines[at]
    return True


def _is_prose(line: str) -> bool:
    """Whether a line that stops the parser is no code at all."""
    first = line.lstrip()[:1]
    if _MARKDOWN.match(line) or (first.isalpha() and not first.isascii()):
        return True
    return bool(_SENTENCE.match(line)) and not _STATEMENT.match(line) and "=" not in line


def _indent(lines: list[str], at: int, message: str) -> bool:
    """Move a line that the parser finds at the wrong depth."""
    before = next((line for line in reversed(lines[:at]) if line.strip()), "")
    if message.startswith("expected an indented block"):
        end = _end_of_body(lines, at) if "function definition" in message else at + 1
        depth = _depth(before) + 4 - _depth(lines[at])
    elif message.startswith(("unexpected indent", "unindent does not match")):
        levels = {_depth(line) for line in lines[:at] if line.strip()} or {0}
        end, depth = _end_of_block(lines, at), _nearest(levels, _depth(lines[at]))
        depth = (_depth(before) if message.startswith("unexp") else depth) - _depth(lines[at])
    else:
        return False
    for i in range(at, end):
        if lines[i].strip():
            lines[i] = " " * max(_depth(lines[i]) + depth, 0) + lines[i].lstrip()
    return depth != 0


def _close(lines: list[str], at: int, message: str) -> bool:
    """Close a bracket where the statement that opened it ends."""
    opened = _OPENED.match(message)
    if opened is None:
        return False
    lines[_end_of_statement(lines, at)] += _CLOSING[opened[1]]
    return True


def _end_of_statement(lines: Sequence[str], at: int) -> int:
    """The last line of a statement: the last that is indented deeper than its first."""
    end = at
    for i in range(at + 1, len(lines)):
        if lines[i].strip() and _depth(lines[i]) <= _depth(lines[at]):
            break
        end = i if lines[i].strip() else end
    return end


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _nearest(levels: set[int], depth: int) -> int:
    return min(levels, key=lambda level: (abs(level - depth), level))


def _end_of_body(lines: Sequence[str], at: int) -> int:
    depth = _depth(lines[at])
    ends = (i for i in range(at, len(lines)) if _OUTER.match(lines[i][depth:]))
    return next((i for i in ends if i > at and _depth(lines[i]) <= depth), len(lines))


def _end_of_block(lines: Sequence[str], at: int) -> int:
    depth = _depth(lines[at])
    shallower = (i for i in range(at, len(lines)) if lines[i].strip() and _depth(lines[i]) < depth)
    return next(shallower, len(lines))


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


_LETTERS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("HTML's marks turned into characters", unescaped),
    ("typographic marks made plain", _straight),
    ("indentation made even", _evenly_indented),
)
_CHANGES: tuple[tuple[str, Callable[[str, str], str]], ...] = (
    ("prose removed", _without_prose),
    ("bodies indented", _indented_bodies),
    ("brackets closed", _closed_brackets),
    ("an unfinished end removed", _without_end),
)
