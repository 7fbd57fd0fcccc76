"""The page of what is known: searched, told where it comes from, added to; and what was learned."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Generic, TypeVar
from urllib.parse import quote

from fastapi import APIRouter, Form, Request, Response

from twinsmith.core.errors import TwinsmithError
from twinsmith.core.knowing.graph import Edge, EdgeKind, Node, NodeKind
from twinsmith.core.knowing.insight import Insight, weight
from twinsmith.core.knowing.knowledge import MEANING_ENDS, Figures, Hit
from twinsmith.core.program import FILE_NAMES
from twinsmith.core.progress import several
from twinsmith.runs import known
from twinsmith.runs.insight_map import insight_map
from twinsmith.web.console.deeds import told
from twinsmith.web.drawing import fitting
from twinsmith.web.guard import Guarded, Visitor, needs
from twinsmith.web.layers import layers
from twinsmith.web.office import office_of
from twinsmith.web.pages import Page, View, page_route, part

T = TypeVar("T")
knowledge = APIRouter(route_class=Guarded, include_in_schema=False)
LANGUAGES = tuple(FILE_NAMES)
MOST_PASSAGES = 10
MOST_INSIGHTS = 50
LONGEST_PASSAGE = 4000
LETTERS = 19
FRESH_SECONDS = 20.0
SEARCH_SECONDS = 60.0
SIGNS: Mapping[NodeKind, str] = {
    "Model": "◎",
    "Task": "▷",
    "Candidate": "▷",
    "Insight": "✎",
    "Error": "✕",
    "Fix": "✓",
    "Plan": "☰",
    "Practice": "★",
    "Incident": "▲",
    "Release": "▣",
}
EDGES: Mapping[EdgeKind, str] = {
    "CAUSED": "led to",
    "FIXED_BY": "was mended by",
    "LEARNED_FROM": "was learned from",
    "USED": "used",
    "CONTRADICTS": "contradicts",
    "HELPED": "helped",
    "FAILED": "did not help",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked(Generic[T]):
    """An answer, or why there is none."""

    value: T
    problem: str = ""


Map = tuple[tuple[Node, ...], tuple[Edge, ...]]


async def what_is_known(view: View) -> Page:
    """What is known, and what was learned."""
    hits, figures, (learned, drawn) = await asyncio.gather(
        _hits(view), _figures(view), _learned(view)
    )
    nodes, edges = drawn.value
    shown = {"view": view, "words": _words(view)}
    return Page(
        title="Knowledge",
        section="Knowledge",
        parts={
            "search": part(
                "knowledge_search", hits=hits, languages=LANGUAGES, text=passage_text, **shown
            ),
            "insights": part("knowledge_insights", learned=learned, weight=weight, **shown),
            "map": "" if _words(view) else _map(drawn),
            "sources": part("knowledge_sources", figures=figures),
            "teach": part("knowledge_teach") if view.visit.may("teach") else "",
        },
        data={
            "passages": hits.value,
            "figures": figures.value,
            "insights": learned.value,
            "map": {"nodes": nodes, "edges": edges},
            "problems": sorted({each.problem for each in (hits, figures, learned, drawn)} - {""}),
        },
        live=False,
    )


page_route(knowledge, "/knowledge", "read", what_is_known)


@knowledge.post("/knowledge", openapi_extra=needs("teach"))
async def teach(
    request: Request,
    visit: Visitor,
    title: Annotated[str, Form(max_length=200)],
    text: Annotated[str, Form(max_length=500_000)],
) -> Response:
    """Keep a text: from now on runs find it."""

    async def work() -> str:
        passages = await known.teach(visit.book, title, text)
        office_of(request).kept.forget()
        return f"{title}: kept as {several(passages, 'passage')}; runs find it from now on"

    return await told(request, visit, work(), to="/knowledge")


def passage_text(hit: Hit) -> str:
    """The text of a passage as people read it, not too long."""
    text = hit.passage.text.replace(MEANING_ENDS, "\n")
    return text if len(text) <= LONGEST_PASSAGE else text[:LONGEST_PASSAGE] + "\n…"


def pictured(nodes: Sequence[Node], edges: Sequence[Edge]) -> dict[str, object]:
    """What the drawing of the insight graph is made of."""
    by_ref = {each.ref: each for each in nodes}
    return {
        "drawn": layers(nodes, edges),
        "nodes": by_ref,
        "label": _label,
        "page": page_of_node,
        "words": EDGES,
        "signs": SIGNS,
        "cut": lambda text: fitting(text, LETTERS),
    }


def _map(drawn: Asked[Map]) -> str:
    nodes, edges = drawn.value
    if not nodes and not drawn.problem:
        return ""
    return part("knowledge_map", problem=drawn.problem, **pictured(nodes, edges))


def page_of_node(node: Node) -> str:
    """The page of a thing in the graph; empty where it has none."""
    match node.kind:
        case "Task":
            return f"/runs/{quote(node.key, safe='')}"
        case "Incident":
            return f"/incidents/{quote(node.key, safe='')}"
        case "Release":
            return f"/apps/{quote(str(node.properties.get('app', '')), safe='')}"
        case "Model":
            return f"/models/compare?a={quote(node.key, safe='')}"
        case "Insight":
            return f"#insight-{quote(node.key, safe='')}"
        case _:
            return ""


def _label(node: Node) -> str:
    """What a thing in the graph is about, in one line."""
    text = node.properties.get("text") or node.properties.get("task") or node.key
    return " ".join(str(text).split())


def _words(view: View) -> str:
    return view.asked("q").strip()


async def _hits(view: View) -> Asked[tuple[Hit, ...]]:
    words, language = _words(view), view.asked("language")

    async def search() -> tuple[Hit, ...]:
        return await known.search(view.visit.book, words, MOST_PASSAGES, language) if words else ()

    return await _asked(view, ("search", words, language), SEARCH_SECONDS, (), search)


async def _figures(view: View) -> Asked[Figures]:
    nothing = Figures(documents=0, passages=0, sources={})
    return await _asked(
        view, ("figures",), FRESH_SECONDS, nothing, lambda: known.figures(view.visit.book)
    )


async def _learned(view: View) -> tuple[Asked[tuple[Insight, ...]], Asked[Map]]:
    """The insights, and what is around them: one after the other, of one file."""
    book, words, language = view.visit.book, _words(view), view.asked("language")
    found: Asked[tuple[Insight, ...]]

    async def look() -> tuple[Insight, ...]:
        return await known.insights(book, words, language, MOST_INSIGHTS)

    async def around() -> Map:
        return await insight_map(book)

    found = await _asked(view, ("insights", words, language), FRESH_SECONDS, (), look)
    return found, await _asked(view, ("insight map",), FRESH_SECONDS, ((), ()), around)


async def _asked(
    view: View,
    key: tuple[str, ...],
    seconds: float,
    nothing: T,
    make: Callable[[], Awaitable[T]],
) -> Asked[T]:
    """An answer of the library or the graph; in words why there is none."""
    try:
        return Asked(value=await view.office.kept.get(key, make, seconds))
    except TwinsmithError as error:
        return Asked(value=nothing, problem=str(error))
