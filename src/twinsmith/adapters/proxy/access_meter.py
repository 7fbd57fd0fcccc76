"""Reads how requests went from the access logs of the proxy, Caddy's or the small one's."""

import json
import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from twinsmith.adapters.proxy import limits
from twinsmith.adapters.proxy.access import access_log
from twinsmith.adapters.tail import Tail
from twinsmith.core.operating.reading import Traffic
from twinsmith.core.operating.traffic import Handled, traffic_of

MOST_BYTES = (limits.LOGS_KEPT + 1) * limits.LOG_MB << 20
"""Of an app's log at a time: all that its proxy keeps."""
MOST_LOOKED_AT = 1 << 18
"""Bytes at the end of an app's log in which failed requests are looked for."""
LONGEST_REQUEST = 200
BROKEN = 500
# A quotation mark in what a client sent has a backslash before it, so no request can forge these.
_LINE = re.compile(
    rb'"ts": ?(?P<at>[\d.e+]+).*"duration": ?(?P<seconds>[\d.e+-]+).*"status": ?(?P<status>\d+)'
)


class AccessMeter:
    """Reads the requests of all apps of a proxy, by the logs in its folder.

    Requests from before it was made are not counted. Where the proxy rolls its logs faster than
    they are read, those in logs that are gone by then are not either.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._tails: dict[str, Tail] = {}
        self._since = time.time()

    async def read(self, app: str) -> Traffic:
        """The requests to an app since it was asked the last time, by this meter."""
        tail = self._tails.get(app)
        if tail is None:
            tail = self._tails[app] = Tail(access_log(self._folder, app), MOST_BYTES)
        lines = tail.lines()
        return traffic_of(list(handled(lines, self._since))) if lines else Traffic()

    async def failed(self, app: str) -> tuple[str, ...]:
        """The latest requests of an app that failed, oldest first."""
        return tuple(failures(Tail(access_log(self._folder, app), MOST_LOOKED_AT).lines()))


def failures(lines: Iterable[bytes]) -> Iterator[str]:
    """The requests that lines of an access log tell of and that failed, each as `GET /cart`."""
    for line in lines:
        try:
            told = json.loads(line)
            status, request = int(told["status"]), told["request"]
            asked = f"{request['method']} {request['uri']}"
        except (ValueError, KeyError, TypeError, RecursionError):
            continue
        if status == 0 or status >= BROKEN:
            yield asked[:LONGEST_REQUEST]


def handled(lines: Iterable[bytes], since: float) -> Iterator[Handled]:
    """The requests that lines of an access log tell of, from a moment on."""
    for line in lines:
        found = _LINE.search(line)
        if found is None:
            continue
        try:
            if float(found["at"]) >= since:
                yield Handled(status=int(found["status"]), seconds=float(found["seconds"]))
        except ValueError:
            continue
