"""A text in, its pieces out, cut along its syntax: functions, classes, sections.

A piece is a run of whole lines. Every line that is not blank lies in exactly one piece.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from twinsmith.adapters.knowledge.grammars import (
    FUNCTION_VALUES,
    GRAMMARS,
    SYMBOL_CHARACTERS,
    Grammar,
    load_language,
    member,
    name_of,
    text_of,
)
from twinsmith.core.knowing.knowledge import Piece

if TYPE_CHECKING:
    from tree_sitter import Node

MOST_CHARACTERS = 2_000
"""A piece is longer only when it is one line that is longer."""
WHOLE_CHARACTERS = 800
"""A class up to this size stays in one piece: an embedder reads little more at once."""
FEW_CHARACTERS = 80
"""A piece below this is joined with a neighbour."""
WINDOW_LINES = 40
PARSED_CHARACTERS = 200_000
"""A longer text is not parsed: on a broken one a parser can take time by its square."""
_DEEPEST = 40

_CLOSERS = re.compile(r"[\s)\]};,]*")
_LEVEL = re.compile(r"_h([1-6])_")
_PERL_SUB = re.compile(r"\s*(?:sub|method)\s+([\w:']+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Span:
    """The lines first..last, counted from 0, both included."""

    first: int
    last: int
    symbol: str


class _Lines:
    """A text by its lines, which knows the size of every run of them."""

    def __init__(self, text: str) -> None:
        # Not `splitlines`: the parser counts rows by "\n" alone.
        self.lines = text.split("\n")
        self._ends = [0, *accumulate(len(line) + 1 for line in self.lines)]
        self.data = text.encode("utf-8", "replace")
        self._starts = [0, *(found.end() for found in re.finditer(b"\n", self.data))]

    @property
    def hard(self) -> bool:
        """Whether a parser could take minutes: the text is huge, or mostly quotes and brackets."""
        marks = sum(self.data.count(mark) for mark in b"\"'`([{")
        return len(self.data) > PARSED_CHARACTERS or 4 * marks > max(len(self.data), 5_000)

    def rows(self, node: "Node") -> tuple[int, int]:
        """The first and the last line of a node.

        By its bytes: `Point.row` of tree-sitter 0.26.0 frees numbers that are in use.
        """
        last = max(node.start_byte, node.end_byte - 1)
        return bisect_right(self._starts, node.start_byte) - 1, bisect_right(self._starts, last) - 1

    def text(self, first: int, last: int) -> str:
        return "\n".join(self.lines[first : last + 1])

    def size(self, first: int, last: int) -> int:
        return self._ends[last + 1] - self._ends[first] - 1

    def blank(self, row: int) -> bool:
        return not self.lines[row].strip()

    def trimmed(self, span: _Span) -> _Span | None:
        """The span without the blank lines around it; None when nothing is left."""
        first, last = span.first, span.last
        while first <= last and self.blank(first):
            first += 1
        while last > first and self.blank(last):
            last -= 1
        return _Span(first=first, last=last, symbol=span.symbol) if first <= last else None


def pieces(text: str, language: str) -> tuple[Piece, ...]:
    """Cut a text along the syntax of its language, or into windows of lines."""
    lines = _Lines(text)
    whole = _Span(first=0, last=len(lines.lines) - 1, symbol="")
    spans = _along_syntax(lines, whole, language)
    parts = (
        list(_split(lines, whole, least=MOST_CHARACTERS // WINDOW_LINES))
        if spans is None
        else [part for span in spans for part in _split(lines, span)]
    )
    return tuple(
        Piece(
            text=lines.text(span.first, span.last),
            symbol=span.symbol,
            first_line=span.first + 1,
            last_line=span.last + 1,
        )
        for span in _joined(lines, parts)
    )


def _along_syntax(lines: _Lines, whole: _Span, language: str) -> list[_Span] | None:
    if (language != "markdown" and language not in GRAMMARS) or lines.hard:
        return None
    from tree_sitter import Parser

    root = Parser(load_language(language)).parse(lines.data).root_node
    if language == "markdown":
        return _sections(root, lines, whole)
    if not _broken(root):
        return _Cutter(lines, GRAMMARS[language]).cut(root, whole)
    return _perl_subs(lines, whole) if language == "perl" else None


def _broken(root: "Node") -> bool:
    """Whether most of the text is not of this language at all."""
    if root.type == "ERROR":
        return True
    if not root.has_error:
        return False
    wrong = sum(n.end_byte - n.start_byte for n in root.children if n.type == "ERROR")
    return 2 * wrong > root.end_byte - root.start_byte


class _Cutter:
    """Cuts the lines of a node at the definitions in it."""

    def __init__(self, lines: _Lines, grammar: Grammar) -> None:
        self._lines = lines
        self._grammar = grammar

    def cut(self, node: "Node", span: _Span, owner: str = "", depth: int = 0) -> list[_Span]:
        """Spans that cover all of `span`: each definition, and what lies between them."""
        spans: list[_Span] = []
        at = span.first  # the first line that no span covers yet
        code = -1  # where the last node that is no note ended
        note, note_end = -1, -1  # the notes directly above
        for child, prefix in self._members(node, owner):
            start, end = self._lines.rows(child)
            if child.type in self._grammar.notes:
                if start <= code:
                    continue  # it belongs to the code on its line
                note = start if note < 0 or start > note_end + 1 else note
                note_end = end
                continue
            if (found := self._definition(child)) and end >= at:
                top = note if note >= 0 and start <= self._reach(note_end) else start
                top = max(at, top)
                if top > at:
                    spans.append(_Span(first=at, last=top - 1, symbol=span.symbol))
                inner, name = found
                own = _Span(first=top, last=end, symbol=member(prefix, name))
                spans += self._definition_spans(inner, own, depth)
                at = end + 1
            code, note = end, -1
        if spans and _CLOSERS.fullmatch(self._lines.text(at, span.last)):
            last = spans.pop()
            spans.append(_Span(first=last.first, last=span.last, symbol=last.symbol))
        elif at <= span.last:
            spans.append(_Span(first=at, last=span.last, symbol=span.symbol))
        return spans

    def _reach(self, note_end: int) -> int:
        """The last line on which a definition owns the notes above; POD ends with a blank line."""
        return note_end + (2 if self._lines.lines[note_end].startswith("=cut") else 1)

    def _definition_spans(self, node: "Node", span: _Span, depth: int) -> list[_Span]:
        large = self._lines.size(span.first, span.last) > WHOLE_CHARACTERS
        if node.type in self._grammar.owners and large and depth < _DEEPEST:
            # The members of "Display for Stack" are members of Stack.
            return self.cut(node, span, span.symbol.rpartition(" for ")[2], depth + 1)
        return [span]

    def _members(self, node: "Node", owner: str, depth: int = 0) -> Iterator[tuple["Node", str]]:
        """The nodes inside, those in bodies and conditions too, each with the name above it."""
        for child in node.children:
            if child.type in self._grammar.through and depth < _DEEPEST:
                inside = owner
                if child.type == "namespace_definition":
                    inside = member(owner, text_of(child.child_by_field_name("name")))
                yield from self._members(child, inside, depth + 1)
            else:
                yield child, owner
            if child.type in ("package_statement", "class_statement") and not _has_block(child):
                owner = text_of(child.child_by_field_name("name"))

    def _definition(self, node: "Node", depth: int = 0) -> tuple["Node", str] | None:
        """The definition that a node is or wraps, with its name."""
        grammar = self._grammar
        if node.type in grammar.leaves or node.type in grammar.owners:
            statement = node.type in ("package_statement", "class_statement")
            return None if statement and not _has_block(node) else (node, name_of(node))
        if node.type not in grammar.wrappers or depth > _DEEPEST:
            return None
        for child in (node, *node.named_children):
            value = child.child_by_field_name("value") or child.child_by_field_name("right")
            if value is not None and value.type in FUNCTION_VALUES:
                return value, name_of(child)
            if child is not node and (found := self._definition(child, depth + 1)):
                return found
        return None


def _has_block(node: "Node") -> bool:
    return any(child.type == "block" for child in node.children)


def _sections(root: "Node", lines: _Lines, whole: _Span) -> list[_Span]:
    """A text along its headings; the symbol of a section is the path of headings to it."""
    spans: list[_Span] = []
    path: list[tuple[int, str]] = []
    at = whole.first
    symbol = ""
    for row, level, title in _headings(root, lines):
        if row > at:
            spans.append(_Span(first=at, last=row - 1, symbol=symbol))
        path = [*(step for step in path if step[0] < level), (level, title)]
        symbol = " > ".join(step[1] for step in path if step[1])
        at = row
    return [*spans, _Span(first=at, last=whole.last, symbol=symbol)]


def _headings(node: "Node", lines: _Lines) -> Iterator[tuple[int, int, str]]:
    """Row, level and title of each heading that is not inside a list or a quotation."""
    for child in node.children:
        if child.type == "section":
            yield from _headings(child, lines)
        elif child.type in ("atx_heading", "setext_heading"):
            level = _LEVEL.search(" ".join(part.type for part in child.children))
            title = text_of(child.child_by_field_name("heading_content")).rstrip("# ")
            yield lines.rows(child)[0], int(level[1]) if level else 1, title


def _perl_subs(lines: _Lines, whole: _Span) -> list[_Span]:
    """A Perl text that does not parse: from each `sub` to the next."""
    spans: list[_Span] = []
    at, symbol = whole.first, ""
    for row, line in enumerate(lines.lines):
        if found := _PERL_SUB.match(line):
            top = row
            while top > at and lines.lines[top - 1].lstrip().startswith("#"):
                top -= 1
            if top > at:
                spans.append(_Span(first=at, last=top - 1, symbol=symbol))
            at, symbol = top, found[1][:SYMBOL_CHARACTERS]
    return [*spans, _Span(first=at, last=whole.last, symbol=symbol)]


def _split(lines: _Lines, span: _Span, *, least: int = 0) -> Iterator[_Span]:
    """Parts of even size that fit, cut at blank lines where that can be.

    A line counts `least` at the least, which bounds the number of lines as well.
    """
    whole = lines.trimmed(span)
    if whole is None:
        return
    rows = lines.lines[whole.first : whole.last + 1]
    ends = [0, *accumulate(max(len(line) + 1, least) for line in rows)]
    at, number = 0, 1
    while at < len(rows):
        end = _best_end(rows, ends, at)
        symbol = f"{span.symbol} ({number})" if span.symbol and number > 1 else span.symbol
        part = _Span(first=whole.first + at, last=whole.first + end - 1, symbol=symbol)
        if (kept := lines.trimmed(part)) is not None:
            yield kept
            number += 1
        at = end


def _best_end(rows: list[str], ends: list[int], at: int) -> int:
    """Where the part that begins at row `at` ends: all that is left, when it fits."""
    left = ends[-1] - ends[at]
    if left - 1 <= MOST_CHARACTERS:
        return len(rows)
    wanted = ends[at] + left / -(-left // MOST_CHARACTERS)
    fitting = range(at + 1, bisect_right(ends, ends[at] + MOST_CHARACTERS + 1)) or [at + 1]
    blank = [n for n in fitting if not rows[n - 1].strip() and ends[n] > (ends[at] + wanted) / 2]
    return min(blank or fitting, key=lambda n: abs(ends[n] - wanted))


def _joined(lines: _Lines, spans: list[_Span]) -> list[_Span]:
    """Small spans joined with the next one, else with the one before, where that fits."""
    done: list[_Span] = []
    for span in spans:
        done.append(span)
        while len(done) > 1 and _small(lines, done[-2]) and _fit(lines, done[-2], done[-1]):
            done[-2:] = [_both(*done[-2:])]
    kept: list[_Span] = []
    for span in done:
        if kept and _small(lines, span) and _fit(lines, kept[-1], span):
            kept[-1] = _both(kept[-1], span)
        else:
            kept.append(span)
    return kept


def _small(lines: _Lines, span: _Span) -> bool:
    return lines.size(span.first, span.last) < FEW_CHARACTERS


def _fit(lines: _Lines, one: _Span, two: _Span) -> bool:
    return lines.size(one.first, two.last) <= MOST_CHARACTERS


def _both(one: _Span, two: _Span) -> _Span:
    names = [name for name in dict.fromkeys((one.symbol, two.symbol)) if name]
    if len(names) == 2 and two.symbol.startswith((f"{one.symbol}.", f"{one.symbol} > ")):
        names = [two.symbol]  # a header and its first member
    return _Span(first=one.first, last=two.last, symbol=", ".join(names)[: 2 * SYMBOL_CHARACTERS])
