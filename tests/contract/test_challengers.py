"""The challengers of roles: one contract for a dictionary, SQLite and PostgreSQL."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from tests.databases import fresh_url
from twinsmith.adapters.trying.challengers import ChallengerTable
from twinsmith.adapters.trying.memory import MemoryChallengers
from twinsmith.core.trying.challenger import Challenge, read_guard
from twinsmith.ports import Challengers

FIRST = Challenge(
    id="a1",
    role="coder",
    model="server:new",
    share=0.25,
    guards=(read_guard("unusable<=0.1"), read_guard("right>=0.5")),
    champion=("openai:old", "*"),
    by="user:ann",
    began="2026-11-19T10:00:00+00:00",
)
LATER = replace(FIRST, id="b2", role="slow", guards=(), champion=(), began="2026-11-20T10:00:00")


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Challengers]:
    """Opens the same challengers, each time as another process would."""
    if request.param == "memory":
        only = MemoryChallengers()
        return lambda: only
    url = fresh_url(request, tmp_path)
    return lambda: ChallengerTable(url)


def test_a_challenge_is_kept_as_it_was_given(opened: Callable[[], Challengers]) -> None:
    assert opened().start(LATER)
    assert opened().start(FIRST)
    assert opened().running() == (FIRST, LATER)
    assert opened().listed() == (LATER, FIRST)


def test_a_role_has_one_challenger_at_a_time(opened: Callable[[], Challengers]) -> None:
    assert opened().start(FIRST)
    other = replace(FIRST, id="c3", model="server:other")
    assert not opened().start(other)
    ended = replace(FIRST, course="fallen", ended="now", ended_by="twinsmith", why="a guard")
    assert opened().end(ended)
    assert not opened().end(replace(ended, course="stopped"))
    assert opened().start(other)
    assert opened().running() == (other,)
    assert ended in opened().listed()


def test_of_many_that_begin_at_once_one_does(opened: Callable[[], Challengers]) -> None:
    wanted = [replace(FIRST, id=f"n{number}") for number in range(12)]
    with ThreadPoolExecutor(6) as pool:
        began = list(pool.map(lambda each: opened().start(each), wanted))
    assert began.count(True) == 1
    assert len(opened().listed()) == 1
