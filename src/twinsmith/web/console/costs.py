"""The page of costs: by one thing, from day to day, this month, by other routes, by budgets."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime

from fastapi import APIRouter

from twinsmith.core.costs.report import CostRow, Costs
from twinsmith.core.costs.rerouting import CAVEAT
from twinsmith.core.costs.spending import BY, By
from twinsmith.runs.costs import by_in, day_in
from twinsmith.web.charts import Row, sparkline
from twinsmith.web.guard import Guarded
from twinsmith.web.pages import Page, View, page_route, part

costs = APIRouter(route_class=Guarded, include_in_schema=False)
FRESH_SECONDS = 4.0
MOST_DAYS = 60


async def spent(view: View) -> Page:
    """What models cost, and what they will have cost at the end of the month."""
    by, since = by_in(view.asked("by", "model")), day_in(view.asked("since"))
    found = await _report(view, by, since)
    days = (await _report(view, "day", since)).rows[-MOST_DAYS:]
    return Page(
        title="Costs",
        section="Models",
        parts={
            "filters": part("costs_filters", view=view, by=by, since=since, kinds=BY),
            "spent": part("costs_spent", costs=found, curves=curves(days), days=days),
            "month": part("costs_month", month=found.forecast, budgets=found.budgets),
            "routes": part("costs_routes", costs=found, caveat=CAVEAT),
        },
        data=found,
        crumbs=(("Models", "/models"),),
    )


page_route(costs, "/costs", "read", spent)


def curves(days: Sequence[CostRow]) -> tuple[tuple[str, str, Row], ...]:
    """Dollars and tokens from day to day; nothing of fewer than two days."""
    if len(days) < 2:
        return ()
    times = [datetime.fromisoformat(each.name).replace(tzinfo=UTC).timestamp() for each in days]
    drawn = (
        ("cost", "USD", sparkline(times, [each.usd for each in days])),
        ("tokens", "tokens", sparkline(times, [float(each.tokens) for each in days])),
        ("power (an estimate)", "Wh", sparkline(times, [each.watt_hours for each in days])),
    )
    return tuple((name, unit, row) for name, unit, row in drawn if row is not None and row.most)


async def _report(view: View, by: By, since: str) -> Costs:
    async def read() -> Costs:
        return await asyncio.to_thread(view.office.costs.report, by, since)

    return await view.office.kept.get(f"costs {by} {since}", read, FRESH_SECONDS)
