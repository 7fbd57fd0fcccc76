"""Single requests in, the traffic of an app out."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from twinsmith.core.operating.reading import Traffic

SLOWEST = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Handled:
    """One request, as the proxy saw it end."""

    status: int
    """What it was answered; 0: nothing."""
    seconds: float
    asked: str = ""
    """As `GET /cart`; empty where nobody needs to know."""


def traffic_of(requests: Sequence[Handled]) -> Traffic:
    """The traffic that some requests make, in whatever order they are."""
    waited = sorted(each.seconds for each in requests)
    return Traffic(
        requests=len(waited),
        failed=sum(each.status == 0 or each.status >= 500 for each in requests),
        median=_percentile(waited, 0.5),
        slowest=_percentile(waited, SLOWEST),
    )


def _percentile(ordered: Sequence[float], part: float) -> float | None:
    """The smallest value that `part` of all do not exceed; None of none."""
    return ordered[ceil(part * len(ordered)) - 1] if ordered else None
