"""Whom the gateway asks where a question names its models, and versions that are wanted or not."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.unit.adapters.test_gateway import FINE, OTHER_CALL, PROMPT, Door, Told
from twinsmith.adapters.models.gateway import MOVED_SECONDS
from twinsmith.adapters.models.providers import Refused
from twinsmith.core.errors import ConfigError, ModelUnavailable


async def test_a_question_that_names_models_is_put_to_these(tmp_path: Path) -> None:
    door = Door(tmp_path, Told(anthropic=[Refused("no key")]))
    reply = await door.ask(replace(PROMPT, asks=("anthropic:claude", "server:other")))
    assert (reply.model, door.told.asked) == ("server:other", ["anthropic", "server"])
    assert reply.failed_attempts == ("anthropic:claude: refused: no key",)


async def test_a_star_stands_for_the_models_of_the_settings(tmp_path: Path) -> None:
    door = Door(tmp_path, Told(google=[Refused("no")], openai=[Refused("no")]))
    reply = await door.ask(replace(PROMPT, asks=("google:g", "*")))
    assert (reply.model, door.told.asked) == ("server:local", ["google", "openai", "server"])


async def test_a_name_that_means_no_model_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="'opnai' is unknown; did you mean 'openai'"):
        await Door(tmp_path, Told()).ask(replace(PROMPT, asks=("opnai:g",)))


async def test_an_answer_of_the_wanted_version_is_taken(tmp_path: Path) -> None:
    door = Door(tmp_path, Told())
    reply = await door.ask(replace(PROMPT, asks=("openai:gpt-4o@v1",)))
    assert (reply.version, reply.failed_attempts) == ("v1", ())


async def test_an_answer_of_another_version_is_refused_and_not_asked_for_at_once(
    tmp_path: Path,
) -> None:
    door = Door(tmp_path, Told(openai=[replace(FINE, version="v2")]), cache=1 << 20)
    pinned = replace(PROMPT, asks=("openai:gpt-4o@v1",))
    says = (
        r"no model answers as coder \(openai:gpt-4o: it answers as version 'v2', and only 'v1' is "
        r"asked for \(30 tokens went into finding out\)\)"
    )
    with pytest.raises(ModelUnavailable, match=says):
        await door.ask(pinned)
    with pytest.raises(ModelUnavailable, match="it answers as version 'v2', and only 'v1'"):
        await door.ask(pinned)
    assert door.told.asked == ["openai"]
    door.clock.advance(MOVED_SECONDS)
    assert (await door.ask(pinned)).version == "v1"


async def test_an_answer_of_then_is_found_though_the_model_has_moved_on(tmp_path: Path) -> None:
    told = Told(openai=[FINE, replace(FINE, text="new", version="v2")])
    door = Door(tmp_path, told, cache=1 << 20)
    await door.ask()
    await door.ask(replace(OTHER_CALL, text="something else"))
    then = await door.ask(replace(OTHER_CALL, asks=("openai:gpt-4o@v1",)))
    assert (then.text, then.version, then.cached) == ("done", "v1", True)


async def test_what_is_retired_is_not_asked(tmp_path: Path) -> None:
    door = Door(tmp_path, Told(), cache=1 << 20)
    await door.ask()
    reply = await door.ask(replace(OTHER_CALL, never=("openai:gpt-4o",)))
    assert (reply.model, reply.failed_attempts) == (
        "server:local",
        ("openai:gpt-4o: it is retired",),
    )
    assert door.told.asked == ["openai", "server"]


async def test_a_retired_version_is_not_believed_even_from_the_cache(tmp_path: Path) -> None:
    door = Door(tmp_path, Told(), cache=1 << 20)
    await door.ask()
    never = replace(OTHER_CALL, never=("openai:gpt-4o@v1",))
    reply = await door.ask(never)
    assert reply.model == "server:local"
    assert "its version 'v1' is retired" in reply.failed_attempts[0]
    restored = await door.ask(replace(never, key="third", never=()))
    assert (restored.model, restored.cached) == ("openai:gpt-4o", True)


async def test_an_answer_that_was_thrown_away_answers_no_call_that_is_made_again(
    tmp_path: Path,
) -> None:
    door = Door(tmp_path, Told(), cache=1 << 20)
    never = replace(PROMPT, never=("openai:gpt-4o@v1",))
    first = await door.ask(never)
    again = await door.ask(never)
    assert first.model == again.model == "server:local"
    assert not again.cached
