"""`twinsmith status`, `watch` and `cancel`: look at runs and stop them."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from twinsmith.cli import exits
from twinsmith.cli.options import Json

if TYPE_CHECKING:
    from collections.abc import Callable

    from twinsmith.core.progress import Progress
    from twinsmith.runs.book import Book

STATUS_EXAMPLE = "Example: twinsmith status (all runs), twinsmith status a3f9 (one)"
WATCH_EXAMPLE = "Example: twinsmith watch a3f9 (Ctrl-C stops watching, never the run)"
CANCEL_EXAMPLE = "Example: twinsmith cancel a3f9"

MOST_ROWS = 50

Run = Annotated[str, typer.Argument(help="The run, or how its name ends.")]


def status(
    run: Annotated[str, typer.Argument(help="One run; without it, all of them.")] = "",
    as_json: Json = False,
) -> None:
    """How far runs have come."""
    from twinsmith.cli.book import opened_book

    book = opened_book()
    if run:
        _one(book.progress(book.find(run)), as_json=as_json)
        return
    names = book.journal.runs()
    shown = [book.progress(name) for name in names[-MOST_ROWS:]]
    if as_json:
        typer.echo(json.dumps([_as_json(progress) for progress in shown], ensure_ascii=False))
        return
    if not shown:
        typer.echo('no runs yet; start one with: twinsmith build "…"')
        return
    _table(shown)
    if len(names) > len(shown):
        typer.echo(f"({len(names) - len(shown)} older runs: twinsmith log)")


def watch(run: Run, as_json: Json = False) -> None:
    """Follow a run that another process drives; with --json, its events as they come."""
    import asyncio

    from twinsmith.cli.book import opened_book
    from twinsmith.runs.follow import stands_still

    book = opened_book()
    name = book.find(run)

    def over() -> bool:
        return stands_still(book, book.progress(name))

    if as_json:
        asyncio.run(_events(book, name, over))
        return
    from twinsmith.cli.live import show

    try:
        progress = asyncio.run(show(book, name, over))
    except KeyboardInterrupt:
        exits.fail(f"run {name} goes on", exits.INTERRUPTED, as_json=False)
    _closing(progress)


def cancel(run: Run, as_json: Json = False) -> None:
    """Stop a run for good."""
    import asyncio

    from twinsmith.cli.book import opened_book
    from twinsmith.runs.cancel import cancel as cancel_run

    book = opened_book()
    progress = asyncio.run(cancel_run(book, book.find(run)))
    if as_json:
        typer.echo(json.dumps(_as_json(progress), ensure_ascii=False))
    else:
        _closing(progress)


async def _events(book: "Book", name: str, over: "Callable[[], bool]") -> None:
    import asyncio

    from twinsmith.core.events import to_line

    offset, last = 0, False
    while not last:
        last = over()
        entries, offset = book.journal.entries_since(name, offset)
        for entry in entries:
            typer.echo(to_line(entry))
        if not last:
            await asyncio.sleep(0.1)


def _one(progress: "Progress", *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(_as_json(progress), ensure_ascii=False))
        return
    from twinsmith.cli.live import now_utc, tree
    from twinsmith.cli.screen import console

    screen = console()
    screen.print(f"task: {progress.task}", highlight=False, markup=False)
    screen.print(tree(progress, now_utc()))
    _closing(progress)


def _closing(progress: "Progress") -> None:
    if progress.reason:
        typer.echo(f"{progress.state}: {progress.reason}")
    if progress.state in ("parked", "interrupted"):
        typer.echo(f"go on with: twinsmith resume {progress.run}")
    elif progress.state == "queued":
        typer.echo("it goes on as soon as a worker takes it; one is started with: twinsmith worker")
    elif progress.state in ("solved", "not solved") and progress.out:
        typer.echo(f"result: {progress.out}")


def _table(rows: "list[Progress]") -> None:
    from twinsmith.cli.live import now_utc
    from twinsmith.cli.screen import fitted, flat
    from twinsmith.core.progress import elapsed

    lines = [f"{'run':<20}  {'state':<11}  {'stage':<8}  {'seconds':>7}  {'tokens':>6}  task"]
    for row in rows:
        until = now_utc() if row.state == "running" else row.updated
        stage = row.stages[-1].name if row.stages else ""
        seconds = f"{elapsed(row.started, until):.1f}"
        told = f"{row.run:<20}  {row.state:<11}  {stage:<8}  {seconds:>7}  {row.tokens:>6}"
        lines.append(f"{told}  {flat(row.task)}")
    for line in lines:
        typer.echo(fitted(line))


def _as_json(progress: "Progress") -> dict[str, object]:
    from dataclasses import asdict

    return asdict(progress)
