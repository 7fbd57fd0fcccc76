"""The journal as a person reads it."""

from twinsmith.cli.log import LONGEST_VALUE, _line
from twinsmith.core.events import GENESIS, Event, Json, seal


def test_a_source_in_an_event_does_not_fill_the_screen() -> None:
    data: dict[str, Json] = {"candidate": 1, "text": "x" * 20_000}
    event = Event(run="r", kind="candidate.written", who="coder", data=data)
    line = _line(seal(event, seq=1, at="2026-01-01T00:00:00+00:00", prev=GENESIS))
    assert "candidate=1 " in line
    assert line.endswith("x…")
    assert len(line) < LONGEST_VALUE + 200
