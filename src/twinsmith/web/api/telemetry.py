"""Figures for Prometheus, where it looks for them, and the traces of runs."""

import time

from fastapi import APIRouter, Request, Response

from twinsmith.core.waterfall import Waterfall
from twinsmith.runs.figures import prometheus_text
from twinsmith.runs.traces import trace_of
from twinsmith.web.guard import API, Guarded, Visitor, needs
from twinsmith.web.office import office_of

telemetry = APIRouter(tags=["system"], route_class=Guarded)
METRICS = "text/plain; version=0.0.4; charset=utf-8"


@telemetry.get("/metrics", openapi_extra=needs("read"), response_class=Response)
@telemetry.get(f"{API}/metrics", openapi_extra=needs("read"), response_class=Response)
def metrics(request: Request, visit: Visitor) -> Response:
    """Figures for Prometheus."""
    text = prometheus_text(
        visit.book,
        streams=office_of(request).streams.count,
        processor_seconds=time.process_time(),
    )
    return Response(text, media_type=METRICS)


@telemetry.get(f"{API}/runs/{{run}}/trace", openapi_extra=needs("read"))
def trace(visit: Visitor, run: str) -> Waterfall:
    """The trace that a run is in, from who asked for it to what was healed."""
    return trace_of(visit.book, run)
