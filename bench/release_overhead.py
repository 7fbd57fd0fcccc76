"""What a proxy costs: the same service through it and at its own socket, by turns in one run."""

import asyncio
import statistics
from dataclasses import dataclass

from bench.release_load import Address, Asked, closed_loop, open_loop, percentile
from bench.release_yard import Place

TURNS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """One way to a service: latency at the usual rate, and answers a second where all hurry."""

    median_ms: float
    p99_ms: float
    per_second: float
    lost: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """The way through a proxy beside the bare service; `kept`: over connections that are kept."""

    proxy: str
    kept: bool
    bare: Cost
    through: Cost

    @property
    def ratios(self) -> tuple[float, float, float]:
        """Median and 99th percentile of the latency, and answers a second: proxy to bare."""
        return (
            ratio(self.through.median_ms, self.bare.median_ms),
            ratio(self.through.p99_ms, self.bare.p99_ms),
            ratio(self.through.per_second, self.bare.per_second),
        )


def ratio(one: float, other: float) -> float:
    """How many times the other; 0 where there is no other."""
    return one / other if other else 0.0


def cost(calm: list[list[Asked]], hurried: list[list[Asked]], seconds: float) -> Cost:
    """Requests by schedule, and those as fast as they were answered, in figures.

    Each turn took `seconds`. Of all turns the middle one counts: a machine that others use stands
    still now and then, and one such moment would be the 99th percentile of all.
    """
    waited = [[each.seconds * 1000 for each in turn if each.good] for turn in calm]
    rates = [sum(each.good for each in turn) / seconds for turn in hurried]
    return Cost(
        median_ms=statistics.median(percentile(turn, 50) for turn in waited),
        p99_ms=statistics.median(percentile(turn, 99) for turn in waited),
        per_second=statistics.median(rates),
        lost=sum(not each.good for turn in (*calm, *hurried) for each in turn),
    )


def overhead(where: Place, proxy: str, release: int, seconds: float) -> list[Beside]:
    """A proxy beside the bare service: with new connections, and with such as are kept."""
    ways: dict[str, Address] = {"bare": where.bare(release), "through": where.port}
    found, part = [], seconds / TURNS
    for kept in (False, True):
        calm: dict[str, list[list[Asked]]] = {way: [] for way in ways}
        hurried: dict[str, list[list[Asked]]] = {way: [] for way in ways}
        for _ in range(TURNS):
            for way, address in ways.items():
                some = asyncio.run(open_loop(address, seconds=part, kept=kept))
                calm[way].append(some)
                some = asyncio.run(closed_loop(address, seconds=part, kept=kept))
                hurried[way].append(some)
        costs = {way: cost(calm[way], hurried[way], part) for way in ways}
        found.append(Beside(proxy=proxy, kept=kept, bare=costs["bare"], through=costs["through"]))
    return found
