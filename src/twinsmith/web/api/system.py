"""Whether the server is alive, and whether it is ready."""

from fastapi import APIRouter, Response

from twinsmith import __version__
from twinsmith.client.shapes import Alive, Ready
from twinsmith.core.errors import TwinsmithError
from twinsmith.runs.book import Book
from twinsmith.web.guard import API, Guarded, Visitor, needs

system = APIRouter(prefix=API, tags=["system"], route_class=Guarded)


@system.get("/health", openapi_extra=needs("open"))
def health() -> Alive:
    """A server that answers; nothing else is looked at."""
    return Alive(status="alive", version=__version__)


@system.get("/ready", openapi_extra=needs("read"))
def ready(visit: Visitor, response: Response) -> Ready:
    """Whether everything that a run needs is there; 503 where it is not."""
    told = readiness(visit.book)
    response.status_code = 200 if told.ready else 503
    return told


def readiness(book: Book) -> Ready:
    """What is there of all that a run needs."""
    from twinsmith.adapters.lease import is_held

    problems: list[str] = []
    workers, queued = 0, 0
    try:
        workers = len(book.workers(serving=True))
        queued = sum(each.state == "queued" for each in book.driving.listed())
    except TwinsmithError as error:
        problems.append(str(error))
    if not workers:
        problems.append("no worker takes runs; start one with: twinsmith worker")
    watched = is_held(book.settings.home / "monitor")
    return Ready(
        ready=not problems,
        workers=workers,
        queued=queued,
        monitor=watched,
        problems=tuple(problems),
    )
