"""A challenger of a role: the calls that it gets, how it does beside the champion, and its guards.

It gets calls by a hash of their idempotency keys, so that one that is made again goes to the same
model. What it answers is judged by what came of it, as the journal tells: runs are independent of
one another, the candidates of one run are not, so that a run counts once for each side.
"""

import difflib
import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Literal, get_args

from twinsmith.core import members
from twinsmith.core.board import Board, advance
from twinsmith.core.errors import ConfigError
from twinsmith.core.events import Entry
from twinsmith.core.members import Object
from twinsmith.core.model import Prompt, Role
from twinsmith.core.progress import ENDED
from twinsmith.core.trying.arrangement import PLACES, ROUTES
from twinsmith.core.trying.sequential import Sums, interval
from twinsmith.core.trying.versions import model_and_version

Metric = Literal["unusable", "failed", "right", "seconds", "usd", "tokens"]
METRICS: tuple[Metric, ...] = get_args(Metric)
Course = Literal["running", "stopped", "fallen", "promoted"]
LEAST_COUNTED = 10
"""A guard is held against so many calls, or runs, at least."""
ALL = 2**64
NOTHING = Sums()


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """A limit that a challenger has to keep: the mean of a figure, and on which side it stays."""

    metric: Metric
    most: bool
    limit: float

    @property
    def words(self) -> str:
        """The guard as a person types it."""
        return f"{self.metric}{'<=' if self.most else '>='}{self.limit:g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Challenge:
    """A model that gets a share of a role's calls until somebody decides, or a guard breaks."""

    id: str
    role: Role
    model: str
    share: float
    guards: tuple[Guard, ...]
    champion: tuple[str, ...] = ()
    """What the role was asked to ask when it began; none: what the settings say. Runs that are
    asked otherwise take no part."""
    by: str
    began: str
    course: Course = "running"
    ended: str = ""
    ended_by: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What became of the calls of one side."""

    calls: int = 0
    failed: Sums = NOTHING
    """1 for each call that it could not answer, and that somebody else did."""
    unusable: Sums = NOTHING
    """1 for each answer that could not be used."""
    right: Sums = NOTHING
    """Of each run that ended: the part of its work that was right. Of a coder its candidates, of a
    critic its checks on the accepted program, of a slow thinker whether the run was solved."""
    seconds: Sums = NOTHING
    usd: Sums = NOTHING
    tokens: Sums = NOTHING

    def of(self, metric: Metric) -> Sums:
        """The sums of a figure."""
        found: Sums = getattr(self, metric)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Both sides of a challenge."""

    champion: Figures = Figures()
    challenger: Figures = Figures()


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """How a challenge stands: both sides, and what can be said of the difference by now."""

    challenge: Challenge
    tally: Tally
    gain: tuple[float, float]
    """Between what the challenger is right more often, at every moment at once, with 95 %."""
    broken: str
    """The first guard that is broken, in words; empty where all hold."""

    @property
    def says(self) -> str:
        """What the figures say: better, worse, or nothing yet."""
        low, high = self.gain
        return "better" if low > 0 else "worse" if high < 0 else "open"


def drawn(challenge: Challenge, key: str) -> bool:
    """Whether the call of a key is the challenger's."""
    digest = hashlib.sha256(f"{challenge.id}:{key}".encode()).digest()
    return int.from_bytes(digest[:8], "big") < challenge.share * ALL


def challenged(prompt: Prompt, challenges: Sequence[Challenge]) -> Prompt:
    """The question as it is asked: where the call is a challenger's, that one is asked first."""
    for each in challenges:
        if each.role == prompt.role and prompt.asks == each.champion and drawn(each, prompt.key):
            return replace(prompt, asks=(each.model, *(prompt.asks or (ROUTES,))))
    return prompt


def read_guard(text: str) -> Guard:
    """The guard that a person types, such as `unusable<=0.1`; ConfigError where it is none."""
    for sign in ("<=", ">="):
        name, found, limit = (part.strip() for part in text.partition(sign))
        if not found:
            continue
        metric = next((each for each in METRICS if each == name), None)
        if metric is None:
            near = difflib.get_close_matches(name, METRICS, n=1, cutoff=0)[0]
            raise ConfigError(f"guard {text!r}: {name!r} is no figure; did you mean {near!r}?")
        try:
            number = float(limit)
        except ValueError:
            number = -1.0
        if not 0 <= number < float("inf"):
            raise ConfigError(f"guard {text!r}: {limit!r} is no limit; for example 0.1")
        return Guard(metric=metric, most=sign == "<=", limit=number)
    raise ConfigError(f"{text!r} is no guard; for example unusable<=0.1 or right>=0.5")


def tallied(challenge: Challenge, run: str, entries: Iterable[Entry]) -> Tally:
    """What one run adds to a challenge."""
    seen = _Seen(board=Board(run=run))
    for entry in entries:
        _notice(seen, challenge, entry)
    if not seen.takes_part or not seen.calls:
        return Tally()
    sides = {side: _figures(seen.calls[side]) for side in (False, True)}
    sides[True] = replace(sides[True], failed=Sums.of(seen.failed))
    for side, values in _rights(seen, challenge).items():
        if values and seen.over:
            mean = sum(values) / len(values)
            sides[side] = replace(sides[side], right=Sums().plus(mean))
    return Tally(champion=sides[False], challenger=sides[True])


def added(one: Tally, other: Tally) -> Tally:
    """Two tallies as one."""
    return Tally(
        champion=_both(one.champion, other.champion),
        challenger=_both(one.challenger, other.challenger),
    )


