"""An experiment: two ways of working, who gets which, and what decides between them."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log
from typing import Literal, get_args

from twinsmith.core.errors import ConfigError
from twinsmith.core.trying.arrangement import Arrangement
from twinsmith.core.trying.versions import InForce

Arm = Literal["a", "b"]
ARMS: tuple[Arm, ...] = get_args(Arm)
Metric = Literal["solved", "right", "tokens", "seconds", "usd"]
METRICS: tuple[Metric, ...] = get_args(Metric)
Cost = Literal["tokens", "seconds", "usd"]
COSTS: tuple[Cost, ...] = get_args(Cost)
Guarding = Literal["solved", "right", "tokens", "seconds", "usd", "broken"]
Mode = Literal["live", "replay"]
State = Literal["running", "over", "stopped", "promoting", "promoted", "undoing", "undone"]
"""What is kept before it is done ends in -ing: who looks after a kill does it."""
Verdict = Literal["", "b", "a", "same", "harm", "unclear"]
"""Empty: it goes on. Unclear: all tasks of a replay are built, and nothing is shown."""
SPELLINGS = {"cost": "usd", "money": "usd"}
LEAST_SHARE, MOST_SHARE = 0.01, 0.99
LEAST_DIFFERENCE, LEAST_SAVING = 0.1, 0.2
"""The effects that are worth having where nobody says it: a tenth more solved, a fifth cheaper."""
LONGEST_NAME = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """What arm b may not do to a metric: a cost has a highest ratio, a rate a least difference."""

    metric: Guarding
    limit: float

    def __str__(self) -> str:
        """The guard as a person types it."""
        sign = ">=" if self.metric in ("solved", "right") else "<="
        return f"{self.metric}{sign}{self.limit:g}"


UNBROKEN = Guard(metric="broken", limit=0.05)
"""Stands at every experiment: b may not end in errors clearly more often than a."""
AS_GOOD = Guard(metric="solved", limit=-0.05)
"""Stands where a cost decides: what is cheaper and solves less is no better."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A recorded task that both arms work on."""

    text: str
    language: str = ""
    kind: str = ""
    tests: str = ""
    spec: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """An experiment as it is kept; times are ISO 8601 in UTC."""

    name: str
    a: Arrangement
    b: Arrangement
    metric: Metric
    least: float
    """The least effect worth having: a difference of rates, or the part of a cost that is saved."""
    begun: str
    by: str
    share: float = 0.2
    """The part of the tasks that b gets in live mode."""
    guards: tuple[Guard, ...] = ()
    mode: Mode = "live"
    tasks: tuple[Recorded, ...] = ()
    """The tasks of a replay."""
    seed: int = 0
    """The seed of the first task of a replay; the next has the next."""
    state: State = "running"
    verdict: Verdict = ""
    why: str = ""
    ended: str = ""
    ended_by: str = ""
    promoted: str = ""
    promoted_by: str = ""
    undone_by: str = ""
    note: str = ""
    """What was said by whoever promoted it, or took that back."""
    before: tuple[InForce, ...] = ()
    """What the promotion took the place of, to be put back."""
    revision: int = 0

    @property
    def salt(self) -> str:
        """What makes this experiment's assignment independent of all others'."""
        return f"{self.name} {self.begun}"

    @property
    def scale(self) -> float:
        """The least effect worth having on the scale that is calculated on."""
        return -log(1 - self.least) if self.metric in COSTS else self.least

    @property
    def standing(self) -> tuple[Guard, ...]:
        """All guards, those that always stand behind those that a person told."""
        told = {each.metric for each in self.guards}
        cheap = () if self.metric not in COSTS or "solved" in told else (AS_GOOD,)
        return (*self.guards, *cheap, UNBROKEN)

    def arrangement(self, arm: Arm) -> Arrangement:
        """How runs of an arm are worked on."""
        return self.a if arm == "a" else self.b


@dataclass(frozen=True, slots=True, kw_only=True)
class Assigned:
    """A run of an experiment: what it works on, and in which arm."""

    experiment: str
    run: str
    unit: str
    arm: Arm


def unit_of(text: str) -> str:
    """The unit that is assigned to an arm: a task by its words, however they are spaced."""
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()[:16]


def arm_of(experiment: Experiment, unit: str) -> Arm:
    """The arm of a unit: the same one always and everywhere, b for `share` of all units."""
    digest = hashlib.sha256(f"{experiment.salt}\n{unit}".encode()).digest()
    return "b" if int.from_bytes(digest[:8], "big") / 2**64 < experiment.share else "a"


def assigned_in(run: str, task: str, arms: Iterable[tuple[str, str]]) -> tuple[Assigned, ...]:
    """The arms that a run is in, as they are kept."""
    unit = unit_of(task)
    return tuple(
        Assigned(experiment=name, run=run, unit=unit, arm=arm)
        for name, told in arms
        for arm in ARMS
        if arm == told
    )


