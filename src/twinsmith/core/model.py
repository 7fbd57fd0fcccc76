"""A question to a language model and its answer."""

from dataclasses import dataclass
from typing import Literal, Protocol

Role = Literal["slow", "coder", "critic"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One question; `key` is the idempotency key, `nth` counts questions of this role in a run."""

    key: str
    role: Role
    nth: int
    text: str
    task: str
    seed: int
    max_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answer, with what it used."""

    text: str
    model: str
    tokens_in: int
    tokens_out: int
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        """What the budget is charged."""
        return self.tokens_in + self.tokens_out


class Ask(Protocol):
    """How a stage asks a model: role, which question of that role, text."""

    async def __call__(self, role: Role, nth: int, text: str) -> Reply:
        """One answer, recorded and paid once."""
        ...
