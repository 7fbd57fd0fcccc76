"""What libraries offer, and how they are checked."""

import json

import pytest

from twinsmith.core.checks.proposed import library_checks
from twinsmith.core.errors import BadReply
from twinsmith.core.library_names import placed, written_in
from twinsmith.core.library_outline import (
    MOST_PARTS,
    as_written,
    example_for,
    kept_to,
    read_outline,
    read_placing,
)

PARTS = [
    {"name": "to_roman", "signature": "def to_roman(n: int) -> str:", "does": "Writes it."},
    {"name": "Stack", "signature": "class Stack", "does": ""},
]


def test_an_outline_is_read() -> None:
    found = read_outline(json.dumps({"parts": PARTS, "question": "Zero?", "assumed": "refused"}))
    assert found.names == ("to_roman", "Stack")
    assert found.text() == (
        "Define exactly these:\n- def to_roman(n: int) -> str:: Writes it.\n- class Stack"
    )
    assert found.assumed == "refused"


def test_methods_belong_to_their_class() -> None:
    parts = [
        {"name": "Stack", "signature": "class Stack:", "does": "keeps things."},
        {"name": "push", "signature": "def push(self, item) -> None:", "does": "adds"},
        {"name": "pop", "signature": "def pop(self):", "does": "takes"},
        {"name": "pop", "signature": "def pop(self):", "does": "takes"},
        {"name": "total", "signature": "def total(stack: Stack) -> int:", "does": "sums"},
    ]
    found = read_outline(json.dumps({"parts": parts}))
    assert found.names == ("Stack", "total")
    assert found.parts[0].does == "keeps things. Methods: push(self, item) -> None; pop(self)"


@pytest.mark.parametrize("language", ["python", "perl", "rust", "go", "c", "cpp"])
def test_the_example_reads_as_an_outline(language: str) -> None:
    _, example = example_for(language)
    assert read_outline(example).names[:2] == ("c_to_f", "f_to_c")


def test_names_that_are_none_or_come_twice_are_left_out() -> None:
    listed = [*PARTS, PARTS[0], {"name": "a b"}, {"name": ""}, 3, {"name": "f", "signature": "g()"}]
    found = read_outline(json.dumps({"parts": listed}))
    assert found.names == ("to_roman", "Stack", "f")
    assert found.parts[2].signature == "f"
    many = [{"name": f"f{n}"} for n in range(100)]
    assert len(read_outline(json.dumps({"parts": many})).parts) == MOST_PARTS


@pytest.mark.parametrize("text", ["{}", '{"parts": []}', '{"parts": [1]}', '{"parts": "f"}'])
def test_an_outline_of_nothing_is_a_bad_reply(text: str) -> None:
    with pytest.raises(BadReply, match="names no function"):
        read_outline(text)


REPLY = """Sure:
```python
def test_1():
    assert to_roman(4) == "IV"

def test_2():
    s = Stack()
    s.push(1)
    assert s.pop() == 1
    assert s.pop() == 7

assert to_roman(4) == 'IV'

def test_3():
    assert other(1) == 2

def test_4(fixture):
    assert to_roman(fixture) == 1

def test_5():
    print(to_roman(1))

def test_6():
    assert to_roman(
```"""


def test_tests_of_one_assert_are_calls_and_longer_ones_end_at_each_assert() -> None:
    found = library_checks(REPLY, ("to_roman", "Stack"))
    told = {probe.source: (times, probe.call is not None) for probe, times in found.items()}
    assert told == {
        "assert to_roman(4) == 'IV'": (2, True),
        "s = Stack()\ns.push(1)\nassert s.pop() == 1": (1, False),
        "s = Stack()\ns.push(1)\nassert s.pop() == 1\nassert s.pop() == 7": (1, False),
    }


def test_nonsense_has_no_checks() -> None:
    for text in ("", "no", "```python\n", "def test_1(:", "assert to_roman(" * 5_000):
        assert library_checks(text, ("to_roman",)) == {}


def test_a_test_ends_before_the_first_name_that_nobody_promised() -> None:
    text = "def test_1():\n    assert to_roman(1) == 'I'\n    assert Number(1) == to_roman(1)\n"
    assert [probe.source for probe in library_checks(text, ("to_roman",))] == [
        "assert to_roman(1) == 'I'"
    ]


def test_a_check_that_something_is_raised_needs_no_package() -> None:
    text = "def test_1():\n    with pytest.raises(ValueError):\n        to_roman(-1)\n"
    (probe,) = library_checks(text, ("to_roman",))
    assert probe.source == (
        "try:\n    to_roman(-1)\nexcept ValueError:\n    pass\n"
        "else:\n    raise AssertionError('ValueError was not raised')"
    )


BAG = "class Bag(limit) with put(thing) and weight() -> int; heaviest(bags) finds one"


def test_an_outline_has_the_names_and_parameters_of_the_task() -> None:
    owners = {"put": "Bag", "weight": "Bag", "heaviest": "module"}
    found = as_written(placed(written_in(BAG, "python"), owners), "python")
    assert found.text() == (
        "Define these, with exactly these names and parameters:\n"
        "- class Bag\n"
        "    - def __init__(self, limit)\n"
        "    - def put(self, thing)\n"
        "    - def weight(self) -> int\n"
        "- def heaviest(bags)"
    )
    assert (found.names, found.calls) == (("Bag", "heaviest"), ("Bag(limit)", "heaviest(bags)"))
    assert found.must == ("Bag", "Bag.put", "Bag.weight", "heaviest")


def test_perl_takes_its_parameters_from_the_list_that_it_is_given() -> None:
    found = as_written(written_in("tilt($angle, $by)", "perl"), "perl")
    assert found.parts[0].signature == "sub tilt { my ($angle, $by) = @_; ... }"


def test_what_a_model_outlines_is_held_to_the_task() -> None:
    task = "C++ library: std::string join(const Strings& many), split(text, by) and trim"
    parts = [
        {"name": "Text", "signature": "class Text", "does": "holds"},
        {"name": "split", "signature": "Strings split(const Text& text, char by)", "does": "cuts"},
        {"name": "join", "signature": "Text join(Text other)", "does": "joins"},
        {"name": "trim", "signature": "Text trim(Text text)", "does": "trims"},
    ]
    model = read_outline(json.dumps({"parts": parts}))
    found = kept_to(model, written_in(task, "cpp"), task, "cpp")
    assert {part.name: part.signature for part in found.parts} == {
        "split": "Strings split(const Text& text, char by)",
        "join": "join(const Strings& many)",
        "trim": "Text trim(Text text)",
    }
    assert found.must == ("join", "split")
    assert found.calls == ("split(text, by)", "join(many)", "trim(...)")


def test_where_functions_belong_is_seen_from_how_they_are_called() -> None:
    names, owners = ["put", "weight", "heaviest"], ["Box", "Bag"]
    text = "put(x)\nbag = Bag(limit); bag.put(thing); heaviest(bags)"
    wanted = {"put": "Bag", "weight": "Bag", "heaviest": "module"}
    assert read_placing(f"{text}; b.weight()", names, owners) == {**wanted, "weight": "Box"}
    assert read_placing("bag.put(x); bag.weight()", names, owners)["heaviest"] == "Bag"
    assert read_placing("bag.put(x); bag.weight(bag)", names, owners)["weight"] == "module"
    with pytest.raises(BadReply, match="calls none of put"):
        read_placing("I cannot say", names, owners)
