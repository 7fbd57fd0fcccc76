"""What is done about an incident: every stage, every reason to wait, and when a person is asked."""

from dataclasses import replace

import pytest

from tests.docks import service
from twinsmith.core.operating.alarm import ALARMS, Alarm, AlarmKind
from twinsmith.core.operating.app import App, Release
from twinsmith.core.operating.incident import (
    MOST_STEPS,
    Attempt,
    Incident,
    attempted,
    joined,
    moved,
    opened,
)
from twinsmith.core.operating.instance import Image
from twinsmith.core.operating.remedy import DATA, NOTICES, WAIT, Deed, Situation, remedy

IMAGE = Image(reference="i", digest="d")
V1 = Release(
    app="shop", number=1, run="r1", deliverable=service("1"), state="replaced", image=IMAGE
)
V2 = replace(V1, number=2, state="serving", parent=1)
SHOP = App(name="shop", host="local", port=8100, serving=2, good=2)


def alarm(kind: AlarmKind, *, release: int = 2, at: float = 100.0) -> Alarm:
    return Alarm(
        app="shop", release=release, kind=kind, at=at, delay=1.0, evidence="seen", confidence=0.9
    )


def situation(*alarms: Alarm, now: float = 100.0, **more: object) -> Situation:
    given = {"app": SHOP, "releases": (V1, V2), **more}
    return Situation(now=now, alarms=alarms, **given)  # type: ignore[arg-type]


def incident(kind: AlarmKind) -> Incident:
    return opened("i-1", alarm(kind))


@pytest.mark.parametrize(
    ("kind", "deed"),
    [
        ("crash", "wait"),
        ("crash loop", "roll back"),
        ("down", "restart"),
        ("hang", "restart"),
        ("probe failing", "roll back"),
        ("errors", "roll back"),
        ("latency", "roll back"),
        ("memory leak", "roll back"),
        ("descriptor leak", "roll back"),
        ("disk growth", "escalate"),
        ("log flood", "close"),
        ("probe slow", "close"),
        ("new errors", "close"),
        ("certificate", "close"),
        ("end of life", "close"),
        ("advisory", "close"),
    ],
)
def test_the_first_deed_for_each_kind_of_trouble(kind: AlarmKind, deed: Deed) -> None:
    done = remedy(incident(kind), situation(alarm(kind)))
    assert done.deed == deed
    assert done.to == (1 if deed == "roll back" else 0)


def test_every_kind_has_its_place() -> None:
    assert set(ALARMS) >= NOTICES | DATA
    for kind in ALARMS:
        assert remedy(incident(kind), situation(alarm(kind))).deed


def test_a_crash_that_its_host_mended_is_over_once_it_is_steady() -> None:
    crashed = incident("crash")
    assert remedy(crashed, situation(now=129.0)) == WAIT
    assert remedy(crashed, situation(now=131.0)).deed == "close"
    looping = joined(crashed, alarm("crash loop", at=105.0))
    assert looping.kind == "crash loop"
    assert remedy(looping, situation(alarm("crash loop"), now=105.0)).deed == "roll back"


@pytest.mark.parametrize("kind", [kind for kind in ALARMS if kind not in NOTICES | DATA])
def test_whatever_holds_the_app_comes_first(kind: AlarmKind) -> None:
    assert remedy(incident(kind), situation(alarm(kind), held="pause by ann")) == WAIT


def test_an_app_that_a_person_stopped_is_left_alone() -> None:
    stopped = replace(SHOP, wanted="stopped")
    assert remedy(incident("down"), situation(app=stopped)).deed == "close"


def test_a_release_that_does_not_serve_any_more_is_no_trouble() -> None:
    assert remedy(incident("errors"), situation(app=replace(SHOP, serving=1))).deed == "close"


def test_without_an_earlier_release_the_one_that_serves_is_mended() -> None:
    alone = replace(SHOP, serving=1, good=1)
    first = opened("i-1", alarm("memory leak", release=1))
    serves = (replace(V1, state="serving"),)
    mended = remedy(first, situation(app=alone, releases=serves))
    assert mended.deed == "fix"
    assert "no earlier release" in mended.why
    asked = remedy(first, situation(app=alone, releases=serves, fixes=False))
    assert (asked.deed, "release 1 is left to a person" in asked.why) == ("escalate", True)


def test_restarts_grow_apart_and_then_it_is_rolled_back() -> None:
    hung = replace(moved(incident("hang"), "restarted", "x", 100.0), restarts=1)
    again = alarm("hang")
    assert remedy(hung, situation(again, now=105.0)) == WAIT
    assert remedy(hung, situation(again, now=111.0)).deed == "restart"
    twice = replace(hung, restarts=2)
    assert remedy(twice, situation(again, now=111.0)).deed == "roll back"
    # Other trouble than a restart mends is not restarted again.
    assert remedy(hung, situation(alarm("errors"), now=111.0)).deed == "roll back"
    assert remedy(hung, situation(now=129.0)) == WAIT
    assert remedy(hung, situation(now=131.0)).deed == "close"


def test_a_restart_that_was_refused_leads_back() -> None:
    hung = replace(moved(incident("hang"), "restarted", "x", 100.0), restarts=1)
    assert remedy(hung, situation(refused="it does not start")).deed == "roll back"


def test_after_a_rollback_the_release_is_mended_or_left_to_a_person() -> None:
    back = moved(incident("memory leak"), "rolling back", "x", 100.0, run="r")
    served = replace(SHOP, serving=1)
    assert remedy(back, situation(app=served, now=110.0)) == WAIT
    mended = remedy(back, situation(app=served, now=131.0))
    assert (mended.deed, "attempt 1" in mended.why) == ("fix", True)
    assert remedy(back, situation(app=served, now=131.0, mending=True)) == WAIT
    told = remedy(back, situation(app=served, now=131.0, fixes=False))
    assert (told.deed, "release 2 is left to a person" in told.why) == ("escalate", True)


