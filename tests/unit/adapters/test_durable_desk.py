"""Questions that outlive who asked them."""

import io
import os
from dataclasses import replace

import pytest

from twinsmith.adapters.clock import ManualClock
from twinsmith.adapters.desk.durable import DurableDesk
from twinsmith.adapters.desk.memory import MemoryQuestions
from twinsmith.adapters.desk.terminal import Terminal
from twinsmith.core.errors import ConfigError
from twinsmith.core.people.question import Answer, Asked, PersonalQuestion, accepted

QUESTION = PersonalQuestion(id="r-a3f9.1", run="r-a3f9", text="Of text, too?", assumed="no")
TWO_DAYS = 172_800.0


def test_an_answer_is_one_of_the_choices_if_there_are_any() -> None:
    either = replace(QUESTION, choices=("only numbers", "Text, too"))
    assert accepted(either, " text,  too\n") == "Text, too"
    assert accepted(either, "1") == "only numbers"
    assert accepted(either, "") == "no"
    assert accepted(QUESTION, "3") == "3"
    with pytest.raises(
        ConfigError, match=r"'3' is no answer to r-a3f9.1; one of 1: only numbers, 2:"
    ):
        accepted(either, "3")


async def test_where_nobody_sits_the_assumption_holds_at_once_and_is_kept() -> None:
    questions, clock = MemoryQuestions(), ManualClock()
    assert await DurableDesk(questions, clock, TWO_DAYS).ask(QUESTION) == Asked(answer="no")
    (kept,) = questions.listed()
    assert kept.answer is not None
    assert (kept.answer.text, kept.answer.by) == ("no", "twinsmith")


async def test_a_desk_that_parks_says_until_when_an_answer_may_come() -> None:
    questions, clock = MemoryQuestions(), ManualClock()
    first = await DurableDesk(questions, clock, TWO_DAYS, parks=True).ask(QUESTION)
    assert first.answer is None
    await clock.sleep(TWO_DAYS - 1)
    # Whoever goes on with it has another process: only what is kept is there.
    desk = DurableDesk(questions, clock, TWO_DAYS, parks=True)
    assert await desk.ask(QUESTION) == first
    questions.answer(QUESTION.id, Answer(text="yes", by="user:ann", at=clock.now()))
    assert await desk.ask(QUESTION) == Asked(answer="yes")


async def test_once_the_time_is_over_the_assumption_holds() -> None:
    questions, clock = MemoryQuestions(), ManualClock()
    desk = DurableDesk(questions, clock, TWO_DAYS, parks=True)
    assert (await desk.ask(QUESTION)).answer is None
    await clock.sleep(TWO_DAYS)
    assert await desk.ask(QUESTION) == Asked(answer="no")
    assert not questions.answer(QUESTION.id, Answer(text="yes", by="user:ann", at="x"))


async def test_what_is_typed_is_kept_and_what_is_no_choice_is_asked_again() -> None:
    questions, clock = MemoryQuestions(), ManualClock()
    reading, writing = os.pipe()
    os.write(writing, b"perhaps\n")
    with os.fdopen(reading, "r") as said:
        shown = io.StringIO()
        either = replace(QUESTION, choices=("no", "yes"))

        class Typing(io.StringIO):
            def write(self, text: str) -> int:
                if "is no answer" in text:
                    os.write(writing, b"2\n")
                return shown.write(text)

        desk = DurableDesk(questions, clock, 20, terminal=Terminal(said=said, shown=Typing()))
        assert await desk.ask(either) == Asked(answer="yes")
    os.close(writing)
    assert "1: no, 2: yes" in shown.getvalue()
    (kept,) = questions.listed()
    assert kept.answer is not None
    assert (kept.answer.text, kept.answer.by) == ("yes", "person")


async def test_an_answer_from_elsewhere_ends_the_prompt() -> None:
    questions, clock = MemoryQuestions(), ManualClock()
    reading, writing = os.pipe()
    with os.fdopen(reading, "r") as said:
        desk = DurableDesk(questions, clock, 20, terminal=Terminal(said=said, shown=io.StringIO()))
        real = questions.get

        def get(name: str) -> object:
            questions.answer(name, Answer(text="yes", by="user:bob", at="x"))
            return real(name)

        questions.get = get  # type: ignore[method-assign, assignment]
        assert await desk.ask(QUESTION) == Asked(answer="yes")
    os.close(writing)
