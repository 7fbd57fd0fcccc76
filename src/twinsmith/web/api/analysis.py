"""How models behave, over the API."""

from typing import Annotated

from fastapi import APIRouter, Query, Request

from twinsmith.core.behaviour.figures import View, Wanted, dimensions_in
from twinsmith.core.behaviour.report import Comparison, Report
from twinsmith.runs.analyse import since_in
from twinsmith.web.guard import API, Guarded, needs
from twinsmith.web.office import office_of

analysis = APIRouter(prefix=API, tags=["analysis"], route_class=Guarded)
Day = Annotated[str, Query(max_length=10, examples=["2026-11-01"])]
Names = Annotated[str, Query(max_length=200, examples=["model,version,language"])]
Subject = Annotated[str, Query(min_length=1, max_length=400)]


@analysis.get("/analysis/{view}", openapi_extra=needs("read"))
def report(request: Request, view: View, by: Names = "", since: Day = "") -> Report:
    """What calls took, what became of the answers, how confidence held, what changed and why."""
    wanted = Wanted(view=view, by=dimensions_in(by), since=since_in(since))
    return office_of(request).analysis.report(wanted)


@analysis.get("/analysis/{view}/compare", openapi_extra=needs("read"))
def compare(request: Request, view: View, a: Subject, b: Subject, since: Day = "") -> Comparison:
    """Two models, versions, roles, prompts or kinds of runs side by side, role by role."""
    return office_of(request).analysis.compare(view, a, b, since_in(since))
