"""An answer of a model as the journal tells it."""

from twinsmith.core.events import Entry, Event, Json, seal

MODEL, VERSION = "openai:gpt-4o-mini", "2024-07-18"
REPLY: dict[str, Json] = {
    "role": "coder",
    "nth": 0,
    "ensemble": 1,
    "model": MODEL,
    "version": VERSION,
    "tokens_in": 100,
    "tokens_out": 40,
    "seconds": 2.0,
    "first_token_seconds": 0.5,
    "usd": 0.01,
    "cached": False,
    "failed_attempts": [],
}


def reply(at: str = "2026-11-18T10:00:00+00:00", **changed: Json) -> Entry:
    """One of them, sealed."""
    event = Event(run="r1", kind="model.replied", who="coder", data={**REPLY, **changed})
    return seal(event, seq=1, at=at, prev="0")
