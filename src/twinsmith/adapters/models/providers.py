"""One question to one endpoint, through pydantic-ai: the only module that knows wire formats."""

import asyncio
import json
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import assert_never
from urllib.parse import quote

from httpx2 import AsyncClient, Request, Timeout
from pydantic_ai import exceptions as failures
from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, UserPromptPart
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings

from twinsmith.adapters.models.embedded import EmbeddedServer
from twinsmith.adapters.models.routing import Endpoint, Provider
from twinsmith.core.model import Prompt


class Busy(Exception):
    """An endpoint failed in a way that may pass; `after` is how long it asked us to wait."""

    def __init__(self, reason: str, after: float | None = None) -> None:
        super().__init__(reason)
        self.after = after


class Refused(Exception):
    """An endpoint will not answer this question, however often it is asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Timeouts of one attempt, in seconds."""

    connect: float
    first_token: float
    whole: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Keys and addresses of providers; without an address, the provider's own is used."""

    keys: Mapping[Provider, str]
    urls: Mapping[Provider, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """One answer as an endpoint gave it."""

    text: str
    version: str
    tokens_in: int
    tokens_out: int
    first_token_seconds: float
    cut: bool = False
    """Whether it ends because it may be no longer."""


Heard = Callable[[str, int], None]
"""A listener to answers coming in: a question's key and the parts so far, 0 at the end."""


class Providers:
    """Asks endpoints, and keeps one client for each."""

    def __init__(
        self,
        access: Access,
        timeouts: Timeouts,
        embedded: Mapping[str, EmbeddedServer],
        heard: Heard = lambda _key, _parts: None,
    ) -> None:
        self._access = access
        self._heard = heard
        self._timeouts = timeouts
        self._embedded = embedded
        self._models: dict[tuple[str, str], Model] = {}
        self._clients = AsyncExitStack()
        self._http: AsyncClient | None = None

    async def complete(self, endpoint: Endpoint, prompt: Prompt) -> Completion:
        """The answer of one attempt at one endpoint; raises Busy or Refused."""
        try:
            model = await self._model(endpoint)
            return await self._stream(model, endpoint, prompt)
        except failures.ModelAPIError as error:
            if endpoint.provider == "embedded":
                await self._embedded[endpoint.model].notice()
            raise _sorted_out(error) from error
        except failures.UnexpectedModelBehavior as error:
            raise Busy(f"the answer cannot be read: {_line(error)}") from error
        except failures.UserError as error:
            raise Refused(_line(error)) from error

    async def close(self) -> None:
        """End the embedded servers and let connections go."""
        for server in self._embedded.values():
            await server.stop()
        await self._clients.aclose()
        self._http = None
        self._models.clear()

    async def _stream(self, model: Model, endpoint: Endpoint, prompt: Prompt) -> Completion:
        clock = asyncio.get_running_loop().time
        began, first, parts, patience = clock(), 0.0, 0, self._timeouts
        try:
            # One deadline, moved when the first token is there: cheaper than two of the library's.
            async with asyncio.timeout(min(patience.first_token, patience.whole)) as deadline:
                async with model_request_stream(
                    model,
                    _messages(prompt),
                    model_settings=_settings(endpoint, prompt),
                    model_request_parameters=_parameters(model, prompt),
                ) as stream:
                    async for _ in stream:
                        if not first:
                            first = clock() - began
                            deadline.reschedule(began + patience.whole)
                        parts += 1
                        self._heard(prompt.key, parts)
                    response = stream.get()
        except TimeoutError:
            waited = "the whole answer" if first else "the first token"
            raise Busy(f"timed out waiting for {waited}") from None
        finally:
            self._heard(prompt.key, 0)
        return _completion(endpoint, response, first)

    async def _model(self, endpoint: Endpoint) -> Model:
        url = self._access.urls.get(endpoint.provider, "")
        key = self._access.keys.get(endpoint.provider, "")
        if endpoint.provider == "embedded":
            server = self._embedded.get(endpoint.model)
            if server is None:
                raise Refused("it is not installed")
            # A server that died is started again on another port, with another key.
            address = await server.address()
            url, key = f"{address.url}/v1", address.key
        elif endpoint.frontier and not key:
            raise Refused("there is no key for it in the environment")
        elif not endpoint.frontier and not url:
            raise Refused(f"models.{endpoint.provider} has no address")
        if (endpoint.name, url) not in self._models:
            self._models[endpoint.name, url] = _made(endpoint, url, key, await self._client())
        return self._models[endpoint.name, url]

    async def _client(self) -> AsyncClient:
        if self._http is None:
            patience = Timeout(self._timeouts.whole, connect=self._timeouts.connect)

            async def hold(request: Request) -> None:
                # Google's library asks for no time-outs at all, request by request.
                request.extensions["timeout"] = patience.as_dict()

            client = AsyncClient(timeout=patience, event_hooks={"request": [hold]})
            self._http = await self._clients.enter_async_context(client)
        return self._http


def _made(endpoint: Endpoint, url: str, key: str, http: AsyncClient) -> Model:
    match endpoint.provider:
        case "google":
            from pydantic_ai.models.google import GoogleModel
            from pydantic_ai.providers.google import GoogleProvider

            google = GoogleProvider(api_key=key, base_url=url or None, http_client=http)
            return GoogleModel(endpoint.model, provider=google)
        case "anthropic":
            from pydantic_ai.models.anthropic import AnthropicModel
            from pydantic_ai.providers.anthropic import AnthropicProvider

            anthropic = AnthropicProvider(api_key=key, base_url=url or None, http_client=http)
            return AnthropicModel(endpoint.model, provider=anthropic)
        case "openai" | "server" | "ollama" | "embedded":
            from pydantic_ai.models.openai import OpenAIChatModel
            from pydantic_ai.profiles.openai import OpenAIModelProfile
            from pydantic_ai.providers.openai import OpenAIProvider

            openai = OpenAIProvider(api_key=key or "none", base_url=url or None, http_client=http)
            # A stream that ends early must not pass for a whole answer.
            profile = OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True)
            return OpenAIChatModel(endpoint.model, provider=openai, profile=profile)
        case _:
            assert_never(endpoint.provider)


