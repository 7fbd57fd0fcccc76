"""Allowances: the most that a run, an app, a person, a team or all may spend, and what is left.

Days and months are those of UTC: several servers share them.
"""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from twinsmith.core.people.question import ABOUT_MONEY

Unit = Literal["tokens", "usd", "seconds"]
UNITS: tuple[Unit, ...] = get_args(Unit)
Period = Literal["run", "day", "month"]
PERIODS: tuple[Period, ...] = get_args(Period)
Scope = Literal["all", "app", "person", "team"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
Room = Literal["free", "wait", "over"]
EXAMPLE = 'for example "person ann day 200000 tokens soft"'
_DAY, _MONTH = len("2026-11-19"), len("2026-11")


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """Something spent, or about to be: tokens, dollars, and seconds in which models answered."""

    tokens: int = 0
    usd: float = 0.0
    seconds: float = 0.0

    def of(self, unit: Unit) -> float:
        """The amount in one unit."""
        return float(getattr(self, unit))


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """The most that somebody may spend in a period; with an empty name, each of its kind."""

    line: str
    """As the settings say it: `person ann day 200000 tokens soft`."""
    period: Period
    most: float
    unit: Unit
    scope: Scope = "all"
    name: str = ""
    soft: bool = False
    """Whether people are only told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Payer:
    """The one whose allowances a call is counted against."""

    run: str
    person: str = ""
    app: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pot:
    """The calls that are counted together; what is empty does not matter."""

    whose: str
    """In words, for a person: `team blue`."""
    days: str = ""
    """What their days begin with: `2026-11-19`, or `2026-11`."""
    run: str = ""
    app: str = ""
    persons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """An allowance with the pot that it is about."""

    allowance: Allowance
    pot: Pot

    @property
    def id(self) -> str:
        """A short name for this allowance in this period, for questions and alerts."""
        told = f"{self.allowance.line}|{self.pot.whose}|{self.pot.days}|{self.pot.run}"
        return hashlib.sha256(told.encode()).hexdigest()[:8]


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How much of an allowance is spent, and how much is set aside for calls under way."""

    bound: Bound
    spent: Amount = Amount()
    set_aside: Amount = Amount()

    @property
    def used(self) -> float:
        """The part that is spent, in the unit of the allowance."""
        return self.spent.of(self.bound.allowance.unit)

    @property
    def passed(self) -> bool:
        """Whether more is spent than allowed."""
        return self.used > self.bound.allowance.most

    def room_for(self, more: Amount) -> Room:
        """Whether a call fits; `wait` where it may, once those under way have ended."""
        allowance = self.bound.allowance
        wanted = more.of(allowance.unit)
        if self.used + wanted > allowance.most or self.used >= allowance.most:
            # Nothing may be spent any more also where nobody knows what a call will take.
            return "over"
        under_way = self.set_aside.of(allowance.unit)
        return "wait" if self.used + under_way + wanted > allowance.most else "free"


def room(standings: Sequence[Standing], more: Amount) -> Room:
    """Whether a call fits in all allowances that hold."""
    rooms = {each.room_for(more) for each in standings if not each.bound.allowance.soft}
    return "over" if "over" in rooms else "wait" if "wait" in rooms else "free"


def over(standings: Sequence[Standing], more: Amount) -> Standing | None:
    """The first allowance that a call would pass; None where none."""
    holding = (each for each in standings if not each.bound.allowance.soft)
    return next((each for each in holding if each.room_for(more) == "over"), None)


def allowance_in(text: str) -> Allowance:
    """An allowance as settings write it; ValueError says in one line what is wrong with it."""
    words = text.split()
    strict = words[-1:] in (["hard"], ["soft"])
    soft, words = words[-1:] == ["soft"], words[:-1] if strict else words
    told = next((each for each in SCOPES if words[:1] == [each]), None)
    scope, words = told or "all", words[1:] if told else words
    name = words.pop(0) if len(words) == 4 and scope != "all" else ""
    if len(words) != 3:
        raise ValueError(
            f"{text!r} is no budget; write whose it is, a period, a number and a unit, {EXAMPLE}"
        )
    period = next((each for each in PERIODS if each == words[0]), None)
    unit = next((each for each in UNITS if each == words[2]), None)
    if period is None:
        raise ValueError(f"{words[0]!r} in {text!r} is no period; one of {', '.join(PERIODS)}")
    if unit is None:
        raise ValueError(f"{words[2]!r} in {text!r} is no unit; one of {', '.join(UNITS)}")
    return Allowance(
        line=" ".join(text.split()),
        period=period,
        most=_amount(words[1], text),
        unit=unit,
        scope=scope,
        name=name,
        soft=soft,
    )


def team_in(text: str) -> tuple[str, tuple[str, ...]]:
    """A team as settings write it, its name and its people; ValueError where it has none."""
    name, *people = text.split()[:1000] or [""]
    if not people:
        raise ValueError(f"{text!r} is no team; write its name and its people: blue ann bob")
    return name, tuple(dict.fromkeys(people))


def bounds_of(
    allowances: Sequence[Allowance],
    payer: Payer,
    now: str,
    teams: Mapping[str, tuple[str, ...]],
) -> tuple[Bound, ...]:
    """The allowances that a payer's calls are counted against, each with its pot, at a moment."""
    days = {"run": "", "day": now[:_DAY], "month": now[:_MONTH]}
    return tuple(
        Bound(
            allowance=each,
            pot=replace(pot, days=days[each.period], run=payer.run if each.period == "run" else ""),
        )
        for each in allowances
        for pot in _pots(each, payer, teams)
    )


def unknown_teams(allowances: Sequence[Allowance], teams: Collection[str]) -> tuple[str, ...]:
    """The teams that allowances name and nobody is in."""
    named = (each.name for each in allowances if each.scope == "team" and each.name)
    return tuple(name for name in named if name not in teams)


def question_id(run: str, bound: Bound) -> str:
    """The name of the question whether a run may go on past an allowance."""
    return f"{run}{ABOUT_MONEY}{bound.id}"


def in_words(amount: float, unit: Unit) -> str:
    """An amount with its unit: `60,000 tokens`, `4.50 USD`, `12 seconds`."""
    match unit:
        case "tokens":
            return f"{amount:,.0f} tokens"
        case "usd":
            return f"{amount:,.2f} USD" if amount >= 0.01 or not amount else f"{amount:.6f} USD"
        case "seconds":
            return f"{amount:,.4g} seconds"


def question_about(standing: Standing, more: Amount) -> str:
    """The question to a person whether a run may go on past an allowance."""
    allowance = standing.bound.allowance
    spent = in_words(standing.used, allowance.unit)
    next_one = more.of(allowance.unit)
    needs = f", and the next question may take {in_words(next_one, allowance.unit)}"
    return (
        f"The budget {allowance.line!r} would be passed: {spent} are spent by "
        f"{standing.bound.pot.whose}{needs if next_one else ''}. "
        "Shall this run go on past it all the same?"
    )


def _pots(
    allowance: Allowance, payer: Payer, teams: Mapping[str, tuple[str, ...]]
) -> tuple[Pot, ...]:
    """Whose calls an allowance counts together, where the payer is one of them."""
    named = allowance.name
    match allowance.scope:
        case "all":
            return (Pot(whose="this run" if allowance.period == "run" else "all"),)
        case "person":
            mine = payer.person and named in ("", payer.person)
            pot = Pot(whose=f"person {payer.person}", persons=(payer.person,))
            return (pot,) if mine else ()
        case "app":
            mine = payer.app and named in ("", payer.app)
            return (Pot(whose=f"app {payer.app}", app=payer.app),) if mine else ()
        case "team":
            return tuple(
                Pot(whose=f"team {team}", persons=people)
                for team, people in teams.items()
                if payer.person in people and named in ("", team)
            )


def _amount(word: str, text: str) -> float:
    try:
        most = float(word)
    except ValueError:
        raise ValueError(f"{word!r} in {text!r} is no number") from None
    if not 0 < most < 1e15:
        raise ValueError(f"{word} in {text!r} has to be more than 0")
    return most
