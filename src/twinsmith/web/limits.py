"""How many requests somebody may send: a bucket that fills again, for each person or address."""

import time
from collections import OrderedDict

from twinsmith.web.problems import Refused

MOST_BUCKETS = 10_000


class Limits:
    """Buckets of this server; each server has its own, since what they guard is its processor."""

    def __init__(self, *, per_second: int, burst: int) -> None:
        self._per_second = per_second
        self._burst = burst
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def spend(self, who: str, cost: float = 1.0) -> None:
        """Count a request of somebody, or as many; Refused where they have sent too many."""
        # Where one costs more than the bucket holds, a full bucket is enough.
        cost, now = min(cost, float(self._burst)), time.monotonic()
        left, at = self._left.pop(who, (float(self._burst), now))
        left = min(float(self._burst), left + (now - at) * self._per_second)
        self._left[who] = (left - cost if left >= cost else left, now)
        if len(self._left) > MOST_BUCKETS:
            self._left.popitem(last=False)
        if left < cost:
            wait = (cost - left) / self._per_second
            raise Refused(429, "too many requests; ask again a little later", wait=wait)
