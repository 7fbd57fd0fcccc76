"""The gateway's decisions, with providers that say what they are told."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from twinsmith.adapters.clock import ManualClock
from twinsmith.adapters.models.gateway import Gateway, Manners
from twinsmith.adapters.models.patience import FAILURES_TO_OPEN, OPEN_SECONDS
from twinsmith.adapters.models.providers import Busy, Completion, Refused
from twinsmith.adapters.models.reply_cache import ReplyCache
from twinsmith.adapters.models.routing import Choice, Endpoint
from twinsmith.adapters.models.transcripts import Transcripts
from twinsmith.core.errors import ModelUnavailable
from twinsmith.core.masking import Masking
from twinsmith.core.model import Prompt, Reply

FIRST = Endpoint(provider="openai", model="gpt-4o")
SECOND = Endpoint(provider="server", model="local")
PROMPT = Prompt(key="k", role="coder", nth=0, text="write", task="t", seed=1, max_tokens=100)
OTHER_CALL = replace(PROMPT, key="another call")
FINE = Completion(text="done", version="v1", tokens_in=10, tokens_out=20, first_token_seconds=0.1)
KNOWN = Masking(secrets=("swordfish-42",))


class Told:
    """Providers that answer from a list a endpoint; then always `FINE`."""

    def __init__(self, **scripts: list[Completion | Exception]) -> None:
        self.scripts = scripts
        self.asked: list[str] = []

    async def complete(self, endpoint: Endpoint, prompt: Prompt) -> Completion:  # noqa: ARG002
        self.asked.append(endpoint.provider)
        await asyncio.sleep(0)
        script = self.scripts.get(endpoint.provider, [])
        answer = script.pop(0) if script else FINE
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def close(self) -> None:
        return None


class Door:
    """A gateway on a manual clock."""

    def __init__(self, tmp_path: Path, told: Told, *, cache: int = 0, retries: int = 2) -> None:
        self.told = told
        self.clock = ManualClock()
        self.cache = ReplyCache(tmp_path / "cache.db", cache)
        self.gateway = Gateway(
            {(1, "coder"): Choice(endpoints=(FIRST, SECOND), why="test")},
            told,
            Manners(retries=retries, at_once=4, per_minute=0),
            cache=self.cache,
            transcripts=Transcripts(tmp_path / "said", 3, self.clock, KNOWN),
            clock=self.clock,
            masking=KNOWN,
        )

    async def ask(self, prompt: Prompt = PROMPT) -> Reply:
        return await self.gateway.ask(prompt)


async def test_the_first_model_answers_and_its_price_is_known(tmp_path: Path) -> None:
    reply = await Door(tmp_path, Told()).ask()
    assert (reply.text, reply.model, reply.version) == ("done", "openai:gpt-4o", "v1")
    assert (reply.tokens_in, reply.tokens_out, reply.first_token_seconds) == (10, 20, 0.1)
    assert reply.usd == pytest.approx((10 * 2.5 + 20 * 10) / 1e6)


async def test_what_may_pass_is_tried_again_with_patience(tmp_path: Path) -> None:
    door = Door(tmp_path, Told(openai=[Busy("429", after=5.0), Busy("500")]))
    reply = await door.ask()
    assert reply.model == "openai:gpt-4o"
    assert reply.failed_attempts == ("openai:gpt-4o: 429", "openai:gpt-4o: 500")
    assert door.clock.seconds() >= 5.5


async def test_what_will_not_pass_goes_to_the_next_model_at_once(tmp_path: Path) -> None:
    door = Door(tmp_path, Told(openai=[Refused("401 bad key sk-abcdefghijklmnopqrstuvwx")]))
    reply = await door.ask()
    assert (reply.model, reply.usd) == ("server:local", 0.0)
    assert door.told.asked == ["openai", "server"]
    assert reply.failed_attempts == ("openai:gpt-4o: refused: 401 bad key [masked]",)


async def test_too_many_failures_or_too_long_a_wait_go_to_the_next_model(tmp_path: Path) -> None:
    door = Door(tmp_path, Told(openai=[Busy("500")] * 3))
    assert (await door.ask()).model == "server:local"
    assert door.told.asked == ["openai"] * 3 + ["server"]
    patient = Door(tmp_path, Told(openai=[Busy("429", after=3600.0)]))
    assert (await patient.ask()).model == "server:local"
    assert patient.told.asked == ["openai", "server"]


async def test_nobody_left_tells_all_reasons_in_one_line(tmp_path: Path) -> None:
    door = Door(tmp_path, Told(openai=[Refused("no key")], server=[Refused("no such model")]))
    with pytest.raises(ModelUnavailable) as error:
        await door.ask()
    assert str(error.value) == (
        "no model answers as coder (openai:gpt-4o: refused: no key; "
        "server:local: refused: no such model); "
        "see 'twinsmith doctor'"
    )


async def test_an_endpoint_that_keeps_failing_is_left_alone_for_a_while(tmp_path: Path) -> None:
    door = Door(tmp_path, Told(openai=[Busy("500")] * FAILURES_TO_OPEN), retries=0)
    for _ in range(FAILURES_TO_OPEN):
        await door.ask()
    door.told.asked.clear()
    reply = await door.ask()
    assert door.told.asked == ["server"]
    assert reply.failed_attempts == ("openai:gpt-4o: left alone after repeated failures",)
    door.clock.advance(OPEN_SECONDS)
    assert (await door.ask()).model == "openai:gpt-4o"


async def test_questions_worth_a_frontier_model_go_there_first(tmp_path: Path) -> None:
    door = Door(tmp_path, Told())
    door.gateway._routes = {(1, "coder"): Choice(endpoints=(SECOND, FIRST), why="test")}
    assert (await door.ask()).model == "server:local"
    lookup = await door.ask(replace(PROMPT, purpose="practice"))
    assert lookup.model == "openai:gpt-4o"
    asked = await door.ask(replace(PROMPT, purpose="clarification"))
    assert asked.model == "openai:gpt-4o"


async def test_money_that_could_be_overspent_is_not(tmp_path: Path) -> None:
    door = Door(tmp_path, Told())
    cheap = await door.ask(replace(PROMPT, max_usd=0.0001))
    assert cheap.model == "server:local"
    assert "could cost" in cheap.failed_attempts[0]
    unknown = Endpoint(provider="openai", model="nobody-knows")
    door.gateway._routes = {(1, "coder"): Choice(endpoints=(unknown, SECOND), why="test")}
    reply = await door.ask(replace(PROMPT, max_usd=5.0))
    assert "its price is unknown, and money is limited" in reply.failed_attempts[0]
    unlimited = await door.ask()
    assert (unlimited.model, unlimited.usd) == ("openai:nobody-knows", None)


async def test_answers_of_a_version_that_is_gone_are_not_given_again(tmp_path: Path) -> None:
    newer = replace(FINE, text="better", version="v2")
    door = Door(tmp_path, Told(openai=[FINE, newer, newer]), cache=1 << 20)
    await door.ask()
    assert (await door.ask(OTHER_CALL)).cached
    await door.ask(replace(PROMPT, text="something else"))
    again = await door.ask(OTHER_CALL)
    assert (again.text, again.cached) == ("better", False)
    await door.gateway.close()


async def test_the_same_question_is_answered_from_the_cache_and_another_seed_is_not(
    tmp_path: Path,
) -> None:
    door = Door(tmp_path, Told(), cache=1 << 20)
    first = await door.ask()
    again = await door.ask(OTHER_CALL)
    assert (again.text, again.cached, again.usd, again.tokens) == ("done", True, 0.0, 0)
    assert not first.cached
    for other in (
        replace(PROMPT, seed=2),
        replace(PROMPT, text="write more"),
        replace(PROMPT, temperature=0.9),
        replace(PROMPT, schema="{}"),
        replace(PROMPT, max_tokens=7),
    ):
        assert not (await door.ask(other)).cached
    figures = door.cache.figures()
    assert (figures.hits, figures.misses, figures.entries) == (1, 6, 6)
    assert figures.hit_rate == pytest.approx(1 / 7)
    await door.gateway.close()


async def test_a_call_that_is_made_again_after_a_kill_is_what_it_was_paid(tmp_path: Path) -> None:
    """Killed between the cache and the step's record, a run asks the same call again."""
    killed = Door(tmp_path, Told(openai=[Busy("500")]), cache=1 << 20)
    paid = await killed.ask()
    assert paid.usd
    resumed = Door(tmp_path, Told(), cache=1 << 20)
    assert await resumed.ask() == paid
    assert resumed.told.asked == []
    other = await resumed.ask(OTHER_CALL)
    assert (other.cached, other.usd, other.tokens) == (True, 0.0, 0)
    assert await resumed.ask() == paid
    for door in (killed, resumed):
        await door.gateway.close()


