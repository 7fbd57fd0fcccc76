"""The execution log as values: events, and the chain of hashes that makes changes visible."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]

GENESIS = "0" * 64
SYSTEM = "system"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened; two events of one run with the same `key` are the same event."""

    run: str
    kind: str
    who: str
    data: Mapping[str, Json]
    key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An event in its place in the journal's chain."""

    seq: int
    at: str
    event: Event
    prev: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """The first line of a journal's chain that was altered, and why it counts as altered."""

    line: int
    reason: str


def seal(event: Event, *, seq: int, at: str, prev: str) -> Entry:
    """Put an event in its place: its hash covers everything in it and the entry before it."""
    digest = hashlib.sha256(_body(event, seq=seq, at=at, prev=prev).encode()).hexdigest()
    return Entry(seq=seq, at=at, event=event, prev=prev, hash=digest)


def to_line(entry: Entry) -> str:
    """An entry of the journal as one line of JSON, without the line end."""
    body = _body(entry.event, seq=entry.seq, at=entry.at, prev=entry.prev)
    return f'{body[:-1]},"hash":"{entry.hash}"}}'


def from_line(line: str) -> Entry:
    """The entry of the journal that a line holds; ValueError when it holds none."""
    raw = json.loads(line)
    try:
        event = Event(
            run=str(raw["run"]),
            kind=str(raw["kind"]),
            who=str(raw["who"]),
            data=dict(raw["data"]),
            key=str(raw["key"]),
        )
        return Entry(
            seq=int(raw["seq"]),
            at=str(raw["at"]),
            event=event,
            prev=str(raw["prev"]),
            hash=str(raw["hash"]),
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"not an entry: {error}") from None


def first_break(lines: Iterable[str]) -> Broken | None:
    """The first altered, missing or moved line of a chain, or None when it is whole."""
    prev = GENESIS
    for number, line in enumerate(lines, start=1):
        try:
            entry = from_line(line)
        except ValueError as error:
            return Broken(line=number, reason=f"cannot be read ({error})")
        if entry.prev != prev or entry.seq != number:
            return Broken(line=number, reason="does not follow the line before it")
        if seal(entry.event, seq=entry.seq, at=entry.at, prev=entry.prev).hash != entry.hash:
            return Broken(line=number, reason="was altered: its hash does not match its content")
        if to_line(entry) != line:
            return Broken(line=number, reason="was altered: it holds more than was written")
        prev = entry.hash
    return None


def _body(event: Event, *, seq: int, at: str, prev: str) -> str:
    return json.dumps(
        {
            "seq": seq,
            "at": at,
            "run": event.run,
            "kind": event.kind,
            "who": event.who,
            "key": event.key,
            "data": event.data,
            "prev": prev,
        },
        ensure_ascii=False,
        separators=(",", ":"),
    )
