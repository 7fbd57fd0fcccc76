"""The key that tells a provider that a call is made once more: sent on every wire format."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.wire import Turn, WireServer
from twinsmith.adapters.clock import SystemClock
from twinsmith.adapters.models.gateway import Gateway, Manners
from twinsmith.adapters.models.providers import Access, Providers, Timeouts
from twinsmith.adapters.models.reply_cache import ReplyCache
from twinsmith.adapters.models.routing import Choice, Endpoint, Provider
from twinsmith.adapters.models.transcripts import Transcripts
from twinsmith.core.model import Prompt

PROMPT = Prompt(
    key="run/ask coder 0", role="coder", nth=0, text="hello", task="t", seed=1, max_tokens=24
)
WIRES: dict[Provider, str] = {
    "openai": "/v1",
    "google": "",
    "anthropic": "",
    "server": "/v1",
    "ollama": "/v1",
}


@asynccontextmanager
async def asking(
    folder: Path, provider: Provider, server: WireServer, *models: str
) -> AsyncIterator[Gateway]:
    """A gateway to these models of one provider, the first one first."""
    endpoints = tuple(Endpoint(provider=provider, model=model) for model in models)
    access = Access(keys={provider: "k"}, urls={provider: server.url + WIRES[provider]})
    clock = SystemClock()
    made = Gateway(
        {(1, "coder"): Choice(endpoints=endpoints, why="test")},
        Providers(access, Timeouts(connect=2.0, first_token=60.0, whole=120.0), {}),
        Manners(retries=1, at_once=8, per_minute=0),
        cache=ReplyCache(folder / "cache.db", 0),
        transcripts=Transcripts(folder / "said", 0, clock),
        clock=clock,
    )
    try:
        yield made
    finally:
        await made.close()


def keys(server: WireServer) -> list[str]:
    return [request.headers["idempotency-key"] for request in server.requests]


@pytest.mark.parametrize("provider", WIRES)
async def test_every_attempt_at_a_call_carries_its_key_and_no_other_call_does(
    provider: Provider, tmp_path: Path
) -> None:
    with WireServer() as server:
        server.script(Turn(status=500))
        async with asking(tmp_path, provider, server, "m") as model:
            await model.ask(PROMPT)
            await model.ask(PROMPT)
            await model.ask(replace(PROMPT, key="run/ask coder 1"))
        assert keys(server) == ["run/ask coder 0/m"] * 3 + ["run/ask coder 1/m"]


@pytest.mark.parametrize("provider", WIRES)
async def test_another_model_is_another_call(provider: Provider, tmp_path: Path) -> None:
    """Who honours keys refuses a key that comes with another request."""
    with WireServer() as server:
        server.script(Turn(status=400))
        async with asking(tmp_path, provider, server, "größer", "m") as model:
            await model.ask(PROMPT)
        assert keys(server) == ["run/ask coder 0/gr%C3%B6%C3%9Fer", "run/ask coder 0/m"]
