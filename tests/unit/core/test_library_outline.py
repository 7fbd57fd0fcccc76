"""What libraries offer, and how they are checked."""

import json

import pytest

from twinsmith.core.checks.proposed import library_checks
from twinsmith.core.errors import BadReply
from twinsmith.core.library_outline import MOST_PARTS, example_for, read_outline

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
