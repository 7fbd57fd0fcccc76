"""Texts are cut along their syntax; no line is lost, none is twice."""

import random
import subprocess
import sys
from itertools import pairwise

import pytest

from twinsmith.adapters.knowledge.chunks import (
    FEW_CHARACTERS,
    MOST_CHARACTERS,
    PARSED_CHARACTERS,
    WINDOW_LINES,
    pieces,
)
from twinsmith.core.knowing.knowledge import Piece

H = "# " + "word " * 17 + "\n"  # enough for a piece of its own
S = "// " + "word " * 17 + "\n"

PYTHON = f'''"""A stack of numbers, kept in a list, with what is needed to push and pop."""
import os
import sys
LIMIT = 3  # as many as fit
# Pushes from outside.
# Two lines of it.
@cached
def push_all(stack, items):
    """Push every item."""
    for item in items:
        stack.push(item)
class Stack:
    """Last in, first out."""
    # Above the first method.
    def push(self, item):
        """Put an item on top, where it stays until it is popped again."""
        self.items.append(item)
        {H * 5}
    size = 0
    {H}
    @property
    def top(self):
        return self.items[-1]
        {H * 3}
    class Iterator:
        def next(self):
            return None
            {H}
if sys.platform == "linux":
    def only_here():
        return os.getpid()
        {H}
class Small:
    def method(self):
        return "small classes stay whole: their methods are not on their own"
'''
RUST = f"""//! A crate whose first line is long enough for a piece of its own, as it should be.
use std::fmt;
/// A stack.
#[derive(Debug)] #[must_use]
pub struct Stack<T> {{
    items: Vec<T>, // {"x" * 80}
}}
pub enum Kind {{
    Empty, // {"x" * 80}
}}
impl<T: fmt::Debug> fmt::Display for Stack<T> {{
    {S * 8}
    /// Shows it.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {{
        {S * 2}
    }}
}}
impl<T> Stack<T> {{
    pub fn push(&mut self, item: T) {{
        self.items.push(item) {S}
    }}
}}
pub trait Sized {{
    {S * 9}
    fn size(&self) -> usize; {S}
}}
"""
GO = f"""package stack
import "fmt"
{S}
// Push puts an item on top.
func (s *Stack[T]) Push(item T) {{
	s.items = append(s.items, item) {S}
}}
func New() *Stack {{
	return &Stack{{}} {S}
}}
type (
	A int {S}
	B = A
)
"""
C = f"""#ifndef STACK_H
#define STACK_H
{S}
/* A stack,
   last in, first out. */
struct stack {{
    int *items; {S}
}};
typedef struct {{
    int x; {S}
}} point;
static const char *name_of(const struct stack *s)
{{
    return 0; {S}
}}
#endif
"""
CPP = f"""#include <vector>
{S}
namespace data {{
template <class T> class Stack {{
public:
    {S * 8}
    void push(T item) {{
        items.push_back(item); {S}
    }}
}};
}}
template <class T> bool data::Stack<T>::operator==(const Stack &other) {{
    return true; {S}
}}
int &first() {{
    static int x; {S}
}}
"""
JAVASCRIPT = f"""import fs from "fs";
{S}
/** Doubles. */
export function double(n) {{
  return n * 2; {S}
}}
export default class Stack {{
  {S * 8}
  push(item) {{
    this.items.push(item); {S}
  }}
  pop = () => {{
    return this.items.pop(); {S}
  }};
}}
const half = async (n) => {{
  return n / 2; {S}
}};
Stack.prototype.peek = function () {{
  return 1; {S}
}};
"""
PERL = f"""package Data::Stack;
use strict;
{H}
=head2 new

Makes a stack.

=cut

sub new {{
    my $class = shift;
    return bless {{ items => [] }}, $class; {H}
}}

# Puts an item on top.
sub push_item {{
    my ($self, $item) = @_;
    push @{{$self->{{items}}}}, $item; {H}
}}

1;
"""
MARKDOWN = f"""---
title: front matter
{H}
---
# Guide

{S}

## Install

```sh
# not a heading
{S}
```

Use it
------

{S}

# Other

> # quoted
{S}
"""
PROGRAMS = {
    "python": PYTHON,
    "rust": RUST,
    "go": GO,
    "c": C,
    "cpp": CPP,
    "javascript": JAVASCRIPT,
    "perl": PERL,
    "markdown": MARKDOWN,
    "text": "\n".join(f"line {n}" if n % 7 else "" for n in range(400)),
}


