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

    def spend(self, who: str) -> None:
        """Count a request of somebody; Refused where they have sent too many."""
        now = time.monotonic()
        left, at = self._left.pop(who, (float(self._burst), now))
        left = min(float(self._burst), left + (now - at) * self._per_second)
        self._left[who] = (max(left - 1, 0.0), now)
        if len(self._left) > MOST_BUCKETS:
            self._left.popitem(last=False)
        if left < 1:
            wait = (1 - left) / self._per_second
            raise Refused(429, "too many requests; ask again a little later", wait=wait)
