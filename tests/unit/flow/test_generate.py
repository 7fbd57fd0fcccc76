import pytest

from tests.one_answer import OneAnswer
from twinsmith.core.errors import BudgetExceeded
from twinsmith.core.profile import Profile
from twinsmith.core.program import Candidate
from twinsmith.core.task import Task
from twinsmith.flow.build.brief import Brief
from twinsmith.flow.build.generate import generate

SOURCE = "def f():\n    return 1\n"
TASK = Task(text="a function that gives one", language="python", kind="function")
PROFILE = Profile(entry="f", signature="def f() -> int:")
BRIEF = Brief(number=3, ensemble=2, temperature=0.8, told="Mind the sign.", way="planned")


async def made(text: str, task: Task = TASK, profile: Profile = PROFILE) -> tuple[Candidate, str]:
    """The candidate, and what the coder was asked."""
    coder = OneAnswer(text, BudgetExceeded("the budget of 9 tokens is spent"))
    candidate = await generate(task, profile, BRIEF, coder)
    return candidate, coder.asked[0].text


@pytest.mark.parametrize(
    "text",
    [
        SOURCE,
        f"```python\n{SOURCE}```",
        f"Here you are:\n\n```py\n{SOURCE}```\nEnjoy!",
        f"```\n{SOURCE}",
        f"```sh\npip\n```\nthen\n```python\n{SOURCE}```",
    ],
)
async def test_the_program_is_found_in_a_reply(text: str) -> None:
    candidate, _ = await made(text)
    assert candidate.program is not None
    assert (candidate.program.source, candidate.program.entry) == (SOURCE, "f")
    assert (candidate.number, candidate.ensemble, candidate.way) == (3, 2, "planned")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("I am sorry.", "not Python"),
        ("```python\ndef f(:\n```", "not Python"),
        ("```python\nx = 1\n```", "does not define 'f'"),
        (" ", "does not define 'f'"),
        ("x = '\0'", "not Python"),
        ("", "the budget of 9 tokens is spent"),
    ],
)
async def test_an_answer_without_a_program_is_a_candidate_that_says_why(
    text: str, says: str
) -> None:
    candidate, _ = await made(text)
    assert candidate.program is None
    assert says in candidate.problem


async def test_the_question_is_numbered_and_as_warm_as_the_brief_says() -> None:
    coder = OneAnswer(SOURCE, BudgetExceeded("the budget of 9 tokens is spent"))
    await generate(TASK, PROFILE, BRIEF, coder)
    (asked,) = coder.asked
    assert (asked.role, asked.nth, asked.ensemble, asked.temperature) == ("coder", 2, 2, 0.8)
    assert "Mind the sign." in asked.text


async def test_the_name_is_told_unless_the_task_calls_the_function_by_it() -> None:
    double = Profile(entry="double", signature="def double(n: int) -> int:")
    doubles = Task(text="a function that doubles a number", language="python", kind="function")
    _, asked = await made(SOURCE, doubles, double)
    assert "Define exactly this: def double(n: int) -> int:" in asked
    named = Task(text="Write a function double(n).", language="python", kind="function")
    _, asked = await made(SOURCE, named, double)
    assert "Define exactly this" not in asked


async def test_what_a_person_answered_is_told() -> None:
    profile = Profile(entry="f", question="Of text, too?", answer="no")
    _, asked = await made(SOURCE, TASK, profile)
    assert "Of text, too? no" in asked
    assert "Define exactly this: f" in asked


async def test_ensembles_ask_in_different_words() -> None:
    coder = OneAnswer(SOURCE, BudgetExceeded("the budget of 9 tokens is spent"))
    for ensemble in (1, 2):
        brief = Brief(number=1, ensemble=ensemble, temperature=0.2)
        await generate(TASK, PROFILE, brief, coder)
    first, second = (question.text for question in coder.asked)
    assert first != second
    assert all(TASK.text in text for text in (first, second))


async def test_an_answer_without_a_name_that_the_task_writes_is_no_candidate() -> None:
    task = Task(text="a class Bag with put(thing)", language="python", kind="library")
    profile = Profile(names=("Bag",), must=("Bag", "Bag.put"))
    candidate, _ = await made(
        "```python\nclass Bag:\n    def add(self, x): ...\n```", task, profile
    )
    assert candidate.problem == "the answer does not define Bag.put, which the task names"
    candidate, _ = await made(
        "```python\nclass Bag:\n    def put(self, x): ...\n```", task, profile
    )
    assert candidate.program is not None
