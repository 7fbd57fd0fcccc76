import pytest

from twinsmith.adapters.models.routing import (
    Available,
    Endpoint,
    choose,
    frontier_first,
    read_endpoint,
)
from twinsmith.core.errors import ConfigError

ALL = Available(keys=("openai", "google"), server_model="s", ollama_model="o", embedded_model="e")


def names(role: str, ensemble: int, here: Available, *configured: str) -> list[str]:
    choice = choose(role, ensemble, configured, here)  # type: ignore[arg-type]
    return [endpoint.name for endpoint in choice.endpoints]


def test_keys_come_before_servers_before_the_embedded_model() -> None:
    assert names("slow", 1, ALL) == [
        *["openai:gpt-4o", "google:gemini-2.5-pro", "server:s", "ollama:o", "embedded:e"]
    ]
    assert names("coder", 1, ALL)[:2] == ["openai:gpt-4o-mini", "google:gemini-2.5-flash"]


def test_the_second_ensemble_begins_with_another_provider() -> None:
    assert names("slow", 2, ALL)[:2] == ["google:gemini-2.5-pro", "openai:gpt-4o"]
    assert names("slow", 2, Available(embedded_model="e")) == ["embedded:e"]


def test_settings_decide_and_the_choice_says_so() -> None:
    choice = choose("critic", 2, ("server:x", "embedded:e"), ALL)
    assert [endpoint.name for endpoint in choice.endpoints] == ["server:x", "embedded:e"]
    assert choice.why == "ensemble_2.critic is set"


@pytest.mark.parametrize(
    ("here", "why"),
    [
        (ALL, "a key for openai is in the environment"),
        (Available(server_model="s", embedded_model="e"), "no key; models.server is set"),
        (Available(ollama_model="o"), "no key; Ollama answers on this machine"),
        (Available(embedded_model="e"), "no key and no local server"),
        (Available(), "there is no key, no server and no embedded model"),
    ],
)
def test_every_choice_has_a_reason(here: Available, why: str) -> None:
    assert choose("slow", 1, (), here).why == why


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("gpt-4o", "is not a model; write provider:model"),
        ("openai:", "is not a model; write provider:model"),
        ("opnai:gpt-4o", "provider 'opnai' is unknown; did you mean 'openai'"),
    ],
)
def test_a_model_that_cannot_be_meant_is_refused(name: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        read_endpoint(name, setting="ensemble_1.slow")


def test_model_names_may_hold_colons() -> None:
    assert read_endpoint("ollama:qwen:7b", setting="x") == Endpoint(
        provider="ollama", model="qwen:7b"
    )


def test_frontier_models_can_be_asked_first() -> None:
    endpoints = (
        Endpoint(provider="embedded", model="e"),
        Endpoint(provider="openai", model="a"),
        Endpoint(provider="anthropic", model="b"),
    )
    assert [e.name for e in frontier_first(endpoints)] == ["openai:a", "anthropic:b", "embedded:e"]
