"""The costs of models as people see them: by one thing, this month, by other routes, by budgets."""

from collections.abc import Sequence
from dataclasses import dataclass

from twinsmith.core.costs.allowance import Standing
from twinsmith.core.costs.forecast import Forecast, forecast
from twinsmith.core.costs.price import Price
from twinsmith.core.costs.rerouting import Rerouted, rerouted
from twinsmith.core.costs.spending import Accounts, By, Spending, grouped, since, total


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """What machines of one's own draw, and what a kilowatt-hour costs; 0: not reckoned."""

    watts: float
    kwh_usd: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CostRow:
    """What was spent by one of its kind; power is an estimate."""

    name: str
    calls: int
    cached: int
    tokens_in: int
    tokens_out: int
    tokens: int
    seconds: float
    usd: float
    unpriced: int
    watt_hours: float
    power_usd: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecasts:
    """This month in dollars, tokens, and watt-hours."""

    usd: Forecast
    tokens: Forecast
    watt_hours: Forecast


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetRow:
    """How much of a budget is spent in the period that runs."""

    line: str
    whose: str
    period: str
    spent: float
    set_aside: float
    most: float
    unit: str
    soft: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """Everything that is known about costs."""

    by: By
    since: str
    """The first day that counts; empty: since ever."""
    rows: tuple[CostRow, ...]
    total: CostRow
    forecast: Forecasts
    rerouted: tuple[Rerouted, ...]
    prices: tuple[Price, ...]
    budgets: tuple[BudgetRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What somebody wants to see of the costs, and when they look."""

    by: By = "model"
    since: str = ""
    now: str
    """This moment in UTC, ISO 8601."""


def reported(
    accounts: Accounts,
    wanted: Wanted,
    power: Power,
    *,
    teams: dict[str, tuple[str, ...]],
    prices: Sequence[Price],
    budgets: Sequence[Standing],
) -> Costs:
    """The report that accounts make."""
    counted = since(accounts, wanted.since)
    rows = grouped(counted, wanted.by, teams)
    return Costs(
        by=wanted.by,
        since=wanted.since,
        rows=tuple(row_of(name, spent, power) for name, spent in rows.items()),
        total=row_of("all", total(counted), power),
        forecast=_forecasts(accounts, wanted.now, power),
        rerouted=rerouted(counted, prices),
        prices=tuple(prices),
        budgets=tuple(map(_budget, budgets)),
    )


def row_of(name: str, spent: Spending, power: Power) -> CostRow:
    """One row of the report."""
    watt_hours = spent.watt_hours(power.watts)
    return CostRow(
        name=name,
        calls=spent.calls,
        cached=spent.cached,
        tokens_in=spent.tokens_in,
        tokens_out=spent.tokens_out,
        tokens=spent.tokens,
        seconds=spent.seconds,
        usd=spent.usd,
        unpriced=spent.unpriced,
        watt_hours=watt_hours,
        power_usd=watt_hours / 1000 * power.kwh_usd,
    )


def _forecasts(accounts: Accounts, now: str, power: Power) -> Forecasts:
    days = grouped(accounts, "day", {})
    today, clock = now[:10], now[11:19]
    hours, minutes, seconds = (int(part) for part in clock.split(":"))
    share = (hours * 3600 + minutes * 60 + seconds) / 86_400

    def of(figures: dict[str, float]) -> Forecast:
        return forecast(figures, today, share=share)

    return Forecasts(
        usd=of({day: spent.usd for day, spent in days.items()}),
        tokens=of({day: float(spent.tokens) for day, spent in days.items()}),
        watt_hours=of({day: spent.watt_hours(power.watts) for day, spent in days.items()}),
    )


def _budget(standing: Standing) -> BudgetRow:
    allowance, pot = standing.bound.allowance, standing.bound.pot
    return BudgetRow(
        line=allowance.line,
        whose=pot.whose,
        period=pot.days or "each run",
        spent=standing.used,
        set_aside=standing.set_aside.of(allowance.unit),
        most=allowance.most,
        unit=allowance.unit,
        soft=allowance.soft,
    )
