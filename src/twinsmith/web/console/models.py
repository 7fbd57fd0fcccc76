"""The pages of models: who asks which, what they cost, how they do, two of them side by side."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from fastapi import APIRouter

from twinsmith.core.behaviour.figures import Calls, Dimension, Row
from twinsmith.core.behaviour.report import Comparison
from twinsmith.core.errors import TwinsmithError
from twinsmith.runs.routes import RouteView, routes
from twinsmith.web.charts import Row as Curve
from twinsmith.web.charts import sparkline
from twinsmith.web.guard import Guarded
from twinsmith.web.pages import Page, View, page_route, part

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
USE: tuple[Dimension, ...] = ("model", "role", "ensemble")
SEATS: tuple[Dimension, ...] = ("model", "version", "role")
DAYS: tuple[Dimension, ...] = ("model", "version", "day")
Figure = tuple[str, float | None, float | None, str]
"""A figure of two models, and its unit."""


def share(count: int, whole: int) -> float | None:
    """A part in hundredths; None of nothing."""
    return 100 * count / whole if whole else None


FIGURES: tuple[tuple[str, Callable[[Row], float | None], str], ...] = (
    ("calls answered", lambda row: row.calls.answered, ""),
    ("of them from the cache", lambda row: row.calls.cached, ""),
    (
        "tries that failed",
        lambda row: share(row.calls.tries, row.calls.asked + row.calls.tries),
        "%",
    ),
    ("seconds per call", lambda row: row.calls.whole.mean, "s"),
    ("half of them within", lambda row: row.calls.whole.p50, "s"),
    ("95 of 100 within", lambda row: row.calls.whole.p95, "s"),
    ("seconds to the first token", lambda row: row.calls.first.mean, "s"),
    ("tokens of an answer", lambda row: row.calls.length, ""),
    ("cost per call", lambda row: row.calls.price, "USD"),
    ("answers that cannot be used", lambda row: share(row.calls.unusable, row.calls.read), "%"),
    ("answers that were mended", lambda row: share(row.calls.repaired, row.calls.read), "%"),
    ("answers that were cut", lambda row: share(row.calls.cut, row.calls.answered), "%"),
    ("runs solved", lambda row: share(row.part.solved, row.part.runs), "%"),
    ("candidates written", lambda row: row.work.written or None, ""),
    ("candidates that did not run", lambda row: share(row.work.broken, row.work.written), "%"),
    ("candidates right by outcome", lambda row: share(row.work.accepted, row.work.ended), "%"),
    ("candidates right by tests", lambda row: share(row.work.right, row.work.tested), "%"),
    ("released, without trouble", lambda row: share(row.work.held, row.work.released), "%"),
    ("candidates that won", lambda row: share(row.work.won, row.work.written), "%"),
    ("checks that agreed", lambda row: share(row.checks.agreed, row.checks.judged), "%"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Days:
    """A model over days: how long a call took, how long an answer was."""

    model: str
    pace: Curve | None
    length: Curve | None
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
    asked, problem = await _routes(view)
    use, seats, days = [await _rows(view, by) for by in (USE, SEATS, DAYS)]
    subjects = await _subjects(view)
    script = view.office.settings.values.models.script
    return Page(
        title="Models",
        section="Models",
        parts={
            "ways": part("models_ways"),
            "routing": part(
                "models_routing", routes=asked, problem=problem, script=script, words=WORDS
            ),
            "use": part("models_use", use=use, words=WORDS),
            "behaviour": part("models_behaviour", seats=_answering(seats), words=WORDS),
            "compare": part("models_choose", subjects=subjects, a="", b="") if subjects else "",
            "drift": part("models_drift", drifts=courses(days)) if seats else "",
        },
        data={"routes": asked, "use": use, "behaviour": seats, "days": days},
    )


async def two_models(view: View) -> Page:
    """Two models side by side, role by role."""
    subjects = await _subjects(view)
    a, b = view.asked("a"), view.asked("b")
    found: tuple[Compared, ...] = ()
    if a in subjects and b in subjects:
        analysis = view.office.analysis
        found = compared(await asyncio.to_thread(analysis.compare, "models", a, b))
    unknown = [each for each in (a, b) if each and each not in subjects]
    return Page(
        title="Two models",
        section="Models",
        parts={
            "choose": part("models_choose", subjects=subjects, a=a, b=b),
            "compared": part(
                "models_compared", roles=found, a=a, b=b, unknown=unknown, words=WORDS
            ),
        },
        data={"a": a, "b": b, "roles": found},
        crumbs=(("Models", "/models"),),
    )


page_route(models, "/models/compare", "read", two_models)
page_route(models, "/models", "read", all_models)


def compared(both: Comparison) -> tuple[Compared, ...]:
    """The figures of two models in every role that one of them played."""
    found = []
    for pair in both.pairs:
        if pair.a is not None and pair.b is not None:
            found.append(Compared(role=pair.role, figures=figures(pair.a, pair.b)))
        else:
            only = both.a if pair.a is not None else both.b
            found.append(Compared(role=pair.role, figures=(), only=only))
    return tuple(found)


def figures(one: Row, other: Row) -> tuple[Figure, ...]:
    """The figures of two models in a role; those that neither has are left out."""
    rows = [(name, figure(one), figure(other), unit) for name, figure, unit in FIGURES]
    return tuple(row for row in rows if row[1] is not None or row[2] is not None)


def courses(rows: Iterable[Row]) -> tuple[Days, ...]:
    """How the models that are asked most did from day to day; rows by model, version and day."""
    known: dict[str, dict[str, list[Calls]]] = defaultdict(lambda: defaultdict(list))
    versions: dict[str, dict[str, str]] = defaultdict(dict)
    for row in sorted(rows, key=lambda each: each.key[2]):
        model, version, day = row.key
        if row.calls.asked:
            known[model][day].append(row.calls)
            versions[model].setdefault(version, day)
    days = {
        model: {day: _together(calls) for day, calls in each.items()}
        for model, each in known.items()
    }
    busiest = sorted(days, key=lambda model: -sum(each.answered for each in days[model].values()))
    axis = _axis(days.values())
    return tuple(_course(model, days[model], versions[model], axis) for model in busiest)[
        :MOST_CURVES
    ]


def _together(many: Sequence[Calls]) -> Calls:
    """Calls of several versions on one day, as far as curves show them."""
    return Calls(
        answered=sum(each.answered for each in many),
        cached=sum(each.cached for each in many),
        tries=sum(each.tries for each in many),
        tokens_out=sum(each.tokens_out for each in many),
        seconds=sum(each.seconds for each in many),
    )


def _course(
    model: str, days: Mapping[str, Calls], versions: Mapping[str, str], axis: tuple[str, ...]
) -> Days:
    times = [seconds_of(day) for day in axis]
    known = [days.get(day, Calls()) for day in axis]
    later = [(version, day) for version, day in versions.items() if version][1:]
    width = max(len(axis) - 1, 1)
    return Days(
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


def _answering(seats: Iterable[Row]) -> list[Row]:
    """The seats that have a name: what nobody answered stands among the use."""
    return [row for row in seats if row.key[0]]


async def _rows(view: View, by: tuple[Dimension, ...]) -> tuple[Row, ...]:
    async def read() -> tuple[Row, ...]:
        return await asyncio.to_thread(view.office.analysis.rows, by)

    return await view.office.kept.get(("analysis", by), read, FRESH_SECONDS)


async def _subjects(view: View) -> tuple[str, ...]:
    async def read() -> tuple[str, ...]:
        return await asyncio.to_thread(view.office.analysis.subjects, "models")

    return await view.office.kept.get("subjects", read, FRESH_SECONDS)


async def _routes(view: View) -> tuple[tuple[RouteView, ...], str]:
    """Which models each role asks; the problem where that cannot be said."""

    async def look() -> tuple[RouteView, ...]:
        return await asyncio.to_thread(routes, view.office.settings)

    try:
        return await view.office.kept.get("routes", look, ROUTES_SECONDS), ""
    except TwinsmithError as error:
        return (), str(error)


def seconds_of(day: str) -> float:
    """The beginning of a day, in seconds since 1970."""
    return datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()
