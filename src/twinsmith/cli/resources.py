"""`twinsmith resources`: who uses what of this machine, and what can be cleaned away."""

import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from twinsmith.cli.options import Json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from twinsmith.core.resources.cleaning import Cleaned, Item
    from twinsmith.core.resources.use import Resources, Use

EXAMPLE = "Example: twinsmith resources --json"
CLEAN_EXAMPLE = "Example: twinsmith resources clean --dry-run"
MOST_PARTS = 12

resources = typer.Typer(help="Who uses what of this machine, and what can be cleaned away.")


@resources.callback(invoke_without_command=True, epilog=EXAMPLE)
def show(context: typer.Context, as_json: Json = False) -> None:
    """Sandboxes, models, apps and the data folder, against their limits."""
    if context.invoked_subcommand:
        return
    import asyncio
    from dataclasses import asdict

    from twinsmith.cli.book import opened_book
    from twinsmith.runs.resources import resources as look

    found = asyncio.run(look(opened_book()))
    if as_json:
        typer.echo(json.dumps(asdict(found), ensure_ascii=False))
    else:
        _table(found)


@resources.command("clean", epilog=CLEAN_EXAMPLE)
def clean(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would go.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: Json = False,
) -> None:
    """Remove what is old or too much, by resources.keep_days and resources.keep_mb."""
    import asyncio

    from twinsmith.cli.book import opened_book
    from twinsmith.core.errors import ConfigError
    from twinsmith.runs import cleaning

    book = opened_book()
    items, chosen = cleaning.to_clean(book)
    if not as_json:
        _tell(items, chosen)
    asked = bool(chosen) and not dry_run and not yes
    if asked and (as_json or not sys.stdin.isatty()):
        raise ConfigError("nobody is here to be asked; give --yes, or --dry-run to only look")
    if asked and not typer.confirm("Remove all of this for good?", err=True):
        dry_run = True
    removes = bool(chosen) and not dry_run
    freed = asyncio.run(cleaning.clean(book, chosen)) if removes else 0
    if as_json:
        rows = [_row(each) for each in chosen]
        typer.echo(json.dumps({"chosen": rows, "removed": removes, "freed_bytes": freed}))
    elif removes:
        from twinsmith.core.resources.cleaning import several_bytes

        typer.echo(f"removed; {several_bytes(freed)} are free again")
    elif chosen:
        typer.echo("nothing was removed")


def _tell(items: "Sequence[Item]", chosen: "Sequence[Cleaned]") -> None:
    from twinsmith.cli.screen import fitted, flat
    from twinsmith.core.resources.cleaning import several_bytes

    for each in chosen:
        item = each.item
        told = f"{item.kind:<6}  {several_bytes(item.bytes):>9}  {flat(item.name)}: {each.why}"
        typer.echo(fitted(told))
    size = several_bytes(sum(each.item.bytes for each in chosen))
    whole = several_bytes(sum(each.bytes for each in items))
    kept = sum(bool(each.kept) for each in items)
    if chosen:
        typer.echo(f"{len(chosen)} of {len(items)} would go, {size} of {whole}; {kept} are needed")
    else:
        typer.echo(f"nothing to clean: {len(items)} take {whole}; {kept} of them are needed")


def _row(each: "Cleaned") -> dict[str, object]:
    from dataclasses import asdict

    return {**asdict(each.item), "why": each.why}


def _table(found: "Resources") -> None:
    from twinsmith.cli.screen import fitted, flat
    from twinsmith.core.resources.cleaning import several_bytes

    wide = max(len(each.who) for each in found.uses)
    typer.echo(f"{'who':<{wide}}  {'now':>7}  {'memory':>20}  processors")
    for each in found.uses:
        typer.echo(fitted(f"{each.who:<{wide}}  {_figures(each)}  {flat(each.note)}".rstrip()))
    machine = found.machine
    typer.echo(f"free: {machine.memory_mb:,} MB of memory, {machine.disk_mb:,} MB of disk")
    parts = [f"{each.name} {several_bytes(each.bytes)}" for each in found.parts[:MOST_PARTS]]
    typer.echo(f"data folder: {', '.join(parts) or 'empty'}")
    if found.lacks:
        typer.echo(f"no further run is begun: {found.lacks}")


def _figures(use: "Use") -> str:
    from twinsmith.core.resources.cleaning import several_bytes

    slots = "" if use.slots is None else str(use.slots)
    slots += "" if use.slots_limit is None else f"/{use.slots_limit}"
    memory = "" if use.memory is None else several_bytes(use.memory)
    memory += "" if use.memory_limit is None else f" of {several_bytes(use.memory_limit)}"
    processors = "" if use.processors is None else f"{use.processors:g}"
    return f"{slots:>7}  {memory.strip():>20}  {processors:<10}"