def named(text: str, language: str) -> dict[str, Piece]:
    return {piece.symbol: piece for piece in pieces(text, language)}


def assert_sound(text: str, language: str) -> None:
    """The promises that hold for any text in any language."""
    cut = pieces(text, language)
    assert cut == pieces(text, language)
    lines = text.split("\n")
    owners = [0] * len(lines)
    last = 0
    for piece in cut:
        assert last < piece.first_line <= piece.last_line
        last = piece.last_line
        assert piece.text == "\n".join(lines[piece.first_line - 1 : last])
        assert len(piece.text) <= MOST_CHARACTERS or piece.first_line == last
        for row in range(piece.first_line - 1, last):
            owners[row] += 1
    assert all(n == 1 or not line.strip() for line, n in zip(lines, owners, strict=True))
    assert max(owners) <= 1
    for one, two in pairwise(cut):
        together = "\n".join(lines[one.first_line - 1 : two.last_line])
        small = min(len(one.text), len(two.text)) < FEW_CHARACTERS
        assert not small or len(together) > MOST_CHARACTERS


@pytest.mark.parametrize("language", PROGRAMS)
def test_every_line_is_in_exactly_one_piece(language: str) -> None:
    assert_sound(PROGRAMS[language], language)
    assert_sound(PROGRAMS[language].replace("\n", "\r\n"), language)


@pytest.mark.parametrize("language", PROGRAMS)
def test_damaged_programs_keep_every_line(language: str) -> None:
    """Lines of all programs, shuffled, doubled, cut and joined, by a seeded generator."""
    chance = random.Random(f"damaged {language}")
    own = PROGRAMS[language].split("\n")
    foreign = [line for text in PROGRAMS.values() for line in text.split("\n")]
    odd = ["", "\t", "\x0c", "é\u2028ß", "{" * 50, '"' * 9, "x" * 2_500, "\0", "\ud800", "\r"]
    for _ in range(40):
        lines = list(own)
        for _ in range(chance.randrange(1, 30)):
            place = chance.randrange(len(lines) + 1)
            match chance.randrange(4):
                case 0:
                    lines[place : place + chance.randrange(5)] = []
                case 1:
                    lines.insert(place, chance.choice(foreign))
                case 2:
                    lines.insert(place, chance.choice(odd))
                case _:
                    lines[place:place] = own[: chance.randrange(1, len(own))]
        assert_sound("\n".join(lines), language)


@pytest.mark.parametrize("text", ["", "\n", " \n\t\n", "\r\n\r\n"])
@pytest.mark.parametrize("language", PROGRAMS)
def test_nothing_makes_no_piece(text: str, language: str) -> None:
    assert pieces(text, language) == ()


def test_python() -> None:
    found = named(PYTHON, "python")
    stack = ["Stack.push", "Stack", "Stack.top", "Stack.Iterator"]
    assert list(found) == ["", "push_all", *stack, "only_here", "Small"]
    assert found["push_all"].text.startswith("# Pushes from outside.\n# Two lines of it.\n@cached")
    assert "# Above the first method." in found["Stack.push"].text
    assert found["Stack.top"].text.lstrip().startswith("@property")
    assert found[""].text.endswith("# as many as fit")
    assert found["push_all"].first_line == PYTHON[: PYTHON.index("# Pushes")].count("\n") + 1


def test_rust() -> None:
    symbols = [piece.symbol for piece in pieces(RUST, "rust")]
    display = ["fmt::Display for Stack", "Stack.fmt"]
    assert symbols == ["", "Stack", "Kind", *display, "Stack", "Sized", "Sized.size"]
    found = named(RUST, "rust")
    struct = next(p for p in pieces(RUST, "rust") if p.symbol == "Stack")
    assert struct.text.startswith("/// A stack.\n#[derive(Debug)] #[must_use]\npub struct")
    assert found["Stack.fmt"].text.endswith("}\n}")


def test_go() -> None:
    found = named(GO, "go")
    assert list(found) == ["", "Stack.Push", "New", "A, B"]
    assert found["Stack.Push"].text.startswith("// Push puts")


