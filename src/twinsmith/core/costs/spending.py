"""Accounts of spending, as the journal tells it: every answered call, whose it was, what it took.

An answer from the cache was paid before: it is counted, and costs nothing. Seconds of calls that
ran at the same time on one's own machine are shared among them, so that no hour is paid twice.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Literal, assert_never, get_args

from twinsmith.core import members
from twinsmith.core.events import SYSTEM, Entry

By = Literal["model", "role", "app", "person", "team", "day"]
BY: tuple[By, ...] = get_args(By)
LOCAL = ("embedded", "ollama", "server")
"""The providers that answer on machines of one's own."""
NOBODY = "-"
"""Stands where an app, a person or a team is not known, or there is none."""
_DAY = len("2026-11-19")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """What answered calls took."""

    calls: int = 0
    cached: int = 0
    """Those of them that were answered from the cache."""
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    own_seconds: float = 0.0
    """Seconds in which machines of one's own answered, each counted once: an estimate."""
    usd: float = 0.0
    unpriced: int = 0
    """Calls whose price nobody knew: they are missing in `usd`."""

    @property
    def tokens(self) -> int:
        """Tokens of questions and answers."""
        return self.tokens_in + self.tokens_out

    def watt_hours(self, watts: float) -> float:
        """The power that one's own machines took, which draw so many watts: an estimate."""
        return self.own_seconds * watts / 3600

    def __add__(self, other: "Spending") -> "Spending":
        names = [each.name for each in fields(self)]
        return Spending(**{name: getattr(self, name) + getattr(other, name) for name in names})


@dataclass(frozen=True, slots=True, order=True, kw_only=True)
class Place:
    """The place of a call in the accounts."""

    day: str
    model: str
    role: str
    person: str
    app: str


Accounts = Mapping[Place, Spending]


def accounts_in(run: str, entries: Iterable[Entry]) -> Accounts:
    """The accounts of one chain of the journal; in the system's, each call has its own payer."""
    found: dict[Place, Spending] = defaultdict(Spending)
    spans: list[tuple[Place, float, float]] = []
    person = app = ""
    for entry in entries:
        event = entry.event
        if event.kind == "run.started" and run != SYSTEM and not person:
            person, app = name_in(event.who), members.text(event.data, "app")
        if event.kind != "model.replied":
            continue
        place = Place(
            day=entry.at[:_DAY],
            model=members.text(event.data, "model") or NOBODY,
            role=members.text(event.data, "role"),
            person=name_in(event.who) if run == SYSTEM else person,
            app=app,
        )
        spent = _spending(event.data)
        found[place] += spent
        if place.model.partition(":")[0] in LOCAL and not spent.cached:
            end = datetime.fromisoformat(entry.at).timestamp()
            spans.append((place, end - spent.seconds, end))
    for place, seconds in shared_seconds(spans).items():
        found[place] += Spending(own_seconds=seconds)
    return dict(found)


def shared_seconds(spans: Sequence[tuple[Place, float, float]]) -> dict[Place, float]:
    """The seconds of spans, in which those that overlap share the time equally."""
    # Ends before beginnings of the same moment: spans that only touch do not overlap.
    moments = sorted(
        (at, begins, number)
        for number, (_, first, last) in enumerate(spans)
        if last > first
        for at, begins in ((first, True), (last, False))
    )
    found: dict[Place, float] = defaultdict(float)
    open_ones: set[int] = set()
    before = 0.0
    for at, begins, number in moments:
        for each in open_ones:
            found[spans[each][0]] += (at - before) / len(open_ones)
        before = at
        (open_ones.add if begins else open_ones.discard)(number)
    return dict(found)


def total(accounts: Accounts) -> Spending:
    """Everything in the accounts together."""
    whole = Spending()
    for each in accounts.values():
        whole += each
    return whole


def since(accounts: Accounts, day: str) -> dict[Place, Spending]:
    """The accounts from a day on."""
    return {place: spent for place, spent in accounts.items() if place.day >= day}


def merged(many: Iterable[Accounts]) -> dict[Place, Spending]:
    """Several accounts as one."""
    found: dict[Place, Spending] = defaultdict(Spending)
    for accounts in many:
        for place, spent in accounts.items():
            found[place] += spent
    return dict(found)


def grouped(
    accounts: Accounts, by: By, teams: Mapping[str, tuple[str, ...]]
) -> dict[str, Spending]:
    """The accounts by one thing, the dearest first; who is in several teams counts in each."""
    found: dict[str, Spending] = defaultdict(Spending)
    for place, spent in accounts.items():
        for name in _names(place, by, teams):
            found[name] += spent
    if by == "day":
        return dict(sorted(found.items()))
    return dict(sorted(found.items(), key=lambda each: (-each[1].usd, -each[1].tokens, each[0])))


def name_in(signature: str) -> str:
    """The name in a signature such as `user:ann`."""
    return signature.removeprefix("user:")


def _names(place: Place, by: By, teams: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    match by:
        case "model":
            return (place.model,)
        case "role":
            return (place.role or NOBODY,)
        case "app":
            return (place.app or NOBODY,)
        case "person":
            return (place.person or NOBODY,)
        case "day":
            return (place.day,)
        case "team":
            mine = tuple(team for team, people in teams.items() if place.person in people)
            return mine or (NOBODY,)
        case _:
            assert_never(by)


def _spending(data: members.Object) -> Spending:
    if members.flag(data, "cached"):
        return Spending(calls=1, cached=1)
    return Spending(
        calls=1,
        tokens_in=members.whole(data, "tokens_in") or 0,
        tokens_out=members.whole(data, "tokens_out") or 0,
        seconds=members.number(data, "seconds"),
        usd=members.number(data, "usd"),
        unpriced=int(data.get("usd") is None),
    )
