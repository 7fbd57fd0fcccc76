"""Journals as they are told by a server: followed through lost connections, or read whole."""

from collections.abc import Iterator

import httpx2

from twinsmith.client.wire import FIRST_WAIT, TRIES, Params, Wire
from twinsmith.core.errors import EngineError
from twinsmith.core.events import Entry, from_line

LONGEST_EVENT = 64 << 20
SILENCE_SECONDS = 45.0
"""A server says every fifteen seconds that it is still there."""


def followed(wire: Wire, path: str, after: int, idle: float = 0.0) -> Iterator[Entry | None]:
    """The entries behind a number as they come, each once, until the run has ended.

    Where the connection is lost, another goes on behind the last one. With `idle`, None comes
    whenever nothing else did for so many seconds.
    """
    last, lost = after, 0
    while True:
        headers = {"last-event-id": str(last), "accept": "text/event-stream"}
        error: httpx2.HTTPError = httpx2.ReadError("the stream was cut off")
        try:
            with wire.stream(path, headers=headers, quiet=idle or SILENCE_SECONDS) as answer:
                if answer.status_code == 204:
                    return
                for told in httpx2.EventSource(answer, max_event_size=LONGEST_EVENT):
                    if told.event == "end":
                        return
                    entry = from_line(told.data) if told.event == "entry" else None
                    if entry is not None and entry.seq > last:
                        last, lost = entry.seq, 0
                        yield entry
        except httpx2.HTTPError as failed:
            error = failed
        except ValueError:
            # Half an entry: the rest of it comes with the next connection.
            pass
        if idle and isinstance(error, httpx2.ReadTimeout):
            yield None
            continue
        lost += 1
        if lost >= TRIES:
            raise wire.unreachable(error)
        wire.sleep(FIRST_WAIT * 2 ** (lost - 1))


def read(wire: Wire, path: str, params: Params) -> Iterator[Entry]:
    """Every entry that an export tells; EngineError where it is cut off."""
    rest = b""
    try:
        with wire.stream(path, params=params) as answer:
            for part in answer.iter_bytes():
                *lines, rest = (rest + part).split(b"\n")
                yield from map(_entry, lines)
    except httpx2.HTTPError as error:
        raise wire.unreachable(error) from None
    if rest:
        raise EngineError(f"{wire.url} cut the journal off; ask again")


def _entry(line: bytes) -> Entry:
    try:
        return from_line(line.decode())
    except ValueError:
        raise EngineError("an entry cannot be read; is that a twinsmith server?") from None
