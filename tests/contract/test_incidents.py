"""Incidents are kept: one contract for memory, SQLite and PostgreSQL."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.databases import fresh_url
from twinsmith.adapters.deliveries.incidents import IncidentTable, MemoryIncidents
from twinsmith.core.operating.alarm import Alarm
from twinsmith.core.operating.incident import Incident, moved, opened
from twinsmith.ports import Incidents


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def again(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Incidents]:
    """Opens the same memory, each time as another process would."""
    if request.param == "memory":
        kept = MemoryIncidents()
        return lambda: kept
    url = fresh_url(request, tmp_path)
    return lambda: IncidentTable(url)


def incident(name: str, at: float) -> Incident:
    alarm = Alarm(
        app="shop", release=2, kind="hang", at=at, delay=1.0, evidence="ümlaut", confidence=0.5
    )
    return opened(name, alarm)


def test_an_incident_is_kept_whole_and_replaced(again: Callable[[], Incidents]) -> None:
    first = incident("i-1", 5.0)
    again().save(first)
    assert again().get("i-1") == first
    assert again().get("i-2") is None
    changed = moved(first, "restarted", "restart shop", 6.5, run="r-1")
    again().save(changed)
    assert again().get("i-1") == changed
    assert again().listed() == (changed,)


def test_those_that_are_not_closed_are_listed_oldest_first(again: Callable[[], Incidents]) -> None:
    late, early, over = incident("a", 9.0), incident("b", 3.0), incident("c", 1.0)
    closed = moved(over, "closed", "well", 2.0)
    asks = moved(early, "escalated", "help", 4.0)
    for each in (late, asks, closed):
        again().save(each)
    assert again().listed() == (asks, late)
    assert again().listed(over=True) == (closed, asks, late)
