"""Runs on a screen: a live tree for people, lines where there is no terminal."""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.spinner import Spinner
from rich.table import Table
from rich.tree import Tree

from twinsmith.app import App
from twinsmith.core.progress import Progress, Stage, elapsed

POLL_SECONDS = 0.1
WIDTH = 20
_COLOUR = {"solved": "green", "running": "cyan", "not solved": "yellow", "cancelled": "yellow"}


def headline(progress: Progress, now: str) -> str:
    """One line: which run, how it stands, how long, what it cost, the best so far."""
    colour = _COLOUR.get(progress.state, "magenta")
    until = now if progress.state == "running" else progress.updated
    parts = [
        f"[bold]{progress.run}[/bold]",
        f"[{colour}]{progress.state}[/{colour}]",
        f"{elapsed(progress.started, until):.1f} s",
        f"{progress.tokens} tokens",
    ]
    if progress.best:
        parts.append(f"best so far: {escape(progress.best)}")
    return " · ".join(parts)


def tree(progress: Progress, now: str, arriving: int = 0) -> Tree:
    """The run with a line a stage, and how much of an answer has come in by now."""
    root = Tree(headline(progress, now))
    for stage in progress.stages:
        root.add(_line(stage, now, arriving, running=progress.state == "running"))
    return root


def stage_line(stage: Stage) -> str:
    """One finished stage for a log."""
    return f"  {stage.name:<{WIDTH}} {elapsed(stage.started, stage.finished):6.1f} s  {stage.note}"


def now_utc() -> str:
    """This moment as events carry it."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


async def follow(app: App, run: str, over: Callable[[], bool]) -> AsyncIterator[Progress]:
    """The progress of a run, again and again, until it is over."""
    while True:
        last = over()
        yield app.progress(run)
        if last:
            return
        await asyncio.sleep(POLL_SECONDS)


async def show(app: App, run: str, over: Callable[[], bool]) -> Progress:
    """Show a run on standard output until it is over."""
    console = Console()
    if not console.is_terminal:
        return await _show_lines(app, run, over)
    progress = app.progress(run)
    with Live(console=console, refresh_per_second=8, transient=False) as live:

        @contextmanager
        def aside() -> Iterator[None]:
            live.stop()
            try:
                yield
            finally:
                live.start()

        app.aside = aside
        async for progress in follow(app, run, over):
            live.update(tree(progress, now_utc(), sum(app.arriving.values())))
    return progress


async def beside(app: App, run: str, work: Awaitable[object], *, quiet: bool) -> None:
    """Show a run while it is being driven in this process."""
    task = asyncio.ensure_future(work)
    try:
        if not quiet:
            await show(app, run, task.done)
        await task
    except asyncio.CancelledError:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        raise


async def _show_lines(app: App, run: str, over: Callable[[], bool]) -> Progress:
    shown = 0
    progress = app.progress(run)
    print(f"run {run}", flush=True)
    async for progress in follow(app, run, over):
        finished = [stage for stage in progress.stages if stage.finished]
        for stage in finished[shown:]:
            print(stage_line(stage), flush=True)
        shown = len(finished)
    sys.stdout.flush()
    return progress


def _line(stage: Stage, now: str, arriving: int, *, running: bool) -> Table:
    row, name = Table.grid(padding=(0, 1)), f"{stage.name:<{WIDTH}}"
    if stage.finished:
        seconds = f"{elapsed(stage.started, stage.finished):.1f} s"
        row.add_row("[green]✓[/green]", name, f"{seconds:>8}", escape(stage.note))
    else:
        seconds = f"{elapsed(stage.started, now):.1f} s" if running else ""
        mark = Spinner("dots") if running else "[magenta]‖[/magenta]"
        coming = f"[dim]{arriving} tokens arriving[/dim]" if running and arriving else ""
        row.add_row(mark, name, f"{seconds:>8}", coming)
    return row