async def test_a_call_that_the_second_model_answered_is_not_asked_of_the_first_again(
    tmp_path: Path,
) -> None:
    killed = Door(tmp_path, Told(openai=[Refused("down")]), cache=1 << 20)
    paid = await killed.ask()
    assert paid.model == "server:local"
    resumed = Door(tmp_path, Told(), cache=1 << 20)
    assert await resumed.ask() == paid
    assert resumed.told.asked == []
    for door in (killed, resumed):
        await door.gateway.close()


async def test_what_is_in_the_cache_was_written_down_before(tmp_path: Path) -> None:
    """Killed right before the cache, the call is asked and written down once more; never less."""

    class Pulled(Exception):
        """The plug."""

    class Plug(ReplyCache):
        def put(self, key: str, reply: Reply, call: str) -> None:  # noqa: ARG002
            raise Pulled

    door = Door(tmp_path, Told())
    door.gateway._cache = Plug(tmp_path / "plug.db", 1 << 20)
    with pytest.raises(Pulled):
        await door.ask()
    (file,) = (tmp_path / "said").iterdir()
    assert "done" in file.read_text()
    await door.gateway.close()


async def test_what_was_said_is_kept_masked(tmp_path: Path) -> None:
    door = Door(tmp_path, Told(openai=[replace(FINE, text="take swordfish-42")]))
    await door.ask(replace(PROMPT, text="use sk-abcdefghijklmnopqrstuvwx"))
    (file,) = (tmp_path / "said").iterdir()
    text = file.read_text()
    assert "take [masked]" in text
    assert "use [masked]" in text
    assert file.stat().st_mode & 0o077 == 0
