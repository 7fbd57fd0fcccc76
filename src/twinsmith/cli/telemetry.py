"""`twinsmith trace` and `twinsmith telemetry`: what took how long; a dashboard and rules."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from twinsmith.cli.options import Json
from twinsmith.cli.remote import server

if TYPE_CHECKING:
    from twinsmith.core.waterfall import Bar

TRACE_EXAMPLE = "Example: twinsmith trace a3f9 --json"
FILES_EXAMPLE = "Example: twinsmith telemetry files ./observing"
WIDE = 24
DEEPEST = 10
telemetry = typer.Typer(
    help="Figures and traces: files for Grafana and Prometheus.", no_args_is_help=True
)


def trace(
    run: Annotated[str, typer.Argument(help="The run, or how its name ends.")],
    as_json: Json = False,
) -> None:
    """Everything that came out of the same request as a run, and how long it took."""
    from dataclasses import asdict

    from twinsmith.cli.book import opened_book
    from twinsmith.runs.traces import trace_of

    client = server()
    found = client.runs.trace(run) if client else trace_of(opened_book(), run)
    if as_json:
        typer.echo(json.dumps(asdict(found), ensure_ascii=False))
        return
    from twinsmith.cli.screen import fitted

    typer.echo(f"trace {found.trace}, {len(found.bars)} spans")
    for bar in found.bars:
        typer.echo(fitted(_line(bar)))


@telemetry.command("files", epilog=FILES_EXAMPLE)
def files(
    folder: Annotated[Path, typer.Argument(help="A folder; it is made where there is none.")],
) -> None:
    """Write a dashboard for Grafana and rules for Prometheus' alerts."""
    from twinsmith.core.errors import ConfigError
    from twinsmith.observing import written

    try:
        made = written(folder.expanduser())
    except OSError as error:
        raise ConfigError(
            f"nothing can be written to {folder} ({error.strerror}); name another folder"
        ) from None
    for path in made:
        typer.echo(str(path))


def _line(bar: "Bar") -> str:
    from twinsmith.cli.screen import flat

    took = "under way" if bar.seconds is None else f"{bar.seconds:.3f} s"
    first = round(bar.left / 100 * WIDE)
    long = max(1, round(bar.width / 100 * WIDE))
    drawn = f"{' ' * min(first, WIDE - 1)}{'█' * long}"[:WIDE]
    sign = "✕ " if bar.problem else ""
    why = f" ({flat(bar.problem)})" if bar.problem else ""
    name = f"{'  ' * min(bar.depth, DEEPEST)}{sign}{flat(bar.name)}{why}"
    said = f"  {flat(bar.said)}" if bar.said else ""
    return f"{bar.at:>+10.3f}  {took:>11}  ▏{drawn:<{WIDE}}▕ {name}{said}"
