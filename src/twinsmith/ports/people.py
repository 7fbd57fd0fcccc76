"""How people are reached."""

from typing import Protocol, TypeVar

T = TypeVar("T")


class Desk(Protocol):
    """Asks a person."""

    async def ask(self, question: str, assumed: str) -> str:
        """What the person answers; what is assumed, where nobody does in time."""
        ...
