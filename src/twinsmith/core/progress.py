"""How far a run has come, told from its events alone."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from twinsmith.core.events import Entry, Json

State = Literal["running", "interrupted", "parked", "solved", "not solved", "cancelled"]
ENDED: tuple[State, ...] = ("solved", "not solved", "cancelled")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One stage as a person sees it."""

    name: str
    started: str
    finished: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """One run as a person sees it."""

    run: str
    task: str = ""
    state: State = "running"
    started: str = ""
    updated: str = ""
    stages: tuple[Stage, ...] = ()
    tokens: int = 0
    best: str = ""
    out: str = ""
    reason: str = ""
    confidence: float = 1.0
    models: tuple[str, ...] = field(default=())


def advance(progress: Progress, entry: Entry) -> Progress:
    """The progress after one more event."""
    event, at = entry.event, entry.at
    data = event.data
    progress = replace(progress, updated=at)
    match event.kind:
        case "run.started":
            return replace(progress, task=_text(data, "task"), started=at, out=_text(data, "out"))
        case "run.resumed":
            return replace(progress, state="running", reason="")
        case "run.parked":
            return replace(progress, state="parked", reason=_text(data, "reason"))
        case "run.ended":
            return _ended(progress, data)
        case "stage.started":
            stage = Stage(name=_text(data, "stage"), started=at)
            return replace(progress, stages=(*progress.stages, stage))
        case "stage.finished":
            return _stage_finished(progress, data, at)
        case "model.replied":
            return _model_replied(progress, data)
        case "candidates.compared":
            return replace(progress, best=_text(data, "best"))
        case _:
            return progress


def progress_of(run: str, entries: Iterable[Entry]) -> Progress:
    """The progress that all events of a run amount to."""
    progress = Progress(run=run)
    for entry in entries:
        progress = advance(progress, entry)
    return progress


def elapsed(since: str, until: str) -> float:
    """Seconds between two times as events carry them."""
    if not since or not until:
        return 0.0
    return (datetime.fromisoformat(until) - datetime.fromisoformat(since)).total_seconds()


def _ended(progress: Progress, data: Mapping[str, Json]) -> Progress:
    state = _text(data, "state")
    for known in ENDED:
        if state == known:
            return replace(
                progress,
                state=known,
                reason=_text(data, "reason"),
                out=_text(data, "out") or progress.out,
                confidence=_number(data, "confidence", 1.0),
            )
    return progress


def _stage_finished(progress: Progress, data: Mapping[str, Json], at: str) -> Progress:
    name = _text(data, "stage")
    note = _text(data, "note")
    return replace(
        progress,
        stages=tuple(
            replace(stage, finished=at, note=note) if stage.name == name else stage
            for stage in progress.stages
        ),
    )


def _model_replied(progress: Progress, data: Mapping[str, Json]) -> Progress:
    tokens = data.get("tokens")
    model = _text(data, "model")
    models = progress.models if model in progress.models else (*progress.models, model)
    used = tokens if isinstance(tokens, int) else 0
    return replace(progress, tokens=progress.tokens + used, models=models)


def _number(data: Mapping[str, Json], name: str, default: float) -> float:
    value = data.get(name)
    return float(value) if isinstance(value, int | float) else default


def _text(data: Mapping[str, Json], name: str) -> str:
    value = data.get(name)
    return value if isinstance(value, str) else ""
