"""What was spent, in a dictionary: the fake."""

from collections.abc import Sequence

from twinsmith.core.costs.allowance import Amount, Bound, Pot, Standing, room
from twinsmith.core.costs.claim import Claim


class MemoryPurse:
    """The calls of one process."""

    def __init__(self) -> None:
        self._paid: dict[str, Claim] = {}
        self._aside: dict[str, Claim] = {}

    def set_aside(self, claim: Claim, bounds: Sequence[Bound]) -> tuple[Standing, ...]:
        """Set a claim aside where there is room; else how much of each bound is spent."""
        self._aside.pop(claim.key, None)
        if claim.key in self._paid:
            return ()
        standings = self.standings(bounds)
        if room(standings, claim.amount) != "free":
            return standings
        self._aside[claim.key] = claim
        return ()

    def pay(self, claim: Claim) -> None:
        """Keep what a call took."""
        self._aside.pop(claim.key, None)
        self._paid[claim.key] = claim

    def give_back(self, key: str) -> None:
        """Drop what was set aside for a call."""
        self._aside.pop(key, None)

    def standings(self, bounds: Sequence[Bound]) -> tuple[Standing, ...]:
        """How much of each bound is spent, and how much is set aside."""
        return tuple(
            Standing(
                bound=each,
                spent=_sum(self._paid, each.pot),
                set_aside=_sum(self._aside, each.pot),
            )
            for each in bounds
        )


def _sum(claims: dict[str, Claim], pot: Pot) -> Amount:
    mine = [each for each in claims.values() if _is_in(each, pot)]
    return Amount(
        tokens=sum(each.amount.tokens for each in mine),
        usd=sum(each.amount.usd for each in mine),
        seconds=sum(each.amount.seconds for each in mine),
    )


def _is_in(claim: Claim, pot: Pot) -> bool:
    payer = claim.payer
    return (
        claim.day.startswith(pot.days)
        and pot.run in ("", payer.run)
        and pot.app in ("", payer.app)
        and (not pot.persons or payer.person in pot.persons)
    )
