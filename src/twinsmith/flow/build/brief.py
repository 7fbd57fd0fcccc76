"""Briefs: who writes the next candidates of a search, and from what."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from twinsmith.core.effort import Round
from twinsmith.core.program import Way


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """The order for one candidate: its number, the ensemble that writes it, and its hints."""

    number: int
    ensemble: int
    temperature: float
    way: Way = "direct"
    told: str = ""
    """Advice, a plan, what was learned: text for the coder."""
    of: tuple[int, ...] = ()
    """The number of the candidate that is to be mended; none where one is written anew."""


def briefs(
    what: Round, made: int, guidance: Mapping[int, str], advice: str, *, advised: int = 2
) -> Iterator[Brief]:
    """A brief for each candidate of a round; numbers go on where they stopped.

    One of so many is shown what was retrieved: it is copied word for word now and then.
    """
    number = made
    for ensemble, temperatures in what.temperatures.items():
        for temperature in temperatures:
            number += 1
            plan = guidance.get(ensemble, "")
            unplanned: Way = "noted" if ensemble in what.noted else "direct"
            yield Brief(
                number=number,
                ensemble=ensemble,
                temperature=temperature,
                way="planned" if plan else unplanned,
                told="\n".join(filter(None, ("" if number % advised else advice, plan))),
            )
