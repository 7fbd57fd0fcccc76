"""The page of behaviour: any groups of calls, how confidence held, what changed and why."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fastapi import APIRouter

from twinsmith.core.behaviour.drift import Drift, Point, in_words
from twinsmith.core.behaviour.figures import DIMENSIONS, VIEWS, Wanted, dimensions_in, view_in
from twinsmith.core.behaviour.report import Comparison, Report
from twinsmith.core.errors import ConfigError
from twinsmith.runs.analyse import since_in
from twinsmith.web.charts import Row, sparkline
from twinsmith.web.console.models import WORDS, compared, seconds_of, share
from twinsmith.web.guard import Guarded
from twinsmith.web.pages import Page, View, page_route, part

behaviour = APIRouter(route_class=Guarded, include_in_schema=False)
FRESH_SECONDS = 10.0
MOST_ROWS = 200
MOST_DRIFTS = 40
TRUTHS: Mapping[str, str] = {
    "outcome": "by outcome: the run was solved",
    "tests": "by tests: the leader passed all given checks",
    "operation": "in operation: released, and no incident or rollback",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A change as a page shows it, with a curve and where on it the change is."""

    drift: Drift
    words: str
    curve: Row | None
    x: float
    first: str
    last: str


async def all_behaviour(view: View) -> Page:
    """A view on calls, with everything that is known about its groups."""
    wanted = Wanted(
        view=view_in(view.asked("view", "models")),
        by=dimensions_in(view.asked("by")),
        since=since_in(view.asked("since")),
    )

    async def read() -> Report:
        return await asyncio.to_thread(view.office.analysis.report, wanted)

    a, b, problem, both = view.asked("a"), view.asked("b"), "", None
    if a and b:
        try:
            both = await asyncio.to_thread(
                view.office.analysis.compare, wanted.view, a, b, wanted.since
            )
        except ConfigError as error:
            problem = str(error)
    report = await view.office.kept.get(("report", wanted), read, FRESH_SECONDS)
    subjects = await asyncio.to_thread(view.office.analysis.subjects, wanted.view)
    return Page(
        title="Behaviour",
        section="Models",
        parts={
            "filters": part(
                "analysis_filters",
                wanted=wanted,
                by=view.asked("by"),
                views=VIEWS,
                dimensions=DIMENSIONS,
                subjects=subjects,
                a=a,
                b=b,
            ),
            **({"both": both_part(both, problem)} if both or problem else {}),
            **parts_of(report),
        },
        data=both or report,
        crumbs=(("Models", "/models"),),
    )


page_route(behaviour, "/models/behaviour", "read", all_behaviour)


def parts_of(report: Report) -> dict[str, str]:
    """A report in parts, as the console and a page in a file show it."""
    return {
        "drifts": part("analysis_drifts", report=report, drifts=shown(report.drifts)),
        "rows": part(
            "analysis_rows",
            report=report,
            rows=report.rows[:MOST_ROWS],
            more=max(0, len(report.rows) - MOST_ROWS),
            share=share,
            words=WORDS,
        ),
        "trust": part("analysis_trust", trusts=report.trust, truths=TRUTHS),
    }


def both_part(both: Comparison | None, problem: str = "") -> str:
    """Two things side by side."""
    roles = compared(both) if both else ()
    return part(
        "models_compared",
        roles=roles,
        a=both.a if both else "",
        b=both.b if both else "",
        unknown=[],
        problem=problem,
        words=WORDS,
    )


def shown(drifts: Iterable[Drift]) -> tuple[Shown, ...]:
    """The latest changes, each with the course that it is in."""
    return tuple(_shown(each) for each in drifts)[:MOST_DRIFTS]


def _shown(drift: Drift) -> Shown:
    course: Sequence[Point] = drift.course
    times = [seconds_of(each.day) for each in course]
    width = max(times[-1] - times[0], 1.0)
    return Shown(
        drift=drift,
        words=in_words(drift),
        curve=sparkline(times, [each.value * (100 if drift.share else 1) for each in course]),
        x=round(100 * (seconds_of(drift.day) - times[0]) / width, 1),
        first=course[0].day,
        last=course[-1].day,
    )
