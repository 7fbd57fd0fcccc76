"""Where the models come from that each role asks for a new run."""

from dataclasses import dataclass

from twinsmith.core.model import Role
from twinsmith.core.trying.arrangement import ROUTES
from twinsmith.core.trying.versions import (
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


def retired_in(settings: Settings, models: tuple[str, ...]) -> str:
    """The first of some models that is retired; empty where none is."""
    from twinsmith.wiring.trying import registry_of

    retired = set(retired_names(registry_of(settings).listed("model")))
    return next((e for e in models if {e, model_and_version(e)[0]} & retired), "")


def routes(settings: Settings) -> tuple[RouteView, ...]:
    """The models that each role asks for a new run, and why those."""
    from twinsmith.wiring.models import arranged_offer, offer
    from twinsmith.wiring.trying import forces_of, under_environment

    offered = offer(settings)
    entries = forces_of(settings).entries()
    arrangement = under_environment(settings, arrangement_of(entries))
    chosen = arranged_offer(offered, arrangement)
    found = []
    for (number, role), choice in chosen.routes.items():
        decided = {each.key: each for each in entries}
        entry = decided.get(f"{number}.{role}") or decided.get(role)
        source = settings.sources[f"ensemble_{number}.{role}"]
        why = offered.routes[number, role].why
        if entry and source.startswith("TWINSMITH_"):
            why = f"{source} is set, which goes before what {entry.by} {entry.verb}"
        elif entry:
            why = f"{entry.verb} by {entry.by} on {entry.at[:10]}"
        names = tuple(each.name for each in choice.endpoints)
        asked = [each for each in arrangement.asks(role, number) if each != ROUTES]
        wanted = dict(map(model_and_version, asked))
        names = tuple(spelled(name, wanted.get(name, "")) for name in names)
        found.append(RouteView(ensemble=number, role=role, models=names, why=why))
    return tuple(found)
