"""Versions of what takes part in a result: models, templates, settings, twinsmith itself."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from twinsmith.core.trying.arrangement import PLACES, PROMPT, Arrangement

Kind = Literal["model", "prompt", "settings", "twinsmith", "pipeline"]
KINDS: tuple[Kind, ...] = get_args(Kind)
State = Literal["active", "pinned", "promoted", "retired"]
Verb = Literal["pinned", "promoted"]
SHORTEST_HASH = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One version of one thing; a model's version is the one that its replies tell."""

    kind: Kind
    name: str
    version: str
    text: str = ""
    """A template's text, public values of settings, the hash of a model file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownVersion:
    """A version as the registry keeps it."""

    version: Version
    first: str
    """The moment when it took part for the first time, ISO 8601 in UTC."""
    last: str
    retired_by: str = ""
    """The signature of whoever retired it; empty where it may be used."""
    retired_at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class InForce:
    """One difference from the settings that holds for every new run until it is taken back."""

    key: str
    """A setting, a role or `1.ROLE`, or `prompt.NAME`."""
    value: str
    verb: Verb
    by: str
    at: str


def arrangement_of(entries: tuple[InForce, ...]) -> Arrangement:
    """All that is in force as one arrangement."""
    models = {each.key: each for each in entries if each.key in PLACES}
    prompts = {each.key.removeprefix(PROMPT): each.value for each in entries if _is_prompt(each)}
    settings = {
        each.key: each.value for each in entries if each.key not in PLACES and not _is_prompt(each)
    }
    return Arrangement(
        settings=tuple(sorted(settings.items())),
        models=tuple((key, tuple(models[key].value.split(","))) for key in sorted(models)),
        prompts=tuple(sorted(prompts.items())),
    )


def entries_of(arrangement: Arrangement, verb: Verb, *, by: str, at: str) -> tuple[InForce, ...]:
    """The differences of an arrangement, each as an entry of what is in force."""
    pairs = (
        *arrangement.settings,
        *((place, ",".join(names)) for place, names in arrangement.models),
        *((f"{PROMPT}{name}", version) for name, version in arrangement.prompts),
    )
    return tuple(InForce(key=key, value=value, verb=verb, by=by, at=at) for key, value in pairs)


def retired_names(known: Iterable[KnownVersion]) -> tuple[str, ...]:
    """The models and versions of models that are retired, as `provider:model@version`."""
    return tuple(
        spelled(each.version.name, each.version.version)
        for each in known
        if each.version.kind == "model" and each.retired_by
    )


def spelled(model: str, version: str = "") -> str:
    """A model and its version as a person types them."""
    return f"{model}@{version}" if version or "@" in model else model


def model_and_version(name: str) -> tuple[str, str]:
    """The model and the version that `provider:model@version` means; no version where none is told.

    A model with an @ in its own name is written with another one at its end.
    """
    model, at, version = name.rpartition("@")
    return (model, version) if at else (name, "")


def is_version(told: str, wanted: str) -> bool:
    """Whether the version that a reply tells is the wanted one; a file may be meant by its hash."""
    tail = told.rpartition("@")[2]
    by_hash = len(tail) >= SHORTEST_HASH and wanted.startswith(tail)
    return wanted in ("", told, tail) or by_hash


def _is_prompt(entry: InForce) -> bool:
    return entry.key.startswith(PROMPT)
