"""Every method of a client against the whole application in this process."""

import io
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.contract.test_deliveries import ASKED, FIRST, REQUEST, SHOP
from tests.contract.test_incidents import incident
from tests.waiting import SHOP as SOLD
from tests.web_clients import BASE, Site, site
from twinsmith.client import Client
from twinsmith.client.runs import unpacked
from twinsmith.client.shapes import NewApp, NewRun
from twinsmith.core.errors import (
    ConfigError,
    Conflict,
    EngineError,
    Forbidden,
    RunCancelled,
    Unknown,
    UnknownRun,
)
from twinsmith.core.operating.action import Action
from twinsmith.core.people.question import PersonalQuestion, QuestionRecord
from twinsmith.core.people.role import Permission
from twinsmith.wiring.delivering import approvals_of, apps_of, queue_of_actions, releases_of
from twinsmith.wiring.people import questions_of
from twinsmith.wiring.watching import incidents_of

TASK = NewRun(task="Write a Python function double(n) that doubles a number")
WANTED = Action(run="r-1", kind="deploy", app="shop", deliverable=SOLD, by="user:ben")
LATER = "2999-01-01T00:00:00+00:00"


def client(place: Site, name: str = "ann", *scopes: Permission) -> Client:
    header = place.key(name, "admin", scopes=scopes)["authorization"]
    return Client(BASE, header.removeprefix("Bearer "), transport=place.client._transport)


@pytest.fixture
def place(tmp_path: Path) -> Site:
    return site(tmp_path)


@pytest.fixture
def ann(place: Site) -> Iterator[Client]:
    with client(place) as opened:
        yield opened


def test_who_asks_and_whether_the_server_is_there(ann: Client, place: Site) -> None:
    assert (ann.me().name, ann.me().by) == ("ann", "key")
    assert ann.health().status == "alive"
    assert not ann.ready().ready
    assert "twinsmith_workers 0" in ann.metrics()
    stranger = Client(BASE, transport=place.client._transport)
    assert stranger.health().status == "alive"
    with pytest.raises(ConfigError, match="twinsmith keys add"):
        stranger.me()
    with pytest.raises(Forbidden, match="may not build"):
        client(place, "bob", "read").runs.submit(TASK)


def test_a_run_from_its_task_to_its_end(ann: Client) -> None:
    begun = ann.runs.submit(TASK, key="one")
    assert ann.runs.submit(TASK, key="one").run == begun.run
    run = begun.run
    assert (begun.state, begun.workers) == ("queued", 0)
    assert ann.runs.get(run[-4:]).task == TASK.task
    assert ann.runs.board(run).run == run
    with pytest.raises(Conflict, match="not over"):
        ann.runs.outcome(run)
    assert ann.runs.resume(run).state == "queued"
    assert ann.runs.cancel(run).state == "cancelled"
    with pytest.raises(Conflict, match="ended already"):
        ann.runs.cancel(run)
    with pytest.raises(RunCancelled):
        ann.runs.outcome(run)
    with pytest.raises(ConfigError, match="no result"):
        ann.runs.program(run)
    with pytest.raises(UnknownRun):
        ann.runs.get("nope")
    kinds = [each.event.kind for each in ann.runs.events(run)]
    assert kinds[0] == "run.started"
    assert kinds[-1] == "run.ended"
    assert [each.event.kind for each in ann.runs.events(run, after=2)] == kinds[2:]
    assert list(ann.runs.events(run, after=len(kinds))) == []


def test_runs_are_listed_page_by_page(ann: Client) -> None:
    runs = [ann.runs.submit(TASK).run for _ in range(5)]
    ann.runs.cancel(runs[0])
    assert sorted(each.run for each in ann.runs.listed(page=2)) == sorted(runs)
    assert [each.run for each in ann.runs.listed(state="cancelled")] == [runs[0]]
    assert list(ann.runs.listed(q="trebles")) == []


def test_a_question_is_answered_once(ann: Client, place: Site) -> None:
    run = ann.runs.submit(TASK).run
    asked = PersonalQuestion(id=f"{run}.1", run=run, text="Of text?", assumed="no")
    questions_of(place.settings).put(QuestionRecord(question=asked, asked="2026", until=LATER))
    assert [each.question.id for each in ann.people.questions()] == [asked.id]
    given = ann.people.answer(f"{run[-4:]}.1", "of text, too").answer
    assert given is not None
    assert (given.text, given.by) == ("of text, too", "user:ann")
    with pytest.raises(Conflict, match="answered already"):
        ann.people.answer(asked.id, "no")
    assert ann.people.questions() == ()
    assert len(ann.people.questions(every=True)) == 1


