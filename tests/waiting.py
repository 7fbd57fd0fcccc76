"""Actions that wait for a person, in a site's own tables, with hostile words in every text."""

from dataclasses import replace

from tests.web_clients import Site
from twinsmith.adapters.clock import SystemClock
from twinsmith.core.operating.action import Action, ActionKind, ActionState, Queued, Terms
from twinsmith.core.operating.app import App
from twinsmith.core.operating.deliverable import Deliverable
from twinsmith.core.operating.source import Source
from twinsmith.core.people.account import later
from twinsmith.core.people.approval import ApprovalRequest, Dossier
from twinsmith.core.people.question import PersonalQuestion, QuestionRecord
from twinsmith.core.probe import Probe, Probes
from twinsmith.core.program import Program, SourceFile
from twinsmith.wiring.delivering import approvals_of, apps_of, queue_of_actions
from twinsmith.wiring.people import questions_of

HOSTILE = "<script>alert(1)</script>"
ESCAPED = "&lt;script&gt;alert(1)&lt;/script&gt;"
DIFF = f"--- a/solution.py\n+++ b/solution.py\n@@ -1,2 +1,2 @@\n same\n-old = 1\n+new = '{HOSTILE}'"
PROGRAM = Program(
    source="print('a shop')\n",
    kind="service",
    files=(SourceFile(name="store.py", text="KEPT = {}\n"),),
)
SHOP = Deliverable(
    source=Source(program=PROGRAM, run="r-0", task="a shop", packages=("flask",)),
    probes=Probes(
        checks=(Probe(name="works", origin="plan", source="assert True"),), setup="x = 1"
    ),
    spec='{"openapi": "3.1.0"}',
    built="2484 tokens, 0.0012 USD, confidence 0.93",
)
DOSSIER = Dossier(
    what=f"deploy shop on local {HOSTILE}",
    occasions=("heal",),
    diff=DIFF,
    findings=(f"low: {HOSTILE}",),
    risk="high",
    cost=f"nothing {HOSTILE}",
    evidence=tuple(f"accepted by: {number} {HOSTILE}" for number in range(20)),
)


def asked(
    site: Site,
    run: str,
    *,
    by: str = "user:ben",
    dossier: Dossier = DOSSIER,
    ago: float = 60.0,
    within: float = 3600.0,
    number: int = 1,
    deliverable: Deliverable | None = SHOP,
    kind: ActionKind = "deploy",
) -> ApprovalRequest:
    """A request that waits for a person's word, with its action."""
    now = SystemClock().now()
    action = Action(
        run=run, kind=kind, app="shop", deliverable=deliverable, by=by, terms=Terms(), data=True
    )
    site.book.keep(action)
    return approvals_of(site.settings).put(
        ApprovalRequest(
            id=f"{run}.a{number}",
            run=run,
            app="shop",
            by=by,
            dossier=dossier,
            asked=later(now, -ago),
            until=later(now, within),
        )
    )


def queued(site: Site, run: str, state: ActionState, *, app: str = "shop") -> None:
    """An action in the execution queue."""
    queue = queue_of_actions(site.settings)
    at = SystemClock().now()
    queue.put(Queued(run=run, app=app, kind="deploy", state="asking", by="user:ben", at=at))
    if state != "asking":
        queue.admit(run)
        queue.change(run, state)


def app(site: Site, name: str, *, serving: int = 2, good: int = 1) -> App:
    """An app with some releases."""
    made = App(name=name, host="local", port=8100, serving=serving, good=good)
    apps_of(site.settings).save(made)
    return made


def question(site: Site, number: int, *choices: str) -> QuestionRecord:
    """A question that waits for an answer."""
    now = SystemClock().now()
    asked = PersonalQuestion(
        id=f"r-1.{number}", run="r-1", text=f"Which? {HOSTILE}", assumed=HOSTILE, choices=choices
    )
    record = QuestionRecord(question=asked, asked=now, until=later(now, 600.0))
    return questions_of(site.settings).put(record)


def without(deliverable: Deliverable) -> Deliverable:
    """A service as it is read from a folder without checks, interface or report of its build."""
    return replace(deliverable, probes=Probes(), spec="", built="")