def scored(challenge: Challenge, tally: Tally) -> Score:
    """How a challenge stands."""
    return Score(
        challenge=challenge,
        tally=tally,
        gain=interval(tally.champion.right, tally.challenger.right),
        broken=next(
            (told for each in challenge.guards if (told := _broken(each, tally.challenger))), ""
        ),
    )


class _Seen:
    """What a run's journal told so far of a role's calls."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self.takes_part = True
        self.over = self.solved = False
        self.calls: dict[bool, list[Object]] = defaultdict(list)
        """The answers of the champion, and of the challenger."""
        self.failed: list[float] = []
        self.writers: dict[int, bool] = {}
        """Who answered which question to a coder in the end."""
        self.critics: dict[int, set[bool]] = defaultdict(set)
        """Whose critics proposed checks, by ensemble."""


def _notice(seen: _Seen, challenge: Challenge, entry: Entry) -> None:
    data, kind = entry.event.data, entry.event.kind
    seen.board = advance(seen.board, entry)
    if kind == "run.started":
        seen.takes_part = _asked(data, challenge.role) == {challenge.champion}
    elif kind == "run.ended":
        state = members.text(data, "state")
        seen.over, seen.solved = state in ENDED and state != "cancelled", state == "solved"
    elif kind == "model.replied" and members.text(data, "role") == challenge.role:
        _count(seen, challenge, data)


def _count(seen: _Seen, challenge: Challenge, data: Object) -> None:
    """Count an answer for the side that gave it; a call from before the challenge for nobody's."""
    model = model_and_version(challenge.model)[0]
    tried = members.texts(data, "failed_attempts")
    failed = any(each.startswith(f"{model}: ") for each in tried)
    mine = drawn(challenge, members.text(data, "idempotency_key"))
    if mine and not failed and members.text(data, "model") != model:
        return
    if mine:
        seen.failed.append(float(failed))
    side = mine and not failed
    seen.calls[side].append(data)
    ensemble, nth = members.whole(data, "ensemble"), members.whole(data, "nth")
    if nth is not None:
        seen.writers[nth] = side
    if ensemble is not None and members.text(data, "template") != "decide":
        seen.critics[ensemble].add(side)


def _asked(started: Object, role: Role) -> set[tuple[str, ...]]:
    """What the ensembles of a run are asked to ask for a role."""
    words = members.texts(members.member(started, "versions"), "arrangement")
    told = dict(word.split("=", 1) for word in words if "=" in word)
    models = {key: tuple(value.split(",")) for key, value in told.items() if key in PLACES}
    return {models.get(f"{n}.{role}") or models.get(role, ()) for n in (1, 2)}


def _figures(calls: Sequence[Object]) -> Figures:
    """The figures of calls; what the cache answered took nothing."""
    paid = [each for each in calls if not members.flag(each, "cached")]
    read = [each for each in calls if "unusable" in each]
    return Figures(
        calls=len(calls),
        unusable=Sums.of(float(bool(members.text(each, "unusable"))) for each in read),
        seconds=Sums.of(members.number(each, "seconds") for each in paid),
        usd=Sums.of(members.number(each, "usd") for each in paid if each.get("usd") is not None),
        tokens=Sums.of(members.number(each, "tokens") for each in paid),
    )


def _rights(seen: _Seen, challenge: Challenge) -> dict[bool, list[float]]:
    """What of each side's work was right."""
    found: dict[bool, list[float]] = defaultdict(list)
    if challenge.role == "slow":
        for side, calls in seen.calls.items():
            found[side] = [float(seen.solved)] if calls else []
    elif challenge.role == "coder":
        for side, right in _candidates(seen):
            found[side].append(right)
    else:
        for side, right in _checks(seen):
            found[side].append(right)
    return found


def _candidates(seen: _Seen) -> Iterable[tuple[bool, float]]:
    """Whose each candidate is, and whether it does the same as the accepted one."""
    board = seen.board
    alike = next((group for group in board.clusters if board.winner in group), ())
    for each in board.candidates:
        right = seen.solved and (each.number == board.winner or each.number in alike)
        nths = [share.nth for share in each.shares if share.nth is not None]
        for side in {seen.writers[nth] for nth in nths if nth in seen.writers}:
            yield side, float(right)


def _checks(seen: _Seen) -> Iterable[tuple[bool, float]]:
    """Whose each check is, and whether the accepted program passes it.

    Where both sides proposed checks in one ensemble, nobody knows whose a check is.
    """
    board = seen.board
    if not seen.solved or board.winner is None:
        return
    for each in board.known.values():
        outcome = board.outcome(board.winner, each.number)
        for ensemble in each.ensembles if outcome and not each.given else ():
            if len(seen.critics[ensemble]) == 1:
                yield next(iter(seen.critics[ensemble])), float(outcome == "passed")


def _broken(guard: Guard, figures: Figures) -> str:
    sums = figures.of(guard.metric)
    if sums.n < LEAST_COUNTED:
        return ""
    holds = sums.mean <= guard.limit if guard.most else sums.mean >= guard.limit
    return "" if holds else f"{guard.words}: it is {sums.mean:.4g} over {sums.n}"


def _both(one: Figures, other: Figures) -> Figures:
    sums = {
        each.name: _sum(getattr(one, each.name), getattr(other, each.name))
        for each in fields(Figures)
        if each.name != "calls"
    }
    return Figures(calls=one.calls + other.calls, **sums)


def _sum(one: Sums, other: Sums) -> Sums:
    return Sums(
        n=one.n + other.n, total=one.total + other.total, squares=one.squares + other.squares
    )
