"""Models, what is known, what was learned, over the API."""

from typing import Annotated

from fastapi import APIRouter, Query, Request

from twinsmith.client.shapes import ModelUse, NewPassage, Passage, Route, Taught
from twinsmith.core.costs.report import Costs
from twinsmith.core.costs.spending import By
from twinsmith.core.knowing.insight import Insight
from twinsmith.core.knowing.knowledge import Figures
from twinsmith.runs import known as knowing
from twinsmith.runs.analyse import USE
from twinsmith.runs.costs import day_in
from twinsmith.runs.routes import routes
from twinsmith.web.guard import API, Guarded, Visitor, needs
from twinsmith.web.office import office_of

known = APIRouter(prefix=API, tags=["known"], route_class=Guarded)
Day = Annotated[str, Query(max_length=10, examples=["2026-11-01"])]
Words = Annotated[str, Query(max_length=2000)]


@known.get("/models", openapi_extra=needs("read"))
def models(visit: Visitor) -> tuple[Route, ...]:
    """The models that each role of each ensemble asks, in their order, and why those."""
    return tuple(
        Route(ensemble=each.ensemble, role=each.role, models=each.models, why=each.why)
        for each in routes(visit.book.settings)
    )


@known.get("/models/use", openapi_extra=needs("read"))
def use(request: Request, visit: Visitor, run: str = "") -> tuple[ModelUse, ...]:
    """How models were used, by role and ensemble; of one run where one is named."""
    analysis = office_of(request).analysis
    found = analysis.rows(USE, run=visit.book.find(run) if run else "")
    return tuple(
        ModelUse(
            model=row.key[0],
            role=row.key[1],
            ensemble=int(row.key[2]) if row.key[2].isdecimal() else 0,
            calls=row.calls.answered,
            failed=row.calls.unanswered,
            tokens_in=row.calls.tokens_in,
            tokens_out=row.calls.tokens_out,
            seconds=row.calls.seconds,
            first_token_seconds=row.calls.first.mean,
            usd=row.calls.usd,
            unpriced=row.calls.unpriced,
            cached=row.calls.cached,
        )
        for row in found
    )


@known.get("/costs", openapi_extra=needs("read"))
def costs(request: Request, by: By = "model", since: Day = "") -> Costs:
    """What was spent on models, by one thing, from a day on; what the month will cost."""
    return office_of(request).costs.report(by, day_in(since))


@known.get("/knowledge", openapi_extra=needs("read"))
async def figures(visit: Visitor) -> Figures:
    """How much is known, and from where."""
    return await knowing.figures(visit.book)


@known.get("/knowledge/search", openapi_extra=needs("read"))
async def search(
    visit: Visitor,
    q: Words,
    k: Annotated[int, Query(ge=1, le=100)] = 10,
    language: Annotated[str, Query(max_length=40)] = "",
) -> tuple[Passage, ...]:
    """The passages that answer best; nothing where nothing fits."""
    return tuple(
        Passage(
            score=hit.score,
            source=hit.passage.source,
            path=hit.passage.path,
            language=hit.passage.language,
            licence=hit.passage.licence,
            text=hit.passage.text,
        )
        for hit in await knowing.search(visit.book, q, k, language)
    )


@known.post("/knowledge", status_code=201, openapi_extra=needs("teach"))
async def teach(visit: Visitor, wanted: NewPassage) -> Taught:
    """Keep a text: from now on runs find it."""
    return Taught(passages=await knowing.teach(visit.book, wanted.title, wanted.text))


@known.get("/insights", openapi_extra=needs("read"))
async def insights(
    visit: Visitor,
    about: Words = "",
    language: Annotated[str, Query(max_length=40)] = "",
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> tuple[Insight, ...]:
    """What was learned, what helps most first."""
    return await knowing.insights(visit.book, about, language, limit)
