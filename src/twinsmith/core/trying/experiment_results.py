"""What became of the runs of an experiment, from the journal alone."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log

from twinsmith.core import members
from twinsmith.core.events import Entry
from twinsmith.core.trying.experiment import Arm, Assigned, Guarding

INTERRUPTED = "interrupted by a person"
LEAST = {"tokens": 1.0, "seconds": 0.001, "usd": 1e-6}
"""What costs less than this costs so much: a ratio of nothing says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What became of one run of an experiment."""

    run: str
    unit: str
    arm: Arm
    at: str
    """When it ended, or broke."""
    final: bool
    """Whether that stays so; a run that broke may go on and end well."""
    solved: bool = False
    broken: bool = False
    """Whether it stopped for an error, no matter whose."""
    tested: bool = False
    """Whether a person's own tests decided."""
    tokens: float = 0.0
    seconds: float = 0.0
    usd: float = 0.0

    def value(self, metric: Guarding) -> float | None:
        """What counts of it for a metric, costs as logarithms; None: it says nothing about it."""
        match metric:
            case "broken":
                return float(self.broken)
            case "solved":
                return float(self.solved)
            case "right":
                return float(self.solved) if self.tested else None
            case "tokens" | "seconds" | "usd":
                # What broke early was cheap for no good reason.
                cost: float = getattr(self, metric)
                return None if self.broken else log(max(cost, LEAST[metric]))

    def is_free(self, metric: Guarding) -> bool:
        """Whether it cost nothing that could be told."""
        return metric in LEAST and getattr(self, metric) <= LEAST[metric]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A run of an experiment, with what became of it; None where nobody has seen its end yet."""

    assigned: Assigned
    result: Result | None = None


def result_in(assigned: Assigned, entries: Iterable[Entry]) -> Result | None:
    """What became of a run; None where it goes on, waits, or a person ended it."""
    tested, tokens, usd, broke = False, 0, 0.0, ""
    for entry in entries:
        event = entry.event
        match event.kind:
            case "run.started":
                tested = members.flag(event.data, "tested")
            case "model.replied":
                tokens += _tokens(event.data)
                usd += members.number(event.data, "usd")
            case "run.parked":
                stopped = members.text(event.data, "reason") == INTERRUPTED
                broke = "" if stopped else entry.at
            case "run.queued" | "run.taken" | "run.resumed" | "run.waiting":
                broke = ""
            case "run.ended":
                return _ended(assigned, entry, tested=tested, tokens=tokens, usd=usd)
    if not broke:
        return None
    return _result(assigned, broke, final=False, broken=True)


def first_of_each(results: Iterable[Result]) -> tuple[Result, ...]:
    """The first result of every unit in an arm, in their order.

    The same task once more says little that is new: only units that are independent count.
    """
    found: dict[tuple[str, Arm], Result] = {}
    for each in sorted(results, key=lambda each: (each.at, each.run)):
        found.setdefault((each.unit, each.arm), each)
    return tuple(found.values())


def pairs_of(results: Sequence[Result]) -> tuple[tuple[Result, Result], ...]:
    """The results of both arms on the same task, in the order in which the later one came."""
    known: dict[str, Result] = {}
    pairs = []
    for each in results:
        other = known.setdefault(each.unit, each)
        if other.arm != each.arm:
            pairs.append((other, each) if each.arm == "b" else (each, other))
    return tuple(pairs)


def _tokens(data: members.Object) -> int:
    """The tokens of a call, also of one that the cache answered.

    The arm that comes second finds answers of the first one there: it is not cheaper for that.
    """
    return (members.whole(data, "tokens_in") or 0) + (members.whole(data, "tokens_out") or 0)


def _ended(
    assigned: Assigned, entry: Entry, *, tested: bool, tokens: int, usd: float
) -> Result | None:
    data = entry.event.data
    state = members.text(data, "state")
    if state not in ("solved", "not solved"):
        return None
    return _result(
        assigned,
        entry.at,
        final=True,
        solved=state == "solved",
        tested=tested,
        tokens=float(tokens),
        seconds=members.number(data, "seconds"),
        usd=usd,
    )


def _result(assigned: Assigned, at: str, **told: bool | float) -> Result:
    return Result(run=assigned.run, unit=assigned.unit, arm=assigned.arm, at=at, **told)  # type: ignore[arg-type]
