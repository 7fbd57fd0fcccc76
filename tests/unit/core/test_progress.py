from twinsmith.core.events import Entry, Event, Json
from twinsmith.core.progress import Progress, elapsed, progress_of


def entry(kind: str, second: int, **data: Json) -> Entry:
    event = Event(run="r", kind=kind, who="w", data=data)
    return Entry(seq=1, at=f"2026-01-01T00:00:{second:02}+00:00", event=event, prev="", hash="")


def test_a_run_is_told_from_its_events() -> None:
    progress = progress_of(
        "r",
        [
            entry("run.started", 0, task="t", out="/o"),
            entry("stage.started", 1, stage="clarify"),
            entry("model.replied", 2, model="m", tokens=10),
            entry("model.replied", 2, model="m", tokens=5),
            entry("stage.finished", 3, stage="clarify", note="fine"),
            entry("stage.started", 3, stage="explore"),
            entry("candidates.compared", 4, best="candidate 1"),
            entry("something.new", 5),
        ],
    )
    assert (progress.task, progress.state, progress.tokens) == ("t", "running", 15)
    assert (progress.best, progress.models) == ("candidate 1", ("m",))
    assert [(s.name, s.note, bool(s.finished)) for s in progress.stages] == [
        ("clarify", "fine", True),
        ("explore", "", False),
    ]
    assert elapsed(progress.started, progress.updated) == 5


def test_parked_resumed_and_ended() -> None:
    events = [entry("run.started", 0), entry("run.parked", 1, reason="no model")]
    assert progress_of("r", events).state == "parked"
    assert progress_of("r", events).reason == "no model"
    events.append(entry("run.resumed", 2))
    assert progress_of("r", events).state == "running"
    events.append(entry("run.ended", 3, state="not solved", reason="why", out="/x"))
    ended = progress_of("r", events)
    assert (ended.state, ended.reason, ended.out) == ("not solved", "why", "/x")


def test_nonsense_in_events_does_no_harm() -> None:
    assert progress_of("r", [entry("run.ended", 0, state="exploded")]).state == "running"
    assert progress_of("r", [entry("model.replied", 0, tokens="many")]).tokens == 0
    assert progress_of("r", []) == Progress(run="r")
    assert elapsed("", "2026-01-01T00:00:00") == 0
