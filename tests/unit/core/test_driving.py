"""Which runs are queued again, stranded or left alone: decided from what is known alone."""

from dataclasses import replace

import pytest

from twinsmith.core.driving import (
    QUEUE,
    SHELF,
    Change,
    Driving,
    DrivingState,
    Engaged,
    Worker,
    changes,
    finished,
    priority_of,
    requeued,
)
from twinsmith.core.errors import ConfigError

ME = Worker(name="me", pipeline="2", serves=True)
OTHER = Worker(name="other", pipeline="2", serves=True)
OLD = Worker(name="old", pipeline="1", serves=True)
NOW = "2026-11-18T10:00:00.000000+00:00"


def run(state: DrivingState, worker: str = "other", **known: object) -> Driving:
    made = Driving(run="r1", state=state, worker=worker, fence=3, pipeline="2")
    return replace(made, **known)  # type: ignore[arg-type]


def changed(
    driving: Driving,
    *workers: Worker,
    busy: tuple[str, ...] = (),
    delivered: tuple[tuple[str, str], ...] = (),
) -> tuple[Change, ...]:
    return changes(
        [driving], workers=[ME, *workers], me=ME, busy=busy, delivered=delivered, now=NOW
    )


def test_a_run_of_a_living_worker_is_left_alone() -> None:
    assert changed(run("driven"), OTHER) == ()
    assert changed(run("driven", worker="me"), busy=("r1",)) == ()
    assert changed(run("parked", worker="dead")) == ()


@pytest.mark.parametrize(
    "workers",
    [(), (replace(OTHER, silent=10.0),), (replace(OTHER, gone=True),)],
    ids=["unknown", "silent", "ended"],
)
def test_a_run_whose_worker_is_gone_is_queued_again(workers: tuple[Worker, ...]) -> None:
    (found,) = changed(run("driven"), *workers)
    assert (found.run, found.fence, found.state, found.why) == (
        *("r1", 3, "queued"),
        "worker other is gone",
    )


def test_a_run_that_this_worker_lost_is_queued_again() -> None:
    (found,) = changed(run("driven", worker="me"))
    assert (found.state, found.why) == ("queued", "worker me lost it")


def test_a_run_that_waits_goes_on_with_its_message_or_when_its_time_is_over() -> None:
    waits = run("waiting", topic="r1.1", until="2026-11-19T10:00:00")
    assert changed(waits) == ()
    assert changed(waits, delivered=(("r2", "r1.1"),)) == ()
    assert [each.why for each in changed(waits, delivered=(("r1", "r1.1"),))] == ["it was answered"]
    late = replace(waits, until="2026-11-18T09:59:59")
    assert [each.why for each in changed(late)] == ["nobody answered in time"]


def test_what_an_older_pipeline_began_is_left_to_its_workers_or_stranded() -> None:
    began = run("driven", worker="dead", pipeline="1")
    (left,) = changed(began, OLD)
    assert (left.state, left.pipeline) == ("queued", "1")
    (found,) = changed(began)
    assert (found.state, found.pipeline) == ("stranded", "1")
    assert "pipeline 1 began it" in found.why
    assert "this is 2" in found.why
    assert [each.state for each in changed(run("queued", pipeline="1"))] == ["stranded"]
    assert changed(run("queued", pipeline="1"), OLD) == ()


def test_what_is_stranded_goes_on_with_a_worker_of_its_version() -> None:
    assert changed(run("stranded", pipeline="1")) == ()
    assert [each.state for each in changed(run("stranded", pipeline="1"), OLD)] == ["queued"]
    assert [each.state for each in changed(run("stranded"))] == ["queued"]


def test_what_was_never_begun_may_be_begun_by_any_pipeline() -> None:
    (found,) = changed(run("queued", worker="", pipeline="1", fence=0))
    assert (found.state, found.pipeline, found.fence) == ("queued", "2", 0)


def again(driving: Driving, engaged: Engaged | None, *workers: Worker) -> bool:
    known = {"r1": engaged} if engaged else {}
    return requeued([driving], known, workers=[ME, *workers], me=ME) == ("r1",)


def test_the_engine_is_told_of_what_it_does_not_know_or_has_elsewhere() -> None:
    assert not again(run("queued", since=2), None)
    queued = run("queued", since=4)
    assert again(queued, None)
    assert not again(queued, Engaged(run="r1", status="ENQUEUED", queue=QUEUE))
    assert again(queued, Engaged(run="r1", status="ENQUEUED", queue=SHELF))
    assert again(queued, Engaged(run="r1", status="PENDING", worker="dead", queue=QUEUE))
    taken = Engaged(run="r1", status="PENDING", worker="other", queue=QUEUE)
    assert not again(queued, taken, OTHER)
    assert again(replace(queued, since=16), taken, OTHER)
    assert not again(queued, Engaged(run="r1", status="SUCCESS"))
    assert not again(replace(queued, pipeline="1"), None)


def test_a_run_told_as_ended_is_brought_to_its_end_in_the_engine() -> None:
    ended = run("ended")
    assert again(ended, Engaged(run="r1", status="PENDING", worker="dead"))
    assert not again(ended, Engaged(run="r1", status="PENDING", worker="other"), OTHER)
    assert not again(ended, Engaged(run="r1", status="SUCCESS", worker="dead"))
    assert not again(run("parked"), Engaged(run="r1", status="PENDING", worker="dead"))


def test_a_run_that_the_engine_has_ended_is_not_queued() -> None:
    over = {"r1": Engaged(run="r1", status="SUCCESS")}
    assert [each.state for each in finished([run("queued")], over)] == ["ended"]
    assert finished([run("parked")], over) == ()
    assert finished([run("queued")], {"r1": Engaged(run="r1", status="PENDING")}) == ()


def test_priorities_are_words() -> None:
    assert priority_of("high") == "high"
    with pytest.raises(ConfigError, match="'urgent' is not known; one of high, normal, low"):
        priority_of("urgent")
