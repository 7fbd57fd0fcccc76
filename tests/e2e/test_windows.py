"""The plug pulled at the commit windows of the real command: before and after its writes.

Every kind of write is cut off at its first and at its last occurrence. All windows, one by one and
in pairs, on SQLite and on PostgreSQL: `python -m bench.kills --windows`.
"""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.models import installed
from tests.windows import LATE, LIBRARY, PRICED, SCRIPTED, Story, Trial, Warm, Window, warm

KINDS = {"move", "journal", "head", "engine", "lease", "bill", "step", "outbox", "graph"}
OF_THE_GATEWAY = {"transcript", "cache"}


@pytest.fixture(scope="module")
def command() -> Iterator[Warm]:
    with warm() as made:
        yield made


def ends(writes: Sequence[str], kinds: set[str]) -> list[str]:
    """The first and the last write of every kind."""
    found = {kind: [w for w in writes if w.startswith(f"{kind} ")] for kind in kinds}
    assert all(found.values()), found
    return sorted({edge for of_kind in found.values() for edge in (of_kind[0], of_kind[-1])})


class Cut:
    """Trials of one story, each in a folder of its own, held against an undisturbed run."""

    def __init__(self, story: Story, folder: Path, command: Warm, database: str = "") -> None:
        self._story, self._folder, self._warm = story, folder, command
        self._database = database
        self._tried = 0
        with self._trial() as trial:
            self.expected, self.writes = trial.undisturbed()
        assert self.expected["paid"]
        assert self.expected["digests"]

    def problems(self, *windows: Window) -> list[str]:
        with self._trial() as trial:
            found = trial.problems(self.expected, *windows)
        return [f"{', then '.join(map(str, windows))}: {problem}" for problem in found]

    def cancelled(self, window: Window) -> list[str]:
        with self._trial() as trial:
            return trial.cancelled(window)

    def _trial(self) -> Trial:
        self._tried += 1
        url = f"{self._database}/windows_{time.time_ns()}" if self._database else ""
        return Trial(self._story, self._folder / str(self._tried), self._warm, url)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("story", [SCRIPTED, PRICED], ids=lambda story: story.name)
def test_killed_at_a_write_and_resumed_it_ends_as_if_nothing_had_been(
    story: Story, when: str, tmp_path: Path, command: Warm
) -> None:
    cut = Cut(story, tmp_path, command)
    kinds = OF_THE_GATEWAY if story is PRICED else KINDS
    found = [
        problem
        for write in ends(cut.writes, kinds)
        for problem in cut.problems(Window(write=write, when=when))
    ]
    assert found == []


def test_killed_while_its_program_is_kept_the_library_has_it_once(
    tmp_path: Path, command: Warm
) -> None:
    for name in ("minilm-l6-v2", "minilm-l6-v2-tokenizer"):
        installed(name)
    cut = Cut(LIBRARY, tmp_path, command)
    assert "step keep" in cut.writes
    found = [
        problem
        for when in ("before", "after")
        for problem in cut.problems(Window(write="library program", when=when))
    ]
    assert found == []


def test_on_postgresql_it_is_the_same(tmp_path: Path, command: Warm, postgres: str) -> None:
    cut = Cut(SCRIPTED, tmp_path, command, postgres)
    found = [
        problem
        for write in ends(cut.writes, {"engine", "step"})
        for problem in cut.problems(Window(write=write, when="after"))
    ]
    assert found == []


def test_killed_after_a_step_ran_out_of_time_it_ends_the_same(
    tmp_path: Path, command: Warm
) -> None:
    """What ran out of time is recorded: a resumed run neither asks again nor goes another way."""
    cut = Cut(LATE, tmp_path, command)
    assert "ran out during 'ask coder 1'" in str(cut.expected["report"])
    recorded = cut.writes.index("step ask coder 1")
    later = [write for write in cut.writes[recorded:] if write.startswith("step ")]
    found = [p for write in later for p in cut.problems(Window(write=write, when="after"))]
    assert found == []


def test_killed_twice_in_a_row_it_ends_the_same(tmp_path: Path, command: Warm) -> None:
    cut = Cut(SCRIPTED, tmp_path, command)
    found: list[str] = []
    for first, second in (
        ("step ask slow 0", "engine goes on with the run"),
        ("bill ask coder 1", "step ask coder 1"),
        ("outbox files", "move result"),
        ("engine ends the run", "journal run.ended"),
    ):
        windows = Window(write=first, when="after"), Window(write=second, when="after")
        found += cut.problems(*windows)
    assert found == []


@pytest.mark.parametrize("when", ["before", "after"])
def test_killed_while_it_publishes_and_cancelled_it_leaves_nothing_aside(
    when: str, tmp_path: Path, command: Warm
) -> None:
    cut = Cut(SCRIPTED, tmp_path, command)
    assert cut.cancelled(Window(write="outbox files", when=when)) == []
