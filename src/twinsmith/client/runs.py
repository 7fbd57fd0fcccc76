"""Runs of a server: submitted, listed, followed, stopped, fetched."""

import io
import zipfile
from collections.abc import Iterator
from pathlib import PurePosixPath

from twinsmith.client.shapes import Begun, Ending, Listed, NewRun, Said
from twinsmith.client.stream import followed
from twinsmith.client.version_shapes import Again
from twinsmith.client.wire import Wire, named
from twinsmith.core.board import Board
from twinsmith.core.errors import EngineError
from twinsmith.core.events import Entry
from twinsmith.core.progress import Progress, State
from twinsmith.core.waterfall import Waterfall

LARGEST_PROGRAM = 256 << 20


class Runs:
    """Runs, by their names or endings of them that only one run has."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def submit(self, wanted: NewRun, *, key: str = "") -> Begun:
        """Leave a task to the workers; the same key gives the same run, however often it comes."""
        return self._wire.post("runs", Begun, wanted, key=key)

    def listed(
        self, *, state: State | None = None, q: str = "", page: int = 50
    ) -> Iterator[Progress]:
        """Runs, newest first, fetched page by page; `q` are words of their tasks."""
        cursor = ""
        while True:
            asked = {"limit": str(page), "cursor": cursor, "state": state or "", "q": q}
            given = {name: value for name, value in asked.items() if value}
            found = self._wire.get("runs", Listed[Progress], given)
            yield from found.items
            cursor = found.next
            if not cursor:
                return

    def get(self, run: str) -> Progress:
        """How far a run has come."""
        return self._wire.get(f"runs/{named(run)}", Progress)

    def board(self, run: str) -> Board:
        """What lies on the table of a run: requirements, candidates, checks, results."""
        return self._wire.get(f"runs/{named(run)}/board", Board)

    def trace(self, run: str) -> Waterfall:
        """The trace that a run is in, from who asked for it to what was healed."""
        return self._wire.get(f"runs/{named(run)}/trace", Waterfall)

    def outcome(self, run: str) -> Ending:
        """How a run ended; Conflict while it goes on, RunCancelled where it was stopped."""
        return self._wire.get(f"runs/{named(run)}/outcome", Ending)

    def cancel(self, run: str, reason: str = "") -> Progress:
        """Stop a run for good; the reason is kept with it."""
        return self._wire.post(f"runs/{named(run)}/cancel", Progress, Said.of(text=reason))

    def resume(self, run: str) -> Begun:
        """Let workers go on with a run that stands still."""
        return self._wire.post(f"runs/{named(run)}/resume", Begun)

    def again(self, run: str, *, near: bool = False, key: str = "") -> Begun:
        """Build a run again with the versions of then; `near` is content with others."""
        return self._wire.post(f"runs/{named(run)}/again", Begun, Again.of(near=near), key=key)

    def events(self, run: str, *, after: int = 0) -> Iterator[Entry]:
        """The events of a run behind a number as they happen, each once, until it has ended."""
        for entry in followed(self._wire, f"runs/{named(run)}/events", after):
            if entry is not None:
                yield entry

    def watched(self, run: str, *, idle: float, after: int = 0) -> Iterator[Entry | None]:
        """The events of a run as they happen; None whenever none did for `idle` seconds."""
        return followed(self._wire, f"runs/{named(run)}/events", after, idle)

    def program(self, run: str) -> bytes:
        """The result of a run as a ZIP file."""
        return self._wire.content(f"runs/{named(run)}/program")

    def files(self, run: str) -> dict[str, str]:
        """The files of a run's result by their names."""
        return unpacked(self.program(run))


def unpacked(archive: bytes) -> dict[str, str]:
    """The text files of a result; EngineError where one would lie outside of its folder."""
    files: dict[str, str] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            if sum(each.file_size for each in opened.infolist()) > LARGEST_PROGRAM:
                raise EngineError("the program is larger than any that is built")
            for each in opened.infolist():
                # All of them lie in a folder that is named after the run.
                path = PurePosixPath(*PurePosixPath(each.filename).parts[1:])
                if ".." in path.parts or path.is_absolute() or "\\" in each.filename:
                    raise EngineError(f"the program has a file {each.filename[:200]!r}; not kept")
                files[str(path)] = opened.read(each).decode()
    except (zipfile.BadZipFile, UnicodeDecodeError) as error:
        raise EngineError(f"the program cannot be read: {error}; ask again") from None
    return files
