"""Where the models come from that each role asks for a new run."""

from dataclasses import dataclass

from twinsmith.core.errors import EngineError
from twinsmith.core.model import Role
from twinsmith.core.trying.arrangement import ROUTES
from twinsmith.core.trying.versions import (
    InForce,
    arrangement_of,
    model_and_version,
    retired_names,
    spelled,
)
from twinsmith.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteView:
    """The models that a role of an ensemble asks for a new run, and where that comes from."""

    ensemble: int
    role: Role
    models: tuple[str, ...]
    why: str
    lacks: str
    """What is missing, and what to do about it; empty where nothing is."""


def routes(settings: Settings) -> tuple[RouteView, ...]:
    """The models that each role asks for a new run, and why those."""
    from twinsmith.wiring.models import arranged_offer, offer
    from twinsmith.wiring.trying import under_environment

    offered = offer(settings)
    entries, retired = _decided(settings)
    arrangement = under_environment(settings, arrangement_of(entries))
    chosen = arranged_offer(offered, arrangement)
    found = []
    for (number, role), choice in chosen.routes.items():
        asked = [each for each in arrangement.asks(role, number) if each != ROUTES]
        versions = dict(map(model_and_version, asked))
        names = tuple(spelled(e.name, versions.get(e.name, "")) for e in choice.endpoints)
        why = _why(settings, number, role, entries) or offered.routes[number, role].why
        lacks = _lacks(names, retired)
        found.append(RouteView(ensemble=number, role=role, models=names, why=why, lacks=lacks))
    return tuple(found)


def _decided(settings: Settings) -> tuple[tuple[InForce, ...], frozenset[str]]:
    """What is in force, and what is retired; nothing is known of either without a database."""
    from twinsmith.wiring.trying import forces_of, registry_of

    try:
        entries = forces_of(settings).entries()
        return entries, frozenset(retired_names(registry_of(settings).listed("model")))
    except EngineError:
        return (), frozenset()


def _why(settings: Settings, number: int, role: Role, entries: tuple[InForce, ...]) -> str:
    """Why a role asks what is in force for it; empty where nothing is."""
    from twinsmith.wiring.trying import told_here

    decided = {each.key: each for each in entries}
    entry = decided.get(f"{number}.{role}") or decided.get(role)
    if entry is None:
        return ""
    key = f"ensemble_{number}.{role}"
    if told_here(settings, key):
        return f"{settings.sources[key]} is set, which goes before what {entry.by} {entry.verb}"
    return f"{entry.verb} by {entry.by} on {entry.at[:10]}"


def _lacks(names: tuple[str, ...], retired: frozenset[str]) -> str:
    if not names:
        return "set models.embedded to auto, or give a key"
    out = next((each for each in names if {each, model_and_version(each)[0]} & retired), "")
    return f"{out} is retired: it is not asked" if out else ""
