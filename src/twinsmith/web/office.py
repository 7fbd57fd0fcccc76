"""What all routes of one server share; nothing in it would be missed by another server."""

from dataclasses import dataclass

from fastapi import Request

from twinsmith.core.people.actor import Actor
from twinsmith.ports import Identity
from twinsmith.runs.analyse import Analysis
from twinsmith.runs.book import Book
from twinsmith.runs.challengers import ChallengerBook
from twinsmith.runs.costs import CostBook
from twinsmith.runs.glance import Glance
from twinsmith.runs.motion import Following
from twinsmith.settings import Settings
from twinsmith.web.kept import Kept
from twinsmith.web.limits import Limits
from twinsmith.web.notices import Notices
from twinsmith.web.once import Once
from twinsmith.web.shared import Shared
from twinsmith.web.standing import Standing
from twinsmith.web.streams import Streams
from twinsmith.wiring.identity import answers_of, identity_of, sessions_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Office:
    """The settings, the book, and what recognises people."""

    settings: Settings
    book: Book
    """The book as the server itself writes in it: for whoever is not known yet."""
    identity: Identity
    once: Once
    limits: Limits
    glance: Glance
    analysis: Analysis
    costs: CostBook
    challengers: ChallengerBook
    following: Following
    kept: Kept
    streams: Streams
    shared: Shared
    standing: Standing
    notices: Notices
    secure: bool
    """Whether people reach it by TLS: cookies go nowhere else then."""


def office_for(settings: Settings) -> Office:
    """The office of a server with these settings."""
    given = settings.values.server
    book = Book(settings, Actor(name="twinsmith", way="console"))
    glance = Glance(book)
    return Office(
        settings=settings,
        book=book,
        identity=identity_of(settings),
        once=Once(answers_of(settings)),
        limits=Limits(per_second=given.per_second, burst=given.burst),
        glance=glance,
        analysis=Analysis(book),
        costs=CostBook(book),
        challengers=ChallengerBook(book),
        following=Following(book, glance),
        kept=Kept(),
        streams=Streams(book),
        shared=Shared(),
        standing=Standing(book),
        notices=Notices(sessions_of(settings)),
        secure=bool(given.certificate) or given.public.startswith("https://"),
    )


def office_of(request: Request) -> Office:
    """The office of the server that got a request."""
    office = request.app.state.office
    assert isinstance(office, Office)
    return office
