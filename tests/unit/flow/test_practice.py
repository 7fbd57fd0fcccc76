"""What coders are told where mistakes open a door."""

import pytest

from tests.cart import Cart, cart_job
from tests.worlds import World, job_of, saying, with_effort
from twinsmith.core.model import Prompt
from twinsmith.flow.build.practice import LONGEST_LINE, MOST_LINES, NTH
from twinsmith.settings import load
from twinsmith.wiring.effort import effort_of

SENSITIVE = "Write a function double(n) that doubles a password's length."
LINES = "Sure:\n- hash it\n* salt it\nand so on\n" + "- more\n" * 20 + f"- {'x' * 1000}"


def say(prompt: Prompt) -> str:
    if prompt.role == "coder" and prompt.nth == NTH:
        return LINES
    return saying()(prompt)


async def test_practices_are_asked_for_once_and_told_to_every_coder_and_the_person() -> None:
    world, job = World(say), with_effort(job_of(SENSITIVE), practice=True)
    assert (await world.build(job)).solved
    asked = [prompt for prompt in world.asked if prompt.purpose == "practice"]
    assert [(p.role, p.nth, p.temperature) for p in asked] == [("coder", NTH, 0.0)]
    writing = [prompt for prompt in world.prompts("coder") if prompt.nth != NTH]
    assert len(writing) == 2
    for prompt in writing:
        assert "Keep to this:\n- hash it\n- salt it\n- more\n" in prompt.text
        assert prompt.text.count("- more") == MOST_LINES - 2
        assert "x" * LONGEST_LINE not in prompt.text
    assert "## Kept to\n\n- hash it" in world.files(job)["report.md"]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [(SENSITIVE, False), ("Write a function double(n) that gives twice a number.", True)],
)
async def test_nobody_is_asked_where_it_is_off_or_nothing_can_go_wrong(
    text: str, *, wanted: bool
) -> None:
    world = World(say)
    await world.build(with_effort(job_of(text), practice=wanted))
    assert all(prompt.purpose != "practice" for prompt in world.asked)


@pytest.mark.parametrize("language", ["python", "go"])
async def test_whoever_writes_a_service_or_a_piece_of_one_is_told_as_well(language: str) -> None:
    world = Cart()
    right = world.say
    world.say = lambda prompt: LINES if prompt.purpose == "practice" else right(prompt)
    await world.build(with_effort(cart_job(language=language), practice=True, candidates=2))
    first, *writing = world.prompts("coder")
    assert first.purpose == "practice"
    assert len(writing) == (6 if language == "python" else 2)
    assert all("- hash it\n- salt it" in prompt.text for prompt in writing)


@pytest.mark.parametrize(
    ("setting", "key", "asked"),
    [("auto", "", False), ("auto", "k" * 40, True), ("on", "", True), ("off", "k" * 40, False)],
)
def test_by_default_only_large_models_are_asked(setting: str, key: str, *, asked: bool) -> None:
    environment = {"TWINSMITH_BUILD_PRACTICE": setting, "HOME": "/nowhere"}
    # A database's password is no model's key.
    environment["NEO4J_PASSWORD"] = "x" * 20
    environment["TWINSMITH_BUILD_VOTING"] = setting
    environment["TWINSMITH_BUILD_MENDING"] = setting
    if key:
        environment["OPENAI_API_KEY"] = key
    effort = effort_of(load(environment))
    assert (effort.practice, effort.mending) == (asked, asked)
    assert effort.votes == (4 if asked else 0)
