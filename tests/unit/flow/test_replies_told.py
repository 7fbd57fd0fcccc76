"""What the journal keeps of every reply: its template, and whether it could be used."""

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest

from tests.cart import Cart, cart_job
from tests.worlds import DOUBLE, TASK, World, job_of, saying
from twinsmith.core.events import Json
from twinsmith.core.masking import Masking
from twinsmith.core.model import Prompt
from twinsmith.prompts import version

FORGOTTEN = "def double(n):\n    return math.floor(n * 2)\n"


def replies(world: World) -> list[Mapping[str, Json]]:
    """The facts of every reply, in order."""
    entries = world.journal.entries("r1")
    return [each.event.data for each in entries if each.event.kind == "model.replied"]


def of_role(world: World, role: str) -> list[Mapping[str, Json]]:
    """The facts of a role's replies."""
    return [each for each in replies(world) if each["role"] == role]


async def built_command() -> World:
    """A command, whose description nobody can read at first."""

    def say(prompt: Prompt) -> str:
        if prompt.role == "slow":
            return "no" if not prompt.retry else json.dumps({"options": [], "runs": []})
        return "def main():\n    print(1)\n"

    world, job = World(say), job_of("a command that prints 1")
    await world.build(replace(job, task=replace(job.task, kind="cli")))
    return world


async def test_every_reply_names_its_template_and_the_version_of_that() -> None:
    function, service = World(saying()), Cart()
    await function.build(job_of())
    await service.build(cart_job())
    worlds = (function, service, await built_command())
    told = [each for world in worlds for each in replies(world)]
    assert {"code", "checks", "requirements", "contract", "piece", "dialogues", "command"} <= {
        each["template"] for each in told
    }
    for each in told:
        assert each["template_version"] == version(str(each["template"]))
    assert len({each["template_version"] for each in told}) == len(
        {each["template"] for each in told}
    )


async def test_an_answer_that_cannot_be_used_says_why() -> None:
    world = World(saying(coder=["I am sorry.", DOUBLE], critic=["Nothing to check."]))
    await world.build(job_of())
    first, second = of_role(world, "coder")
    assert "not Python" in str(first["unusable"])
    assert second["unusable"] == ""
    assert {each["unusable"] for each in of_role(world, "critic")} == {"the answer holds no check"}


async def test_asked_again_each_answer_is_told_of_with_its_count() -> None:
    slow = of_role(await built_command(), "slow")
    again = [each for each in slow if each["template"] == "command"]
    assert [each["retry"] for each in again][:2] == [0, 1]
    assert again[0]["unusable"]


async def test_what_was_mended_in_an_answer_is_told() -> None:
    world = World(saying(coder=[FORGOTTEN, DOUBLE]))
    await world.build(job_of())
    first, second = of_role(world, "coder")
    assert len(list(str(first["repairs"]))) > len("[]")
    assert second["repairs"] == []


async def test_an_answer_that_nobody_has_to_read_is_neither() -> None:
    world = World(saying(slow=["A plan."]))
    await world.build(replace(job_of(), task=replace(job_of().task, kind_open=True)))
    told = [each for each in replies(world) if each["template"] == "kind"]
    assert told
    assert all("unusable" not in each for each in told)
    (kind,) = [e.event for e in world.journal.entries("r1") if e.event.kind == "kind.read"]
    assert kind.data == {"kind": "function"}


@pytest.mark.parametrize("name", ["code", "checks", "plan", "contract"])
def test_versions_are_not_masked(name: str) -> None:
    told: dict[str, Json] = {
        "template": name,
        "template_version": version(name),
        "settings": job_of().settings,
    }
    assert Masking().json(told) == told


def test_jobs_with_the_same_settings_have_the_same_hash_whatever_the_task() -> None:
    job = job_of()
    assert job.settings == replace(job, task=replace(job.task, text=TASK + "!"), seed=9).settings
    assert job.settings != replace(job, effort=replace(job.effort, exchange=False)).settings
    assert job.settings != replace(job, reply_tokens=job.reply_tokens + 1).settings
