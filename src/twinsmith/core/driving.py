"""Who drives which run, and what has to be done about runs that nobody drives: pure decisions."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from twinsmith.core.errors import ConfigError

DrivingState = Literal["queued", "driven", "waiting", "parked", "stranded", "ended"]
Priority = Literal["high", "normal", "low"]
PRIORITIES: tuple[Priority, ...] = ("high", "normal", "low")
SILENT_SECONDS = 10.0
"""A worker that was not heard of for so long is taken for gone."""
HANDED_SECONDS = 3.0
"""Whoever queues a run has so long to tell the journal and then the engine."""
UNTAKEN_SECONDS = 15.0
"""A run that was handed to a living worker and not begun for so long is handed out again."""
QUEUE = "runs"
"""The queue that workers take runs from."""
SHELF = "shelf"
"""The queue that nobody takes from: for runs that wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Driving:
    """The state of a run between workers; `fence` grows with every worker that takes it."""

    run: str
    state: DrivingState
    worker: str = ""
    """The worker that took it last."""
    fence: int = 0
    pipeline: str = ""
    """The version of the pipeline that began it, or is going to."""
    topic: str = ""
    """The message that it waits for."""
    until: str = ""
    """The moment at which it goes on without the message, ISO 8601 in UTC."""
    priority: Priority = "normal"
    node: str = ""
    """The data folder that it was submitted from; results are put on that machine's disk."""
    attended: bool = False
    """A person follows it and can be asked."""
    since: float = 0.0
    """Seconds since its state changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """A process that drives runs."""

    name: str
    pipeline: str
    serves: bool
    """Takes runs from the queue; a command at a terminal drives its own run only."""
    concurrency: int = 1
    silent: float = 0.0
    """Seconds since it was heard of."""
    gone: bool = False
    """Its process has ended, as this machine can see."""

    @property
    def lives(self) -> bool:
        """Whether it can be expected to go on with its runs."""
        return not self.gone and self.silent < SILENT_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Engaged:
    """A run as the engine knows it."""

    run: str
    status: str
    worker: str = ""
    queue: str = ""

    @property
    def over(self) -> bool:
        """Whether the engine will never go on with it."""
        return self.status not in ("PENDING", "ENQUEUED", "DELAYED")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A new state for a run whose fence is still the one that was seen."""

    run: str
    fence: int
    state: DrivingState
    pipeline: str
    why: str


def priority_of(text: str) -> Priority:
    """The priority that a person means; ConfigError where it is none."""
    for known in PRIORITIES:
        if text == known:
            return known
    raise ConfigError(f"priority {text!r} is not known; one of {', '.join(PRIORITIES)}")


def changes(
    driving: Iterable[Driving],
    *,
    workers: Collection[Worker],
    me: Worker,
    busy: Collection[str],
    delivered: Collection[tuple[str, str]],
    now: str,
) -> tuple[Change, ...]:
    """The runs whose state is no longer true, as one worker sees them.

    `busy` are the runs that it drives itself, `delivered` the messages that have come.
    """
    living = {worker.name for worker in workers if worker.lives} | {me.name}
    served = {worker.pipeline for worker in workers if worker.lives and worker.serves}
    served.add(me.pipeline)
    found = []
    for each in driving:
        why = _why(each, living=living, me=me, busy=busy, delivered=delivered, now=now)
        if each.pipeline in served:
            if why:
                found.append(_changed(each, "queued", each.pipeline, why))
        elif not each.fence and each.state == "queued":
            # Nothing of it is recorded yet: any pipeline may begin it.
            found.append(_changed(each, "queued", me.pipeline, "no worker of its version"))
        elif each.state != "stranded" and (why or each.state == "queued"):
            told = (
                f"pipeline {each.pipeline} began it and no worker of that version is there (this "
                f"is {me.pipeline}); it goes on as soon as one is"
            )
            found.append(_changed(each, "stranded", each.pipeline, told))
    return tuple(found)


def requeued(
    driving: Iterable[Driving],
    engaged: Mapping[str, Engaged],
    *,
    workers: Collection[Worker],
    me: Worker,
) -> tuple[str, ...]:
    """The runs that the engine has to queue again: a dead worker has them, or nobody."""
    living = {worker.name for worker in workers if worker.lives} | {me.name}
    found = []
    for each in driving:
        known = engaged.get(each.run)
        if each.pipeline != me.pipeline or (known is not None and known.over):
            continue
        abandoned = known is not None and known.status == "PENDING" and known.worker not in living
        if each.state == "queued":
            misplaced = known is None or (known.status != "PENDING" and known.queue != QUEUE)
            untaken = known is not None and known.status == "PENDING"
            patience = UNTAKEN_SECONDS if untaken and not abandoned else HANDED_SECONDS
            if (misplaced or untaken) and each.since > patience:
                found.append(each.run)
        elif each.state == "ended" and abandoned:
            # It was told as ended, and its worker died before the engine knew.
            found.append(each.run)
    return tuple(found)


def finished(driving: Iterable[Driving], engaged: Mapping[str, Engaged]) -> tuple[Change, ...]:
    """The runs that are queued although the engine has seen their end."""
    over = {run for run, known in engaged.items() if known.over}
    return tuple(
        _changed(each, "ended", each.pipeline, "its end is recorded")
        for each in driving
        if each.state == "queued" and each.run in over
    )


def _why(
    each: Driving,
    *,
    living: Collection[str],
    me: Worker,
    busy: Collection[str],
    delivered: Collection[tuple[str, str]],
    now: str,
) -> str:
    """The reason why a run has to be queued again; empty where it has not."""
    if each.state == "driven" and each.worker not in living:
        return f"worker {each.worker} is gone"
    if each.state == "driven" and each.worker == me.name and each.run not in busy:
        return f"worker {each.worker} lost it"
    if each.state == "waiting" and (each.run, each.topic) in delivered:
        return "it was answered"
    if each.state == "waiting" and each.until <= now:
        return "nobody answered in time"
    if each.state == "stranded":
        return f"a worker of pipeline {each.pipeline} is here"
    return ""


def _changed(each: Driving, state: DrivingState, pipeline: str, why: str) -> Change:
    return Change(run=each.run, fence=each.fence, state=state, pipeline=pipeline, why=why)
