"""A person at a real pseudo-terminal, or at the other end of a pipe."""

import asyncio
import io
import os
import pty
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

import pytest

from twinsmith.adapters.desk.terminal import Nobody, Terminal
from twinsmith.core.masking import Masking
from twinsmith.core.people.question import LONGEST_ANSWER, Asked, PersonalQuestion

TEXT, ASSUMED = "Does an empty list count?", "no"
QUESTION = PersonalQuestion(id="r.1", run="r", text=TEXT, assumed=ASSUMED)
PATIENT, IMPATIENT = 20.0, 0.2


@contextmanager
def terminal() -> Iterator[tuple[int, TextIO]]:
    """Where a person types, and where that is read."""
    person, side = pty.openpty()
    with os.fdopen(side, "r") as said:
        try:
            yield person, said
        finally:
            os.close(person)


@contextmanager
def pipe() -> Iterator[tuple[int, TextIO]]:
    reading, writing = os.pipe()
    with os.fdopen(reading, "r") as said:
        yield writing, said


async def answer(said: TextIO, seconds: float = PATIENT) -> tuple[str, str]:
    """What the desk gives, and what the person saw."""
    shown = io.StringIO()
    desk = Terminal(said=said, shown=shown)
    return await desk.ask(QUESTION, seconds), shown.getvalue()


async def test_what_a_person_types_is_the_answer() -> None:
    with terminal() as (person, said):
        os.write(person, "ja, auch für Tupel \n".encode())
        given, shown = await answer(said)
    assert given == "ja, auch für Tupel"
    assert shown == f"\n{TEXT}\n[Enter or 20 s without an answer: no] \n"


async def test_a_secret_in_an_answer_goes_no_further() -> None:
    with terminal() as (person, said):
        os.write(person, b"yes, with swordfish-42 and password=hunter2\n")
        desk = Terminal(said=said, shown=io.StringIO(), masking=Masking(secrets=("swordfish-42",)))
        given = await desk.ask(QUESTION, PATIENT)
    assert given == "yes, with [masked] and password=[masked]"


async def test_an_answer_that_comes_later_and_in_pieces_is_one() -> None:
    with terminal() as (person, said):
        asked = asyncio.ensure_future(answer(said))
        for part in (b"on", b"ly ", b"twice\n"):
            await asyncio.sleep(0.02)
            os.write(person, part)
        assert (await asked)[0] == "only twice"


async def test_an_empty_line_is_the_assumption() -> None:
    with terminal() as (person, said):
        os.write(person, b"  \n")
        given, shown = await answer(said)
    assert given == ASSUMED
    assert "assumed" not in shown


async def test_no_answer_in_time_is_the_assumption_and_says_so() -> None:
    with terminal() as (_, said):
        given, shown = await answer(said, IMPATIENT)
    assert given == ASSUMED
    assert shown.endswith("[Enter or 0.2 s without an answer: no] \n(assumed: no)\n")


async def test_half_a_line_is_not_waited_for_longer_either() -> None:
    with pipe() as (writing, said):
        os.write(writing, b"ye")
        given, _ = await answer(said, IMPATIENT)
        os.close(writing)
    assert given == ASSUMED


async def test_the_end_of_input_is_the_assumption_at_once() -> None:
    with terminal() as (person, said):
        os.write(person, b"\x04")
        given, shown = await answer(said)
    assert given == ASSUMED
    assert "(assumed: no)" in shown
    with pipe() as (writing, said):
        os.close(writing)
        assert (await answer(said))[0] == ASSUMED


async def test_a_last_line_without_its_end_is_an_answer() -> None:
    with pipe() as (writing, said):
        os.write(writing, b"yes")
        os.close(writing)
        given, shown = await answer(said)
    assert given == "yes"
    assert "assumed" not in shown


async def test_a_terminal_that_is_closed_meanwhile_is_the_assumption() -> None:
    person, side = pty.openpty()
    with os.fdopen(side, "r") as said:
        asked = asyncio.ensure_future(answer(said))
        await asyncio.sleep(0.02)
        os.close(person)
        assert (await asked)[0] == ASSUMED


async def test_an_answer_has_a_longest_length_and_may_be_no_text() -> None:
    with pipe() as (writing, said):
        os.write(writing, b"\xff" + b"y" * 5000 + b"\n")
        os.close(writing)
        given, _ = await answer(said)
    assert given == "\ufffd" + "y" * (LONGEST_ANSWER - 1)


async def test_who_shows_the_run_steps_aside_while_a_person_is_asked() -> None:
    told: list[str] = []

    @contextmanager
    def aside() -> Iterator[None]:
        told.append("aside")
        yield
        told.append("back")

    with pipe() as (writing, said):
        os.write(writing, b"y\n")
        os.close(writing)
        desk = Terminal(said=said, shown=io.StringIO(), aside=aside)
        assert await desk.ask(QUESTION, PATIENT) == "y"
    assert told == ["aside", "back"]


async def test_a_run_that_is_stopped_does_not_wait_for_the_person() -> None:
    with terminal() as (_, said):
        asked = asyncio.ensure_future(answer(said))
        await asyncio.sleep(0.02)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked


async def test_where_nobody_is_everything_is_as_assumed() -> None:
    assert await Nobody().ask(QUESTION) == Asked(answer=ASSUMED)
