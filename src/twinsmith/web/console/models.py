"""The pages of models: who asks which, what they cost, how they do, two of them side by side."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from fastapi import APIRouter

from twinsmith.client.shapes import Route
from twinsmith.core.behaviour import Calls, Conduct, Fates
from twinsmith.core.errors import TwinsmithError
from twinsmith.core.model import ROLES
from twinsmith.runs.model_use import Seat, Use
from twinsmith.web.charts import Row, sparkline
from twinsmith.web.guard import Guarded
from twinsmith.web.pages import Page, View, page_route, part

if TYPE_CHECKING:
    from twinsmith.wiring.models import Offer

models = APIRouter(route_class=Guarded, include_in_schema=False)
FRESH_SECONDS = 4.0
ROUTES_SECONDS = 15.0
MOST_CURVES = 8
MOST_DAYS = 60
WORDS: Mapping[str, str] = {
    "slow": "slow thinker",
    "coder": "fast coder",
    "critic": "actor-critic",
}
Figure = tuple[str, float | None, float | None, str]
"""A figure of two models, and its unit."""


Stand = tuple[Calls, Fates]
"""The calls of a model in a role, and what became of its work."""


def _share(count: int, whole: int) -> float | None:
    return 100 * count / whole if whole else None


FIGURES: tuple[tuple[str, Callable[[Calls, Fates], float | None], str], ...] = (
    ("calls answered", lambda calls, _: calls.answered, ""),
    ("of them from the cache", lambda calls, _: calls.cached, ""),
    ("tries that failed", lambda calls, _: _share(calls.failed, calls.asked + calls.failed), "%"),
    ("seconds per call", lambda calls, _: calls.pace, "s"),
    ("seconds to the first token", lambda calls, _: calls.first, "s"),
    ("tokens of an answer", lambda calls, _: calls.length, ""),
    ("cost per call", lambda calls, _: calls.price, "USD"),
    ("runs solved", lambda _, fates: _share(fates.solved, fates.runs), "%"),
    ("candidates written", lambda _, fates: fates.written or None, ""),
    ("candidates that did not run", lambda _, fates: _share(fates.broken, fates.written), "%"),
    ("candidates right", lambda _, fates: _share(fates.right, fates.judged), "%"),
    ("candidates that won", lambda _, fates: _share(fates.won, fates.written), "%"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """A model over days: how long a call took, how long an answer was."""

    model: str
    pace: Row | None
    length: Row | None
    marks: tuple[tuple[str, float], ...]
    """Versions that came later than the first, and where, in hundredths of the width."""
    days: Mapping[str, Calls]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Two models in one role."""

    role: str
    figures: tuple[Figure, ...]
    only: str = ""
    """The one that played the role; empty where both did."""


async def all_models(view: View) -> Page:
    """All models, as they are asked and as they do."""
    conduct = await _conduct(view)
    routes, problem = await _routes(view)
    use = await _use(view)
    seats = [
        (seat, calls, conduct.fates.get(seat, Fates())) for seat, calls in conduct.seats().items()
    ]
    chosen = subjects(conduct)
    script = view.office.settings.values.models.script
    return Page(
        title="Models",
        section="Models",
        parts={
            "routing": part(
                "models_routing", routes=routes, problem=problem, script=script, words=WORDS
            ),
            "use": part("models_use", use=use, total=_total(use), words=WORDS),
            "behaviour": part("models_behaviour", seats=seats, words=WORDS),
            "compare": part("models_choose", subjects=chosen, a="", b="") if chosen else "",
            "drift": part("models_drift", drifts=drifts(conduct)) if seats else "",
        },
        data={
            "routes": routes,
            "use": [
                {"model": model, "role": role, "ensemble": ensemble, "use": each}
                for (model, role, ensemble), each in use.items()
            ],
            "behaviour": [
                {"seat": seat, "calls": calls, "fates": fates} for seat, calls, fates in seats
            ],
            "days": conduct.days(),
        },
    )


async def two_models(view: View) -> Page:
    """Two models side by side, role by role."""
    conduct = await _conduct(view)
    chosen = subjects(conduct)
    a, b = view.asked("a"), view.asked("b")
    found = compared(conduct, a, b) if a in chosen and b in chosen else ()
    unknown = [each for each in (a, b) if each and each not in chosen]
    return Page(
        title="Two models",
        section="Models",
        parts={
            "choose": part("models_choose", subjects=chosen, a=a, b=b),
            "compared": part(
                "models_compared", roles=found, a=a, b=b, unknown=unknown, words=WORDS
            ),
        },
        data={"a": a, "b": b, "roles": found},
        crumbs=(("Models", "/models"),),
    )


