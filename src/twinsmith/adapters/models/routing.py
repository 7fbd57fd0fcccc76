"""Routing: which models answer which role, in which order, and why."""

import difflib
from dataclasses import dataclass
from typing import Literal, get_args

from twinsmith.core.errors import ConfigError
from twinsmith.core.model import Prompt, Role
from twinsmith.core.trying.arrangement import ROUTES
from twinsmith.core.trying.versions import is_version, model_and_version

Provider = Literal["openai", "google", "anthropic", "server", "ollama", "embedded"]
PROVIDERS: tuple[Provider, ...] = get_args(Provider)
FRONTIER: tuple[Provider, ...] = ("openai", "google", "anthropic")

# For each provider with a key: the model that plans, and the one that writes and judges.
DEFAULT_MODELS: dict[Provider, tuple[str, str]] = {
    "openai": ("gpt-4o", "gpt-4o-mini"),
    "google": ("gemini-2.5-pro", "gemini-2.5-flash"),
    "anthropic": ("claude-sonnet-5", "claude-haiku-4-5"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One model at one provider."""

    provider: Provider
    model: str

    @property
    def name(self) -> str:
        """The name of the endpoint as settings and events spell it: `provider:model`."""
        return f"{self.provider}:{self.model}"

    @property
    def frontier(self) -> bool:
        """Whether the endpoint is a frontier provider's, and costs money."""
        return self.provider in FRONTIER


@dataclass(frozen=True, slots=True, kw_only=True)
class Available:
    """The models that could answer on this machine."""

    keys: tuple[Provider, ...] = ()
    server_model: str = ""
    ollama_model: str = ""
    embedded_model: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The models chosen for a role, in order, and the reason."""

    endpoints: tuple[Endpoint, ...]
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One model that may be asked a question, and the only version that may answer."""

    endpoint: Endpoint
    version: str = ""
    """Empty: any version."""

    @property
    def name(self) -> str:
        """The name of the endpoint."""
        return self.endpoint.name


def candidates(prompt: Prompt, choice: Choice) -> tuple[Candidate, ...]:
    """The models that a question goes to, in order: those that it names, else its role's."""
    routed = choice.endpoints if prompt.purpose == "answer" else frontier_first(choice.endpoints)
    found: list[Candidate] = []
    for asked in prompt.asks or (ROUTES,):
        if asked == ROUTES:
            found += [Candidate(endpoint=endpoint) for endpoint in routed]
        else:
            name, version = model_and_version(asked)
            endpoint = read_endpoint(name, setting="the arrangement's model")
            found.append(Candidate(endpoint=endpoint, version=version))
    return tuple(dict.fromkeys(found))


def retired(prompt: Prompt, name: str, version: str = "") -> str:
    """What a person retired of a model, or of the version that it answers as; empty: nothing."""
    for each in prompt.never:
        model, retired_version = model_and_version(each)
        if model == name and not retired_version:
            return "it is retired"
        if model == name and version and is_version(version, retired_version):
            return f"its version {version!r} is retired"
    return ""


def read_endpoint(name: str, *, setting: str) -> Endpoint:
    """The endpoint that `provider:model` means; ConfigError names the nearest known provider."""
    provider, colon, model = name.partition(":")
    for known in PROVIDERS:
        if provider == known and model:
            return Endpoint(provider=known, model=model)
    if not colon or not model:
        raise ConfigError(f"{setting} {name!r} is not a model; write provider:model")
    near = difflib.get_close_matches(provider, PROVIDERS, n=1, cutoff=0)[0]
    raise ConfigError(
        f"{setting} {name!r}: provider {provider!r} is unknown; did you mean {near!r}?"
    )


def choose(role: Role, ensemble: int, configured: tuple[str, ...], here: Available) -> Choice:
    """The models of a role: by settings, else keys, then a local server, then the embedded one."""
    if configured:
        setting = f"ensemble_{ensemble}.{role}"
        chosen = tuple(read_endpoint(name, setting=setting) for name in configured)
        return Choice(endpoints=chosen, why=f"{setting} is set")
    remote = [
        Endpoint(provider=p, model=DEFAULT_MODELS[p][0 if role == "slow" else 1]) for p in here.keys
    ]
    # The second ensemble begins with another provider where there is one, to think differently.
    turn = (ensemble - 1) % len(remote) if remote else 0
    remote = remote[turn:] + remote[:turn]
    places: tuple[tuple[Provider, str], ...] = (
        ("server", here.server_model),
        ("ollama", here.ollama_model),
        ("embedded", here.embedded_model),
    )
    local = [Endpoint(provider=provider, model=model) for provider, model in places if model]
    return Choice(endpoints=(*remote, *local), why=_why(remote, local))


def frontier_first(endpoints: tuple[Endpoint, ...]) -> tuple[Endpoint, ...]:
    """The endpoints in the same order, but those at frontier providers first."""
    return tuple(sorted(endpoints, key=lambda endpoint: not endpoint.frontier))


def _why(remote: list[Endpoint], local: list[Endpoint]) -> str:
    if remote:
        return f"a key for {remote[0].provider} is in the environment"
    if not local:
        return "there is no key, no server and no embedded model"
    reasons = {
        "server": "no key; models.server is set",
        "ollama": "no key; Ollama answers on this machine",
        "embedded": "no key and no local server",
    }
    return reasons[local[0].provider]
