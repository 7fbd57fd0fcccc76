"""The progress of a run, told from its events alone."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from twinsmith.core import members
from twinsmith.core.errors import EngineError, RunCancelled, TwinsmithError, Waiting
from twinsmith.core.events import Entry, Json

State = Literal[
    "queued",
    "running",
    "waiting",
    "interrupted",
    "parked",
    "solved",
    "not solved",
    "done",
    "refused",
    "cancelled",
]
ENDED: tuple[State, ...] = ("solved", "not solved", "done", "refused", "cancelled")
_STATES: Mapping[str, State] = {
    "run.queued": "queued",
    "run.taken": "running",
    "run.resumed": "running",
    "run.waiting": "waiting",
    "run.parked": "parked",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """The progress of one stage."""

    name: str
    started: str
    finished: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ensemble:
    """The progress of one ensemble."""

    number: int
    answers: Mapping[str, int] = field(default_factory=dict)
    """The number of answers from each role."""
    tokens: int = 0
    candidates: tuple[int, ...] = ()
    """The numbers of candidates that the ensemble wrote, and of small edits of them."""
    best: str = ""
    """The number of the ensemble's best candidate, and how many checks it passes."""
    waiting: Mapping[str, str] = field(default_factory=dict)
    """The roles that were asked and have not answered, by the keys of the questions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The progress of one run."""

    run: str
    task: str = ""
    state: State = "running"
    started: str = ""
    updated: str = ""
    stages: tuple[Stage, ...] = ()
    tokens: int = 0
    ensembles: tuple[Ensemble, ...] = ()
    """The ensembles that were asked something, in the order of their numbers."""
    best: str = ""
    leader: int | None = None
    """The best candidate so far; in the end, the one that was chosen."""
    out: str = ""
    reason: str = ""
    confidence: float = 1.0
    models: tuple[str, ...] = field(default=())


def advance(progress: Progress, entry: Entry) -> Progress:
    """The progress of a run after one more event."""
    event, at = entry.event, entry.at
    data = event.data
    progress = replace(progress, updated=at)
    match event.kind:
        case "run.started":
            return replace(
                progress, task=members.text(data, "task"), started=at, out=members.text(data, "out")
            )
        case "run.queued" | "run.taken" | "run.resumed" | "run.waiting" | "run.parked":
            return _moved(progress, entry)
        case "run.ended":
            return _ended(progress, data)
        case "stage.started":
            stage = Stage(name=members.text(data, "stage"), started=at)
            return replace(progress, stages=(*progress.stages, stage))
        case "stage.finished":
            return _stage_finished(progress, data, at)
        case "model.asked":
            return replace(progress, ensembles=_asked(progress.ensembles, data))
        case "model.replied":
            return _model_replied(progress, data)
        case "candidates.varied":
            return replace(progress, ensembles=_edited(progress.ensembles, data))
        case "candidates.compared":
            return _compared(progress, data)
        case _:
            return progress


def progress_of(run: str, entries: Iterable[Entry]) -> Progress:
    """The progress that all events of a run amount to."""
    progress = Progress(run=run)
    for entry in entries:
        progress = advance(progress, entry)
    return progress


def stands_still(progress: Progress, served: Callable[[], bool]) -> bool:
    """Whether a run does not go on by itself: it has ended, is parked, or no worker is there."""
    if progress.state in (*ENDED, "parked"):
        return True
    return progress.state != "running" and not served()


def unfinished(progress: Progress) -> TwinsmithError | None:
    """Why a run that stands still has no outcome; None where it has one."""
    match progress.state:
        case "parked":
            return EngineError(progress.reason)
        case "waiting":
            return Waiting(progress.reason)
        case "queued" | "interrupted":
            return EngineError(f"run {progress.run} is {progress.state} and no worker is left")
        case "cancelled":
            return RunCancelled(f"run {progress.run} was cancelled; start a new build")
        case _:
            return None


def elapsed(since: str, until: str) -> float:
    """Seconds between two times as events carry them."""
    if not since or not until:
        return 0.0
    return (datetime.fromisoformat(until) - datetime.fromisoformat(since)).total_seconds()


