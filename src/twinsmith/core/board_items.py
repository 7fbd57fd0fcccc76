"""The items on a run's board, and how each is read from what an event tells of it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from twinsmith.core import members
from twinsmith.core.execution import Outcome
from twinsmith.core.judging.selection import Score
from twinsmith.core.members import Object
from twinsmith.core.verdict import Finding

AimState = Literal["open", "met", "not met"]
PieceState = Literal["kit", "planned", "written", "wrong", "shown"]
LETTERS: Mapping[Outcome, str] = {
    "passed": "p",
    "failed": "f",
    "raised": "r",
    "timed out": "t",
    "output too large": "o",
    "out of memory": "m",
    "killed": "k",
}
"""The letter that stands for an outcome in a row of cells, one letter a check."""
NOT_RUN = "."
OUTCOMES: Mapping[str, Outcome] = {letter: outcome for outcome, letter in LETTERS.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """One requirement of the task, and how far the best candidate meets it."""

    number: int
    text: str
    quote: str = ""
    """The words of the task that ask for it."""
    refuses: bool = False
    """Whether it says what must not be possible."""
    state: AimState = "open"
    why: str = ""
    """The reason why it is not met; empty where it is met or open."""
    shown: tuple[str, ...] = ()
    """The names of the checks that showed it."""
    against: tuple[str, ...] = ()
    """The names of the checks that speak against it."""
    functions: tuple[str, ...] = ()
    """The functions of a service that serve it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A plan of one ensemble's slow thinker."""

    ensemble: int
    text: str
    stage: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A part of a candidate, and the coder's answer that it stands in.

    Without a name it is the whole program. `nth` is the number of the question to a coder; None
    where no coder was asked.
    """

    name: str = ""
    ensemble: int = 0
    nth: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One function of a service, which answers one route."""

    name: str
    route: str
    quote: str = ""
    """The words of the task that ask for the route."""
    state: PieceState = "planned"
    why: str = ""
    """The complaint about the newest version; empty where there is none."""
    versions: tuple[Share, ...] = ()
    """The versions that coders wrote, oldest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file of a candidate, main file first; `cut` where only its beginning is known."""

    name: str
    text: str
    cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """One candidate of an ensemble; `problem` says why it has no program, or does not run.

    Tokens, seconds and models are those of the coder's answers that it is made of.
    """

    number: int
    ensemble: int = 0
    """The ensemble that wrote it; 0 where that is not known."""
    way: str = ""
    stage: str = ""
    language: str = ""
    files: tuple[Source, ...] = ()
    problem: str = ""
    repairs: tuple[str, ...] = ()
    told: str = ""
    """The complaints about an earlier version that its coder was told."""
    of: tuple[int, ...] = ()
    """The numbers of the candidates that it was made of."""
    shares: tuple[Share, ...] = ()
    models: tuple[str, ...] = ()
    tokens: int = 0
    seconds: float = 0.0
    passed: int = 0
    total: int = 0
    barred: bool = False
    """Whether a reviewer or a gate refuses it."""
    score: Score | None = None
    """Its score in the last selection; None where it took no part in one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """One check: a column of the heat map."""

    number: int
    name: str
    text: str
    expected: str = ""
    """The expected result; empty where the check judges by itself."""
    given: bool = False
    """Whether it decides; one that was proposed only counts in the score."""
    by: str = ""
    """Who it is of: "person", "task", "words", "contract" or "critic"."""
    ensembles: tuple[int, ...] = ()
    """The ensembles whose critics proposed it."""
    times: int = 1
    requirements: tuple[int, ...] = ()
    """The numbers of the requirements that it was written for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """What one ensemble learned from another: "counterexamples", "complaints" or "pieces"."""

    source: int
    to: int
    kind: str
    lines: tuple[str, ...]
    stage: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """An input on which the two best groups of candidates differ, and what each gives."""

    asked: str
    leader: str
    runner_up: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """The answers of a coder to one question, those to its repetitions included."""

    ensemble: int = 0
    models: tuple[str, ...] = field(default=())
    tokens: int = 0
    seconds: float = 0.0


def aims_in(data: Object) -> Iterator[Aim]:
    """The requirements that an event tells of, still open."""
    for each in members.objects(data, "requirements"):
        number = members.whole(each, "number")
        if number is not None:
            yield Aim(
                number=number,
                text=members.text(each, "text"),
                quote=members.text(each, "quote"),
                refuses=members.flag(each, "refuses"),
            )


def shares_in(data: Object) -> tuple[Share, ...]:
    """The parts that an event says a candidate is made of."""
    return tuple(
        Share(
            name=members.text(each, "name"),
            ensemble=members.whole(each, "ensemble") or 0,
            nth=members.whole(each, "nth"),
        )
        for each in members.objects(data, "shares")
    )


def sources_in(data: Object, known: Mapping[int, Contender]) -> Iterator[Source]:
    """The files of a candidate; one may be told as that of an earlier candidate."""
    for each in members.objects(data, "files"):
        name, same = members.text(each, "name"), members.whole(each, "as")
        if same is None:
            text = members.text(each, "text")
            yield Source(name=name, text=text, cut=members.flag(each, "cut"))
        elif same in known:
            yield from (source for source in known[same].files if source.name == name)


def criteria_in(data: Object) -> Iterator[Criterion]:
    """The checks that an event tells of."""
    for each in members.objects(data, "checks"):
        number = members.whole(each, "number")
        if number is not None:
            yield Criterion(
                number=number,
                name=members.text(each, "name"),
                text=members.text(each, "text"),
                expected=members.text(each, "expected"),
                given=members.flag(each, "given"),
                by=members.text(each, "by"),
                ensembles=members.wholes(each.get("ensembles")),
                times=members.whole(each, "times") or 1,
                requirements=members.wholes(each.get("requirements")),
            )


def findings_in(data: Object) -> Iterator[tuple[int, tuple[Finding, ...]]]:
    """The findings that an event tells of, by candidate."""
    for number, _ in members.numbered(data, "findings"):
        listed = members.objects(members.member(data, "findings"), str(number))
        yield (
            number,
            tuple(
                Finding(
                    what=members.text(each, "what"),
                    where=members.text(each, "where"),
                    evidence=members.text(each, "evidence"),
                    severity="blocking" if members.text(each, "severity") == "blocking" else "note",
                )
                for each in listed
            ),
        )


def cells_in(data: Object) -> dict[int, dict[int, Outcome]]:
    """The outcomes by candidate and check; what was not run is left out."""
    columns = members.wholes(data.get("columns"))
    return {
        candidate: {
            check: OUTCOMES[letter]
            for check, letter in zip(columns, row, strict=False)
            if letter in OUTCOMES
        }
        for candidate, row in members.numbered(data, "cells")
        if isinstance(row, str)
    }


def scores_in(data: Object) -> dict[int, Score]:
    """The scores of a selection, by candidate."""
    found: dict[int, Score] = {}
    for candidate, row in members.numbered(data, "scores"):
        match members.numbers(row):
            case (total, agreement, checks, given):
                found[candidate] = Score(
                    candidate=candidate,
                    total=total,
                    agreement=agreement,
                    checks=checks,
                    given=given,
                )
    return found


def difference_in(data: Object) -> Difference | None:
    """The input on which the two best groups differ; None where they do not."""
    told = members.member(data, "separating")
    asked = members.text(told, "asked")
    if not asked:
        return None
    return Difference(
        asked=asked, leader=members.text(told, "leader"), runner_up=members.text(told, "runner_up")
    )
