"""What the gateway adds to a call beside bare clients; tokens a second of the embedded model.

    python -m bench.gateway calls      one call at a time and 64 at once, against one local server
    python -m bench.gateway embedded   tokens a second at 1, 2, 4 and 8 answers at once

The server is a process of its own that answers at once, so CPU time measured is the client's.
litellm is measured where it is installed; it is not a dependency.
"""

import argparse
import asyncio
import importlib.util
import json
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from twinsmith.adapters.clock import SystemClock
from twinsmith.adapters.models import catalogue
from twinsmith.adapters.models.embedded import Address, EmbeddedServer, shape_for
from twinsmith.adapters.models.gateway import Gateway, Manners
from twinsmith.adapters.models.install import ModelStore
from twinsmith.adapters.models.providers import Access, Providers, Timeouts
from twinsmith.adapters.models.reply_cache import ReplyCache
from twinsmith.adapters.models.routing import Choice, Endpoint
from twinsmith.adapters.models.transcripts import Transcripts
from twinsmith.core.model import Prompt
from twinsmith.settings import load

CALLS = 300
AT_ONCE = 64
ROUNDS = 10
TEXT = "Write a function that adds two numbers."
# Never done before the limit, so that all answers are equally long.
LONG = "Write the numbers from 1 to 400 in words, one a line."
ANSWER_TOKENS = 128
PATIENCE = Timeouts(connect=10.0, first_token=300.0, whole=600.0)

