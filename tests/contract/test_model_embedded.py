"""The embedded model: a child process that starts, stops, dies and comes back."""

import asyncio
import json
import os
import signal
import urllib.error
import urllib.request
from dataclasses import replace
from pathlib import Path

import pytest

from tests.contract.test_model import PROMPT, SCHEMA, gateway
from twinsmith.adapters.models.embedded import EmbeddedServer, shape_for
from twinsmith.adapters.models.reply_cache import ReplyCache
from twinsmith.adapters.models.routing import Endpoint
from twinsmith.core.errors import ModelUnavailable


class TestEmbedded:
    """The real runtime with a real, very small model."""

    ENDPOINT = Endpoint(provider="embedded", model="smol")

    async def test_the_same_seed_says_the_same_and_another_does_not(
        self, tmp_path: Path, smollm: Path
    ) -> None:
        warm = replace(PROMPT, temperature=1.0)
        async with gateway(tmp_path, self.ENDPOINT, embedded=smollm) as model:
            first = await model.ask(warm)
            model._cache = ReplyCache(tmp_path / "none.db", 0)
            again = await model.ask(warm)
            other = await model.ask(replace(warm, seed=12))
        assert first.text == again.text
        assert not again.cached
        assert other.text != first.text
        assert first.version == "v@1"

    async def test_an_answer_can_be_held_to_a_schema(self, tmp_path: Path, smollm: Path) -> None:
        async with gateway(tmp_path, self.ENDPOINT, embedded=smollm) as model:
            reply = await model.ask(replace(PROMPT, schema=SCHEMA, max_tokens=60))
        assert isinstance(json.loads(reply.text)["n"], int)

    async def test_several_questions_share_one_server(self, tmp_path: Path, smollm: Path) -> None:
        async with gateway(tmp_path, self.ENDPOINT, embedded=smollm) as model:
            replies = await asyncio.gather(
                *(model.ask(replace(PROMPT, seed=seed)) for seed in range(4))
            )
            servers = model._providers._embedded  # type: ignore[attr-defined]
            assert len({server.pid for server in servers.values()}) == 1
        assert all(reply.text for reply in replies)

    async def test_killed_in_mid_reply_it_is_started_again(
        self, tmp_path: Path, smollm: Path
    ) -> None:
        async with gateway(tmp_path, self.ENDPOINT, embedded=smollm) as model:
            await model.ask(PROMPT)
            (server,) = model._providers._embedded.values()  # type: ignore[attr-defined]
            before = server.pid
            # Two hundred numbers cannot be done in half a second, whatever the model thinks.
            numbers = {"type": "array", "items": {"type": "integer"}, "minItems": 200}
            schema = {"type": "object", "properties": {"n": numbers}, "required": ["n"]}
            long = replace(PROMPT, max_tokens=800, schema=json.dumps(schema))
            asking = asyncio.create_task(model.ask(long))
            await asyncio.sleep(0.5)
            assert not asking.done()
            os.kill(before, signal.SIGKILL)
            reply = await asking
            assert server.pid != before
        assert reply.text
        assert len(reply.failed_attempts) == 1

    async def test_a_shared_beginning_is_paid_once(self, smollm: Path) -> None:
        server = EmbeddedServer(smollm, shape_for(2, slots=1), version="v")
        address = await server.address()
        shared = "You are a careful programmer. " * 20

        def asked(text: str) -> int:
            body = {"messages": [{"role": "user", "content": shared + text}], "max_tokens": 1}
            request = urllib.request.Request(
                f"{address.url}/v1/chat/completions",
                data=json.dumps(body).encode(),
                headers={"Authorization": f"Bearer {address.key}"},
            )
            with urllib.request.urlopen(request) as reply:
                usage = json.load(reply)["usage"]
            return int(usage["prompt_tokens_details"]["cached_tokens"])

        try:
            first = await asyncio.to_thread(asked, "Say yes.")
            second = await asyncio.to_thread(asked, "Say no.")
        finally:
            await server.stop()
        assert first == 0
        assert second > 100

    async def test_nobody_else_may_use_it(self, smollm: Path) -> None:
        server = EmbeddedServer(smollm, shape_for(2, slots=1), version="v")
        address = await server.address()
        request = urllib.request.Request(f"{address.url}/v1/chat/completions", data=b"{}")
        try:
            with pytest.raises(urllib.error.HTTPError) as error:
                await asyncio.to_thread(urllib.request.urlopen, request)
            assert error.value.code == 401
            error.value.close()
        finally:
            await server.stop()
        assert address.url.startswith("http://127.0.0.1:")

    async def test_it_stops_with_the_gateway(self, tmp_path: Path, smollm: Path) -> None:
        async with gateway(tmp_path, self.ENDPOINT, embedded=smollm) as model:
            await model.ask(PROMPT)
            (server,) = model._providers._embedded.values()  # type: ignore[attr-defined]
            pid = server.pid
        assert not Path(f"/proc/{pid}").exists()

    async def test_stopping_while_others_wait_for_it_leaves_nobody_waiting(
        self, smollm: Path
    ) -> None:
        server = EmbeddedServer(smollm, shape_for(2, slots=1), version="v")
        waiting = [asyncio.create_task(server.address()) for _ in range(4)]
        await asyncio.sleep(0.1)
        async with asyncio.timeout(20):
            await server.stop()
            answers = await asyncio.gather(*waiting, return_exceptions=True)
        assert all(isinstance(answer, ModelUnavailable) for answer in answers)
        assert server.pid is None

    async def test_a_file_that_is_no_model_is_one_line(self, tmp_path: Path) -> None:
        (tmp_path / "bad.gguf").write_text("a poem")
        async with gateway(tmp_path, self.ENDPOINT, embedded=tmp_path / "bad.gguf") as model:
            with pytest.raises(ModelUnavailable, match=r"bad.gguf does not start") as error:
                await model.ask(PROMPT)
        assert "\n" not in str(error.value)
