"""`twinsmith status`, `watch` and `cancel`: look at runs and stop them."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from twinsmith.cli import exits
from twinsmith.cli.options import Json
from twinsmith.cli.remote import command, server

if TYPE_CHECKING:
    from twinsmith.cli.follow import Followed
    from twinsmith.core.progress import Progress

STATUS_EXAMPLE = "Example: twinsmith status (all runs), twinsmith status a3f9 (one)"
WATCH_EXAMPLE = "Example: twinsmith watch a3f9 (Ctrl-C stops watching, never the run)"
CANCEL_EXAMPLE = 'Example: twinsmith cancel a3f9 --reason "the task was another one"'

MOST_ROWS = 50

Run = Annotated[str, typer.Argument(help="The run, or how its name ends.")]


def status(
    run: Annotated[str, typer.Argument(help="One run; without it, all of them.")] = "",
    as_json: Json = False,
) -> None:
    """How far runs have come."""
    if run:
        _one(_progress(run), as_json=as_json)
        return
    shown, older = _latest()
    if as_json:
        typer.echo(json.dumps([_as_json(progress) for progress in shown], ensure_ascii=False))
        return
    if not shown:
        typer.echo('no runs yet; start one with: twinsmith build "…"')
        return
    _table(shown)
    if older:
        typer.echo(f"({older} older runs: {command()} log)")


def watch(run: Run, as_json: Json = False) -> None:
    """Follow a run that another process drives; with --json, its events as they come."""
    import asyncio

    from twinsmith.core.events import to_line

    followed = _followed(run)
    name = followed.run
    try:
        if as_json:
            for entry in followed.events():
                typer.echo(to_line(entry))
            return
        from twinsmith.cli.live import show

        progress = asyncio.run(show(name, followed.look, pause=followed.pause))
    except KeyboardInterrupt:
        exits.fail(f"run {name} goes on", exits.INTERRUPTED, as_json=as_json)
    _closing(progress)


def cancel(
    run: Run,
    reason: Annotated[str, typer.Option(help="Why; it is kept with the run.")] = "",
    as_json: Json = False,
) -> None:
    """Stop a run for good."""
    progress = _cancelled(run, reason)
    if as_json:
        typer.echo(json.dumps(_as_json(progress), ensure_ascii=False))
    else:
        _closing(progress)


def _progress(run: str) -> "Progress":
    """How far the run has come that a person means."""
    client = server()
    if client is not None:
        return client.runs.get(run)
    from twinsmith.cli.book import opened_book

    book = opened_book()
    return book.progress(book.find(run))


def _latest() -> "tuple[list[Progress], str]":
    """The latest runs, oldest first, and how many there are before them, in words."""
    client = server()
    if client is not None:
        from itertools import islice

        found = list(islice(client.runs.listed(page=MOST_ROWS + 1), MOST_ROWS + 1))
        return found[MOST_ROWS - 1 :: -1], "more" if len(found) > MOST_ROWS else ""
    from twinsmith.cli.book import opened_book

    book = opened_book()
    names = book.journal.runs()
    shown = [book.progress(name) for name in names[-MOST_ROWS:]]
    return shown, str(len(names) - len(shown)) if len(names) > len(shown) else ""


def _followed(run: str) -> "Followed":
    """The run that a person means, as it is followed."""
    client = server()
    if client is not None:
        from twinsmith.cli.remote_runs import There

        return There(client, client.runs.get(run).run)
    from twinsmith.cli.book import opened_book
    from twinsmith.cli.follow import Here

    book = opened_book()
    return Here(book, book.find(run))


def _cancelled(run: str, reason: str) -> "Progress":
    """Where a run stands that was stopped for good."""
    client = server()
    if client is not None:
        return client.runs.cancel(run, reason)
    import asyncio

    from twinsmith.cli.book import opened_book
    from twinsmith.runs.cancel import cancel as cancel_run

    book = opened_book()
    return asyncio.run(cancel_run(book, book.find(run), reason))


def _place(progress: "Progress") -> str:
    """Where the result of a run lies, as a person gets at it from here."""
    return progress.out if server() is None else f"{command()} fetch {progress.run} --out DIR"


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
        typer.echo(f"go on with: {command()} resume {progress.run}")
    elif progress.state == "queued":
        typer.echo("it goes on as soon as a worker takes it; one is started with: twinsmith worker")
    elif progress.state in ("solved", "not solved") and progress.out:
        typer.echo(f"result: {_place(progress)}")


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
