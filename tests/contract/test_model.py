"""What every model must do: scripted, recorded, three real wire formats, the embedded runtime."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.wire import Turn, WireServer
from twinsmith.adapters.clock import SystemClock
from twinsmith.adapters.models.embedded import EmbeddedServer, shape_for
from twinsmith.adapters.models.gateway import Gateway, Manners
from twinsmith.adapters.models.providers import Access, Providers, Timeouts
from twinsmith.adapters.models.recorded import RecordedModel, RecordingModel
from twinsmith.adapters.models.reply_cache import ReplyCache
from twinsmith.adapters.models.routing import Choice, Endpoint, Provider
from twinsmith.adapters.models.scripted import Script, ScriptedModel, ScriptedReply
from twinsmith.adapters.models.transcripts import Transcripts
from twinsmith.core.errors import ModelUnavailable
from twinsmith.core.masking import Masking
from twinsmith.core.model import Prompt
from twinsmith.ports import Model

KEY = "sk-planted-abcdefghijklmnop"
PROMPT = Prompt(
    key="run/ask coder 0",
    role="coder",
    nth=0,
    text="Say hello.",
    task="t",
    seed=11,
    max_tokens=24,
)
SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
        "additionalProperties": False,
    }
)
WIRES: dict[Provider, str] = {"openai": "/v1", "google": "", "anthropic": "", "server": "/v1"}
PATIENCE = Timeouts(connect=2.0, first_token=60.0, whole=120.0)


@asynccontextmanager
async def gateway(
    folder: Path,
    endpoint: Endpoint,
    *,
    url: str = "",
    embedded: Path | None = None,
    timeouts: Timeouts = PATIENCE,
    retries: int = 2,
) -> AsyncIterator[Gateway]:
    """A gateway with one endpoint behind it."""
    servers = {}
    if embedded:
        shape = shape_for(2, slots=2)
        servers[endpoint.model] = EmbeddedServer(embedded, shape, version="v@1")
    access = Access(keys={endpoint.provider: KEY}, urls={endpoint.provider: url} if url else {})
    made = Gateway(
        {(1, "coder"): Choice(endpoints=(endpoint,), why="test")},
        Providers(access, timeouts, servers),
        Manners(retries=retries, at_once=8, per_minute=0),
        cache=ReplyCache(folder / "cache.db", 1 << 20),
        transcripts=Transcripts(folder / "said", 3, SystemClock(), Masking(secrets=(KEY,))),
        clock=SystemClock(),
    )
    try:
        yield made
    finally:
        await made.close()


@asynccontextmanager
async def on_wire(
    folder: Path, provider: Provider, server: WireServer, **options: object
) -> AsyncIterator[Gateway]:
    endpoint = Endpoint(provider=provider, model="wire-model")
    url = server.url + WIRES[provider]
    async with gateway(folder, endpoint, url=url, **options) as made:  # type: ignore[arg-type]
        yield made


@asynccontextmanager
async def opened(kind: str, folder: Path, file: Path | None) -> AsyncIterator[Model]:
    script = Script(name="s", replies=(ScriptedReply(role="coder", text="hello " * 40),))
    match kind:
        case "scripted":
            yield ScriptedModel(script)
        case "recorded":
            recording = RecordingModel(ScriptedModel(script), folder / "r.jsonl")
            for prompt in (PROMPT, replace(PROMPT, max_tokens=5)):
                await recording.ask(prompt)
            yield RecordedModel(folder / "r.jsonl")
        case "embedded":
            endpoint = Endpoint(provider="embedded", model="smol")
            async with gateway(folder, endpoint, embedded=file) as made:
                yield made
        case _:
            with WireServer() as server:
                server.default = Turn(text="hello", tokens_in=9, tokens_out=3)
                provider: Provider = kind  # type: ignore[assignment]
                async with on_wire(folder, provider, server) as made:
                    yield made


KINDS = ["scripted", "recorded", "openai", "google", "anthropic", "server", "embedded"]


@pytest.fixture
def file(request: pytest.FixtureRequest) -> Path | None:
    """The model file where the kind under test needs one."""
    needs_one = request.node.callspec.params["kind"] == "embedded"
    path: Path | None = request.getfixturevalue("smollm") if needs_one else None
    return path


@pytest.mark.parametrize("kind", KINDS)
async def test_a_reply_names_its_model_and_counts_both_ways(
    kind: str, tmp_path: Path, file: Path | None
) -> None:
    async with opened(kind, tmp_path, file) as model:
        reply = await model.ask(PROMPT)
    assert reply.text
    assert ":" in reply.model
    assert reply.version
    assert reply.tokens_in > 0
    assert 0 < reply.tokens_out <= PROMPT.max_tokens
    assert reply.tokens == reply.tokens_in + reply.tokens_out


@pytest.mark.parametrize("kind", ["scripted", "recorded", "embedded"])
async def test_a_reply_never_exceeds_max_tokens(
    kind: str, tmp_path: Path, file: Path | None
) -> None:
    async with opened(kind, tmp_path, file) as model:
        reply = await model.ask(replace(PROMPT, max_tokens=5))
    assert 0 < reply.tokens_out <= 5
    assert reply.cut


@pytest.mark.parametrize("provider", ["openai", "google", "anthropic", "server"])
class TestOnTheWire:
    """Faults that a server on the loopback makes on purpose, in each provider's own format."""

    async def test_the_question_arrives_with_its_limits(
        self, provider: Provider, tmp_path: Path
    ) -> None:
        with WireServer() as server:
            server.script(Turn(text='{"n": 3}'))
            async with on_wire(tmp_path, provider, server) as model:
                reply = await model.ask(replace(PROMPT, schema=SCHEMA))
            (request,) = server.requests
        assert json.loads(reply.text) == {"n": 3}
        assert reply.first_token_seconds > 0
        sent = json.dumps(request.body)
        assert "Say hello." in sent
        assert "24" in sent
        assert request.streams
        if provider != "anthropic":
            assert '"n"' in sent

    async def test_an_answer_that_may_be_no_longer_is_told_apart(
        self, provider: Provider, tmp_path: Path
    ) -> None:
        with WireServer() as server:
            server.script(Turn(text="to its end"), Turn(text="and then", full=True))
            async with on_wire(tmp_path, provider, server) as model:
                whole = await model.ask(PROMPT)
                cut = await model.ask(replace(PROMPT, key="run/ask coder 1", text="More."))
        assert (whole.cut, cut.cut) == (False, True)

    @pytest.mark.parametrize(
        ("turn", "says"),
        [
            (Turn(status=429, headers={"retry-after": "0"}), "429"),
            (Turn(status=500), "500"),
            (Turn(status=503), "503"),
            (Turn(text="half an answer", cut_after=4), ""),
            (Turn(body='{"not": json'), ""),
            (Turn(body='{"hello": 1}'), ""),
            (Turn(text=""), ""),
        ],
        ids=["429", "500", "503", "cut stream", "invalid JSON", "wrong object", "empty"],
    )
    async def test_what_may_pass_is_asked_again(
        self, provider: Provider, turn: Turn, says: str, tmp_path: Path
    ) -> None:
        with WireServer() as server:
            server.script(turn, Turn(text="fine"))
            async with on_wire(tmp_path, provider, server) as model:
                reply = await model.ask(PROMPT)
            assert len(server.requests) == 2
        assert reply.text == "fine"
        (failed,) = reply.failed_attempts
        assert failed.startswith(f"{provider}:wire-model: ")
        assert says in failed

    async def test_a_server_that_asks_for_time_gets_it(
        self, provider: Provider, tmp_path: Path
    ) -> None:
        with WireServer() as server:
            server.script(Turn(status=429, headers={"retry-after": "1"}), Turn(text="fine"))
            async with on_wire(tmp_path, provider, server) as model:
                began = asyncio.get_running_loop().time()
                await model.ask(PROMPT)
                assert asyncio.get_running_loop().time() - began >= 1.0

    @pytest.mark.parametrize("status", [400, 401, 404])
    async def test_what_will_not_pass_is_not_asked_again(
        self, provider: Provider, status: int, tmp_path: Path
    ) -> None:
        with WireServer() as server:
            server.default = Turn(status=status)
            async with on_wire(tmp_path, provider, server) as model:
                with pytest.raises(ModelUnavailable, match=str(status)) as error:
                    await model.ask(PROMPT)
            assert len(server.requests) == 1
        assert "\n" not in str(error.value)
        assert KEY not in str(error.value)

    async def test_a_slow_first_byte_is_not_waited_for(
        self, provider: Provider, tmp_path: Path
    ) -> None:
        hasty = Timeouts(connect=2.0, first_token=0.5, whole=5.0)
        with WireServer() as server:
            server.script(Turn(delay=3.0), *[Turn(text="fine")] * 2)  # the second may be late too
            async with on_wire(tmp_path, provider, server, timeouts=hasty) as model:
                reply = await model.ask(PROMPT)
        assert reply.text == "fine"
        assert "timed out" in reply.failed_attempts[0]

    async def test_a_connection_that_is_never_accepted_is_not_waited_for(
        self, provider: Provider, tmp_path: Path
    ) -> None:
        hasty = Timeouts(connect=0.3, first_token=60.0, whole=60.0)
        endpoint = Endpoint(provider=provider, model="wire-model")
        with socket.create_server(("127.0.0.1", 0), backlog=0) as full, ExitStack() as waiting:
            # The queue of a server that accepts nobody: once it is full, nobody is answered.
            for _ in range(4):
                one = waiting.enter_context(socket.socket())
                one.setblocking(False)
                one.connect_ex(full.getsockname())
            url = f"http://127.0.0.1:{full.getsockname()[1]}{WIRES[provider]}"
            async with (
                asyncio.timeout(20),
                gateway(tmp_path, endpoint, url=url, timeouts=hasty, retries=0) as model,
            ):
                with pytest.raises(ModelUnavailable, match=f"{provider}:wire-model: "):
                    await model.ask(PROMPT)

    async def test_an_answer_is_heard_of_while_it_comes_in(self, provider: Provider) -> None:
        heard: list[int] = []
        with WireServer() as server:
            server.default = Turn(text="one two three four")
            access = Access(keys={provider: KEY}, urls={provider: server.url + WIRES[provider]})
            providers = Providers(access, PATIENCE, {}, lambda _key, parts: heard.append(parts))
            await providers.complete(Endpoint(provider=provider, model="wire-model"), PROMPT)
            await providers.close()
        assert heard[-1] == 0
        assert heard[:-1] == list(range(1, len(heard)))
        assert len(heard) > 1

    async def test_nobody_there_is_said(self, provider: Provider, tmp_path: Path) -> None:
        endpoint = Endpoint(provider=provider, model="wire-model")
        url = f"http://127.0.0.1:9{WIRES[provider]}"
        async with gateway(tmp_path, endpoint, url=url, retries=0) as model:
            with pytest.raises(ModelUnavailable, match=f"{provider}:wire-model: "):
                await model.ask(PROMPT)

    async def test_the_key_is_sent_and_kept_nowhere(
        self, provider: Provider, tmp_path: Path
    ) -> None:
        with WireServer() as server:
            server.script(Turn(text=f"I saw {KEY}"), Turn(status=401))
            async with on_wire(tmp_path, provider, server) as model:
                await model.ask(replace(PROMPT, text=f"my key is {KEY}"))
                with pytest.raises(ModelUnavailable) as error:
                    await model.ask(replace(PROMPT, text="another"))
            assert any(KEY in value for value in server.requests[0].headers.values())
        kept = [path.read_bytes() for path in (tmp_path / "said").rglob("*") if path.is_file()]
        assert kept
        assert all(KEY.encode() not in content for content in kept)
        assert KEY not in str(error.value)
