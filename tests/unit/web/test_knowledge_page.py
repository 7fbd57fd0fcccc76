"""The page of what is known: searched, counted, added to; and what was learned, drawn."""

import asyncio
from pathlib import Path

import pytest

from tests.web_clients import Site, csrf_in, site
from tests.worlds import passage
from twinsmith.core.errors import EngineError, ModelUnavailable
from twinsmith.core.events import SYSTEM
from twinsmith.core.knowing.graph import Edge, Neighbour, Node
from twinsmith.core.knowing.insight import Insight, Outcome
from twinsmith.core.knowing.knowledge import MEANING_ENDS, Figures, Hit
from twinsmith.flow.insights import record, tell_outcomes
from twinsmith.runs import known
from twinsmith.runs.book import Book
from twinsmith.runs.insight_map import MOST_NODES, chosen
from twinsmith.web.console.knowledge import LONGEST_PASSAGE, page_of_node, passage_text
from twinsmith.wiring.graph import opened_graph

EVIL = "<script>alert(1)</script>"
RUN = "20261118-101500-a3f9"
FIX = Insight(
    text=f"close the file {EVIL}",
    kind="fix",
    language="python",
    run=RUN,
    learned="2026-11-18T10:00:00+00:00",
    error=f"ValueError {EVIL}",
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A house where one run has learned a fix, which helped another run and failed a third."""
    place = site(tmp_path_factory.mktemp("site"))

    async def learn() -> None:
        async with opened_graph(place.settings) as graph:
            kept = await record(graph, [FIX], task=f"csv {EVIL}", models=["openai:gpt-4o"])
            for run, helped in (("r-2", True), ("r-3", False)):
                await tell_outcomes(
                    graph, [kept[0].key], Outcome(run=run, helped=helped, at="2026-11-18")
                )

    asyncio.run(learn())
    return place


def hit(text: str) -> Hit:
    return Hit(passage=passage(text, path=f"p{EVIL}.py"), score=0.51, channel="dense")


def canned(monkeypatch: pytest.MonkeyPatch, *hits: Hit) -> list[str]:
    """A library with these passages; what it was asked."""
    asked: list[str] = []

    async def search(_book: Book, text: str, _k: int, language: str = "") -> tuple[Hit, ...]:
        asked.append(f"{text} {language}".strip())
        return hits

    async def figures(_book: Book) -> Figures:
        asked.append("figures")
        return Figures(documents=1, passages=2, sources={f"taught {EVIL}": 2})

    monkeypatch.setattr(known, "search", search)
    monkeypatch.setattr(known, "figures", figures)
    return asked


def test_what_was_learned_is_listed_drawn_and_escaped(shared: Site) -> None:
    browser = shared.signed_in("ann", "viewer")
    page = browser.get("/knowledge")
    assert page.status_code == 200
    assert EVIL not in page.text
    assert "✓ helped 1" in page.text
    assert "✕ not 1" in page.text
    assert f'href="/runs/{RUN}"' in page.text
    drawing = page.text.split('class="map"')[1].split("</svg>")[0]
    assert drawing.count('class="node"') == 7, (
        "a model, a task, two told ones, an insight, an error"
    )
    assert 'class="edge helped"' in drawing
    assert 'class="edge failed"' in drawing
    listed = page.text.split('id="map-list"')[1]
    assert "was mended by" in listed
    data = browser.get("/knowledge.json").json()
    assert [each["kind"] for each in data["insights"]] == ["fix"]


def test_without_an_embedder_one_line_says_how_to_get_it(
    shared: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: object) -> Figures:
        raise ModelUnavailable("the embedder is not installed; run: twinsmith models install x")

    monkeypatch.setattr(known, "figures", refuse)
    monkeypatch.setattr(known, "search", refuse)
    page = shared.signed_in("ben", "viewer").get("/knowledge?q=missing")
    assert page.status_code == 200
    assert page.text.count("twinsmith models install x") == 2


def test_a_graph_that_is_in_use_is_a_line_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: object) -> tuple[Insight, ...]:
        raise EngineError("graph has been in use for 10 seconds")

    monkeypatch.setattr(known, "insights", refuse)
    canned(monkeypatch)
    page = site(tmp_path).signed_in("ann", "viewer").get("/knowledge")
    assert page.status_code == 200
    assert "in use for 10 seconds" in page.text


def test_a_search_shows_passages_with_where_they_are_from(
    shared: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = canned(monkeypatch, hit(f"def f():\n    return '{EVIL}'\n"))
    browser = shared.signed_in("cat", "viewer")
    page = browser.get("/knowledge", params={"q": f"csv {EVIL}", "language": "python"})
    assert EVIL not in page.text
    assert "1 passage" in page.text
    assert "licence MIT" in page.text
    assert "score 0.51" in page.text
    assert 'class="map"' not in page.text, "who searches wants results"
    browser.get("/knowledge", params={"q": f"csv {EVIL}", "language": "python"})
    assert asked.count(f"csv {EVIL} python") == 1, "the same search is not made again at once"


def test_only_who_may_teach_sees_the_form_and_it_keeps_what_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = site(tmp_path)
    asked = canned(monkeypatch)
    taught: list[tuple[str, str]] = []

    async def teach(book: Book, title: str, text: str) -> int:
        taught.append((title, text))
        await book.tell(SYSTEM, "knowledge.taught", {"title": title, "passages": 2})
        return 2

    monkeypatch.setattr(known, "teach", teach)
    viewer = place.signed_in("ann", "viewer")
    assert 'name="title"' not in viewer.get("/knowledge").text
    browser = place.signed_in("ben", "developer")
    page = browser.get("/knowledge")
    form = {"csrf": csrf_in(page), "title": f"dates {EVIL}", "text": "ISO 8601 it is"}
    shown = browser.post("/knowledge", data=form)
    assert taught == [(f"dates {EVIL}", "ISO 8601 it is")]
    assert "kept as 2 passages" in shown.text
    assert EVIL not in shown.text
    assert asked.count("figures") == 2, "what was taught is counted at once"
    refused = viewer.post("/knowledge", data={**form, "csrf": csrf_in(viewer.get("/"))})
    assert refused.status_code == 403


def test_passages_are_shown_as_people_read_them() -> None:
    assert passage_text(hit(f"task{MEANING_ENDS}code")) == "task\ncode"
    assert len(passage_text(hit("x" * 2 * LONGEST_PASSAGE))) == LONGEST_PASSAGE + 2


def test_things_in_the_graph_lead_to_their_pages() -> None:
    def page(kind: str, key: str, **properties: str) -> str:
        return page_of_node(Node(kind=kind, key=key, properties=properties))  # type: ignore[arg-type]

    assert page("Task", RUN) == f"/runs/{RUN}"
    assert page("Task", "//evil.example") == "/runs/%2F%2Fevil.example"
    assert page("Incident", "i-1") == "/incidents/i-1"
    assert page("Release", "cart 3", app="cart") == "/apps/cart"
    assert page("Model", "openai:gpt-4o") == "/models/compare?a=openai%3Agpt-4o"
    assert page("Insight", "ab") == "#insight-ab"
    assert page("Fix", "ab") == ""


def test_of_a_large_graph_the_first_and_what_is_beside_them_is_chosen() -> None:
    first = tuple(Node(kind="Insight", key=f"i{n}") for n in range(12))
    tasks = [Node(kind="Task", key=f"t{n}") for n in range(60)]
    around = tuple(
        Neighbour(
            of=first[n % 12].ref,
            edge=Edge(kind="LEARNED_FROM", source=first[n % 12].ref, target=task.ref),
            node=task,
        )
        for n, task in enumerate(tasks)
    )
    nodes, edges = chosen(first, around)
    assert len(nodes) == MOST_NODES
    assert nodes[:12] == first
    assert len(edges) == MOST_NODES - 12
    known_refs = {each.ref for each in nodes}
    assert all(each.source in known_refs and each.target in known_refs for each in edges)