Ask = Callable[[int], Awaitable[object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Figures of one client."""

    p50_ms: float
    cpu_ms: float
    per_second: float


def prompt(seed: int, *, tokens: int = 64, text: str = TEXT) -> Prompt:
    return Prompt(
        key=str(seed), role="coder", nth=0, text=text, task="t", seed=seed, max_tokens=tokens
    )


def door(folder: Path, providers: Providers, endpoint: Endpoint, at_once: int) -> Gateway:
    return Gateway(
        {(1, "coder"): Choice(endpoints=(endpoint,), why="bench")},
        providers,
        Manners(retries=0, at_once=at_once, per_minute=0),
        cache=ReplyCache(folder / "cache.db", 256 << 20),
        transcripts=Transcripts(folder / "said", 30, SystemClock()),
        clock=SystemClock(),
    )


def bare_openai(url: str, stack: AsyncExitStack) -> Ask:
    from openai import AsyncOpenAI

    client = AsyncOpenAI(base_url=url, api_key="k", max_retries=0)
    stack.push_async_callback(client.close)

    async def ask(seed: int) -> object:
        stream = await client.chat.completions.create(
            model="m",
            messages=[{"role": "user", "content": TEXT}],
            stream=True,
            stream_options={"include_usage": True},
            seed=seed,
            max_tokens=64,
        )
        return [chunk async for chunk in stream]

    return ask


async def bare_direct(url: str, stack: AsyncExitStack) -> Ask:
    from pydantic_ai.direct import model_request_stream
    from pydantic_ai.messages import ModelRequest, UserPromptPart
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    model = OpenAIChatModel("m", provider=OpenAIProvider(base_url=url, api_key="k"))
    await stack.enter_async_context(model)

    async def ask(seed: int) -> object:
        messages = [ModelRequest(parts=[UserPromptPart(content=TEXT)])]
        settings = {"seed": seed, "max_tokens": 64, "max_retries": 0}
        async with model_request_stream(model, messages, model_settings=settings) as stream:  # type: ignore[arg-type]
            async for _ in stream:
                pass
            return stream.get()

    return ask


def through_gateway(url: str, folder: Path, stack: AsyncExitStack) -> Ask:
    providers = Providers(Access(keys={}, urls={"server": url}), PATIENCE, {})
    gateway = door(folder, providers, Endpoint(provider="server", model="m"), AT_ONCE)
    stack.push_async_callback(gateway.close)
    return lambda seed: gateway.ask(prompt(seed))


def through_litellm(url: str) -> Ask | None:
    if importlib.util.find_spec("litellm") is None:
        return None
    import litellm  # type: ignore[import-not-found, unused-ignore]

    async def ask(seed: int) -> object:
        stream = await litellm.acompletion(
            model="openai/m",
            api_base=url,
            api_key="k",
            messages=[{"role": "user", "content": TEXT}],
            stream=True,
            seed=seed,
            max_tokens=64,
        )
        return [chunk async for chunk in stream]

    return ask


async def measured(ask: Ask, first_seed: int) -> Row:
    """One at a time for latency and CPU, then many at once for throughput."""
    for seed in range(20):
        await ask(first_seed + seed)
    times = []
    cpu = time.process_time()
    for seed in range(CALLS):
        began = time.perf_counter()
        await ask(first_seed + 100 + seed)
        times.append(time.perf_counter() - began)
    cpu = (time.process_time() - cpu) / CALLS
    began = time.perf_counter()
    for turn in range(ROUNDS):
        base = first_seed + 1000 + turn * AT_ONCE
        await asyncio.gather(*(ask(base + n) for n in range(AT_ONCE)))
    per_second = ROUNDS * AT_ONCE / (time.perf_counter() - began)
    p50 = statistics.median(times)
    return Row(p50_ms=p50 * 1000, cpu_ms=cpu * 1000, per_second=per_second)


async def calls() -> None:
    code = (
        "import sys; from tests.wire import WireServer, Turn\n"
        "with WireServer() as s:\n"
        "    s.default = Turn(text='def add(a, b): return a + b')\n"
        "    print(s.url, flush=True); sys.stdin.read()"
    )
    server = subprocess.Popen(  # noqa: ASYNC220 - before anything else runs
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    url = server.stdout.readline().strip() + "/v1"
    rows: dict[str, Row] = {}
    try:
        with tempfile.TemporaryDirectory() as folder:
            async with AsyncExitStack() as stack:
                clients: dict[str, Ask | None] = {
                    "openai client": bare_openai(url, stack),
                    "pydantic_ai.direct": await bare_direct(url, stack),
                    "gateway": through_gateway(url, Path(folder), stack),
                    "litellm": through_litellm(url),
                }
                for number, (name, ask) in enumerate(clients.items()):
                    if ask is None:
                        print(f"{name}: not installed, left out")
                        continue
                    rows[name] = await measured(ask, number * 100_000)
    finally:
        server.communicate("")
    bare, direct = rows["openai client"], rows["pydantic_ai.direct"]
    print(f"streamed calls; one at a time: {CALLS}; {AT_ONCE} at once: {ROUNDS} rounds")
    print(f"{'':<20}{'p50 ms':>8}{'x openai':>10}{'CPU ms':>8}{'calls/s':>9}{'x direct':>10}")
    for name, row in rows.items():
        print(
            f"{name:<20}{row.p50_ms:8.2f}{row.p50_ms / bare.p50_ms:10.2f}{row.cpu_ms:8.2f}"
            f"{row.per_second:9.0f}{row.per_second / direct.per_second:10.2f}"
        )


async def tokens_a_second(path: Path, slots: int) -> tuple[float, float]:
    """Aggregate tokens a second of one server: through the gateway, and asked bare."""
    with tempfile.TemporaryDirectory() as folder:
        server = EmbeddedServer(path, shape_for(2, slots=slots), version="bench")
        providers = Providers(Access(keys={}, urls={}), PATIENCE, {"m": server})
        endpoint = Endpoint(provider="embedded", model="m")
        gateway = door(Path(folder), providers, endpoint, slots)

        async def bare(seed: int) -> int:
            address = await server.address()
            return await asyncio.to_thread(answer, address, seed)

        async def through(seed: int) -> int:
            reply = await gateway.ask(prompt(seed, tokens=ANSWER_TOKENS, text=LONG))
            return reply.tokens_out

        try:
            await gateway.ask(prompt(0, tokens=16, text=LONG))
            return await rate(through, slots, 1), await rate(bare, slots, 1001)
        finally:
            await gateway.close()


async def rate(ask: Callable[[int], Awaitable[int]], at_once: int, first_seed: int) -> float:
    began = time.perf_counter()
    tokens = await asyncio.gather(*(ask(first_seed + n) for n in range(at_once)))
    return sum(tokens) / (time.perf_counter() - began)


def answer(address: Address, seed: int) -> int:
    """One answer without any client library, not streamed."""
    body = {
        "messages": [{"role": "user", "content": LONG}],
        "max_tokens": ANSWER_TOKENS,
        "seed": seed,
        "temperature": 0.3,
    }
    request = urllib.request.Request(
        f"{address.url}/v1/chat/completions",
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json", "Authorization": f"Bearer {address.key}"},
    )
    with urllib.request.urlopen(request) as reply:
        return int(json.load(reply)["usage"]["completion_tokens"])


async def embedded(name: str) -> None:
    path = ModelStore(load().models_folder).path(catalogue.find(name))
    if path is None:
        raise SystemExit(f"{name} is not installed; run: twinsmith models install {name}")
    print(f"{name}: tokens a second, all answers together, {ANSWER_TOKENS} tokens each")
    print(f"{'answers at once':<18}{'gateway':>9}{'x bare one':>12}{'bare':>9}{'x bare one':>12}")
    single = 0.0
    for slots in (1, 2, 4, 8):
        through, bare = await tokens_a_second(path, slots)
        single = single or bare
        cells = f"{through:9.1f}{through / single:12.2f}{bare:9.1f}{bare / single:12.2f}"
        print(f"{slots:<18}{cells}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["calls", "embedded"])
    parser.add_argument("--model", default="qwen2.5-coder-1.5b")
    options = parser.parse_args()
    asyncio.run(calls() if options.what == "calls" else embedded(options.model))


if __name__ == "__main__":
    main()
