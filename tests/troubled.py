"""Apps with releases, readings and incidents, whose texts are as hostile as texts can be."""

from dataclasses import replace
from datetime import UTC, datetime

from tests.web_clients import Site
from twinsmith.core.operating.action import Queued
from twinsmith.core.operating.alarm import Alarm, AlarmKind
from twinsmith.core.operating.app import App, Release, ReleaseState
from twinsmith.core.operating.deliverable import Deliverable
from twinsmith.core.operating.incident import Attempt, Incident, moved, opened
from twinsmith.core.operating.instance import Image
from twinsmith.core.operating.reading import Reading, Traffic, Usage
from twinsmith.core.operating.source import Source
from twinsmith.core.operating.trouble import Evidence
from twinsmith.core.program import Program
from twinsmith.wiring.delivering import apps_of, queue_of_actions, releases_of
from twinsmith.wiring.watching import incidents_of, readings_of

HOSTILE = "<script>alert(1)</script>"
ESCAPED = "&lt;script&gt;alert(1)&lt;/script&gt;"
INCIDENT = "20261118-091200-77c1"
ASKS = "20261118-093100-e5e5"
MB = 1 << 20


def iso(at: float) -> str:
    """A moment as records keep it."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="microseconds")


def release(
    number: int, state: ReleaseState, at: float, *, app: str = "cart", parent: int = 0
) -> Release:
    """A release whose source tells its number."""
    program = Program(source=f"print({number})  # {HOSTILE}\n", kind="service")
    return Release(
        app=app,
        number=number,
        run=f"20261118-09000{number}-b00{number}",
        deliverable=Deliverable(source=Source(program=program, run="20261118-080000-a3f9")),
        parent=parent,
        state=state,
        reason=HOSTILE if state == "refused" else "",
        by="user:ann",
        at=iso(at),
        image=None if state == "refused" else Image(reference=f"{app}:{number}", digest="ab"),
    )


def reading(
    at: float, *, app: str = "cart", number: int = 3, requests: int = 12, failed: int = 0
) -> Reading:
    """What was seen at one moment."""
    return Reading(
        app=app,
        release=number,
        at=at,
        usage=Usage(state="running", cpu_seconds=at % 10_000 / 10, memory=60 * MB, disk=13 * MB),
        status=200,
        probe_seconds=0.004,
        traffic=Traffic(requests=requests, failed=failed, median=0.01, slowest=0.025),
    )


def alarm(at: float, kind: AlarmKind = "memory leak", number: int = 2) -> Alarm:
    """An alarm with evidence that would be a script."""
    return Alarm(
        app="cart",
        release=number,
        kind=kind,
        at=at,
        delay=4.2,
        evidence=f"60 MB grew to 180 MB {HOSTILE}",
        confidence=0.97,
    )


def incident(now: float) -> Incident:
    """One that was restarted, rolled back, mended twice in vain, and waits for a person."""
    begun = opened(INCIDENT, alarm(now - 500))
    seen = Evidence(requests=(f"GET /{HOSTILE}",), said=(f"MemoryError {HOSTILE}",), growth=1200.0)
    begun = replace(begun, evidence=seen, restarts=1, mended=2)
    begun = moved(begun, "restarted", "restart cart: hang", now - 480, run="r-1")
    begun = moved(begun, "rolling back", "rollback cart to 1: hang", now - 450, run="r-2")
    begun = moved(begun, "fixing", "fix: attempt 1", now - 400, run="r-3")
    tried = Attempt(run="20261118-091500-f1f1", cause=HOSTILE, release=3, why=f"gate: {HOSTILE}")
    begun = replace(begun, attempts=(tried, Attempt(run="20261118-091600-f2f2")))
    begun = moved(begun, "fixing", "fix: attempt 2", now - 350, run="20261118-091600-f2f2")
    return moved(begun, "escalated", "hand over cart: no fix", now - 300, run=ASKS)


def troubled(place: Site, now: float) -> None:
    """Fill a server with an app in trouble, one that was stopped, and one that never served."""
    settings = place.settings
    apps, releases = apps_of(settings), releases_of(settings)
    apps.save(App(name="cart", host="local", port=8101, serving=3, good=1))
    releases.save(
        release(1, "replaced", now - 90_000),
        release(2, "rolled back", now - 900, parent=1),
        release(3, "serving", now - 200, parent=1),
        release(4, "refused", now - 100, parent=3),
    )
    apps.save(App(name="old", host="local", port=8102, serving=1, wanted="stopped"))
    releases.save(release(1, "serving", now - 90_000, app="old"))
    apps.save(App(name="new", host="local", port=8103))
    readings_of(settings).add([reading(now - 590 + second) for second in range(590)])
    incidents_of(settings).save(incident(now))
    closed = opened("20261118-080000-0001", replace(alarm(now - 9000), app="old"))
    incidents_of(settings).save(moved(closed, "closed", "its host restarted it", now - 8900))
    queue = queue_of_actions(settings)
    done = Queued(
        run="20261118-100000-9999",
        app="cart",
        kind="restart",
        state="asking",
        by="user:ann",
        at=iso(now - 150),
    )
    queue.put(done)
    queue.change(done.run, "done")
