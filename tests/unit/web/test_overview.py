"""The first page: the architecture as it stands, what waits for a person, the latest runs."""

import asyncio
import re
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.web_clients import Site, site
from twinsmith.core.anatomy import PARTS, WAYS
from twinsmith.core.driving import Driving, Worker
from twinsmith.core.events import SYSTEM, Event, Json
from twinsmith.core.operating.alarm import Alarm
from twinsmith.core.operating.app import App
from twinsmith.core.operating.incident import Incident, moved, opened
from twinsmith.core.people.approval import ApprovalRequest, Dossier
from twinsmith.core.people.override import Override
from twinsmith.core.people.question import PersonalQuestion, QuestionRecord
from twinsmith.core.progress import Ensemble, Progress, Stage
from twinsmith.web.console.overview import Wanted, circumstances, wanted
from twinsmith.wiring.delivering import approvals_of, apps_of, overrides_of
from twinsmith.wiring.people import questions_of
from twinsmith.wiring.running import workers_of
from twinsmith.wiring.watching import incidents_of

EVIL = "<script>alert(1)</script>"
RUN = "20261118-101500-a3f9"
NOW = datetime.now(UTC)


def told(place: Site, run: str, kind: str, data: dict[str, Json]) -> None:
    event = Event(run=run, kind=kind, who="twinsmith", data=data)
    asyncio.run(place.book.journal.append(event))


def begun(place: Site, run: str = RUN, task: str = EVIL) -> None:
    facts: dict[str, Json] = {"task": task, "run": run, "kind": "function", "language": "python"}
    told(place, SYSTEM, "run.started", facts)
    told(place, run, "run.started", facts)


def driven(place: Site, run: str = RUN) -> None:
    """Let a worker that lives drive a run."""
    workers_of(place.settings).beat(Worker(name="w", pipeline="p", serves=True))
    place.book.driving.submit(Driving(run=run, state="queued", pipeline="p"))
    place.book.driving.claim(run, "w", pipeline="p", living=["w"])


def incident(stage: str = "escalated", text: str = "nobody can mend it") -> Incident:
    alarm = Alarm(
        app="cart",
        release=1,
        kind="memory leak",
        severity="critical",
        evidence="memory grows",
        at=time.time() - 60,
        delay=1.0,
        confidence=1.0,
    )
    return moved(opened("i-1", alarm), stage, text, time.time())  # type: ignore[arg-type]


def part(html: str, name: str) -> str:
    """The inside of a section."""
    return html.split(f'<section id="{name}"')[1].split("</section>", maxsplit=1)[0]


def node(html: str, name: str) -> str:
    """A node of the wide drawing."""
    return html.split(f'id="broad-{name}"')[1].split("</a>", maxsplit=1)[0]


def test_an_empty_house_says_what_would_fill_it(tmp_path: Path) -> None:
    browser = site(tmp_path).signed_in("ann", "viewer")
    page = browser.get("/").text
    assert "Nothing waits for you" in part(page, "wanted")
    assert "twinsmith build" in part(page, "runs")
    for name, each in PARTS.items():
        assert each.title in page
        assert "idle" in node(page, name) or name == "log"
    assert part(page, "architecture").count('class="edge"') >= 2 * len(WAYS) - 2


def test_every_node_is_a_link_with_a_sentence_and_the_list_says_the_same(tmp_path: Path) -> None:
    page = site(tmp_path).signed_in("ann", "admin").get("/").text
    drawing, listed = part(page, "architecture"), part(page, "parts")
    for name, each in PARTS.items():
        link = re.search(rf'<a class="node [a-z]+" id="broad-{name}" href="([^"]+)"', drawing)
        assert link is not None
        assert link[1] == each.page
        assert each.does in drawing
        assert each.does in listed
    assert 'role="group"' in drawing
    assert "style=" not in drawing
    assert "<script" not in drawing


def test_who_may_not_read_the_journal_is_not_sent_there(tmp_path: Path) -> None:
    page = site(tmp_path).signed_in("ann", "viewer").get("/").text
    assert 'href="/journal"' not in part(page, "architecture")


def test_a_run_at_work_shows_who_is_asked_and_which_way(tmp_path: Path) -> None:
    place = site(tmp_path)
    begun(place)
    driven(place)
    asked: dict[str, Json] = {
        "role": "coder",
        "nth": 0,
        "ensemble": 2,
        "purpose": "answer",
        "idempotency_key": "k",
    }
    told(place, RUN, "model.asked", asked)
    page = place.signed_in("ann", "viewer").get("/")
    drawing = part(page.text, "architecture")
    assert "working 1" in node(drawing, "coder2")
    assert "idle" in node(drawing, "coder1")
    assert "asks a model" in node(drawing, "coder2")
    assert f'href="/runs/{RUN}"' in drawing
    lit = re.findall(r'class="edge lit"><title>([^<]+)<', drawing)
    assert "Fast coder 2 to model query manager: best-practice lookups" in lit
    assert "Fast coder 2 → model query manager" in part(page.text, "parts")
    data = place.signed_in("bob", "viewer").get("/index.json").json()
    assert data["parts"]["coder2"]["condition"]["count"] == 1
    assert {"source": "coder2", "target": "manager"} in data["lit"]


