"""The journal over the API: looked through, exported, verified."""

from collections.abc import Iterator
from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import StreamingResponse

from twinsmith.client.shapes import ChainChecked, EntryShown, Listed, Verified
from twinsmith.core.events import Entry, to_line
from twinsmith.runs.records import Wanted, chain_of, every, followed, latest, moment
from twinsmith.web.api.reading import Most
from twinsmith.web.guard import API, Guarded, Visitor, needs

journal = APIRouter(prefix=f"{API}/journal", tags=["journal"], route_class=Guarded)
Words = Annotated[str, Query(max_length=200)]


@journal.get("", openapi_extra=needs("audit"))
def entries(
    visit: Visitor,
    run: Words = "",
    kind: Words = "",
    who: Words = "",
    since: Words = "",
    until: Words = "",
    limit: Most = 100,
    cursor: Annotated[int, Query(ge=0)] = 0,
) -> Listed[EntryShown]:
    """Entries of a run's journal, or of the system's own, newest first."""
    wanted = _wanted(run, kind, who, since, until)
    found, older = latest(visit.book, wanted, before=cursor, most=limit)
    return Listed(items=tuple(map(_shown, found)), next=str(older) if older else "")


@journal.get("/export", openapi_extra=needs("audit"), response_class=StreamingResponse)
def export(
    visit: Visitor,
    run: Words = "",
    kind: Words = "",
    who: Words = "",
    since: Words = "",
    until: Words = "",
) -> Response:
    """Everything that is wanted as lines of JSON, each as it stands in its chain."""
    wanted = _wanted(run, kind, who, since, until)
    if run:
        chain_of(visit.book, run)

    def lines() -> Iterator[str]:
        for entry in every(visit.book, wanted):
            yield to_line(entry) + "\n"

    headers = {"content-disposition": 'attachment; filename="journal.jsonl"'}
    return StreamingResponse(lines(), media_type="application/x-ndjson", headers=headers)


@journal.get("/verify", openapi_extra=needs("audit"))
def verify(visit: Visitor, run: Words = "") -> Verified:
    """Whether every hash holds; the first altered line of each chain where one does not."""
    found = followed(visit.book, run)
    return Verified(
        ok=not any(each.broken for each in found),
        lines=sum(each.lines for each in found),
        chains=tuple(
            ChainChecked(run=each.run, lines=each.lines, broken=each.broken, note=each.note)
            for each in found
        ),
    )


def _wanted(run: str, kind: str, who: str, since: str, until: str) -> Wanted:
    return Wanted(
        run=run,
        kind=kind,
        who=who,
        since=moment(since, "since"),
        until=moment(until, "until"),
    )


def _shown(entry: Entry) -> EntryShown:
    event = entry.event
    return EntryShown(
        run=event.run,
        seq=entry.seq,
        at=entry.at,
        kind=event.kind,
        who=event.who,
        data={**event.data},
        hash=entry.hash,
    )
