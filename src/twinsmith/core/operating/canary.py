"""Two versions of a service under the same traffic: whether the new one does worse than the old."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

FEWEST = 20
"""With fewer requests nothing is said about how many fail."""
SLOWER = 3.0
SLACK_SECONDS = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One request and how it was answered; status 0: not at all."""

    path: str
    status: int
    seconds: float


def worse(old: Sequence[Exchange], new: Sequence[Exchange]) -> str:
    """Why the new version is worse than the old one, in words; empty where nothing shows it.

    The same requests are compared one by one; shares of failures only where there are enough.
    """
    for before, after in zip(old, new, strict=False):
        if before.path == after.path and _works(before) and not _works(after):
            answer = f"{after.status}" if after.status else "nothing"
            return f"GET {after.path} gave {before.status} before and gives {answer} now"
    slow = _typical(new)
    if old and new and slow > SLOWER * _typical(old) + SLACK_SECONDS:
        return f"it takes {slow:.3f} s for what took {_typical(old):.3f} s before"
    return ""


def worse_share(old: Sequence[Exchange], new: Sequence[Exchange]) -> str:
    """Why the new version fails more of people's own requests; empty where nothing shows it."""
    if len(new) < FEWEST or len(old) < FEWEST:
        return ""
    shares = [sum(not _works(each) for each in group) / len(group) for group in (old, new)]
    if shares[1] > 2 * shares[0] + 0.05:
        return (
            f"{shares[1]:.0%} of {len(new)} requests fail, {shares[0]:.0%} of {len(old)} did before"
        )
    return ""


def exchanges_in(log: str) -> tuple[Exchange, ...]:
    """The requests that an instance's log tells of; lines of anything else are passed over."""
    return tuple(_told(log.splitlines()))


def _told(lines: Iterable[str]) -> Iterable[Exchange]:
    for line in lines:
        if not line.startswith("{"):
            continue
        try:
            told = json.loads(line)
            yield Exchange(
                path=str(told["path"]),
                status=int(told["status"]),
                seconds=int(told["microseconds"]) / 1e6,
            )
        except (ValueError, KeyError, TypeError):
            continue


def _works(exchange: Exchange) -> bool:
    return 0 < exchange.status < 500


def _typical(exchanges: Sequence[Exchange]) -> float:
    """The median time of an answer."""
    times = sorted(each.seconds for each in exchanges)
    return times[len(times) // 2] if times else 0.0
