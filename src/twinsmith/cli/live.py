"""Runs on a screen: a live tree for people, lines where there is no terminal."""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from typing import Protocol

from rich.live import Live
from rich.markup import escape
from rich.spinner import Spinner
from rich.table import Table
from rich.tree import Tree

from twinsmith.cli.screen import console
from twinsmith.core.model import ROLES
from twinsmith.core.progress import ENDED, Ensemble, Progress, Stage, elapsed, several
from twinsmith.runs.book import Book
from twinsmith.runs.drive import Driver

POLL_SECONDS = 0.1
WIDTH = 20
NOTHING: Mapping[str, int] = {}
Look = Callable[[], Awaitable[tuple[Progress, bool]]]
"""How far a run has come, and whether there is no more to be seen of it."""
_COLOUR = {
    "solved": "green",
    "done": "green",
    "running": "cyan",
    "not solved": "yellow",
    "refused": "yellow",
    "cancelled": "yellow",
}


class Asking(Protocol):
    """What is asked while a run is shown: people, who need room for it, and models."""

    aside: Callable[[], AbstractContextManager[None]]
    """Makes room on the screen while a person is asked; set by whoever shows the run."""

    @property
    def arriving(self) -> Mapping[str, int]:
        """Parts of answers that are coming in, by question."""


def headline(progress: Progress, now: str) -> str:
    """The state of a run in one line: its time, its tokens, the best candidate so far."""
    colour = _COLOUR.get(progress.state, "magenta")
    until = now if progress.state == "running" else progress.updated
    parts = [
        f"[bold]{progress.run}[/bold]",
        f"[{colour}]{progress.state}[/{colour}]",
        f"{elapsed(progress.started, until):.1f} s",
        *([f"{progress.tokens:,} tokens"] if progress.tokens or progress.out else []),
    ]
    if progress.best:
        parts.append(f"best so far: {escape(progress.best)}")
    return " · ".join(parts)


def tree(progress: Progress, now: str, arriving: Mapping[str, int] = NOTHING) -> Tree:
    """A run as a tree with a line for each ensemble and stage; `arriving` counts tokens."""
    root = Tree(headline(progress, now))
    for ensemble in progress.ensembles:
        root.add(ensemble_line(ensemble, progress, arriving))
    for stage in progress.stages:
        root.add(_line(stage, now, sum(arriving.values()), running=progress.state == "running"))
    return root


def stage_line(stage: Stage) -> str:
    """A finished stage as a line of a log."""
    return f"  {stage.name:<{WIDTH}} {elapsed(stage.started, stage.finished):6.1f} s  {stage.note}"


def ensemble_line(
    ensemble: Ensemble, progress: Progress, arriving: Mapping[str, int] = NOTHING
) -> str:
    """The state of one ensemble in one line: what it has done, and whom it waits for."""
    answers, waiting = ensemble.answers, ensemble.waiting
    parts = [f"ensemble {ensemble.number}"]
    if answers:
        roles = ", ".join(f"{role} {answers[role]}" for role in ROLES if role in answers)
        parts.append(f"{several(sum(answers.values()), 'answer')}: {roles}")
        parts.append(several(ensemble.tokens, "token"))
    if ensemble.candidates:
        word = "chosen" if progress.state in ENDED else "leads"
        told = [f"{n} ({word})" if n == progress.leader else f"{n}" for n in ensemble.candidates]
        parts.append(f"{'candidate' if len(told) == 1 else 'candidates'} {', '.join(told)}")
    if ensemble.best:
        parts.append(f"best {escape(ensemble.best)}")
    if waiting and progress.state == "running":
        roles = ", ".join(role for role in ROLES if role in waiting.values())
        come = sum(arriving.get(key, 0) for key in waiting)
        parts.append(f"waiting for {roles}" + (f", {several(come, 'token')} in" if come else ""))
    return " · ".join(parts)


def now_utc() -> str:
    """The time now, as events carry it."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def looking(book: Book, run: str, over: Callable[[], bool]) -> Look:
    """A look at a run of this machine, which is the last one when it is `over`."""

    async def look() -> tuple[Progress, bool]:
        # In this order: what came before the end is seen.
        last = over()
        return book.progress(run), last

    return look


async def follow(look: Look, pause: float = POLL_SECONDS) -> AsyncIterator[Progress]:
    """The progress of a run, again and again, until there is no more to be seen."""
    while True:
        progress, last = await look()
        yield progress
        if last:
            return
        await asyncio.sleep(pause)


async def show(
    run: str, look: Look, asking: Asking | None = None, *, pause: float = POLL_SECONDS
) -> Progress:
    """Show a run on standard output until there is no more to be seen of it."""
    screen = console()
    if not screen.is_terminal:
        return await _show_lines(run, look, pause)
    progress = Progress(run=run)
    with Live(console=screen, refresh_per_second=8, transient=False) as live:

        @contextmanager
        def aside() -> Iterator[None]:
            live.stop()
            try:
                yield
            finally:
                live.start()

        if asking:
            asking.aside = aside
        async for progress in follow(look, pause):
            live.update(tree(progress, now_utc(), asking.arriving if asking else NOTHING))
    return progress


async def beside(driver: Driver, run: str, work: Awaitable[object], *, quiet: bool) -> None:
    """Show a run while it is being driven in this process."""
    task = asyncio.ensure_future(work)
    try:
        if not quiet:
            await show(run, looking(driver.book, run, task.done), driver)
        await task
    except BaseException:
        # Also where the run cannot be shown: nobody would hear how its task ended.
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        raise


async def _show_lines(run: str, look: Look, pause: float) -> Progress:
    shown, progress = 0, Progress(run=run)
    print(f"run {run}", flush=True)
    async for progress in follow(look, pause):
        finished = [stage for stage in progress.stages if stage.finished]
        for stage in finished[shown:]:
            print(stage_line(stage), flush=True)
        shown = len(finished)
    for ensemble in progress.ensembles:
        print(f"  {ensemble_line(ensemble, progress)}", flush=True)
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
