"""`twinsmith alerts`: what people were told, whether it reached them, and a test of that."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from twinsmith.cli import exits
from twinsmith.cli.options import Json, at_least

if TYPE_CHECKING:
    from twinsmith.core.operating.alert import AlertRecord, Delivery

LIST_EXAMPLE = "Example: twinsmith alerts -n 5"
TEST_EXAMPLE = "Example: twinsmith alerts test (all channels), twinsmith alerts test team"

alerts = typer.Typer(help="What people were told about apps, and whether it reached them.")


@alerts.callback(invoke_without_command=True, epilog=LIST_EXAMPLE)
def list_alerts(
    context: typer.Context,
    most: Annotated[
        int, typer.Option("-n", parser=at_least(1), metavar="N", help="At most so many.")
    ] = 20,
    as_json: Json = False,
) -> None:
    """The latest alerts, newest first, and where each was delivered."""
    if context.invoked_subcommand:
        return
    from dataclasses import asdict

    from twinsmith.cli.book import opened_book
    from twinsmith.cli.screen import fitted, flat
    from twinsmith.runs.alerts import latest, when

    found = latest(opened_book(), most)
    if as_json:
        typer.echo(json.dumps([asdict(each) for each in found], ensure_ascii=False))
        return
    if not found:
        typer.echo("no alerts yet")
    for each in found:
        alert = each.alert
        again = f" ({each.repeats} times more)" if each.repeats else ""
        told = f"{alert.severity:<8}  {alert.app or '-':<20}  {flat(alert.title)}{again}"
        typer.echo(fitted(f"{when(alert.at)}  {told}"))
        for line in _ways(each):
            typer.echo(fitted(f"    {line}"))


@alerts.command("test", epilog=TEST_EXAMPLE)
def try_channel(
    channel: Annotated[str, typer.Argument(help="One channel; else all of them.")] = "",
    as_json: Json = False,
) -> None:
    """Send a test message now; exit code 1 where a channel does not take it, 3 where none does."""
    import asyncio

    from twinsmith.cli.book import opened_book
    from twinsmith.runs.alerts import try_channels

    results = asyncio.run(try_channels(opened_book(), channel))
    dead = [each for each in results if each.problem]
    if as_json:
        rows = [{"channel": each.channel, "problem": each.problem} for each in results]
        typer.echo(json.dumps({"delivered": not dead, "channels": rows}, ensure_ascii=False))
    else:
        for each in results:
            told = f"not delivered: {each.problem}" if each.problem else "delivered"
            typer.echo(f"{each.channel}: {told}")
    if dead:
        raise typer.Exit(exits.BROKEN if len(dead) == len(results) else exits.NO)


def _ways(record: "AlertRecord") -> list[str]:
    """The deliveries of an alert as a person reads them."""
    if not record.deliveries:
        return ["kept here; no channel is for it"]
    return [f"{each.channel}: {_way(each)}" for each in record.deliveries]


def _way(delivery: "Delivery") -> str:
    from twinsmith.runs.alerts import when

    tries = f"{delivery.attempts} {'try' if delivery.attempts == 1 else 'tries'}"
    match delivery.state:
        case "delivered":
            return f"delivered {when(delivery.delivered)}"
        case "given up":
            return f"given up after {tries}: {delivery.problem}"
        case "sending":
            return f"being sent since {when(delivery.at)}, {tries}"
        case "waiting" if not delivery.attempts:
            return f"waits, due {when(delivery.next_try)}"
        case "waiting":
            return f"failed, {tries}, next {when(delivery.next_try)}: {delivery.problem}"