def test_a_rollback_that_was_refused_or_does_not_help_goes_to_a_person() -> None:
    back = moved(incident("memory leak"), "rolling back", "x", 100.0, run="r")
    refused = remedy(back, situation(refused="release 1 does not start"))
    assert (refused.deed, "release 1 does not start" in refused.why) == ("escalate", True)
    served = replace(SHOP, serving=1)
    worse = remedy(back, situation(alarm("errors", release=1), app=served))
    assert (worse.deed, "release 1 has trouble as well" in worse.why) == ("escalate", True)
    assert remedy(back, situation(alarm("crash", release=1), app=served)) == WAIT


def test_a_rollback_that_a_kill_cut_off_is_begun_again() -> None:
    back = moved(incident("memory leak"), "rolling back", "x", 100.0, run="r")
    assert remedy(back, situation()) == WAIT
    assert remedy(back, situation(lost=True)).deed == "roll back"
    hung = moved(incident("hang"), "restarted", "x", 100.0, run="r")
    assert remedy(hung, situation(lost=True)).deed == "restart"
    out = moved(SEARCHING, "releasing", "x", 100.0, run="d")
    assert remedy(out, situation(app=BACK, lost=True)).deed == "release"


@pytest.mark.parametrize("stage", ["escalated", "closed"])
def test_what_is_a_persons_is_left_to_them(stage: str) -> None:
    over = moved(incident("hang"), stage, "x", 100.0)  # type: ignore[arg-type]
    assert remedy(over, situation(alarm("hang"))) == WAIT


def test_an_alarm_joins_once_and_another_releases_does_not_change_the_kind() -> None:
    first = incident("latency")
    assert joined(first, alarm("latency", at=200.0)) == first
    more = joined(first, alarm("errors", release=1))
    assert (more.kind, len(more.alarms), more.last) == ("latency", 2, "errors: seen")


def test_a_timeline_keeps_its_beginning_and_its_end() -> None:
    long = incident("hang")
    for number in range(200):
        long = moved(long, "restarted", f"step {number}", float(number))
    assert len(long.steps) == MOST_STEPS
    assert long.steps[0].did == "hang: seen"
    assert long.last == "step 199"


BACK = replace(SHOP, serving=1)
SEARCHING = replace(
    moved(incident("errors"), "fixing", "x", 100.0, run="f-1"),
    attempts=(Attempt(run="f-1"),),
    mended=2,
)


def test_a_fix_that_passes_is_released_and_has_to_prove_itself() -> None:
    assert remedy(SEARCHING, situation(app=BACK)) == WAIT
    assert remedy(SEARCHING, situation(app=BACK, over=True)).deed == "release"
    out = moved(SEARCHING, "releasing", "x", 100.0, run="d-1")
    mended = replace(SHOP, serving=3)
    assert remedy(out, situation(app=BACK)) == WAIT
    assert remedy(out, situation(app=mended, over=True)).deed == "prove"
    proving = moved(attempted(replace(out, release=3), release=3), "proving", "x", 100.0)
    assert remedy(proving, situation(app=mended, now=129.0)) == WAIT
    proven = remedy(proving, situation(app=mended, now=131.0))
    assert (proven.deed, "release 3 mended it" in proven.why) == ("close", True)
    # A notice is no trouble; anything else undoes the fix.
    assert remedy(proving, situation(alarm("new errors", release=3), app=mended)) == WAIT
    again = remedy(
        proving,
        situation(alarm("errors", release=3), app=mended, releases=(V1, V2, replace(V2, number=3))),
    )
    assert again.deed == "roll back"


@pytest.mark.parametrize("stage", ["fixing", "releasing"])
def test_three_attempts_then_a_person(stage: str) -> None:
    failed = replace(SEARCHING, stage=stage)  # type: ignore[arg-type]
    no = situation(app=BACK, over=True, refused="no version passes")
    assert remedy(failed, no).deed == "fix"
    third = replace(failed, attempts=(Attempt(run="f-1", why="no"),) * 2 + (Attempt(run="f-3"),))
    asked = remedy(third, no)
    assert asked.deed == "escalate"
    assert asked.why.startswith("after 3 of 3 attempts: no version passes")


@pytest.mark.parametrize("why", ["it cannot be reproduced: x", "rejected by ann: not now"])
def test_what_would_be_the_same_again_is_not_tried_again(why: str) -> None:
    asked = remedy(SEARCHING, situation(app=BACK, over=True, refused=why))
    assert (asked.deed, "after 1 of 3 attempts" in asked.why) == ("escalate", True)


def test_a_person_who_releases_meanwhile_ends_the_search() -> None:
    own = remedy(SEARCHING, situation(app=replace(SHOP, serving=4)))
    assert (own.deed, "a person released 4" in own.why) == ("close", True)
    proving = moved(attempted(SEARCHING, release=3), "proving", "x", 100.0)
    other = remedy(proving, situation(app=replace(SHOP, serving=5)))
    assert other.deed == "close"


def test_a_failed_fix_of_the_only_release_is_tried_again_although_that_is_ill() -> None:
    """Nothing better is there to go back to: what was ill before is ill again."""
    undone = replace(
        SEARCHING, stage="rolling back", release=2, mended=1, attempts=(Attempt(run="f", why="n"),)
    )
    ill = situation(alarm("errors", release=1), app=BACK, now=131.0)
    assert remedy(undone, ill).deed == "fix"
