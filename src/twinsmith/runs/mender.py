"""Builds that mend releases, beside the monitor: by a worker where one lives, else by a process.

The monitor goes on looking while models think. A build that loses its process goes on in the next.
"""

import subprocess
import sys
from contextlib import suppress

from twinsmith.adapters.clock import SystemClock
from twinsmith.core.progress import ENDED
from twinsmith.core.task import Job
from twinsmith.runs.book import Book
from twinsmith.runs.submit import submit
from twinsmith.wiring.running import messages_of

MOST_STARTS = 3
STOP_SECONDS = 10.0
LOG = "mender.log"


class Mender:
    """Begins builds and sees to it that somebody drives them."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._starts: dict[str, int] = {}

    async def begin(self, job: Job) -> None:
        """Begin a build; whoever has begun it already goes on."""
        await submit(self._book, job, priority="high")
        await self.see_to(job.run)

    async def see_to(self, run: str) -> None:
        """Start a process for a build that nobody drives, and for which no worker is there."""
        book, process = self._book, self._processes.get(run)
        if process is not None and process.poll() is None:
            return
        if run not in book.journal.runs():
            # Kept, and killed before it was queued.
            await submit(book, book.given(run), priority="high")
        if book.workers(serving=True) or book.is_driven(run) or self.ended(run) is not None:
            return
        if not self._waits(run):
            self._start(run)

    def _waits(self, run: str) -> bool:
        """Whether a build waits for a person's word, about a budget, that may still come."""
        driving = self._book.driving.get(run)
        if driving is None or driving.state != "waiting" or driving.until <= SystemClock().now():
            return False
        asked = (run, driving.topic)
        return asked not in messages_of(self._book.settings).delivered([asked])

    def _start(self, run: str) -> None:
        """Start a process that drives a build to its end."""
        self._starts[run] = self._starts.get(run, 0) + 1
        folder = self._book.folder(run)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with (folder / LOG).open("ab") as log:
            line = [sys.executable, "-m", "twinsmith", "resume", run, "--json"]
            # A session of its own: Ctrl-C at the monitor is not meant for it.
            self._processes[run] = subprocess.Popen(
                line, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )

    def ended(self, run: str) -> str | None:
        """Why a build mended nothing; empty: it did; None: it is not over."""
        book = self._book
        progress = book.progress(run)
        if progress.state in ENDED:
            return "" if progress.state == "solved" else progress.reason or progress.state
        process = self._processes.get(run)
        tired = self._starts.get(run, 0) >= MOST_STARTS
        if tired and process is not None and process.poll() is not None:
            return f"it cannot be built: {progress.reason or f'see {book.folder(run) / LOG}'}"
        return None

    def park(self, run: str) -> None:
        """Let a build that is driven here stop where it is; `see_to` goes on with it."""
        process = self._processes.get(run)
        if process is not None and process.poll() is None:
            process.terminate()
            # It was stopped, and did not fail.
            self._starts[run] = 0

    def leave(self) -> None:
        """Park what is under way here; the next monitor goes on with it."""
        for run in self._processes:
            self.park(run)
        for process in self._processes.values():
            with suppress(subprocess.TimeoutExpired):
                process.wait(STOP_SECONDS)
