"""An embedder behind HTTP: OpenAI and all that speak like it, and Gemini."""

import asyncio
import random
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Literal
from urllib.parse import quote

import numpy as np
from httpx2 import (
    AsyncClient,
    HTTPError,
    InvalidURL,
    LocalProtocolError,
    Response,
    Timeout,
    UnsupportedProtocol,
)

from twinsmith.adapters.knowledge.embedder import Vectors, unit
from twinsmith.core.errors import ModelUnavailable
from twinsmith.core.masking import Masking
from twinsmith.ports import Clock

BATCH_TEXTS = 64
FIRST_WAIT = 0.5
LONGEST_WAIT = 30.0
_REASON_CHARACTERS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """Where to ask, for which model, and with how much patience."""

    provider: Literal["openai", "google", "server", "ollama"]
    model: str
    url: str
    """With `/v1` at its end where it speaks as OpenAI does; for Google without a version."""
    key: str = field(default="", repr=False)
    dimensions: int
    longest_bytes: int = 8000
    """Of a longer text the beginning is sent: no tokenizer makes more tokens than bytes, and
    OpenAI refuses 8,192."""
    connect_seconds: float = 10.0
    reply_seconds: float = 60.0
    retries: int = 3

    @property
    def name(self) -> str:
        """As settings and events spell a model."""
        return f"{self.provider}:{self.model}"


class RemoteEmbedder:
    """Asks a service, in batches, and tries again where a failure may pass.

    A blank text is never sent, since services refuse it: its vector is the first direction.
    """

    def __init__(self, service: Service, clock: Clock) -> None:
        self.id = f"{service.name}@{service.dimensions}"
        self.dimensions = service.dimensions
        self._service = service
        self._clock = clock
        self._chance = random.Random()  # noqa: S311 - spreads retries, guards nothing
        self._http: AsyncClient | None = None

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """The vectors, in the order of the texts."""
        longest = self._service.longest_bytes
        short = [_cut(text, longest) for text in texts]
        asked = [place for place, text in enumerate(short) if text.strip()]
        made = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for start in range(0, len(asked), BATCH_TEXTS):
            places = asked[start : start + BATCH_TEXTS]
            made[places] = await self._answered([short[place] for place in places])
        return unit(made)

    async def close(self) -> None:
        """Let connections go."""
        client, self._http = self._http, None
        if client is not None:
            await client.aclose()

    async def _answered(self, texts: list[str]) -> Vectors:
        for attempt in range(self._service.retries + 1):
            try:
                return self._read(await self._post(texts), len(texts))
            except _Passing as failure:
                reason, after = str(failure), failure.after
            if after > LONGEST_WAIT:
                reason = f"{reason}; it asks to wait {after:.0f} s"
                break
            if attempt < self._service.retries:
                backoff = min(FIRST_WAIT * 2**attempt, LONGEST_WAIT)
                await self._clock.sleep(max(after, self._chance.uniform(backoff / 2, backoff)))
        raise self._unavailable(reason, "try again later")

    async def _post(self, texts: list[str]) -> Response:
        """One attempt; raises _Passing, or ModelUnavailable where trying again is no use."""
        service = self._service
        url, headers, body = _request(service, texts)
        try:
            async with asyncio.timeout(service.reply_seconds):
                reply = await self._client().post(url, headers=headers, json=body)
        except TimeoutError:
            raise _Passing(f"no answer within {service.reply_seconds:g} s") from None
        except (InvalidURL, UnsupportedProtocol, LocalProtocolError, UnicodeError):
            # What these say may quote the key.
            raise self._unavailable(
                "its address or key cannot be sent", "check both for odd characters"
            ) from None
        except HTTPError as error:
            raise _Passing(f"{type(error).__name__} {error}".strip()) from None
        if reply.status_code in (408, 429) or reply.status_code >= 500:
            raise _Passing(_said(reply), _seconds(reply, self._clock.now()))
        if not reply.is_success:
            raise self._unavailable(_said(reply), "check its address, model and key")
        return reply

    def _read(self, reply: Response, count: int) -> Vectors:
        try:
            values = _values(self._service, reply.json())
            rows = np.array(values, dtype=np.float64)
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            raise self._unavailable("its answer cannot be read", "check its address") from None
        if rows.ndim != 2 or len(rows) != count:
            what = f"its answer holds {len(values)} vectors, not {count} of one length"
            raise self._unavailable(what, "check its model")
        if rows.shape[1] != self.dimensions:
            raise self._unavailable(
                f"its vectors have {rows.shape[1]} dimensions and {self.dimensions} are configured",
                f"configure {rows.shape[1]}",
            )
        with np.errstate(over="ignore", invalid="ignore"):
            lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        if not (np.isfinite(lengths) & (lengths > 0)).all():
            raise self._unavailable("a vector has no direction", "check its model")
        made: Vectors = (rows / lengths).astype(np.float32)
        return made

    def _unavailable(self, reason: str, advice: str) -> ModelUnavailable:
        # Masked before it is cut: half a key is still a part of it.
        key = self._service.key.strip()
        masking = Masking(secrets=(key,) if key else ())
        line = masking.text(" ".join(reason.split()))[:_REASON_CHARACTERS]
        return ModelUnavailable(f"embedder {self._service.name}: {line}; {advice}")

    def _client(self) -> AsyncClient:
        if self._http is None:
            service = self._service
            self._http = AsyncClient(
                timeout=Timeout(service.reply_seconds, connect=service.connect_seconds)
            )
        return self._http


class _Passing(Exception):
    """A failure that may pass; `after` is how long the service asked us to wait."""

    def __init__(self, reason: str, after: float = 0.0) -> None:
        super().__init__(reason)
        self.after = after


def _request(service: Service, texts: list[str]) -> tuple[str, dict[str, str], dict[str, object]]:
    """The address, headers and body of one batch."""
    base = service.url.rstrip("/")
    if service.provider == "google":
        name = service.model.removeprefix("models/")
        one = {"model": f"models/{name}", "outputDimensionality": service.dimensions}
        return (
            f"{base}/v1beta/models/{quote(name, safe='')}:batchEmbedContents",
            {"x-goog-api-key": service.key},
            {"requests": [{**one, "content": {"parts": [{"text": text}]}} for text in texts]},
        )
    headers = {"authorization": f"Bearer {service.key}"} if service.key else {}
    body: dict[str, object] = {"model": service.model, "input": texts, "encoding_format": "float"}
    return f"{base}/embeddings", headers, body


def _values(service: Service, reply: dict[str, list[dict[str, object]]]) -> list[object]:
    """The vectors of a reply, in the order of the texts."""
    if service.provider == "google":
        return [one["values"] for one in reply["embeddings"]]
    by_place = {one["index"]: one["embedding"] for one in reply["data"]}
    return [by_place[place] for place in range(len(reply["data"]))]


def _cut(text: str, longest: int) -> str:
    return text.encode(errors="replace")[:longest].decode(errors="ignore")


def _said(reply: Response) -> str:
    return f"HTTP {reply.status_code} {reply.text}"


def _seconds(reply: Response, now: str) -> float:
    """What Retry-After asks for, as a number or as a date; 0 when it says nothing of use."""
    asked = reply.headers.get("retry-after", "")
    with suppress(ValueError):
        return max(0.0, float(asked))
    with suppress(ValueError):
        until = parsedate_to_datetime(asked)
        until = until if until.tzinfo else until.replace(tzinfo=UTC)
        return max(0.0, (until - datetime.fromisoformat(now)).total_seconds())
    return 0.0