def _moved(progress: Progress, entry: Entry) -> Progress:
    """The progress of a run in another state; one that has ended stays so."""
    if progress.state in ENDED:
        return progress
    event = entry.event
    # What it waited in the queue is not counted as its time.
    started = entry.at if event.kind == "run.taken" else progress.started
    reason = members.text(event.data, "reason")
    return replace(progress, state=_STATES[event.kind], reason=reason, started=started)


def _ended(progress: Progress, data: Mapping[str, Json]) -> Progress:
    state = members.text(data, "state")
    for known in ENDED:
        if state == known:
            return replace(
                progress,
                state=known,
                reason=members.text(data, "reason"),
                out=members.text(data, "out") or progress.out,
                confidence=members.number(data, "confidence", 1.0),
                leader=members.whole(data, "winner"),
            )
    return progress


def _stage_finished(progress: Progress, data: Mapping[str, Json], at: str) -> Progress:
    name = members.text(data, "stage")
    note = members.text(data, "note")
    return replace(
        progress,
        stages=tuple(
            replace(stage, finished=at, note=note) if stage.name == name else stage
            for stage in progress.stages
        ),
        # A question that the budget ended is never answered.
        ensembles=tuple(replace(each, waiting={}) for each in progress.ensembles),
    )


def _model_replied(progress: Progress, data: Mapping[str, Json]) -> Progress:
    model = members.text(data, "model")
    models = progress.models if model in progress.models else (*progress.models, model)
    used = members.whole(data, "tokens") or 0
    return replace(
        progress,
        tokens=progress.tokens + used,
        models=models,
        ensembles=_answered(progress.ensembles, data, used),
    )


def _compared(progress: Progress, data: Mapping[str, Json]) -> Progress:
    found = data.get("ensembles")
    standing = found if isinstance(found, dict) else {}
    return replace(
        progress,
        best=members.text(data, "best"),
        leader=members.whole(data, "winner"),
        ensembles=tuple(
            replace(each, best=members.text(standing, str(each.number)))
            for each in progress.ensembles
        ),
    )


def _asked(before: tuple[Ensemble, ...], data: Mapping[str, Json]) -> tuple[Ensemble, ...]:
    """The ensembles after one more question."""
    number, role = members.whole(data, "ensemble"), members.text(data, "role")
    if number is None:
        return before
    known = {each.number: each for each in before}
    old = known.get(number, Ensemble(number=number))
    waiting = {**old.waiting, members.text(data, "idempotency_key"): role}
    known[number] = replace(old, waiting=waiting)
    return tuple(known[each] for each in sorted(known))


def _answered(
    before: tuple[Ensemble, ...], data: Mapping[str, Json], tokens: int
) -> tuple[Ensemble, ...]:
    """The ensembles after one more answer; what an older journal does not tell is left out."""
    number, role, nth = (
        members.whole(data, "ensemble"),
        members.text(data, "role"),
        members.whole(data, "nth"),
    )
    if number is None or not role:
        return before
    known = {each.number: each for each in before}
    old = known.get(number, Ensemble(number=number))
    key = members.text(data, "idempotency_key")
    # The first question to a coder, number 0, is answered with candidate 1.
    written = (nth + 1,) if role == "coder" and nth is not None else ()
    known[number] = replace(
        old,
        answers={**old.answers, role: old.answers.get(role, 0) + 1},
        tokens=old.tokens + tokens,
        candidates=tuple(sorted({*old.candidates, *written})),
        waiting={each: asked for each, asked in old.waiting.items() if each != key},
    )
    return tuple(known[each] for each in sorted(known))


def _edited(before: tuple[Ensemble, ...], data: Mapping[str, Json]) -> tuple[Ensemble, ...]:
    """The ensembles with the kept edits of their candidates, which get the next numbers."""
    after, kept = members.whole(data, "after"), data.get("kept")
    if after is None or not isinstance(kept, list):
        return before
    made = dict(enumerate(kept, after + 1))
    return tuple(
        replace(each, candidates=tuple(sorted({*each.candidates, *_edits_of(each, made)})))
        for each in before
    )


def _edits_of(ensemble: Ensemble, made: Mapping[int, Json]) -> Iterable[int]:
    return (number for number, of in made.items() if of in ensemble.candidates)


def several(count: int, word: str) -> str:
    """A count with its word in singular or plural: `1 file`, `1,200 files`."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"