def test_people_decide_and_override(ann: Client, place: Site) -> None:
    approvals = approvals_of(place.settings)
    for number in (1, 2, 3):
        approvals.put(replace(REQUEST, id=f"r-1.a{number}", until=LATER))
    assert [each.id for each in ann.people.approvals()] == ["r-1.a1", "r-1.a2", "r-1.a3"]
    assert ann.people.approval("r-1.a2").dossier == REQUEST.dossier
    approved = ann.people.approve("r-1.a1", "seen").decision
    rejected = ann.people.reject("r-1.a2", "not today").decision
    place.book.keep(replace(WANTED, run="r-1"))
    changed = {"store.py": "KEPT = {1: 2}\n"}
    with pytest.raises(ConfigError, match="'a' is no file of this release"):
        ann.people.modify("r-1.a3", files={"a": "b"})
    with pytest.raises(ConfigError, match="nothing is modified"):
        ann.people.modify("r-1.a3", files={"store.py": "KEPT = {}\n"})
    modified = ann.people.modify("r-1.a3", terms={"canary_share": 0}, files=changed).decision
    assert approved is not None
    assert rejected is not None
    assert modified is not None
    assert (approved.said, approved.note) == ("approve", "seen")
    assert (rejected.said, rejected.note) == ("reject", "not today")
    assert modified.terms == {"canary_share": 0.0}
    assert modified.files is not None
    assert changed.items() <= modified.files.items()
    assert "solution.py" in modified.files
    assert ann.people.approvals() == ()
    queue_of_actions(place.settings).put(ASKED)
    assert [each.run for each in ann.people.queue()] == [ASKED.run]
    assert "is held" in ann.people.override("pause", "all", "maintenance")[0]
    assert [each.reason for each in ann.people.overrides()] == ["maintenance"]
    assert ann.people.override("release", "all", "done") == ("1 overrides of all lifted",)


def test_apps_and_their_trouble(ann: Client, place: Site) -> None:
    apps_of(place.settings).save(SHOP)
    releases_of(place.settings).save(FIRST)
    incidents_of(place.settings).save(incident("i-1", 5.0))
    (seen,) = ann.apps.listed()
    assert (seen.app, seen.state, seen.status) == (SHOP, "stopped", None)
    assert ann.apps.get("shop") == seen
    (release,) = ann.apps.releases("shop")
    assert (release.number, release.base, release.image) == (1, "debian@sha256:1", "def")
    assert release.source == FIRST.deliverable.source.digest
    assert ann.apps.source("shop", 1) == FIRST.deliverable.source.files
    assert ann.apps.health("shop").words == "not watched"
    with pytest.raises(ConfigError, match="no release that serves"):
        ann.apps.logs("shop")
    with pytest.raises(ConfigError, match="has never served"):
        ann.apps.start("shop")
    with pytest.raises(Unknown, match="'blog' is not known"):
        ann.apps.stop("blog")
    with pytest.raises(UnknownRun):
        ann.apps.deploy(NewApp(run="nope"))
    begun = ann.apps.remove("shop", data=True)
    assert (begun.app, begun.kind, ann.runs.get(begun.run).state) == ("shop", "remove", "queued")
    assert [each.id for each in ann.apps.incidents()] == ["i-1"]
    assert ann.apps.incidents(app="blog") == ()
    assert ann.apps.incident("i-1") == incident("i-1", 5.0)
    assert ann.apps.close("i-1", "was a test").last == "ann: was a test"
    assert ann.apps.incidents() == ()
    assert len(ann.apps.incidents(every=True)) == 1


def test_what_is_known_and_told(ann: Client, place: Site) -> None:
    run = ann.runs.submit(TASK).run
    assert {each.role for each in ann.known.models()} == {"slow", "coder", "critic"}
    assert ann.known.use() == ann.known.use(run) == ()
    assert ann.known.insights(about="x", most=3) == ()
    told = list(ann.journal.entries(page=2))
    assert [each.seq for each in told] == sorted((each.seq for each in told), reverse=True)
    assert [each.kind for each in ann.journal.entries(run, kind="run.")] == [
        "run.queued",
        "run.started",
    ]
    kept = place.book.journal.entries(run)
    assert list(ann.journal.export(run)) == list(kept)
    assert ann.journal.verify().ok
    (checked,) = ann.journal.verify(run).chains
    assert (checked.run, checked.lines, checked.broken) == (run, 2, None)


def test_an_altered_journal_says_where(ann: Client, place: Site) -> None:
    run = ann.runs.submit(TASK).run
    path = place.settings.home / "journal" / "runs" / f"{run}.jsonl"
    path.write_text(path.read_text().replace("doubles", "trebles"))
    (checked,) = ann.journal.verify(run).chains
    assert checked.broken is not None
    assert checked.broken.line == 1


def test_accounts_and_keys(ann: Client, place: Site) -> None:
    invited = ann.users.add("bob", ["viewer"])
    assert "/welcome?token=" in invited.link
    assert ann.users.get("bob").invited
    assert ann.users.change("bob", roles=["developer"]).roles == ("developer",)
    assert ann.users.change("bob", disabled=True).disabled
    assert "/welcome?token=" in ann.users.invite("bob").link
    assert ann.users.sign_out("bob").sessions == 0
    assert [each.name for each in ann.users.listed()] == ["ann", "bob"]
    issued = ann.keys.issue("nightly", ["read"], days=2)
    other = Client(BASE, issued.secret, transport=place.client._transport)
    assert other.me().permissions == ("read",)
    assert issued.key in [replace(each, used="") for each in ann.keys.listed()]
    assert ann.keys.revoke(issued.key.id).revoked
    with pytest.raises(ConfigError):
        other.me()


def archive(**files: str) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as opened:
        for name, text in files.items():
            opened.writestr(name, text)
    return held.getvalue()


def test_a_program_is_unpacked_into_its_own_folder_only() -> None:
    whole = archive(**{"r1/solution.py": "x = 1\n", "r1/docs/a.md": "ä"})
    assert unpacked(whole) == {"solution.py": "x = 1\n", "docs/a.md": "ä"}
    for name in ("r1/../../evil", "/r1/../evil", "r1/..\\evil"):
        with pytest.raises(EngineError, match="not kept"):
            unpacked(archive(**{name: "x"}))
    with pytest.raises(EngineError, match="cannot be read"):
        unpacked(b"<h1>Bad gateway</h1>")
