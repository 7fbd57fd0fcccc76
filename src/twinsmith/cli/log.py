"""`twinsmith log`: read the journal, check that nobody altered it, or anchor it elsewhere."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from twinsmith.cli import exits
from twinsmith.cli.files import text_of
from twinsmith.cli.options import Json
from twinsmith.cli.remote import server

if TYPE_CHECKING:
    from twinsmith.adapters.journal.checking import Checked
    from twinsmith.core.anchor import Anchor
    from twinsmith.core.events import Entry
    from twinsmith.runs.book import Book

EXAMPLE = (
    "Example: twinsmith log a3f9 (its events), twinsmith log --verify (every chain), "
    "twinsmith log --anchor >> /elsewhere/anchors (a line to store), "
    "twinsmith log --verify --against /elsewhere/anchors"
)
LONGEST_VALUE = 400
AGAINST_HELP = "With --verify: a line that --anchor printed, or a file of them."


def log(
    run: Annotated[str, typer.Argument(help="One run; without it, all of them.")] = "",
    verify: Annotated[bool, typer.Option("--verify", help="Check the chain of hashes.")] = False,
    against: Annotated[str, typer.Option(help=AGAINST_HELP)] = "",
    anchor: Annotated[
        bool, typer.Option("--anchor", help="Print a line that tells where the journal ends.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Everything that happened, in order; --verify names the first altered line."""
    from twinsmith.core.errors import ConfigError
    from twinsmith.core.events import to_line

    if anchor and (verify or run):
        raise ConfigError("--anchor is of the whole journal and goes alone; leave the rest out")
    if against and (run or not verify):
        raise ConfigError("--against goes with --verify, of all runs; twinsmith log --help")
    if server() is not None and (anchor or against):
        raise ConfigError("--anchor and --against work on this machine only; without --server")
    stored = _stored(against) if against else ()
    if anchor:
        _anchor(as_json=as_json)
        return
    if verify:
        _tell_verified(_checked(run, stored), as_json=as_json)
        return
    entries = sorted(_entries(run), key=lambda entry: entry.at)
    for entry in entries:
        typer.echo(to_line(entry) if as_json else _line(entry))
    if not entries and not as_json:
        typer.echo("the journal is empty")


def _anchor(*, as_json: bool) -> None:
    """Print a line that tells where the journal of this machine ends."""
    import asyncio

    from twinsmith.cli.book import opened_book

    line = asyncio.run(opened_book().anchor())
    typer.echo(json.dumps({"anchor": line}) if as_json else line)


def _entries(run: str) -> "list[Entry]":
    """The entries of one chain, or of all of them."""
    client = server()
    if client is not None:
        return list(client.journal.export(run))
    from twinsmith.cli.book import opened_book
    from twinsmith.core.events import SYSTEM

    book = opened_book()
    names = [_chain(book, run)] if run else [SYSTEM, *book.journal.runs()]
    return [entry for name in names for entry in book.journal.entries(name)]


def _checked(run: str, stored: "tuple[Anchor, ...]") -> "list[Checked]":
    """What was found in one chain, or in all of them."""
    client = server()
    if client is not None:
        from twinsmith.adapters.journal.checking import Checked

        return [
            Checked(
                run=each.run, path=each.run, lines=each.lines, broken=each.broken, note=each.note
            )
            for each in client.journal.verify(run).chains
        ]
    from twinsmith.cli.book import opened_book

    book = opened_book()
    return [book.journal.check(_chain(book, run))] if run else book.journal.check_all(stored)


def _chain(book: "Book", run: str) -> str:
    from twinsmith.core.events import SYSTEM

    return run if run == SYSTEM else book.find(run)


def _stored(against: str) -> "tuple[Anchor, ...]":
    """The anchors that a person kept: given as they are, or as a file."""
    from twinsmith.core.anchor import MARK, anchors_in
    from twinsmith.core.errors import ConfigError

    text = against if against.startswith(MARK) else text_of(Path(against), option="--against ")
    try:
        return anchors_in(text)
    except ValueError as error:
        raise ConfigError(
            f"--against: {error}; give a line that 'twinsmith log --anchor' printed, or a file"
        ) from None


def _tell_verified(checked: "list[Checked]", *, as_json: bool) -> None:
    """Print what was found in chains; the command ends with a no where one is broken."""
    from dataclasses import asdict

    broken = [chain for chain in checked if chain.broken]
    if as_json:
        typer.echo(json.dumps({"ok": not broken, "chains": [asdict(c) for c in checked]}))
    else:
        _tell(checked)
        for chain in broken:
            assert chain.broken
            typer.echo(f"{chain.path}: line {chain.broken.line} {chain.broken.reason}")
        lines = sum(chain.lines for chain in checked)
        if not broken:
            typer.echo(f"{lines} lines in {len(checked)} chains: every hash holds")
    if broken:
        raise typer.Exit(exits.NO)


def _tell(checked: "list[Checked]") -> None:
    """Print remarks about checked chains that are no break but should be known, each once."""
    notes: dict[str, list[str]] = {}
    for chain in checked:
        if chain.note:
            notes.setdefault(chain.note, []).append(chain.path)
    for note, paths in notes.items():
        more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
        typer.echo(f"{paths[0]}{more}: {note}")


def _short(value: object) -> str:
    """A value as a person reads it: whole sources and tables of results are left to --json."""
    said = json.dumps(value, ensure_ascii=False)
    return said if len(said) <= LONGEST_VALUE else f"{said[:LONGEST_VALUE]}…"


def _line(entry: "Entry") -> str:
    event = entry.event
    data = " ".join(f"{k}={_short(v)}" for k, v in event.data.items())
    return f"{entry.at[:23]} {event.run:<20} {event.kind:<18} {event.who:<12} {data}"
