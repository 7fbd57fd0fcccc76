"""A build beside the monitor that waits for a person's word is left alone until there is one."""

import asyncio
from pathlib import Path

import pytest

from twinsmith.core.driving import Driving
from twinsmith.core.events import SYSTEM, Event
from twinsmith.core.people.actor import Actor
from twinsmith.runs.book import Book
from twinsmith.runs.mender import Mender
from twinsmith.settings import load
from twinsmith.wiring.running import messages_of

RUN, TOPIC = "r-1", "r-1.budget-abcd"


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    runs: list[str] = []
    monkeypatch.setattr(Mender, "_start", lambda _self, run: runs.append(run))
    return runs


def waiting(tmp_path: Path, until: str) -> Book:
    book = Book(load({"TWINSMITH_HOME": str(tmp_path / "home")}), Actor(name="ann"))
    for chain in (RUN, SYSTEM):
        event = Event(run=chain, kind="run.started", who="user:ann", data={"run": RUN})
        asyncio.run(book.journal.append(event))
    book.driving.submit(Driving(run=RUN, state="waiting", topic=TOPIC, until=until))
    return book


def test_it_is_left_alone_until_somebody_has_answered(tmp_path: Path, started: list[str]) -> None:
    book = waiting(tmp_path, "2999-01-01T00:00:00+00:00")
    mender = Mender(book)
    asyncio.run(mender.see_to(RUN))
    assert started == []
    messages_of(book.settings).put(RUN, TOPIC, {"text": "go on"})
    asyncio.run(mender.see_to(RUN))
    assert started == [RUN]


def test_once_its_time_is_over_it_goes_on(tmp_path: Path, started: list[str]) -> None:
    mender = Mender(waiting(tmp_path, "2026-01-01T00:00:00+00:00"))
    asyncio.run(mender.see_to(RUN))
    assert started == [RUN]
