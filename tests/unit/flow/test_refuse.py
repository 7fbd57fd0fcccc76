"""Tasks that are called what does harm are not built; all others are."""

from dataclasses import replace

import pytest

from tests.cart import Cart, cart_job
from tests.one_answer import OneAnswer
from tests.worlds import World, job_of, saying
from twinsmith.core.harmful import HARMFUL, harmful_name
from twinsmith.core.model import Prompt
from twinsmith.core.program import Kind
from twinsmith.core.task import Task
from twinsmith.flow.build.refuse import refused

LOCKS = "A command that locks all files of a machine and asks for money"
TASK = Task(text=LOCKS, language="python", kind="cli")
ASKED = "What is such a program called?"


@pytest.mark.parametrize(
    ("reply", "name"),
    [
        ("ransomware", "ransomware"),
        (" Ransomware.\nTask: more", "ransomware"),
        ("a keylogger", "keylogger"),
        ("denial-of-service", "denial of service"),
        ("Cyber attack", "cyber attack"),
        ("fraud detection", ""),
        ("worm simulation", ""),
        ("virus", ""),
        ("no malware", ""),
        ("", ""),
    ],
)
def test_whole_names_count_and_nothing_else(reply: str, name: str) -> None:
    assert harmful_name(reply) == name


def test_every_name_is_found_as_it_is_written() -> None:
    assert {harmful_name(each) for each in HARMFUL} == HARMFUL


async def test_what_is_called_harmful_is_refused_in_one_line_with_its_name() -> None:
    slow = OneAnswer("Ransomware")
    told = await refused(TASK, slow)
    assert told.startswith("what the task asks for is called 'ransomware', and twinsmith builds")
    assert "\n" not in told
    (question,) = slow.asked
    assert (question.tokens, question.temperature) == (8, 0.0)
    assert f'Task: "{LOCKS}"' in question.text


@pytest.mark.parametrize("said", ["file tool", ""])
async def test_anything_else_is_built(said: str) -> None:
    assert await refused(TASK, OneAnswer(said)) == ""


@pytest.mark.parametrize(
    ("kind", "is_open", "asked"),
    [("function", False, 0), ("function", True, 1), ("library", False, 1), ("service", False, 1)],
)
async def test_who_asks_for_a_function_by_its_name_is_not_asked_about(
    kind: Kind, is_open: bool, asked: int
) -> None:
    slow = OneAnswer("file tool")
    await refused(replace(TASK, kind=kind, kind_open=is_open), slow)
    assert len(slow.asked) == asked


async def test_a_refused_task_costs_one_question_and_leaves_no_program() -> None:
    world = World(lambda prompt: "spyware" if ASKED in prompt.text else saying()(prompt))
    job = replace(job_of(LOCKS), task=TASK)
    outcome = await world.build(job)
    assert (outcome.solved, len(world.asked), world.runs) == (False, 1, 0)
    assert outcome.reason.startswith("what the task asks for is called 'spyware'")
    assert sorted(world.files(job)) == ["report.json", "report.md"]
    assert world.files(job)["report.md"].startswith("# Not solved\n")


async def test_a_service_is_asked_about_before_anything_else() -> None:
    world = Cart()
    assert (await world.build(cart_job())).solved
    assert ASKED in world.asked[0].text
    assert sum(ASKED in prompt.text for prompt in world.asked) == 1

    def say(prompt: Prompt) -> str:
        return "phishing" if ASKED in prompt.text else right(prompt)

    world = Cart()
    right, world.say = world.say, say
    outcome = await world.build(cart_job())
    assert (outcome.solved, len(world.asked)) == (False, 1)
