"""The behaviour of models, told by the journal: what calls cost, and what became of the answers."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TypeVar

from twinsmith.core import members
from twinsmith.core.board import Board
from twinsmith.core.board_items import Contender
from twinsmith.core.events import Entry
from twinsmith.core.members import Object

S = TypeVar("S", "Calls", "Fates")
LONGEST_DAY = len("2026-11-18")


@dataclass(frozen=True, slots=True, order=True)
class Seat:
    """A model in one of its versions, and the role it played."""

    model: str
    version: str
    role: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """Calls of a model; what was answered from the cache took no time and no money."""

    answered: int = 0
    failed: int = 0
    """The tries in vain before this model, or another one, answered."""
    cached: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    first_token_seconds: float = 0.0
    usd: float = 0.0
    unpriced: int = 0

    @property
    def asked(self) -> int:
        """The calls that the model itself answered."""
        return self.answered - self.cached

    @property
    def pace(self) -> float | None:
        """Seconds per call; None where there was none."""
        return self.seconds / self.asked if self.asked else None

    @property
    def first(self) -> float | None:
        """Seconds to the first token per call."""
        return self.first_token_seconds / self.asked if self.asked else None

    @property
    def length(self) -> float | None:
        """Tokens of an answer."""
        return self.tokens_out / self.answered if self.answered else None

    @property
    def price(self) -> float | None:
        """The cost of a call; None where there was none, or nobody knows what one costs."""
        return self.usd / self.asked if self.asked and not self.unpriced else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fates:
    """What became of a model's work."""

    runs: int = 0
    """The runs that ended and that it took part in."""
    solved: int = 0
    written: int = 0
    """The candidates that it wrote."""
    broken: int = 0
    """Those of them that could not be run."""
    judged: int = 0
    """Those of them that were held against given checks."""
    right: int = 0
    """Those of them that passed all given checks."""
    won: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Conduct:
    """The behaviour of models in one run, or in many."""

    calls: Mapping[tuple[Seat, str], Calls] = field(default_factory=dict)
    """The calls by seat and day, such as 2026-11-18."""
    fates: Mapping[Seat, Fates] = field(default_factory=dict)

    def seats(self) -> dict[Seat, Calls]:
        """The calls of each seat over all days."""
        found: dict[Seat, Calls] = defaultdict(Calls)
        for (seat, _), calls in self.calls.items():
            found[seat] = added(found[seat], calls)
        return dict(sorted(found.items()))

    def days(self) -> dict[str, dict[str, Calls]]:
        """The calls of each model by day, days in their order."""
        found: dict[str, dict[str, Calls]] = defaultdict(lambda: defaultdict(Calls))
        for (seat, day), calls in sorted(self.calls.items(), key=lambda each: each[0][1]):
            found[seat.model][day] = added(found[seat.model][day], calls)
        return {model: dict(days) for model, days in found.items()}

    def versions(self) -> dict[str, dict[str, str]]:
        """The versions of each model, and the day on which each was seen first."""
        found: dict[str, dict[str, str]] = defaultdict(dict)
        for seat, day in sorted(self.calls, key=lambda each: each[1]):
            found[seat.model].setdefault(seat.version, day)
        return dict(found)

    def chosen(self, model: str, version: str = "") -> dict[str, tuple[Calls, Fates]]:
        """The calls and fates of a model by role, of one version or of all."""
        found: dict[str, tuple[Calls, Fates]] = {}
        for seat, calls in self.seats().items():
            if seat.model == model and version in ("", seat.version):
                before = found.get(seat.role, (Calls(), Fates()))
                fate = self.fates.get(seat, Fates())
                found[seat.role] = added(before[0], calls), added(before[1], fate)
        return found


def added(one: S, other: S) -> S:
    """The sum of each figure of two."""
    names = [each.name for each in fields(one)]
    return replace(one, **{name: getattr(one, name) + getattr(other, name) for name in names})


def total(conducts: Iterable[Conduct]) -> Conduct:
    """The behaviour of models in many runs."""
    calls: dict[tuple[Seat, str], Calls] = defaultdict(Calls)
    fates: dict[Seat, Fates] = defaultdict(Fates)
    for conduct in conducts:
        for place, more in conduct.calls.items():
            calls[place] = added(calls[place], more)
        for seat, fate in conduct.fates.items():
            fates[seat] = added(fates[seat], fate)
    return Conduct(calls=dict(calls), fates=dict(fates))


def after(conduct: Conduct, entries: Iterable[Entry]) -> Conduct:
    """The conduct with the calls that more entries tell of."""
    calls = defaultdict(Calls, conduct.calls)
    for entry in entries:
        if entry.event.kind != "model.replied":
            continue
        day, data = entry.at[:LONGEST_DAY], entry.event.data
        calls[_seat(data), day] = added(calls[_seat(data), day], _calls(data))
        for model in _blamed(data):
            blamed = Seat(model, _version(calls, model), members.text(data, "role"))
            calls[blamed, day] = added(calls[blamed, day], Calls(failed=1))
    return replace(conduct, calls=dict(calls))


def judged(conduct: Conduct, board: Board, *, ended: bool, solved: bool) -> Conduct:
    """The conduct of a run with what became of its candidates."""
    fates: dict[Seat, Fates] = defaultdict(Fates)
    seats = {seat for (seat, _), calls in conduct.calls.items() if calls.answered}
    if ended:
        for seat in seats:
            fates[seat] = added(fates[seat], Fates(runs=1, solved=int(solved)))
    versions = {seat.model: seat.version for seat in sorted(seats)}
    given = [each.number for each in board.checks if each.given]
    for candidate in board.candidates:
        for model in candidate.models:
            seat = Seat(model, versions.get(model, ""), "coder")
            fates[seat] = added(fates[seat], _fate(candidate, board, given))
    return replace(conduct, fates=dict(fates))


def _fate(candidate: Contender, board: Board, given: list[int]) -> Fates:
    outcomes = [board.outcome(candidate.number, check) for check in given]
    held = bool(outcomes) and any(outcomes)
    return Fates(
        written=1,
        broken=int(bool(candidate.problem)),
        judged=int(held),
        right=int(held and all(each == "passed" for each in outcomes)),
        won=int(board.winner == candidate.number),
    )


def _seat(data: Object) -> Seat:
    model = members.text(data, "model") or "nobody"
    return Seat(model, members.text(data, "version"), members.text(data, "role"))


def _version(calls: Mapping[tuple[Seat, str], Calls], model: str) -> str:
    """The version of a model that answered last; what failed told none."""
    known = [seat.version for seat, _ in calls if seat.model == model]
    return known[-1] if known else ""


def _blamed(data: Object) -> list[str]:
    """The models that were tried in vain before one answered, each as often as it was."""
    tried = members.texts(data, "failed_attempts")
    names = [each.split(": ", 1)[0] for each in tried]
    return [name for name in names if ":" in name and " " not in name]


def _calls(data: Object) -> Calls:
    cached, usd = members.flag(data, "cached"), data.get("usd")
    return Calls(
        answered=1,
        cached=int(cached),
        tokens_in=members.whole(data, "tokens_in") or 0,
        tokens_out=members.whole(data, "tokens_out") or 0,
        seconds=0.0 if cached else members.number(data, "seconds"),
        first_token_seconds=0.0 if cached else members.number(data, "first_token_seconds"),
        usd=0.0 if cached else members.number(data, "usd"),
        unpriced=int(usd is None and not cached),
    )