def _messages(prompt: Prompt) -> list[ModelMessage]:
    return [ModelRequest(parts=[UserPromptPart(content=prompt.text)])]


def _settings(endpoint: Endpoint, prompt: Prompt) -> ModelSettings:
    settings = ModelSettings(
        max_tokens=prompt.max_tokens,
        temperature=prompt.temperature,
        # Retries are the gateway's, where they are counted and journalled.
        max_retries=0,
        # Sent to everybody: who does not know it passes over it. Another model is another request,
        # and the same key with another request is an error where keys are honoured.
        extra_headers={"Idempotency-Key": f"{prompt.key}/{quote(endpoint.model)}"},
    )
    if endpoint.provider != "anthropic":
        settings["seed"] = prompt.seed
    return settings


def _parameters(model: Model, prompt: Prompt) -> ModelRequestParameters:
    # Where a model cannot be held to a schema, the question's own words have to do.
    if not prompt.schema or not model.profile.get("supports_json_schema_output"):
        return ModelRequestParameters()
    wanted = OutputObjectDefinition(json_schema=json.loads(prompt.schema), name="answer")
    return ModelRequestParameters(
        output_mode="native", output_object=wanted, allow_text_output=False
    )


def _completion(endpoint: Endpoint, response: ModelResponse, first: float) -> Completion:
    text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    if response.finish_reason is None:
        raise Busy("the answer broke off")
    if response.finish_reason == "content_filter":
        raise Refused("its content filter stopped the answer")
    if not text:
        raise Busy("the answer is empty")
    return Completion(
        text=text,
        version=response.model_name or endpoint.model,
        tokens_in=response.usage.input_tokens,
        tokens_out=response.usage.output_tokens,
        first_token_seconds=first,
        cut=response.finish_reason == "length",
    )


def _sorted_out(error: failures.ModelAPIError) -> Busy | Refused:
    if isinstance(error, failures.ModelRequestRejectedError | failures.ModelQuotaExceededError):
        return Refused(_line(error))
    # Rate limits, overload, broken connections, answers that cannot be read: all may pass.
    return Busy(_line(error), after=error.retry_after)


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
