"""The condition of every part, decided from a few numbers and what happened last."""

from twinsmith.core.anatomy import PARTS
from twinsmith.core.condition import Circumstances, Condition, conditions
from twinsmith.core.motion import Deed, Motion

AT = "2026-11-18T10:00:00.000000+00:00"
SOON = "2026-11-18T10:00:05.000000+00:00"
LATER = "2026-11-18T10:14:00.000000+00:00"
MUCH_LATER = "2026-11-18T10:16:00.000000+00:00"


def test_without_anything_going_on_everything_is_idle() -> None:
    found = conditions(Circumstances(), Motion(), AT)
    assert set(found) == set(PARTS)
    assert {each.kind for each in found.values()} == {"idle"}


def test_questions_under_way_are_counted_where_they_are_asked() -> None:
    now = Circumstances(asked={(1, "coder"): 2, (2, "slow"): 1})
    found = conditions(now, Motion(), AT)
    assert (found["coder1"].kind, found["coder1"].count) == ("working", 2)
    assert found["coder1"].words == "2 questions under way"
    assert found["manager"].count == found["models"].count == 3
    assert found["coder2"].kind == found["critic1"].kind == "idle"


def test_programs_are_tried_where_no_model_is_asked() -> None:
    found = conditions(Circumstances(trying=1), Motion(), AT)
    assert {found["execution1"].kind, found["execution2"].kind} == {"working"}
    told = Motion(last={"execution2": Deed(at=AT, text="candidate 1: 3 passed")})
    found = conditions(Circumstances(), told, SOON)
    assert (found["execution1"].kind, found["execution2"].kind) == ("idle", "working")


def test_a_failure_shows_until_it_is_old() -> None:
    motion = Motion(last={"models": Deed(at=AT, text="no model answers", failed=True)})
    found = conditions(Circumstances(), motion, LATER)
    assert found["models"] == Condition(kind="failing", words="no model answers")
    assert conditions(Circumstances(), motion, MUCH_LATER)["models"].kind == "idle"


def test_what_waits_for_people_is_counted() -> None:
    found = conditions(Circumstances(approvals=2, questions=1, escalated=1), Motion(), AT)
    assert found["approvals"] == Condition(
        kind="waits", count=3, words="2 approvals and 1 question"
    )
    assert (found["healer"].kind, found["healer"].count) == ("waits", 1)
    assert found["containers"].kind == "failing"


def test_apps_that_nobody_watches_are_a_failure_of_the_monitor() -> None:
    watched = conditions(Circumstances(serving=2, watched=True), Motion(), AT)
    assert watched["monitor"] == Condition(kind="working", count=2, words="2 apps watched")
    alone = conditions(Circumstances(serving=2), Motion(), AT)["monitor"]
    assert alone.kind == "failing"
    assert "twinsmith monitor" in alone.words


def test_what_people_hold_and_what_is_queued() -> None:
    found = conditions(Circumstances(held=("all",), acting=1, queued=2), Motion(), AT)
    assert found["override"] == Condition(kind="held", count=1, words="held: all")
    assert (found["queue"].kind, found["queue"].count) == ("working", 3)
    assert (found["containers"].kind, found["containers"].count) == ("working", 1)
