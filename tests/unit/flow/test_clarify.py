import json

import pytest

from twinsmith.core.errors import BadReply
from twinsmith.core.model import Question, Reply
from twinsmith.core.probe import Call
from twinsmith.core.task import Task
from twinsmith.flow.build.clarify import clarify, read_profile

GOOD = {
    "entry": "double",
    "signature": "def double(n: int)  -> int:",
    "question": "Of text, too?",
    "assumed": "no",
}


class Slow:
    """A slow thinker with one answer after the other."""

    def __init__(self, *texts: str) -> None:
        self._texts = texts
        self.asked: list[Question] = []

    async def __call__(self, question: Question) -> Reply:
        self.asked.append(question)
        text = self._texts[len(self.asked) - 1]
        return Reply(text=text, model="m", tokens_in=1, tokens_out=1)


def task(text: str, language: str = "python") -> Task:
    return Task(text=text, language=language, kind="function")


@pytest.mark.parametrize("wrap", ["{}", "```json\n{}\n```", "Sure!\n```\n{}\n```\nDone."])
def test_a_profile_is_read_with_or_without_a_fence(wrap: str) -> None:
    profile = read_profile(wrap.replace("{}", json.dumps(GOOD)))
    assert (profile.entry, profile.signature) == ("double", "def double(n: int) -> int:")
    assert (profile.question, profile.assumed) == ("Of text, too?", "no")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not JSON"),
        ("I cannot help with that.", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "not a JSON object"),
        (json.dumps({**GOOD, "entry": "not a name"}), "'not a name' is not a name"),
        (json.dumps({**GOOD, "entry": ""}), "'' is not a name"),
        (json.dumps({**GOOD, "entry": 3}), "'' is not a name"),
    ],
)
def test_a_profile_that_cannot_be_used_is_a_bad_reply(text: str, says: str) -> None:
    with pytest.raises(BadReply, match=says):
        read_profile(text)


def test_words_are_bounded_and_on_one_line() -> None:
    profile = read_profile(json.dumps({**GOOD, "question": "why\n " * 1000}))
    assert len(profile.question) <= 300
    assert "\n" not in profile.question


@pytest.mark.parametrize("missing", ["question", "assumed"])
def test_a_question_without_an_assumption_is_not_asked(missing: str) -> None:
    profile = read_profile(json.dumps({**GOOD, missing: ""}))
    assert (profile.question, profile.assumed) == ("", "")


async def test_a_task_that_names_its_function_asks_nobody() -> None:
    slow = Slow()
    profile = await clarify(task("Write a function double(n) so that double(4) == 8."), slow)
    assert profile.entry == "double"
    assert profile.examples == (Call(function="double", args=("4",), expected="8"),)
    written = await clarify(task("def twice(n: int) -> int:\n    '''Doubles.'''"), slow)
    assert (written.entry, written.signature) == ("twice", "def twice(n: int) -> int:")
    assert slow.asked == []


async def test_another_task_is_put_to_the_slow_thinker_as_a_clarification() -> None:
    slow = Slow(json.dumps(GOOD))
    text = "Eine Funktion, die eine Zahl verdoppelt.\n>>> double(4)\n8"
    profile = await clarify(task(text, "rust"), slow)
    assert (profile.entry, profile.question) == ("double", "Of text, too?")
    assert profile.examples == (Call(function="double", args=("4",), expected="8"),)
    (asked,) = slow.asked
    assert (asked.role, asked.nth, asked.purpose) == ("slow", 0, "clarification")
    assert json.loads(asked.schema)["required"] == ["entry", "signature", "question", "assumed"]
    assert text in asked.text
    assert "pub fn largest_gap(numbers: &[f64]) -> f64" in asked.text


async def test_an_answer_that_cannot_be_used_is_asked_for_again_with_the_reason() -> None:
    slow = Slow("a poem", "[]", json.dumps(GOOD))
    assert (await clarify(task("doubles a number"), slow)).entry == "double"
    assert [question.retry for question in slow.asked] == [0, 1, 2]
    assert "could not be used: the profile is not a JSON object" in slow.asked[2].text
    assert "not JSON" not in slow.asked[2].text
    with pytest.raises(BadReply, match="not JSON"):
        await clarify(task("doubles a number"), Slow("a", "b", "c"))


async def test_examples_that_contradict_each_other_are_told() -> None:
    text = "Write a function double(n).\n>>> double(2)\n4\n>>> double(2)\n5\n>>> double(1)\n2\n"
    profile = await clarify(task(text), Slow())
    assert profile.contradictions == ("double(2) gives 4 and 5",)
    assert [call.args for call in profile.examples] == [("1",)]


@pytest.mark.parametrize(
    ("text", "sensitive"),
    [
        ("Write a function check(password) that hashes a password", True),
        ("Write a function login(user) with a session", True),
        ("Write a function double(n)", False),
        ("Write a function spelling(word) that counts passwordless letters", False),
    ],
)
async def test_what_would_open_a_door_is_noticed(text: str, sensitive: bool) -> None:
    assert (await clarify(task(text), Slow())).sensitive == sensitive


def library(text: str, language: str = "python") -> Task:
    return Task(text=text, language=language, kind="library")


async def test_a_library_that_writes_its_functions_asks_nobody() -> None:
    slow = Slow()
    text = "Python module: volume(side) gives litres, mix(a, b) a shade. Strings in, strings out"
    profile = await clarify(library(text), slow)
    assert (profile.names, profile.must) == (("volume", "mix"),) * 2
    assert profile.calls == ("volume(side)", "mix(a, b)")
    assert "- def mix(a, b)" in profile.outline
    assert slow.asked == []


async def test_where_a_class_is_named_the_slow_thinker_says_what_belongs_to_it() -> None:
    slow = Slow("bag = Bag(limit); bag.put(thing); heaviest(bags)")
    profile = await clarify(library("a class Bag(limit) with put(thing); heaviest(bags)"), slow)
    assert profile.must == ("Bag", "Bag.put", "heaviest")
    assert profile.names == ("Bag", "heaviest")
    (asked,) = slow.asked
    assert (asked.role, asked.purpose) == ("slow", "clarification")
    unsure = await clarify(library("a class Bag with put(thing)"), Slow("Hm.", "No.", "Well."))
    assert unsure.must == ("Bag", "Bag.put")


async def test_types_of_another_language_are_asked_for_and_names_stay() -> None:
    part = {"name": "turn", "signature": "std::string turn(std::string text)", "does": "turns"}
    more = {"name": "Turner", "signature": "class Turner", "does": "turns"}
    slow = Slow(json.dumps({"parts": [more, part]}))
    profile = await clarify(library("C++ library with turn(text)", "cpp"), slow)
    assert (profile.names, profile.must) == (("turn",), ("turn",))
    assert "std::string turn(std::string text)" in profile.outline
