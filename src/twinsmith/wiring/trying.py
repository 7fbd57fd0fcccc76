"""Arrangements over settings, and where versions and what is in force are kept."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from twinsmith.core.effort import ENSEMBLES, Effort
from twinsmith.core.errors import EngineError, TwinsmithError
from twinsmith.core.events import Json
from twinsmith.core.judging.quality import Thresholds
from twinsmith.core.model import ROLES, Role
from twinsmith.core.task import SHORT, Job
from twinsmith.core.trying.arrangement import ROUTES, SETTINGS, Arrangement
from twinsmith.core.trying.versions import arrangement_of, model_and_version
from twinsmith.settings import Settings, overlaid, values_by_key
from twinsmith.wiring.effort import effort_of, quality_of
from twinsmith.wiring.shared import shared_url

if TYPE_CHECKING:
    from twinsmith.ports import Challengers, Forces, Registry

FROM_ENVIRONMENT = "TWINSMITH_"
BY_PROVIDER = "by the provider"
"""Instead of a file's hash: the version that replies tell, in `model.replied`."""


def registry_of(settings: Settings) -> "Registry":
    """What took part in results, in the database that all share."""
    from twinsmith.adapters.trying.versions import RegistryTable

    return RegistryTable(shared_url(settings))


def forces_of(settings: Settings) -> "Forces":
    """What differs from the settings until it is taken back, in the database that all share."""
    from twinsmith.adapters.trying.versions import ForcesTable

    return ForcesTable(shared_url(settings))


def challengers_of(settings: Settings) -> "Challengers":
    """The challengers of roles, in the database that all share."""
    from twinsmith.adapters.trying.challengers import ChallengerTable

    return ChallengerTable(shared_url(settings))


def in_force(settings: Settings) -> Arrangement:
    """What holds for every new run: over the settings file, below the environment."""
    kept = arrangement_of(forces_of(settings).entries())
    return under_environment(settings, kept) if kept else kept


def under_environment(settings: Settings, kept: Arrangement) -> Arrangement:
    """What is in force, without what the environment of this process says otherwise.

    The models of a role that the environment names stand in it: whoever drives the run may have
    another environment.
    """
    told = {key for key in settings.sources if told_here(settings, key)}
    models = {place for place, _ in kept.models}
    here = {
        f"{number}.{role}": models_in(settings, number, role)
        for number in (1, 2)
        for role in ("slow", "coder", "critic")
        if f"ensemble_{number}.{role}" in told and {role, f"{number}.{role}"} & models
    }
    return Arrangement(
        settings=tuple((key, value) for key, value in kept.settings if key not in told),
        models=tuple(sorted({**dict(kept.models), **here}.items())),
        prompts=kept.prompts,
    )


def told_here(settings: Settings, key: str) -> bool:
    """Whether the environment of this process tells a setting: it goes before what is in force."""
    return settings.sources[key].startswith(FROM_ENVIRONMENT)


def models_in(settings: Settings, number: int, role: str) -> tuple[str, ...]:
    """The models that the settings name for a role of an ensemble; an @ in a name is kept apart."""
    ensemble = (settings.values.ensemble_1, settings.values.ensemble_2)[number - 1]
    names: tuple[str, ...] = getattr(ensemble, role)
    return tuple(f"{name}@" if "@" in name else name for name in names) or (ROUTES,)


def arranged(settings: Settings, arrangement: Arrangement) -> Settings:
    """Settings as an arrangement has them; ConfigError where a value cannot be one."""
    return overlaid(settings, dict(arrangement.settings), "the arrangement")


def refuse_unknown(settings: Settings, arrangement: Arrangement) -> None:
    """ConfigError where an arrangement names a model or a value that can be none."""
    from twinsmith.adapters.models import catalogue
    from twinsmith.adapters.models.routing import read_endpoint

    arranged(settings, arrangement)
    for place, names in arrangement.models:
        for name in names:
            if name == ROUTES:
                continue
            model, _ = model_and_version(name)
            endpoint = read_endpoint(model, setting=place)
            if endpoint.provider == "embedded":
                catalogue.find_language(endpoint.model)


def file_hash(settings: Settings, name: str) -> str:
    """The hash of the file of an embedded model; empty where it is not installed."""
    from twinsmith.adapters.models.catalogue import find
    from twinsmith.adapters.models.hashes import FileHashes
    from twinsmith.wiring.models import store_of

    path = store_of(settings).path(find(name))
    return FileHashes(settings.models_folder).of(path) if path else ""


