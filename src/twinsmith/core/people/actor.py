"""Who acts, and by which way: the signature under every command that a person gives."""

from dataclasses import dataclass
from typing import Literal

Way = Literal["terminal", "worker", "monitor", "console", "api"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Somebody who gives a command."""

    name: str
    way: Way = "terminal"
    where: str = ""
    """The address and the key that a command came from; empty for this machine's own commands."""

    @property
    def signature(self) -> str:
        """The actor as events are signed: `user:ann`."""
        return f"user:{self.name}"
