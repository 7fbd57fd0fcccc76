"""A claim on allowances: a call with whoever pays for it, when, and how much it takes at most."""

from dataclasses import dataclass

from twinsmith.core.costs.allowance import Amount, Payer


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A call that is about to be paid, or is; one of the same key is the same call."""

    key: str
    payer: Payer
    day: str
    """The day of it in UTC: `2026-11-19`."""
    amount: Amount
    seconds: float = 600.0
    """After so long it is not taken to be under way any more: its process is gone."""
