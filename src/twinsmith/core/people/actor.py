"""Who acts, and by which way: the signature under every command that a person gives."""

from dataclasses import dataclass
from typing import Literal

Way = Literal["terminal", "worker", "monitor", "api"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Somebody who gives a command."""

    name: str
    way: Way = "terminal"

    @property
    def signature(self) -> str:
        """The actor as events are signed: `user:ann`."""
        return f"user:{self.name}"
