"""What is known of an incident when it begins: requests that failed, the log, what grows."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from twinsmith.core.operating.alarm import AlarmKind
from twinsmith.core.operating.reading import Reading

MOST_REQUESTS = 10
MOST_LINES = 40
LONGEST_LINE = 300
_FRAME = re.compile(r'\bFile "[^"]*", line \d+, in (\w+)')


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What was still there to be read when an incident began; a rollback takes most of it away."""

    requests: tuple[str, ...] = ()
    """Requests that failed, such as `GET /cart/total`, the most frequent first."""
    said: tuple[str, ...] = ()
    """The last lines of its log that are no requests, without secrets."""
    growth: float = 0.0
    """Bytes, or open files, that it kept of each request; 0: not known, or nothing grew."""


NOTHING_READ = Evidence()


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """An incident as whoever mends the service is told it."""

    incident: str
    kind: AlarmKind
    told: str
    """What the detector measured, in one line."""
    evidence: Evidence = NOTHING_READ
    diff: str = ""
    """What changed since the release that is known to be good."""
    tried: tuple[str, ...] = ()
    """What earlier attempts changed, and why that was no fix."""

    @property
    def names(self) -> tuple[str, ...]:
        """The functions of the last tracebacks, the innermost of the newest first."""
        found = [match for line in self.evidence.said for match in _FRAME.findall(line)]
        return tuple(dict.fromkeys(reversed(found)))


def requests_of(failed: Iterable[str]) -> tuple[str, ...]:
    """The requests that failed most often, without their queries."""
    plain = (each.partition("?")[0] for each in failed)
    return tuple(each for each, _ in Counter(plain).most_common(MOST_REQUESTS))


def lines_of(log: str) -> tuple[str, ...]:
    """The last lines of a log; requests, which are told in lines of JSON, are left out."""
    lines = [line.rstrip()[:LONGEST_LINE] for line in log.splitlines()]
    return tuple(line for line in lines if line and not line.startswith("{"))[-MOST_LINES:]


def growth_of(readings: Sequence[Reading], kind: AlarmKind) -> float:
    """What a release kept of each request while it grew; 0 where nobody asked for anything."""
    values = [
        (each.usage.memory if kind == "memory leak" else each.usage.descriptors, each.traffic)
        for each in readings
    ]
    seen = [(held, traffic.requests) for held, traffic in values if held is not None]
    if kind not in ("memory leak", "descriptor leak") or len(seen) < 2:
        return 0.0
    lowest = min(range(len(seen)), key=lambda place: seen[place][0])
    asked = sum(requests for _, requests in seen[lowest + 1 :])
    return max(0.0, (seen[-1][0] - seen[lowest][0]) / asked) if asked else 0.0
