"""Arrangements over settings, and where versions and what is in force are kept."""

from typing import TYPE_CHECKING

from twinsmith.core.errors import EngineError
from twinsmith.core.trying.arrangement import ROUTES, Arrangement
from twinsmith.core.trying.versions import arrangement_of, model_and_version
from twinsmith.settings import Settings, overlaid
from twinsmith.wiring.shared import shared_url

if TYPE_CHECKING:
    from twinsmith.ports import Forces, Registry

FROM_ENVIRONMENT = "TWINSMITH_"


def registry_of(settings: Settings) -> "Registry":
    """What took part in results, in the database that all share."""
    from twinsmith.adapters.trying.versions import RegistryTable

    return RegistryTable(shared_url(settings))


def forces_of(settings: Settings) -> "Forces":
    """What differs from the settings until it is taken back, in the database that all share."""
    from twinsmith.adapters.trying.versions import ForcesTable

    return ForcesTable(shared_url(settings))


def in_force(settings: Settings) -> Arrangement:
    """What holds for every new run: over the settings file, below the environment."""
    kept = arrangement_of(forces_of(settings).entries())
    return under_environment(settings, kept) if kept else kept


def under_environment(settings: Settings, kept: Arrangement) -> Arrangement:
    """What is in force, without what the environment of this process says otherwise.

    The models of a role that the environment names stand in it: whoever drives the run may have
    another environment.
    """
    told = {key for key, source in settings.sources.items() if _is_told(source)}
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


def templates_of(settings: Settings, arrangement: Arrangement) -> dict[str, str]:
    """The texts of the templates that an arrangement names; EngineError where one is gone."""
    if not arrangement.prompts:
        return {}
    registry = registry_of(settings)
    found: dict[str, str] = {}
    for name, version in arrangement.prompts:
        known = registry.get("prompt", name, version)
        if known is None:
            raise EngineError(
                f"version {version!r} of template {name!r} is not in the registry of this "
                "database; name its file again: prompt.NAME=FILE"
            )
        found[name] = known.version.text
    return found


def _is_told(source: str) -> bool:
    return source.startswith(FROM_ENVIRONMENT)
