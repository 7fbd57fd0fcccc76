"""A run that is followed: through lost connections, and no event twice."""

from collections.abc import Iterable, Iterator
from itertools import islice

import httpx2
import pytest

from twinsmith.client import Client
from twinsmith.client.wire import TRIES
from twinsmith.core.errors import ConfigError, EngineError
from twinsmith.core.events import GENESIS, Entry, Event, seal, to_line


def chain(count: int) -> list[Entry]:
    entries: list[Entry] = []
    for number in range(1, count + 1):
        # What splits lines elsewhere is a character like any other here.
        event = Event(run="r1", kind="stage.started", who="w", data={"stage": f"s\u2028{number}"})
        prev = entries[-1].hash if entries else GENESIS
        entries.append(seal(event, seq=number, at=f"2026-01-01T00:00:0{number}", prev=prev))
    return entries


ENTRIES = chain(6)
END = b'event: end\ndata: {"run": "r1"}\n\n'


def sent(*entries: Entry) -> bytes:
    parts = [f"id: {each.seq}\nevent: entry\ndata: {to_line(each)}\n\n" for each in entries]
    return "".join(["retry: 1000\n\n: still here\n\n", *parts]).encode()


class Cut(httpx2.SyncByteStream):
    """Parts of an answer, and what ends it."""

    def __init__(self, parts: Iterable[bytes], error: Exception | None = None) -> None:
        self.parts = list(parts)
        self.error = error
        self.closed = False

    def __iter__(self) -> Iterator[bytes]:
        yield from self.parts
        if self.error:
            raise self.error

    def close(self) -> None:
        self.closed = True


class Journal:
    """A server that tells one answer after the other."""

    def __init__(self, *answers: httpx2.Response | Cut | Exception) -> None:
        self.answers = list(answers)
        self.after: list[str] = []
        self.waited: list[float] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.after.append(request.headers.get("last-event-id", ""))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Cut):
            headers = {"content-type": "text/event-stream; charset=utf-8"}
            return httpx2.Response(200, headers=headers, stream=answer)
        return answer

    def client(self) -> Client:
        transport = httpx2.MockTransport(self)
        return Client("https://t.example", "k", transport=transport, sleep=self.waited.append)


def test_events_come_in_order_and_end_with_the_run() -> None:
    server = Journal(Cut([sent(*ENTRIES), END]))
    assert list(server.client().runs.events("r1")) == ENTRIES
    assert server.after == ["0"]


def test_a_lost_connection_is_taken_up_behind_the_last_event() -> None:
    half = sent(*ENTRIES[:3])[:-20]
    server = Journal(
        Cut([sent(*ENTRIES[:2])], httpx2.ReadError("reset")),
        Cut([half[:40], half[40:]]),
        httpx2.ConnectError("refused"),
        # A server that tells again what was seen.
        Cut([sent(*ENTRIES[:5])]),
        Cut([sent(*ENTRIES[5:]), END]),
    )
    assert list(server.client().runs.events("r1")) == ENTRIES
    assert server.after == ["0", "2", "2", "2", "5"]


def test_one_that_follows_from_a_place_gets_the_rest() -> None:
    server = Journal(Cut([sent(*ENTRIES), END]))
    assert list(server.client().runs.events("r1", after=4)) == ENTRIES[4:]
    assert server.after == ["4"]


def test_a_run_that_is_over_has_no_more_to_tell() -> None:
    server = Journal(httpx2.Response(204))
    assert list(server.client().runs.events("r1", after=6)) == []


def test_it_is_given_up_when_nothing_comes_any_more() -> None:
    server = Journal(Cut([sent(ENTRIES[0])], httpx2.ReadError("reset")))
    found: list[Entry] = []
    with pytest.raises(EngineError, match="cannot be reached: reset"):
        found += server.client().runs.events("r1")
    assert found == ENTRIES[:1]
    assert len(server.after) == TRIES


def test_who_may_not_follow_is_told_why() -> None:
    told = b'{"detail": "ann may not read", "number": "77"}'
    refused = httpx2.Response(
        403, content=told, headers={"content-type": "application/problem+json"}
    )
    with pytest.raises(ConfigError, match="ann may not read"):
        list(Journal(refused).client().runs.events("r1"))


def test_silence_is_told_to_who_wants_to_hear_it() -> None:
    silence = httpx2.ReadTimeout("nothing")
    server = Journal(
        Cut([sent(*ENTRIES[:2])], silence), Cut([], silence), Cut([sent(ENTRIES[2]), END])
    )
    found = list(server.client().runs.watched("r1", idle=1.0))
    assert found == [*ENTRIES[:2], None, None, ENTRIES[2]]
    assert server.after == ["0", "2", "2"]


def test_who_stops_listening_closes_the_connection() -> None:
    stream = Cut([sent(*ENTRIES), END])
    events = Journal(stream).client().runs.events("r1")
    assert list(islice(events, 2)) == ENTRIES[:2]
    events.close()  # type: ignore[attr-defined]
    assert stream.closed


def test_a_journal_is_read_whole_or_not_at_all() -> None:
    text = "".join(f"{to_line(each)}\n" for each in ENTRIES).encode()
    whole = Cut([text[:100], text[100:101], text[101:]])
    assert list(Journal(whole).client().journal.export("r1")) == ENTRIES
    with pytest.raises(EngineError, match="cut the journal off"):
        list(Journal(Cut([text[:-5]])).client().journal.export("r1"))
    with pytest.raises(EngineError, match="reset"):
        list(Journal(Cut([text], httpx2.ReadError("reset"))).client().journal.export("r1"))
    with pytest.raises(EngineError, match="an entry cannot be read"):
        list(Journal(Cut([b"<html>\n"])).client().journal.export("r1"))