def settings_of(settings: Settings, job: Job) -> dict[str, Json]:
    """The values of all settings that take part in the result of a job, as they were applied."""
    given = arranged(settings, job.arrangement)
    return _applied(given, job.effort, job.quality, job.reply_tokens)


def settings_now(settings: Settings) -> dict[str, Json]:
    """The values of all settings that take part in a result, as they would be applied now."""
    tokens = settings.values.gateway.reply_tokens
    return _applied(settings, effort_of(settings), quality_of(settings), tokens)


def _applied(
    settings: Settings, effort: Effort, quality: Thresholds, reply_tokens: int
) -> dict[str, Json]:
    """Settings as they were applied, spelled as a person sets them: nothing is automatic."""
    applied: dict[str, Json | tuple[Json, ...]] = {
        **{f"build.{name}": value for name, value in asdict(effort).items()},
        **{f"quality.{name}": value for name, value in asdict(quality).items()},
        "gateway.reply_tokens": reply_tokens,
        "build.voting": "on" if effort.votes else "off",
        "build.mending": "on" if effort.mending else "off",
        "build.practice": "on" if effort.practice else "off",
    }
    rest = values_by_key(settings.values)
    told = {key: applied.get(key, rest[key]) for key in sorted(SETTINGS)}
    return {key: list(v) if isinstance(v, tuple) else v for key, v in told.items()}


def versions_of(settings: Settings, job: Job) -> dict[str, Json]:
    """What took part in a result, for the journal: models, templates, settings, twinsmith."""
    from twinsmith import __version__
    from twinsmith.flow.pipeline import PIPELINE_VERSION
    from twinsmith.prompts import shipped, version

    applied = settings_of(settings, job)
    return {
        "models": _models(settings, job.arrangement),
        "prompts": {**{name: version(name) for name in shipped()}, **dict(job.arrangement.prompts)},
        "settings": {"hash": hash_of(applied), "values": applied},
        "arrangement": list(job.arrangement.words),
        "twinsmith": __version__,
        "pipeline": PIPELINE_VERSION,
    }


def hash_of(values: Mapping[str, Json]) -> str:
    """A short hash of settings, the same for the same values."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:SHORT]


def _models(settings: Settings, arrangement: Arrangement) -> dict[str, Json]:
    """The models that each role asks as this process sees it, with the hashes of their files."""
    from twinsmith.adapters.models.scripted import read_script
    from twinsmith.wiring.models import offer

    script = settings.values.models.script
    places = [(number, role) for number in ENSEMBLES for role in ROLES]
    try:
        if script:
            told = f"scripted:{read_script(Path(script).expanduser()).name}"
            routed: dict[tuple[int, Role], tuple[str, ...]] = dict.fromkeys(places, (told,))
        else:
            routes = offer(settings).routes
            routed = {p: tuple(e.name for e in c.endpoints) for p, c in routes.items()}
        return {
            f"{number}.{role}": [
                {"model": name, "version": _version(settings, name)}
                for asked in arrangement.asks(role, number) or (ROUTES,)
                for name in (routed[number, role] if asked == ROUTES else (asked,))
            ]
            for number, role in places
        }
    except TwinsmithError as error:
        # Whoever drives the run says it once more, and what to do.
        return {"problem": str(error)}


def _version(settings: Settings, name: str) -> str:
    provider, _, model = model_and_version(name)[0].partition(":")
    if provider != "embedded":
        return BY_PROVIDER
    return file_hash(settings, model) or "not installed here"


def known_templates(settings: Settings) -> frozenset[tuple[str, str]]:
    """The templates by name and version whose texts are known here."""
    from twinsmith.prompts import shipped, version_of

    kept = (each.version for each in registry_of(settings).listed("prompt"))
    return frozenset(
        [
            *((it.name, it.version) for it in kept if it.text),
            *((name, version_of(text)) for name, text in shipped().items()),
        ]
    )


def templates_of(settings: Settings, arrangement: Arrangement) -> dict[str, str]:
    """The texts of the templates that an arrangement names; EngineError where one is gone."""
    if not arrangement.prompts:
        return {}
    registry = registry_of(settings)
    found: dict[str, str] = {}
    for name, version in arrangement.prompts:
        known = registry.get("prompt", name, version)
        if known is None or not known.version.text:
            raise EngineError(
                f"version {version!r} of template {name!r} is not in the registry of this "
                "database; name its file again: prompt.NAME=FILE"
            )
        found[name] = known.version.text
    return found
