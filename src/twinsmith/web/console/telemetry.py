"""The pages of telemetry: figures of the last hours, and the trace of a run as a waterfall."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime

from fastapi import APIRouter

from twinsmith.core.waterfall import Bar, Waterfall
from twinsmith.runs.traces import Past, past, trace_of
from twinsmith.web.charts import plain_chart
from twinsmith.web.guard import Guarded
from twinsmith.web.pages import Page, View, page_route, part

telemetry = APIRouter(route_class=Guarded, include_in_schema=False)
SPANS: Mapping[str, tuple[float, str]] = {
    "hour": (3600.0, "hour"),
    "six": (21_600.0, "six hours"),
    "day": (86_400.0, "day"),
}
FRESH_SECONDS = 5.0
MOST_ROWS = 48
MOST_BARS = 600
DEEPEST = 6


async def figures(view: View) -> Page:
    """What all processes counted, over one axis of time."""
    span = view.asked("span") if view.asked("span") in SPANS else "hour"
    seen = await _past(view, span)
    values = view.visit.book.settings.values.telemetry
    return Page(
        title="Telemetry",
        section="Models",
        parts={
            "figures": part(
                "telemetry_figures",
                view=view,
                spans=SPANS,
                span=span,
                chart=plain_chart(seen.figures, seen.times, seen.step),
                names=[(name, unit) for name, _, unit in seen.figures],
                rows=rows_of(seen),
                step=seen.step,
            ),
            "collectors": part("telemetry_collectors", given=values),
        },
        data=seen,
        crumbs=(("Models", "/models"),),
    )


async def one(view: View) -> Page:
    """The trace that a run is in."""
    found = await asyncio.to_thread(trace_of, view.visit.book, view.names["run"])
    short = found.run.rpartition("-")[2]
    return Page(
        title=f"Trace of run {short}",
        section="Runs",
        parts={
            "summary": part("trace_summary", found=found, runs=runs_in(found)),
            "waterfall": part(
                "trace_waterfall",
                found=found,
                bars=[(each, indent(each)) for each in found.bars[:MOST_BARS]],
                more=max(0, len(found.bars) - MOST_BARS),
            ),
        },
        data=found,
        live=any(each.seconds is None for each in found.bars),
        crumbs=(("Runs", "/runs"), (f"Run {short}", f"/runs/{found.run}")),
    )


page_route(telemetry, "/telemetry", "read", figures)
page_route(telemetry, "/runs/{run}/trace", "read", one)


def indent(bar: Bar) -> str:
    """The class that shifts a span below the one that it came out of."""
    return f"deep{min(bar.depth, DEEPEST)}"


def runs_in(found: Waterfall) -> list[Bar]:
    """The runs and incidents of a trace, in the order in which they began."""
    return sorted((each for each in found.bars if each.begins), key=lambda bar: bar.at)


def rows_of(seen: Past) -> list[tuple[str, tuple[float | None, ...]]]:
    """Figures as rows of a table: a time, and a value of each; the last ones of many."""
    columns = [values for _, values, _ in seen.figures]
    told = [
        (f"{datetime.fromtimestamp(at, UTC):%d %b %H:%M}", values)
        for at, values in zip(seen.times, zip(*columns, strict=True), strict=True)
        if any(value is not None for value in values)
    ]
    return told[-MOST_ROWS:]


async def _past(view: View, span: str) -> Past:
    async def read() -> Past:
        return await asyncio.to_thread(past, view.visit.book, SPANS[span][0])

    return await view.office.kept.get(f"telemetry {span}", read, FRESH_SECONDS)