page_route(models, "/models/compare", "read", two_models)
page_route(models, "/models", "read", all_models)


def subjects(conduct: Conduct) -> tuple[str, ...]:
    """What can be compared: models, and each version of those that have several."""
    found: list[str] = []
    for model, versions in sorted(conduct.versions().items()):
        told = [version for version in versions if version]
        found += [model, *(f"{model} {version}" for version in told if len(told) > 1)]
    return tuple(found)


def compared(conduct: Conduct, a: str, b: str) -> tuple[Compared, ...]:
    """The figures of two models in every role that one of them played."""
    one, other = (conduct.chosen(*_named(each)) for each in (a, b))
    found = []
    for role in dict.fromkeys((*ROLES, *one, *other)):
        if role in one and role in other:
            found.append(Compared(role=role, figures=figures(one[role], other[role])))
        elif role in one or role in other:
            found.append(Compared(role=role, figures=(), only=a if role in one else b))
    return tuple(found)


def figures(one: Stand, other: Stand) -> tuple[Figure, ...]:
    """The figures of two models in a role; those that neither has are left out."""
    rows = [(name, figure(*one), figure(*other), unit) for name, figure, unit in FIGURES]
    return tuple(row for row in rows if row[1] is not None or row[2] is not None)


def drifts(conduct: Conduct) -> tuple[Drift, ...]:
    """How the models that are asked most changed from day to day."""
    days, versions = conduct.days(), conduct.versions()
    busiest = sorted(days, key=lambda model: -sum(each.answered for each in days[model].values()))
    shown = [model for model in busiest if any(each.asked for each in days[model].values())]
    axis = _axis(days[model] for model in shown)
    return tuple(_drift(model, days[model], versions[model], axis) for model in shown[:MOST_CURVES])


def _drift(
    model: str, days: Mapping[str, Calls], versions: Mapping[str, str], axis: tuple[str, ...]
) -> Drift:
    times = [_seconds(day) for day in axis]
    known = [days.get(day, Calls()) for day in axis]
    later = [(version, day) for version, day in versions.items() if version][1:]
    width = max(len(axis) - 1, 1)
    return Drift(
        model=model,
        pace=sparkline(times, [each.pace for each in known]),
        length=sparkline(times, [each.length for each in known]),
        marks=tuple(
            (version, round(100 * axis.index(day) / width, 1))
            for version, day in later
            if day in axis
        ),
        days={day: calls for day, calls in days.items() if day in axis},
    )


def _axis(days: Iterable[Mapping[str, Calls]]) -> tuple[str, ...]:
    """Every day from the first to the last on which something was asked; not too many."""
    known = sorted({day for each in days for day in each})
    if not known:
        return ()
    first, last = datetime.fromisoformat(known[0]), datetime.fromisoformat(known[-1])
    count = min((last - first).days, MOST_DAYS)
    return tuple(f"{last - timedelta(days=back):%Y-%m-%d}" for back in range(count, -1, -1))


async def _conduct(view: View) -> Conduct:
    async def read() -> Conduct:
        return await asyncio.to_thread(view.office.behaviour.all)

    return await view.office.kept.get("behaviour", read, FRESH_SECONDS)


async def _use(view: View) -> dict[Seat, Use]:
    async def read() -> dict[Seat, Use]:
        return await asyncio.to_thread(view.office.model_use.all)

    return await view.office.kept.get("use", read, FRESH_SECONDS)


async def _routes(view: View) -> tuple[tuple[Route, ...], str]:
    """Which models each role asks; the problem where that cannot be said."""
    from twinsmith.wiring.models import offer

    async def look() -> "Offer":
        return await asyncio.to_thread(offer, view.office.settings)

    try:
        offered = await view.office.kept.get("routes", look, ROUTES_SECONDS)
    except TwinsmithError as error:
        return (), str(error)
    return tuple(
        Route(
            ensemble=ensemble,
            role=role,
            models=tuple(each.name for each in choice.endpoints),
            why=choice.why,
        )
        for (ensemble, role), choice in offered.routes.items()
    ), ""


def _total(use: Mapping[Seat, Use]) -> Use:
    whole = Use()
    for each in use.values():
        whole += each
    return whole


def _named(subject: str) -> tuple[str, str]:
    """The model and the version that a subject names."""
    model, _, version = subject.partition(" ")
    return model, version


def _seconds(day: str) -> float:
    return datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()
