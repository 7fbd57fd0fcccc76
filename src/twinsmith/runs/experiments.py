"""Experiments of one home: begun, looked at, ended by what their runs show, or by a person."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from twinsmith.adapters.clock import SystemClock
from twinsmith.core.errors import ConfigError, Conflict, Unknown
from twinsmith.core.events import SYSTEM, Json
from twinsmith.core.operating.alert import Alert
from twinsmith.core.people.actor import Actor
from twinsmith.core.task import Job
from twinsmith.core.trying.arrangement import Arrangement
from twinsmith.core.trying.experiment import (
    MEANING,
    Experiment,
    Mode,
    Recorded,
    Verdict,
    checked,
    clash,
    guard_in,
    metric_in,
    name_in,
)
from twinsmith.core.trying.experiment_power import Power, power_of
from twinsmith.core.trying.experiment_results import Result
from twinsmith.core.trying.experiment_seen import Planned, Seen
from twinsmith.core.trying.experiment_verdict import in_words, judged
from twinsmith.runs.alerts import raise_alert
from twinsmith.runs.book import Book
from twinsmith.runs.trials import counted, history, results_of, trials
from twinsmith.wiring.experiments import experiments_of

MOST_HISTORY = 200
MOST_TASKS = 1000
DAY = 86_400.0
HIMSELF = "twinsmith"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """An experiment as a person tells it."""

    name: str
    a: Arrangement
    b: Arrangement
    share: float = 0.2
    metric: str = "solved"
    guards: tuple[str, ...] = ()
    least: float | None = None
    mode: Mode = "live"
    tasks: tuple[Recorded, ...] = ()
    seed: int = 0


def drawn_up(book: Book, wanted: Wanted) -> Planned:
    """The experiment that a person wants, and its power; ConfigError where it cannot be."""
    metric = metric_in(wanted.metric)
    guards = tuple(map(guard_in, wanted.guards))
    twice = [each.metric for each in guards if [g.metric for g in guards].count(each.metric) > 1]
    if twice:
        raise ConfigError(f"--guard {twice[0]} is told twice; tell it once")
    least = checked(metric=metric, least=wanted.least, share=wanted.share, a=wanted.a, b=wanted.b)
    if wanted.mode == "replay":
        _refuse_tasks(wanted, metric)
        _refuse_cache(book, metric)
    experiment = Experiment(
        name=name_in(wanted.name),
        a=wanted.a,
        b=wanted.b,
        share=wanted.share,
        metric=metric,
        guards=guards,
        least=least,
        mode=wanted.mode,
        tasks=wanted.tasks,
        seed=wanted.seed,
        begun=SystemClock().now(),
        by=book.actor.signature,
    )
    return Planned(experiment=experiment, power=power_in(book, experiment))


def power_in(book: Book, experiment: Experiment) -> Power:
    """The runs that an experiment needs, as builds of the past let one expect."""
    past = history(book, MOST_HISTORY)
    return power_of(experiment, past, a_day=_a_day(past))


async def begin(book: Book, planned: Planned) -> Experiment:
    """Begin an experiment; Conflict where another one stands in its way."""
    experiment = planned.experiment
    why_not = await asyncio.to_thread(experiments_of(book.settings).begin, experiment, clash)
    if why_not:
        raise Conflict(why_not)
    data: dict[str, Json] = {
        "name": experiment.name,
        "a": list[Json](experiment.a.words),
        "b": list[Json](experiment.b.words),
        "mode": experiment.mode,
        "share": experiment.share,
        "metric": experiment.metric,
        "least": experiment.least,
        "guards": [str(each) for each in experiment.standing],
        "runs_needed": planned.power.runs,
        "tasks": len(experiment.tasks),
    }
    await book.tell(SYSTEM, "experiment.started", data, key=f"experiment:{experiment.name}")
    return experiment


def listed(book: Book) -> tuple[Experiment, ...]:
    """Every experiment, newest first."""
    return tuple(reversed(experiments_of(book.settings).listed()))


def found(book: Book, name: str) -> Experiment:
    """The experiment of that name; Unknown where there is none."""
    experiment = experiments_of(book.settings).get(name)
    if experiment is None:
        known = ", ".join(each.name for each in listed(book)[:5]) or "none yet"
        raise Unknown(f"experiment {name[:80]!r} is not known; there are: {known}")
    return experiment


def seen(book: Book, name: str) -> Seen:
    """An experiment with all that its runs show now; nothing is decided by looking."""
    experiment = found(book, name)
    runs = trials(book, experiment)
    (runs_a, open_a), (runs_b, open_b) = counted(runs, "a"), counted(runs, "b")
    return Seen(
        experiment=experiment,
        judgement=judged(experiment, _in_time(experiment, results_of(runs))),
        power=power_in(book, experiment),
        runs_a=runs_a,
        open_a=open_a,
        runs_b=runs_b,
        open_b=open_b,
    )


async def reviewed(book: Book, name: str) -> Experiment:
    """An experiment after everything that its runs decide was decided; harmless to repeat."""
    experiment = found(book, name)
    if experiment.state != "running":
        await _tell_ended(book, experiment)
        return experiment
    results = await asyncio.to_thread(lambda: results_of(trials(book, experiment)))
    judgement = judged(experiment, results)
    verdict = judgement.verdict or _exhausted(experiment, results)
    if not verdict:
        return experiment
    ended = replace(
        experiment,
        state="over",
        verdict=verdict,
        why=judgement.why.replace("open:", "all tasks are built, and it is not clear:"),
        ended=SystemClock().now(),
        ended_by=HIMSELF,
    )
    if not experiments_of(book.settings).change(ended):
        return found(book, name)
    await _tell_ended(book, ended)
    return found(book, name)


async def stop(book: Book, name: str, reason: str) -> Experiment:
    """End an experiment: from now on runs are worked on as if it had never been."""
    experiment = found(book, name)
    if experiment.state != "running":
        raise Conflict(f"experiment {name} is {MEANING[experiment.state]} already; nothing to stop")
    judgement = judged(experiment, results_of(trials(book, experiment)))
    ended = replace(
        experiment,
        state="stopped",
        why=_reason(book, reason) or in_words(judgement.estimate),
        ended=SystemClock().now(),
        ended_by=book.actor.signature,
    )
    if not experiments_of(book.settings).change(ended):
        raise Conflict(f"experiment {name} was changed by somebody just now; look at it again")
    data: dict[str, Json] = {"name": name, "reason": ended.why, "so_far": judgement.why}
    await book.tell(SYSTEM, "experiment.stopped", data, key=f"experiment.stopped:{name}")
    return found(book, name)


def of_runs(book: Book, job: Job) -> tuple[str, ...]:
    """The experiments of a run that are still known."""
    known = {each.name for each in experiments_of(book.settings).listed()}
    return tuple(name for name, _ in job.experiments if name in known)


def himself(book: Book) -> Book:
    """The book as twinsmith itself writes in it: no person decides what runs decide."""
    return book.acting_as(Actor(name=HIMSELF, way="worker"))


async def _tell_ended(book: Book, experiment: Experiment) -> None:
    """Tell how an experiment ended by itself; it is kept once, however often it is told."""
    if experiment.ended_by != HIMSELF:
        return
    name, verdict = experiment.name, experiment.verdict
    data: dict[str, Json] = {"name": name, "verdict": verdict, "why": experiment.why}
    await himself(book).tell(SYSTEM, "experiment.ended", data, key=f"experiment.ended:{name}")
    title = f"experiment {name}: {'b was stopped' if verdict == 'harm' else 'decided'}"
    alert = Alert(
        id=f"experiment.ended:{name}",
        app="",
        severity="warning" if verdict == "harm" else "info",
        title=title,
        text=f"{experiment.why}. See: twinsmith experiment show {name}",
        key=f"experiment {name}",
        at=time.time(),
    )
    await raise_alert(himself(book), alert)


def _in_time(experiment: Experiment, results: Sequence[Result]) -> tuple[Result, ...]:
    """What was known when an experiment ended; all where it has not: then nothing is added."""
    ended = experiment.ended
    return tuple(each for each in results if not ended or each.at <= ended)


def _reason(book: Book, reason: str) -> str:
    return book.settings.masking.text(" ".join(reason.split()))[:500]


def _exhausted(experiment: Experiment, results: Sequence[Result]) -> Verdict:
    """The verdict where nothing is shown: none as long as there are runs to come."""
    ended = {(each.unit, each.arm) for each in results}
    done = experiment.mode == "replay" and len(ended) >= 2 * len(experiment.tasks)
    return "unclear" if done else ""


def _refuse_tasks(wanted: Wanted, metric: str) -> None:
    if not wanted.tasks:
        raise ConfigError("there is no task to replay; give --tasks FILE with one task a line")
    if len(wanted.tasks) > MOST_TASKS:
        raise ConfigError(f"{len(wanted.tasks)} tasks to replay; at most {MOST_TASKS}")
    if metric == "right" and not any(each.tests for each in wanted.tasks):
        raise ConfigError("--metric right needs tasks with a person's tests; none here has any")


def _refuse_cache(book: Book, metric: str) -> None:
    """ConfigError where the arm that comes second would be answered from the first one's cache."""
    if metric in ("usd", "seconds") and book.settings.values.gateway.cache_mb:
        raise ConfigError(
            f"a replay by {metric} would find half of its answers in the cache, at no cost; set "
            "TWINSMITH_GATEWAY_CACHE_MB=0 here and for workers, or take --metric tokens"
        )


def _a_day(past: Sequence[Result]) -> float:
    """How many builds there were a day; 0 where a day has not passed."""
    if len(past) < 2:
        return 0.0
    first, last = (datetime.fromisoformat(each.at) for each in (past[0], past[-1]))
    days = (last - first).total_seconds() / DAY
    return len(past) / days if days >= 1 else 0.0
