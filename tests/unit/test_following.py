"""What moves in the system, followed over chains that grow."""

import asyncio
from pathlib import Path

from twinsmith.core.anatomy import Way
from twinsmith.core.events import SYSTEM, Event, Json
from twinsmith.core.people.actor import Actor
from twinsmith.runs.book import Book
from twinsmith.runs.glance import Glance
from twinsmith.runs.motion import LATEST, Following
from twinsmith.settings import load


def book_in(folder: Path) -> Book:
    return Book(load({"TWINSMITH_HOME": str(folder)}), Actor(name="test"))


def told(book: Book, run: str, kind: str, data: dict[str, Json]) -> None:
    asyncio.run(book.journal.append(Event(run=run, kind=kind, who="x", data=data)))


def begun(book: Book, run: str) -> None:
    told(book, SYSTEM, "run.started", {"run": run, "task": "t", "kind": "function"})


def following(book: Book) -> Following:
    return Following(book, Glance(book))


def test_an_empty_journal_moves_nothing(tmp_path: Path) -> None:
    empty = following(book_in(tmp_path))
    assert empty.now(()).last == {}
    assert empty.latest() == ()


def test_the_latest_runs_and_driven_ones_are_followed_as_they_grow(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    begun(book, "old")
    for number in range(LATEST):
        begun(book, f"r-{number}")
    seen = following(book)
    assert seen.latest()[0] == f"r-{LATEST - 1}"
    assert "old" not in seen.latest()
    asked: dict[str, Json] = {"role": "critic", "ensemble": 2}
    told(book, "old", "model.asked", asked)
    assert "critic2" not in seen.now(()).last
    assert "critic2" in seen.now(["old"]).last
    told(book, "r-0", "plan.made", {"ensemble": 1, "text": "first this"})
    assert Way("slow1", "coder1") in seen.now(()).passed


def test_another_server_sees_the_same_and_nothing_is_read_twice(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    begun(book, "r-1")
    told(book, "r-1", "model.asked", {"role": "slow", "ensemble": 1})
    one, other = following(book), following(book_in(tmp_path))
    assert one.now(()) == other.now(())
    assert one.latest() == other.latest() == ("r-1",)
    assert one.now(()) is one.now(())


def test_whose_candidate_was_run_is_known_from_what_was_written_before(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    begun(book, "r-1")
    told(book, "r-1", "candidate.written", {"candidate": 4, "ensemble": 2})
    told(book, "r-1", "candidate.executed", {"candidate": 4, "outcomes": {"passed": 1}})
    last = following(book).now(()).last
    assert "execution2" in last
    assert "execution1" not in last


def test_a_release_is_shown_to_come_from_the_ensemble_that_won(tmp_path: Path) -> None:
    book = book_in(tmp_path)
    begun(book, "r-1")
    told(book, "r-1", "candidate.written", {"candidate": 1, "ensemble": 1})
    told(book, "r-1", "run.ended", {"state": "solved", "winner": 1})
    deploy: dict[str, Json] = {"run": "r-2", "kind": "deploy", "app": "cart", "from": "r-1"}
    told(book, SYSTEM, "run.started", {**deploy, "task": "deploy cart"})
    passed = following(book).now(()).passed
    assert Way("execution1", "containers") in passed
    assert Way("execution2", "containers") not in passed
