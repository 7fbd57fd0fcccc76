"""A run's budget: the most it may spend, what it has spent and reserved, and when it must stop."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial

from twinsmith.core.errors import BudgetExceeded

# What chat templates add to a prompt; measured 30 to 45 tokens.
TEMPLATE_TOKENS = 64
SHORTEST_REPLY = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The most a run may spend; `usd` None means that money is not limited."""

    tokens: int
    seconds: float
    usd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a run has spent so far; seconds are those of finished steps.

    `unpriced` counts answers whose price nobody knows: they are missing in `usd`.
    """

    tokens: int = 0
    seconds: float = 0.0
    usd: float = 0.0
    unpriced: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """The part of a budget that is set aside for a question; `reply_tokens` is for its answer."""

    tokens: int
    reply_tokens: int
    usd: float | None


@dataclass(frozen=True, slots=True)
class _Together:
    """Steps that run at the same time: the seconds each took, and payments put off to the end."""

    seconds: list[float] = field(default_factory=list)
    settlements: list[Callable[[], None]] = field(default_factory=list)


class Ledger:
    """The accounts of a run: it reserves before a question and settles after it."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.spent = Spent()
        self._tokens_set_aside = 0
        self._usd_set_aside = 0.0
        self._paid: list[float] = []
        self._together: _Together | None = None

    def seconds_left(self) -> float:
        """Seconds of the budget that are left; raises BudgetExceeded when there are none."""
        left = self.budget.seconds - self.spent.seconds
        if left <= 0:
            raise BudgetExceeded(
                f"the budget of {self.budget.seconds:g} seconds is spent; "
                "give more with --budget-seconds in a new build"
            )
        return left

    def reserve(self, prompt: str, reply_tokens: int) -> Reservation:
        """Set aside the most a question can cost; BudgetExceeded when that is more than is left."""
        needed = most_tokens(prompt)
        left = self.budget.tokens - self.spent.tokens - self._tokens_set_aside
        reply = min(reply_tokens, left - needed)
        if reply < min(SHORTEST_REPLY, reply_tokens):
            raise BudgetExceeded(
                f"the budget of {self.budget.tokens} tokens is spent ({self.spent.tokens} used, "
                f"the next question may take {needed}); give more with --budget-tokens in a new "
                "build"
            )
        usd = self._usd_left()
        self._tokens_set_aside += needed + reply
        self._usd_set_aside += usd or 0.0
        return Reservation(tokens=needed + reply, reply_tokens=reply, usd=usd)

    def settle(self, reservation: Reservation, *, tokens: int, usd: float | None) -> None:
        """Replace the reservation of a question by the tokens and dollars that it used."""
        if self._together is not None:
            later = partial(self.settle, reservation, tokens=tokens, usd=usd)
            self._together.settlements.append(later)
            return
        self.release(reservation)
        self._paid.append(usd or 0.0)
        self.spent = replace(
            self.spent,
            tokens=self.spent.tokens + tokens,
            # Exact, so that it is the same in whatever order answers come in.
            usd=math.fsum(self._paid),
            unpriced=self.spent.unpriced + (usd is None),
        )

    def release(self, reservation: Reservation) -> None:
        """Give a reservation back to the budget."""
        if self._together is not None:
            self._together.settlements.append(partial(self.release, reservation))
            return
        self._tokens_set_aside -= reservation.tokens
        self._usd_set_aside -= reservation.usd or 0.0

    def took(self, seconds: float) -> None:
        """Count the seconds that a step took."""
        if self._together is not None:
            self._together.seconds.append(seconds)
        else:
            self.spent = replace(self.spent, seconds=self.spent.seconds + seconds)

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Steps in this block run at the same time: together they take as long as the longest.

        They are settled when the block ends. What one of them may spend does not depend on which
        of the others is answered already: when they are replayed, that may be another one.
        """
        block = self._together = _Together()
        try:
            yield
        finally:
            self._together = None
            self.took(max(block.seconds, default=0.0))
            for settle in block.settlements:
                settle()

    def _usd_left(self) -> float | None:
        if self.budget.usd is None:
            return None
        left = self.budget.usd - self.spent.usd - self._usd_set_aside
        if left <= 0:
            raise BudgetExceeded(
                f"the budget of {self.budget.usd:g} USD is spent or set aside; "
                "give more with --budget-usd in a new build"
            )
        return left


def most_tokens(text: str) -> int:
    """The most tokens a prompt can have: no tokenizer makes more than one a byte."""
    return len(text.encode()) + TEMPLATE_TOKENS


def tokens_in(text: str) -> int:
    """The tokens of a text, roughly: four characters each, for models that do not count them."""
    return -(-len(text) // 4)
