"""What a run may spend, what it has spent, and when to stop."""

from dataclasses import dataclass

from twinsmith.core.errors import BudgetExceeded


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The most a run may spend."""

    tokens: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a run has spent so far; seconds are those of finished steps."""

    tokens: int = 0
    seconds: float = 0.0

    def plus(self, *, tokens: int = 0, seconds: float = 0.0) -> "Spent":
        """What is spent after one more step."""
        return Spent(tokens=self.tokens + tokens, seconds=self.seconds + seconds)


def tokens_in(text: str) -> int:
    """A rough count for models that do not tell: four characters a token, rounded up."""
    return -(-len(text) // 4)


def seconds_left(budget: Budget, spent: Spent) -> float:
    """Seconds that may still be used; raises when there are none."""
    left = budget.seconds - spent.seconds
    if left <= 0:
        raise BudgetExceeded(
            f"the budget of {budget.seconds:g} seconds is spent; "
            "give more with --budget-seconds in a new build"
        )
    return left


def tokens_left(budget: Budget, spent: Spent, prompt: str) -> int:
    """Tokens left for the reply once the prompt is paid; raises when there are none."""
    left = budget.tokens - spent.tokens - tokens_in(prompt)
    if left <= 0:
        raise BudgetExceeded(
            f"the budget of {budget.tokens} tokens is spent ({spent.tokens} used, the next prompt "
            f"needs {tokens_in(prompt)}); give more with --budget-tokens in a new build"
        )
    return left
