"""Whether the server is alive, whether it is ready, and its figures."""

import time
from collections import Counter

from fastapi import APIRouter, Request, Response

from twinsmith import __version__
from twinsmith.client.shapes import Alive, Ready
from twinsmith.core.errors import TwinsmithError
from twinsmith.runs.book import Book
from twinsmith.runs.health import listed_incidents
from twinsmith.web.guard import API, Guarded, Visitor, needs
from twinsmith.web.office import office_of

system = APIRouter(prefix=API, tags=["system"], route_class=Guarded)
METRICS = "text/plain; version=0.0.4; charset=utf-8"


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


@system.get("/metrics", openapi_extra=needs("read"), response_class=Response)
def metrics(request: Request, visit: Visitor) -> Response:
    """Figures for Prometheus."""
    office = office_of(request)
    driving = Counter(str(each.state) for each in visit.book.driving.listed())
    lines = [
        *_gauge("twinsmith_runs", "Runs that are not over", driving, "state"),
        *_gauge("twinsmith_workers", "Workers that live", len(visit.book.workers(serving=True))),
        *_gauge("twinsmith_streams", "Open event streams of this server", office.streams.count),
        *_gauge("twinsmith_incidents", "Incidents not closed", len(listed_incidents(visit.book))),
        *_gauge("twinsmith_server_seconds", "Processor time of this server", time.process_time()),
    ]
    return Response("\n".join(lines) + "\n", media_type=METRICS)


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


def _gauge(name: str, meaning: str, value: float | Counter[str], label: str = "") -> list[str]:
    """One figure in Prometheus' own words."""
    lines = [f"# HELP {name} {meaning}", f"# TYPE {name} gauge"]
    if isinstance(value, Counter):
        rows = [f'{name}{{{label}="{each}"}} {count}' for each, count in sorted(value.items())]
        return [*lines, *rows]
    return [*lines, f"{name} {value:g}"]
