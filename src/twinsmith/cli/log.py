"""`twinsmith log`: read the journal, or check that nobody altered it."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from twinsmith.cli import exits
from twinsmith.cli.build import Json

if TYPE_CHECKING:
    from twinsmith.app import App
    from twinsmith.core.events import Entry

EXAMPLE = "Example: twinsmith log a3f9 (its events), twinsmith log --verify (every chain)"


def log(
    run: Annotated[str, typer.Argument(help="One run; without it, all of them.")] = "",
    verify: Annotated[bool, typer.Option("--verify", help="Check the chain of hashes.")] = False,
    as_json: Json = False,
) -> None:
    """Everything that happened, in order; --verify names the first altered line."""
    from twinsmith.app import App
    from twinsmith.core.events import SYSTEM, to_line
    from twinsmith.settings import load

    app = App(load())
    name = run if run in ("", SYSTEM) else app.find(run)
    if verify:
        _verify(app, name, as_json=as_json)
        return
    names = [name] if name else [SYSTEM, *app.journal.runs()]
    entries = sorted((e for n in names for e in app.journal.entries(n)), key=lambda e: e.at)
    for entry in entries:
        typer.echo(to_line(entry) if as_json else _line(entry))
    if not entries and not as_json:
        typer.echo("the journal is empty")


def _verify(app: "App", name: str, *, as_json: bool) -> None:
    from dataclasses import asdict

    checked = [app.journal.check(name)] if name else app.journal.check_all()
    broken = [chain for chain in checked if chain.broken]
    if as_json:
        typer.echo(json.dumps({"ok": not broken, "chains": [asdict(c) for c in checked]}))
    else:
        for chain in broken:
            assert chain.broken
            typer.echo(f"{chain.path}: line {chain.broken.line} {chain.broken.reason}")
        lines = sum(chain.lines for chain in checked)
        if not broken:
            typer.echo(f"{lines} lines in {len(checked)} chains: every hash holds")
    if broken:
        raise typer.Exit(exits.NO)


def _line(entry: "Entry") -> str:
    event = entry.event
    data = " ".join(f"{k}={json.dumps(v, ensure_ascii=False)}" for k, v in event.data.items())
    return f"{entry.at[:23]} {event.run:<20} {event.kind:<18} {event.who:<12} {data}"
