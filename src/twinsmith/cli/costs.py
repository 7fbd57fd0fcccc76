"""`twinsmith costs`: what models cost, what the month will cost, what other routes would have."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from twinsmith.cli.options import Json
from twinsmith.cli.remote import command, server

if TYPE_CHECKING:
    from twinsmith.core.costs.forecast import Forecast
    from twinsmith.core.costs.report import CostRow, Costs

EXAMPLE = "Example: twinsmith costs --by person --since 2026-11-01"
MOST_ROUTES = 3


def costs(
    by: Annotated[str, typer.Option(help="model, role, app, person, team or day.")] = "model",
    since: Annotated[str, typer.Option(help="From this day on (UTC): 2026-11-01.")] = "",
    as_json: Json = False,
) -> None:
    """What was spent on models, and what the month will cost."""
    from dataclasses import asdict

    from twinsmith.cli.book import opened_book
    from twinsmith.runs.costs import CostBook, by_in, day_in

    kind, day = by_in(by), day_in(since)
    client = server()
    found = client.known.costs(kind, day) if client else CostBook(opened_book()).report(kind, day)
    if as_json:
        typer.echo(json.dumps(asdict(found), ensure_ascii=False))
    elif not found.total.calls:
        typer.echo(f'no model has answered yet; every build counts: {command()} build "…"')
    else:
        _table(found)


def _table(costs: "Costs") -> None:
    from twinsmith.cli.screen import fitted, flat

    wide = max(len(costs.by), *(len(flat(row.name)) for row in costs.rows))
    head = f"{'calls':>7}  {'cached':>6}  {'tokens in':>12}  {'tokens out':>12}  {'seconds':>9}"
    typer.echo(fitted(f"{costs.by:<{wide}}  {head}  {'USD':>10}  {'~Wh':>8}"))
    for row in (*costs.rows, costs.total):
        typer.echo(fitted(f"{flat(row.name):<{wide}}  {_figures(row)}"))
    if costs.total.unpriced:
        typer.echo(f"{costs.total.unpriced} calls have no price that anybody knows: not in USD")
    month = costs.forecast
    typer.echo(f"{month.usd.month} in USD: {_forecast(month.usd, '.2f')}")
    typer.echo(f"{month.usd.month} in tokens: {_forecast(month.tokens, ',.0f')}")
    _budgets(costs)
    _rerouted(costs)
    for price in costs.prices:
        if price.usd_in is not None and not price.local:
            told = f"{price.source}{f' of {price.date}' if price.date else ''}"
            typer.echo(
                f"price of {price.model}: {price.usd_in:g} in, {price.usd_out:g} out, "
                f"USD for a million tokens ({told})"
            )
    typer.echo("~Wh: an estimate, from seconds of models on this machine and costs.watts")


def _figures(row: "CostRow") -> str:
    return (
        f"{row.calls:>7,}  {row.cached:>6,}  {row.tokens_in:>12,}  {row.tokens_out:>12,}  "
        f"{row.seconds:>9,.1f}  {row.usd:>10,.4f}  {row.watt_hours:>8,.2f}"
    )


def _forecast(month: "Forecast", form: str) -> str:
    if month.whole is None:
        return f"{month.so_far:{form}} so far; a forecast needs one whole day"
    told = f"{month.so_far:{form}} so far, about {month.whole:{form}} at its end"
    if month.least is None or month.most is None:
        return f"{told}; between what, {month.days} whole days do not tell"
    return f"{told}, {month.least:{form}} to {month.most:{form}} (80 %, {month.days} whole days)"


def _budgets(costs: "Costs") -> None:
    for each in costs.budgets:
        share = 100 * each.spent / each.most
        typer.echo(
            f"budget {each.line!r}: {each.whose} spent {each.spent:,.10g} of {each.most:,.10g} "
            f"{each.unit} in {each.period} ({share:.0f} %)"
        )


def _rerouted(costs: "Costs") -> None:
    """The routes that would have been cheaper, a few for each role."""
    from twinsmith.core.costs.rerouting import CAVEAT

    told = 0
    for role in dict.fromkeys(each.role for each in costs.rerouted):
        cheaper = [each for each in costs.rerouted if each.role == role and (each.saved or 0) > 0]
        for each in cheaper[:MOST_ROUTES]:
            own = " and power" if each.local else ""
            typer.echo(
                f"{role} by {each.model}: {each.would:.4f} USD{own} instead of {each.usd:.4f}"
            )
            told += 1
    if told:
        typer.echo(f"({CAVEAT})")
