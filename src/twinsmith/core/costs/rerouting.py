"""What the same calls would have cost, had another model answered them.

Only prices are exchanged. Another model would have written more or fewer tokens, and better or
worse programs: of neither is anything known here, and whoever reads it is told so.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from twinsmith.core.costs.price import Price
from twinsmith.core.costs.spending import Accounts, Spending

CAVEAT = (
    "the same tokens at other prices: another model would have used more or fewer of them, and "
    "nothing here says how well it would have done"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rerouted:
    """The calls of a role, as they were and as if one other model had answered all of them."""

    role: str
    model: str
    usd: float
    """What they cost."""
    would: float | None
    """What they would have cost; None where nobody knows the price."""
    local: bool
    """Whether that model costs power and time instead."""

    @property
    def saved(self) -> float | None:
        """The dollars that would have been saved; less than 0: it would have been dearer."""
        return None if self.would is None else self.usd - self.would


def rerouted(accounts: Accounts, prices: Sequence[Price]) -> tuple[Rerouted, ...]:
    """The calls of each role with each model's price, the cheapest first; unpriced calls too."""
    by_role: dict[str, Spending] = defaultdict(Spending)
    for place, spent in accounts.items():
        by_role[place.role] += spent
    return tuple(
        each
        for role, spent in sorted(by_role.items())
        if spent.tokens
        for each in sorted(
            (_with(role, spent, price) for price in prices),
            key=lambda one: (one.would is None, one.would or 0.0, one.model),
        )
    )


def _with(role: str, spent: Spending, price: Price) -> Rerouted:
    would = 0.0 if price.local else price.of(spent.tokens_in, spent.tokens_out)
    return Rerouted(role=role, model=price.model, usd=spent.usd, would=would, local=price.local)
