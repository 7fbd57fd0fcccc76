"""Tasks that do not say what kind of program they want: one word of the slow thinker does."""

from dataclasses import replace

import pytest

from tests.cart import BUDGET, EFFORT, Cart
from tests.one_answer import OneAnswer
from tests.service_scripts import CART, PIECES
from tests.worlds import DOUBLE, World, job_of, saying
from twinsmith.core.budget import Budget
from twinsmith.core.model import Prompt
from twinsmith.core.task import Job, Task, read_task
from twinsmith.flow.build.kind import kind_of

OPEN = "Whoever lends a book brings it back within three weeks"
TASK = Task(text=OPEN, language="python", kind="function", kind_open=True)
ASKED = "What kind of program does a task want?"


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("service", "service"),
        (" Service.\n", "service"),
        ("`cli`", "cli"),
        ("**library** because it", "library"),
        ("function (one function)", "function"),
        # What is no kind leaves the guess.
        ("servicely", "function"),
        ("a service", "function"),
        ("I cannot say", "function"),
        (" \n", "function"),
        ("", "function"),
    ],
)
async def test_one_word_is_read_and_anything_else_leaves_the_guess(said: str, kind: str) -> None:
    assert await kind_of(TASK, OneAnswer(said)) == kind
    assert await kind_of(replace(TASK, kind="library"), OneAnswer("no idea")) == "library"


async def test_the_question_is_short_and_for_one_word() -> None:
    slow = OneAnswer("cli")
    await kind_of(replace(TASK, text="Long\n words " * 500), slow)
    (question,) = slow.asked
    assert (question.role, question.temperature, question.tokens) == ("slow", 0.0, 8)
    assert 'Task: "Long words Long' in question.text
    assert len(question.text) < 3500


@pytest.mark.parametrize(
    ("text", "given", "is_open"),
    [
        (OPEN, {}, True),
        (OPEN, {"kind": "cli"}, False),
        (OPEN, {"tests": "assert f(1)"}, False),
        ("a function that doubles a number", {}, False),
        ("a command-line tool that doubles a number", {}, False),
        ("write double(n)", {}, False),
    ],
)
def test_only_what_nobody_says_is_asked(text: str, given: dict[str, str], is_open: bool) -> None:
    words = {"text": text, "language": "", "kind": "", "tests": "", **given}
    assert read_task(**words).kind_open is is_open


def open_job(job: Job, budget: Budget = BUDGET) -> Job:
    task = replace(job.task, kind="function", kind_open=True)
    return replace(job, task=task, budget=budget)


class Kinds(Cart):
    """The cart, by a slow thinker who also says what kind it is."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self._kind = kind

    def _answer(self, prompt: Prompt) -> str:
        return self._kind if ASKED in prompt.text else super()._answer(prompt)


async def test_an_open_task_becomes_a_service_and_is_built_as_one() -> None:
    world, job = Kinds("service"), open_job(job_of(CART, effort=EFFORT))
    outcome = await world.build(job)
    assert outcome.solved, outcome.reason
    # The first question is what such a program is called.
    first = world.asked[1]
    assert (first.key, first.max_tokens, ASKED in first.text) == ("r1/ask slow 300", 8, True)
    assert sorted(world.pieces()) == sorted([*PIECES, *PIECES])
    assert '"kind": "service"' in world.files(job)["report.json"]
    # Each question is paid, and none of them is more than was set aside for it.
    assert outcome.spent.tokens == world.billed <= BUDGET.tokens


async def test_an_open_task_that_nobody_can_tell_is_a_function() -> None:
    say = saying(slow=['{"entry": "double", "signature": "", "question": "", "assumed": ""}'])
    world = World(lambda prompt: "hm" if ASKED in prompt.text else say(prompt))
    job = open_job(job_of("Twice as much"), Budget(tokens=20_000, seconds=600))
    outcome = await world.build(job)
    assert (outcome.solved, world.files(job)["solution.py"]) == (True, DOUBLE)


async def test_an_open_task_without_tokens_ends_with_the_budget_as_the_reason() -> None:
    world = World(saying())
    outcome = await world.build(open_job(job_of(), Budget(tokens=200, seconds=600)))
    assert (outcome.solved, world.asked) == (False, [])
    assert outcome.reason.startswith("the budget of 200 tokens is spent (0 used, the next question")