def touched(arrangement: Arrangement) -> frozenset[str]:
    """What an arrangement changes: settings, roles, templates."""
    return frozenset(word.partition("=")[0] for word in arrangement.words)


def shared_key(first: Iterable[Arrangement], second: Iterable[Arrangement]) -> str:
    """Something that two experiments would both change; empty where there is nothing."""
    ours = {key for each in first for key in touched(each)}
    theirs = {key for each in second for key in touched(each)}
    for key in sorted(ours):
        if any(_is_same(key, other) for other in theirs):
            return key
    return ""


MEANING: dict[State, str] = {
    "running": "running",
    "over": "over",
    "stopped": "stopped",
    "promoting": "being promoted",
    "promoted": "promoted",
    "undoing": "being taken back",
    "undone": "taken back",
}


def clash(new: Experiment, running: Sequence[Experiment]) -> str:
    """Why an experiment cannot run beside those that run; empty where it can.

    A replay builds runs of its own, which nothing else is tried with: it never meets another.
    """
    if new.mode == "replay":
        return ""
    for other in running:
        key = shared_key((new.a, new.b), (other.a, other.b))
        if key and other.mode == "live":
            return (
                f"experiment {other.name!r} is running and tries {key!r} too, so neither could "
                f"tell whose effect it sees; stop it: twinsmith experiment stop {other.name}"
            )
    return ""


def name_in(text: str) -> str:
    """The name of an experiment; ConfigError where it is none."""
    name = text.strip()
    plain = name.replace("-", "").replace("_", "")
    if not plain.isalnum() or not plain.isascii() or len(name) > LONGEST_NAME:
        raise ConfigError(
            f"{text[:80]!r} is no name of an experiment; letters, digits, - and _, "
            f"at most {LONGEST_NAME}"
        )
    return name


def metric_in(text: str) -> Metric:
    """The metric that a person means; ConfigError where it is none."""
    wanted = SPELLINGS.get(text.strip().lower(), text.strip().lower())
    for known in METRICS:
        if wanted == known:
            return known
    raise ConfigError(f"--metric {text!r} is unknown; one of {', '.join(METRICS)}")


def guard_in(text: str) -> Guard:
    """The guard that a person typed, such as `tokens<=1.3`; ConfigError says what is wrong."""
    example = "for example tokens<=1.3 or solved>=-0.05"
    for sign in ("<=", ">="):
        name, found, number = text.partition(sign)
        if not found:
            continue
        metric = metric_in_guard(name, text)
        wanted = ">=" if metric in ("solved", "right") else "<="
        if sign != wanted:
            raise ConfigError(f"--guard {text!r}: {metric} is guarded by {wanted}; {example}")
        try:
            limit = float(number)
        except ValueError:
            raise ConfigError(f"--guard {text!r}: {number!r} is no number; {example}") from None
        return _guard(metric, limit, text)
    raise ConfigError(f"--guard {text!r} is none; {example}")


def metric_in_guard(name: str, text: str) -> Metric:
    """The metric that a guard is about; ConfigError where it is none."""
    wanted = SPELLINGS.get(name.strip(), name.strip())
    for known in METRICS:
        if wanted == known:
            return known
    raise ConfigError(f"--guard {text!r}: {name!r} is no metric; one of {', '.join(METRICS)}")


def checked(
    *, metric: Metric, least: float | None, share: float, a: Arrangement, b: Arrangement
) -> float:
    """The least effect worth having; ConfigError where that, the share or the arms cannot be."""
    if not LEAST_SHARE <= share <= MOST_SHARE:
        raise ConfigError(f"--share {share:g} is no part; from {LEAST_SHARE:g} to {MOST_SHARE:g}")
    if a == b:
        told = " ".join(a.words) or "nothing"
        raise ConfigError(
            f"both arms are the same ({told}); tell a difference with --b build.votes=2"
        )
    effect = least
    if effect is None:
        effect = LEAST_SAVING if metric in COSTS else LEAST_DIFFERENCE
    if not 0.01 <= effect <= 0.9:
        raise ConfigError(f"--least {effect:g} is no effect to look for; from 0.01 to 0.9")
    return effect


def _guard(metric: Metric, limit: float, text: str) -> Guard:
    if metric in COSTS and not 0 < limit <= 1000:
        raise ConfigError(
            f"--guard {text!r}: a ratio of b to a, above 0; for example {metric}<=1.3"
        )
    if metric not in COSTS and not -1 <= limit <= 0:
        raise ConfigError(f"--guard {text!r}: a difference, from -1 to 0; for example -0.05")
    return Guard(metric=metric, limit=limit)


def _is_same(key: str, other: str) -> bool:
    """Whether two keys are about the same thing: `coder` is about `1.coder`, too."""
    if key == other:
        return True
    first, second = key.rpartition("."), other.rpartition(".")
    if not (first[0] in ("", "1", "2") and second[0] in ("", "1", "2")):
        return False
    return first[2] == second[2] and "" in (first[0], second[0])
