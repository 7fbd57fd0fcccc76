"""A request that may come twice: by its Idempotency-Key it is done once and answered alike."""

from dataclasses import dataclass

KEPT_SECONDS = 7 * 86_400.0
"""For how long an answer is kept for whoever asks again."""
LOST_SECONDS = 900.0
"""What was begun so long ago and never answered was lost with the server that did it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """A request with a key of its sender's choice."""

    who: str
    key: str
    digest: str
    """The SHA-256 of method, path and body: the same key with anything else is a mistake."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What is known of a request with this key; status 0: it is under way."""

    digest: str
    status: int = 0
    kind: str = ""
    """The content type of the answer."""
    body: str = ""
    location: str = ""
    """Where the answer leads, or what it made."""
