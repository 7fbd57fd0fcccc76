"""Versions over the API: what took part in results, what is in force, challengers of roles."""

from typing import Annotated

from fastapi import APIRouter, Query, Request

from twinsmith.client.version_shapes import (
    Challenged,
    Given,
    Named,
    Overview,
    Restored,
    Retired,
    Stopped,
)
from twinsmith.core.trying.challenger import Challenge, Score
from twinsmith.core.trying.versions import InForce, Kind
from twinsmith.runs import challengers
from twinsmith.runs import versions as deeds
from twinsmith.web.guard import API, Guarded, Visitor, needs
from twinsmith.web.office import office_of

versions = APIRouter(prefix=f"{API}/models", tags=["versions"], route_class=Guarded)


@versions.get("/versions", openapi_extra=needs("read"))
def listed(visit: Visitor, kind: Annotated[Kind | None, Query()] = None) -> Overview:
    """What took part in results, and what is in force; templates by their kind."""
    return deeds.overview(visit.book, kind or "")


@versions.post("/pin", openapi_extra=needs("operate"))
async def pin(visit: Visitor, wanted: Given) -> InForce:
    """Let a role ask one model and nothing else, or fix a setting or template, for new runs."""
    return await deeds.give(visit.book, wanted.key, wanted.value, "pinned", files=False)


@versions.post("/promote", openapi_extra=needs("operate"))
async def promote(visit: Visitor, wanted: Given) -> InForce:
    """Let a role ask a model first, or change a setting or template, for new runs."""
    return await deeds.give(visit.book, wanted.key, wanted.value, "promoted", files=False)


@versions.post("/retire", openapi_extra=needs("operate"))
async def retire(visit: Visitor, wanted: Named) -> Retired:
    """Let nobody ask a model, or a version of it."""
    return Retired(retired=await deeds.retire(visit.book, wanted.what))


@versions.post("/restore", openapi_extra=needs("operate"))
async def restore(visit: Visitor, wanted: Named) -> Restored:
    """Take back what was pinned, promoted or retired."""
    return Restored(restored=await deeds.restore(visit.book, wanted.what))


@versions.get("/challengers", openapi_extra=needs("read"))
def scores(request: Request) -> tuple[Score, ...]:
    """How challengers do beside champions, newest first."""
    return office_of(request).challengers.scores()


@versions.post("/challengers", status_code=201, openapi_extra=needs("operate"))
async def challenge(visit: Visitor, wanted: Challenged) -> Challenge:
    """Give a model a share of a role's calls."""
    given = (wanted.role, wanted.model, wanted.share, wanted.guards)
    return await challengers.challenge(visit.book, *given)


@versions.post("/challengers/stop", openapi_extra=needs("operate"))
async def stop(visit: Visitor, wanted: Stopped) -> Challenge:
    """Give the challenger of a role no more calls."""
    return await challengers.stop(visit.book, wanted.role)
