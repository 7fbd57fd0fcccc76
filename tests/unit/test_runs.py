import asyncio
from pathlib import Path

import pytest

from twinsmith.adapters.lease import is_held, lease
from twinsmith.core.budget import Budget
from twinsmith.core.case import Case
from twinsmith.core.effort import Effort
from twinsmith.core.errors import ConfigError, HostError, RunBusy, UnknownRun
from twinsmith.core.events import SYSTEM, Event
from twinsmith.core.operating.action import Action
from twinsmith.core.people.actor import Actor
from twinsmith.core.task import Task
from twinsmith.runs import cancel
from twinsmith.runs.book import Book
from twinsmith.runs.submit import another_try, new_job
from twinsmith.settings import load

TASK = Task(text="t", language="python", kind="function")
BUDGET = Budget(tokens=1, seconds=1)
ANN = Actor(name="ann")


@pytest.fixture
def book(tmp_path: Path) -> Book:
    given = {"TWINSMITH_HOME": str(tmp_path / "home"), "OPENAI_API_KEY": "swordfish-42"}
    return Book(load(given), ANN)


def know(book: Book, *runs: str) -> None:
    for run in runs:
        event = Event(run=SYSTEM, kind="run.started", who="w", data={"run": run})
        asyncio.run(book.journal.append(event))


def test_a_run_is_found_by_its_name_or_an_ending_of_its_own(book: Book) -> None:
    know(book, "1-aa", "2-ab", "3-xaa")
    assert book.find("2-ab") == "2-ab"
    assert book.find("ab") == "2-ab"
    assert book.find("1-aa") == "1-aa"
    with pytest.raises(UnknownRun, match="could be 1-aa, 3-xaa; give more of it"):
        book.find("aa")
    with pytest.raises(UnknownRun, match="'zz' is not known; the latest is 3-xaa"):
        book.find("zz")
    with pytest.raises(UnknownRun):
        book.find("")


def test_who_acts_signs(book: Book) -> None:
    asyncio.run(book.tell("1-aa", "run.parked", {"reason": "why"}))
    assert [entry.event.who for entry in book.journal.entries("1-aa")] == ["user:ann"]


def test_without_runs_the_hint_is_to_build_one(book: Book) -> None:
    with pytest.raises(UnknownRun, match="there is none yet: twinsmith build"):
        book.find("x")


def test_a_job_gets_a_folder_of_its_own_and_no_secrets(book: Book, tmp_path: Path) -> None:
    tests = "KEY = 'swordfish-42'\nassert f('swordfish-42', password='wrong2x!') == 1\n"
    task = Task(text="use swordfish-42 please", language="python", kind="function", tests=tests)
    job = new_job(book, task, out=None, seed=None, budget=BUDGET)
    assert job.out == str(tmp_path / "home" / "runs" / job.run / "result")
    assert job.task.text == "use [masked] please"
    assert job.task.tests == tests.replace("swordfish-42", "[masked]")
    assert str(job.masked) == "1 place in the task and 2 places in the tests"
    assert not new_job(book, TASK, out=None, seed=None, budget=BUDGET).masked
    other = new_job(book, TASK, out=tmp_path / "new" / "deep", seed=4, budget=BUDGET)
    assert (other.out, other.seed) == (str(tmp_path / "new" / "deep"), 4)
    assert other.run != job.run


def test_a_job_carries_how_hard_it_is_worked_on(tmp_path: Path) -> None:
    given = {
        "TWINSMITH_HOME": str(tmp_path / "home"),
        "TWINSMITH_BUILD_CANDIDATES": "3",
        "TWINSMITH_BUILD_EXCHANGE": "false",
        "TWINSMITH_BUILD_SEED": "9",
    }
    job = new_job(Book(load(given), ANN), TASK, out=None, seed=None, budget=BUDGET)
    assert job.effort == Effort(candidates=3, exchange=False, votes=0, mending=False)
    assert job.seed == 9


def test_another_try_at_a_case_has_another_seed_and_the_same_budget(book: Book) -> None:
    first = new_job(book, TASK, out=None, seed=4, budget=BUDGET)
    book.keep(first)
    again = another_try(book, Case(run=first.run, task=TASK, reason="why", tries=1))
    assert (again.task, again.budget, again.effort) == (TASK, BUDGET, first.effort)
    assert again.seed != first.seed
    assert again.run != first.run


def test_a_folder_that_will_not_do_is_refused_before_anything_starts(
    book: Book, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("")
    for out, says in (
        (tmp_path / "file", "is not a folder"),
        (tmp_path / "full", "is not empty"),
        (tmp_path / "file" / "below", "cannot be written|is not a folder"),
        (Path("/proc/nope/x"), "cannot be written"),
    ):
        with pytest.raises(ConfigError, match=says):
            new_job(book, TASK, out=out, seed=None, budget=BUDGET)
    assert book.journal.runs() == []


def test_one_process_at_a_time_holds_a_lease(tmp_path: Path) -> None:
    assert not is_held(tmp_path)
    with lease(tmp_path, "r"):
        assert is_held(tmp_path)
        with pytest.raises(RunBusy, match="r is being done by process"), lease(tmp_path, "r"):
            pass
        assert is_held(tmp_path)
    assert not is_held(tmp_path)


def test_a_cancelled_action_is_over_whatever_its_app_stands_like(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: object) -> None:
        raise HostError("release 1 of shop does not serve")

    monkeypatch.setattr(cancel, "settle_cancelled", broken)
    book.keep(Action(run="1-aa", kind="start", app="shop"))
    asyncio.run(cancel.end_cancelled(book, "1-aa"))
    progress = book.progress("1-aa")
    assert progress.state == "cancelled"
    assert progress.reason == "cancelled by a person; release 1 of shop does not serve"
