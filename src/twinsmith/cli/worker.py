"""`twinsmith worker` and `twinsmith workers`: a process that takes runs, and all there are."""

import json
from typing import Annotated

import typer

from twinsmith.cli.build import provide_model
from twinsmith.cli.options import Json, at_least

WORKER_EXAMPLE = "Example: twinsmith worker --concurrency 4 (Ctrl-C hands its runs to others)"
WORKERS_EXAMPLE = "Example: twinsmith workers --json"


def worker(
    concurrency: Annotated[
        int | None,
        typer.Option(parser=at_least(1), metavar="N", help="Runs at once, for each worker."),
    ] = None,
) -> None:
    """Take runs from the queue, until it is stopped, and those of workers that are gone."""
    import asyncio
    import signal

    from twinsmith.cli.book import opened_book
    from twinsmith.cli.live import now_utc
    from twinsmith.runs.worker import WorkerProcess

    book = opened_book(way="worker")
    provide_model(book.settings, as_json=False)

    def said(line: str) -> None:
        typer.echo(f"{now_utc()[11:19]}  {line}")

    async def main() -> None:
        stop = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        taken = concurrency or book.settings.values.workers.concurrency
        await WorkerProcess(book, taken, said).serve(stop)
        said("worker leaves")

    asyncio.run(main())


def workers(as_json: Json = False) -> None:
    """Every process that drives runs now, and what it drives."""
    from twinsmith.cli.book import opened_book

    book = opened_book()
    driven = book.driving.listed()
    rows = [
        {
            "worker": each.name,
            "takes": each.concurrency if each.serves else 0,
            "pipeline": each.pipeline,
            "silent_seconds": round(each.silent, 1),
            "runs": [d.run for d in driven if d.state == "driven" and d.worker == each.name],
        }
        for each in book.workers()
    ]
    if as_json:
        typer.echo(json.dumps(rows))
        return
    if not rows:
        typer.echo("no workers; start one with: twinsmith worker")
    for row in rows:
        takes = f"takes {row['takes']}" if row["takes"] else "at a terminal"
        runs = row["runs"]
        assert isinstance(runs, list)
        typer.echo(f"{row['worker']}  {takes}  {', '.join(runs) or 'idle'}")
    typer.echo(f"{sum(each.state == 'queued' for each in driven)} queued")