def test_the_drawing_is_the_same_while_nothing_happens(tmp_path: Path) -> None:
    place = site(tmp_path)
    begun(place)
    browser = place.signed_in("ann", "viewer")
    first, again = browser.get("/").text, browser.get("/").text
    assert part(first, "architecture") == part(again, "architecture")


def test_what_waits_for_people_comes_first_and_escaped(tmp_path: Path) -> None:
    place = site(tmp_path)
    begun(place)
    until = (NOW + timedelta(hours=3)).isoformat()
    approvals_of(place.settings).put(
        ApprovalRequest(
            id=f"{RUN}.a1",
            run=RUN,
            app="cart",
            by="user:ann",
            dossier=Dossier(what=f"deploy {EVIL}", occasions=("first_deploy",)),
            asked=NOW.isoformat(),
            until=until,
        )
    )
    question = PersonalQuestion(id=f"{RUN}.1", run=RUN, text=f"which {EVIL}", assumed="a")
    soon = (NOW + timedelta(hours=1)).isoformat()
    questions_of(place.settings).put(
        QuestionRecord(question=question, asked=NOW.isoformat(), until=soon)
    )
    incidents_of(place.settings).save(incident(text=f"no {EVIL}"))
    page = place.signed_in("ann", "approver").get("/").text
    assert EVIL not in page
    asks = part(page, "wanted")
    places = [asks.index(each) for each in ("/incidents/i-1", f"/runs/{RUN}", "/approvals/")]
    assert places == sorted(places), "what was given up first, then by the time that is left"
    assert "waits 2" in node(page, "approvals")
    assert "waits 1" in node(page, "healer")


def test_apps_that_nobody_watches_and_what_is_held_are_seen(tmp_path: Path) -> None:
    place = site(tmp_path)
    apps_of(place.settings).save(App(name="cart", host="local", port=8100, serving=1))
    held = Override(scope="cart", kind="pause", reason="r", by="user:ann", at=NOW.isoformat())
    overrides_of(place.settings).put(held)
    page = place.signed_in("ann", "viewer").get("/").text
    assert "failing 1" in node(page, "monitor")
    assert "held 1" in node(page, "override")


def test_trouble_that_is_mended_by_itself_is_told_and_asks_for_nothing(tmp_path: Path) -> None:
    place = site(tmp_path)
    incidents_of(place.settings).save(incident("fixing", f"attempt 1 {EVIL}"))
    browser = place.signed_in("ann", "viewer")
    told = part(browser.get("/").text, "wanted")
    assert "Nothing waits for you" in told
    assert "cart: memory leak" in told
    assert "fixing since" in told
    assert EVIL not in told
    assert 'href="/incidents/i-1"' in told
    assert [each["id"] for each in browser.get("/index.json").json()["healing"]] == ["i-1"]


def test_the_wanted_are_ordered_and_over_incidents_are_none() -> None:
    assert wanted((), (), (incident("fixing"),)) == ()
    assert [each.kind for each in wanted((), (), (incident(),))] == ["incident"]


def test_circumstances_count_questions_and_what_is_tried() -> None:
    stage = Stage(name="explore", started="t")
    asking = Ensemble(number=1, waiting={"k": "coder", "l": "coder", "m": "slow"})
    runs = (
        Progress(run="a", stages=(stage,), ensembles=(asking,)),
        Progress(run="b", stages=(stage,), ensembles=(Ensemble(number=2),)),
        Progress(run="c", stages=(Stage(name="canary", started="t"),)),
        Progress(run="d", stages=(Stage(name="explore", started="t", finished="u"),)),
    )
    waits = (
        Wanted(kind="approval", text="", page="", since=""),
        Wanted(kind="question", text="", page="", since=""),
    )
    found = circumstances(
        runs,
        waits,
        (incident(), incident("fixing")),
        ("running", "queued", "queued", "asking"),
        held=(),
        serving=1,
        watched=True,
    )
    assert found.asked == {(1, "coder"): 2, (1, "slow"): 1}
    assert (found.trying, found.approvals, found.questions) == (1, 1, 1)
    assert (found.acting, found.queued) == (1, 2)
    assert (found.healing, found.escalated) == (1, 1)