def test_c() -> None:
    found = named(C, "c")
    assert list(found) == ["", "stack", "point", "name_of"]
    assert found["stack"].text.startswith("/* A stack,\n   last in")


def test_cpp() -> None:
    found = named(CPP, "cpp")
    assert list(found) == ["", "data.Stack", "data.Stack.push", "data.Stack.operator==", "first"]


def test_javascript() -> None:
    found = named(JAVASCRIPT, "javascript")
    stack = ["Stack", "Stack.push", "Stack.pop"]
    assert list(found) == ["", "double", *stack, "half", "Stack.prototype.peek"]
    assert found["double"].text.startswith("/** Doubles. */\nexport function")


def test_perl() -> None:
    found = named(PERL, "perl")
    assert list(found) == ["", "Data::Stack.new", "Data::Stack.push_item"]
    assert found["Data::Stack.new"].text.startswith("=head2 new")
    assert found["Data::Stack.push_item"].text.startswith("# Puts an item")


def test_perl_that_does_not_parse_is_cut_at_its_subs() -> None:
    bad = "<<<<<<< )))) ]]]] ;;; %%% @@@ $$$ \n" * 30
    text = f"{bad}# doc\nsub one {{\n{bad}}}\nsub two {{\n{bad}}}\n"
    assert_sound(text, "perl")
    assert {"one", "two"} <= set(named(text, "perl"))


def test_markdown() -> None:
    found = named(MARKDOWN, "markdown")
    assert list(found) == ["", "Guide", "Guide > Install", "Guide > Use it", "Other"]
    assert "# not a heading" in found["Guide > Install"].text


def test_a_long_function_is_split_at_blank_lines_and_keeps_its_name() -> None:
    block = "".join(f"    value_{n} = {n}\n" for n in range(40))
    text = f"def long():\n{block}\n{block}\n{block}\n{block}    return 1\n"
    cut = pieces(text, "python")
    assert [piece.symbol for piece in cut] == ["long", "long (2)"]
    lines = text.split("\n")
    assert all(not lines[piece.last_line] for piece in cut[:-1])
    assert_sound(text, "python")


def test_small_neighbours_are_joined() -> None:
    cut = pieces("def a():\n    pass\n\n\ndef b():\n    pass\n", "python")
    assert [(piece.symbol, piece.first_line, piece.last_line) for piece in cut] == [("a, b", 1, 6)]


@pytest.mark.parametrize("language", ["text", "cobol", ""])
def test_languages_without_a_grammar_are_cut_into_windows(language: str) -> None:
    cut = pieces(PROGRAMS["text"], language)
    assert {piece.symbol for piece in cut} == {""}
    assert all(piece.last_line - piece.first_line < WINDOW_LINES for piece in cut)
    lines = PROGRAMS["text"].split("\n")
    assert all(not lines[piece.last_line] for piece in cut[:-1])


def test_text_that_is_no_program_is_cut_into_windows() -> None:
    prose = "Dear all, this is ))) not } a program, is it? ((( No: it's prose.\n" * 100
    for language in ("python", "rust", "go", "c"):
        assert_sound(prose, language)


def test_text_that_would_stall_a_parser_is_not_parsed() -> None:
    for text in ('"' * 100_000, "```\n" * 60_000, "x = 1\n" * (PARSED_CHARACTERS // 6 + 1)):
        assert {piece.symbol for piece in pieces(text, "python")} == {""}


@pytest.mark.parametrize("line", ["class A {\n", "namespace a {\n", "#ifdef X\n", "mod a {\n"])
def test_deep_nesting_is_survived(line: str) -> None:
    for language in ("cpp", "javascript", "rust"):
        assert_sound(line * 500 + "}\n" * 500, language)


def test_lines_far_down_are_right() -> None:
    """Rows above 256 once came back wrong: tree-sitter 0.26.0 frees numbers that are in use."""
    text = "".join(f"def f{n}():\n    return '{'x' * 80}'\n\n\n" for n in range(500))
    for _ in range(5):
        cut = pieces(text, "python")
        assert [piece.first_line for piece in cut] == list(range(1, 2_000, 4))
        assert [piece.symbol for piece in cut] == [f"f{n}" for n in range(500)]


def test_importing_loads_no_grammar() -> None:
    code = (
        "import sys, twinsmith.adapters.knowledge.chunks;"
        "print([name for name in sys.modules if name.startswith('tree_sitter')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
