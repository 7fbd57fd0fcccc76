"""Selecting the candidate to trust, by what all candidates did with the same inputs.

Right programs behave alike, wrong ones are wrong in many ways; a check that a model proposed is
right in less than half of the cases, but those that were proposed often and that many candidates
pass hardly ever lie. Every constant was chosen on recorded pools: `python -m bench.selection`.
"""

import ast
import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from twinsmith.core.checks.inputs import observed
from twinsmith.core.execution import ProbeResult
from twinsmith.core.judging.meaning import DIGITS, meaning
from twinsmith.core.probe import Call, Input
from twinsmith.core.replies.python_names import UNREADABLE

AGREEMENT = 0.2
"""The weight of agreement in a score; the rest is the weight of checks."""
DOUBT = 1.0
"""Votes added to every answer, so that none counts as impossible."""

BY_THE_WORDS = -1
"""The ensemble of checks that follow from the task's own words: a voice beside all critics."""
NOT_RUN = "not run"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrant:
    """One candidate and its results, in the order of the probes; the last ones may be missing.

    Numbers are unique in all ensembles. Who is barred has a vote, but never wins. One that is
    edited was made of another, to keep what was given: that it does is no surprise.
    """

    candidate: int
    results: tuple[ProbeResult, ...]
    ensemble: int = 0
    barred: bool = False
    edited: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """The expected result of a probe: a literal, or empty where the probe judges by itself.

    `given` says that it stands in the task; it is a hard filter. Others were proposed by a model,
    so many times, in one ensemble.
    """

    probe: int
    expected: str = ""
    times: int = 1
    ensemble: int = 0
    given: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """All that a selection goes by: inputs of the probes (None: it only judges), results, checks.

    `exact` is False for languages without tuples, where a list may stand for one.
    """

    calls: tuple[Input | None, ...]
    entrants: tuple[Entrant, ...]
    checks: tuple[Check, ...] = ()
    exact: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The score of one candidate; every part of it is between 0 and 1."""

    candidate: int
    total: float
    agreement: float
    checks: float
    given: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Separation:
    """An input on which the two leading clusters differ, and the result of each."""

    call: Input
    winner: str
    runner_up: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The winner with the probability that it is right; scores and clusters begin with the best.

    There is no winner when every candidate is barred or did nothing. `settled` counts edited
    programs as if each had been written by itself: it says when to stop, not what to believe.
    """

    winner: int | None
    confidence: float
    settled: float = 0.0
    scores: tuple[Score, ...] = ()
    clusters: tuple[tuple[int, ...], ...] = ()
    runner_up: int | None = None
    separating: Separation | None = None


def select(evidence: Evidence) -> Selection:
    """The selection among all entrants: hard filters, then agreement and checks."""
    table = _Table(evidence)
    finalists = table.finalists()
    if not finalists:
        return Selection(winner=None, confidence=0.0)
    scores = sorted(
        (table.score(entrant) for entrant in finalists),
        key=lambda score: (-round(score.total, DIGITS), score.candidate),
    )
    clusters = table.clusters([score.candidate for score in scores])
    edited = {each.candidate for each in evidence.entrants if each.edited}
    written = tuple(tuple(n for n in cluster if n not in edited) for cluster in clusters)
    second = clusters[1][0] if len(clusters) > 1 else None
    return Selection(
        winner=scores[0].candidate,
        confidence=_confidence(scores[0], written, table),
        settled=_confidence(scores[0], clusters, table),
        scores=tuple(scores),
        clusters=clusters,
        runner_up=second,
        separating=None if second is None else table.separation(scores[0].candidate, second),
    )


def _confidence(best: Score, clusters: Sequence[Sequence[int]], table: "_Table") -> float:
    """The probability that the best candidate is right.

    Where no critic has spoken yet, agreement stands for the checks as well, and nobody who passes
    the task's examples may give another value: on the pool two such were right in 98 of 100 cases.
    The clusters are those of programs that count; the best one may be none of them.

    A logistic regression over 4,052 selections from random parts of a recorded pool, with 4 to 20
    candidates. Its Brier score on problems left out is 0.085, that of the mean alone 0.130; on a
    pool it never saw, with examples, it is 0.079.
    """
    alike, checks = max(1, len(clusters[0])), best.checks
    if table.has_given and not table.has_critics:
        passing = [each for cluster in clusters for each in cluster]
        contradicted = any(table.contradicts(best.candidate, each) for each in passing)
        alike = 1 if contradicted else max(1, len(passing))
        checks = min(best.agreement, best.checks) if table.has_proposed else best.agreement
    odds = -2.6 + 1.6 * checks + 2.2 * best.agreement + 1.3 * math.log(alike)
    if table.has_given:
        odds += 0.8 if best.given == 1.0 else -3.3
    return 1 / (1 + math.exp(-odds))


@dataclass(frozen=True, slots=True)
class _Did:
    """The result of one candidate for one input; without a value, how it failed."""

    value: Hashable = None
    failure: str = ""


@dataclass(frozen=True, slots=True)
class _Wish:
    """The value that a check expects of a probe; without a value, the probe has to pass."""

    probe: int
    value: Hashable = None


class _Table:
    """The results of every entrant for every probe, ready to be compared."""

    def __init__(self, evidence: Evidence) -> None:
        self._calls = evidence.calls
        self._exact = evidence.exact
        self._entrants = {each.candidate: each for each in evidence.entrants}
        self._did = {each.candidate: self._behaviour(each) for each in evidence.entrants}
        self._voters = [each for each in evidence.entrants if self._did_something(each)]
        self._sizes = Counter(voter.ensemble for voter in self._voters)
        self._votes = [self._counted(probe) for probe in range(len(self._calls))]
        self._given = [self._wish(check) for check in evidence.checks if check.given]
        self._weights = self._weighed(evidence.checks)
        self._halves = self._inputs()

    @property
    def has_given(self) -> bool:
        """Whether the task itself has examples."""
        return bool(self._given)

    @property
    def has_proposed(self) -> bool:
        """Whether a critic, or the task's words, proposed checks."""
        return bool(self._weights)

    @property
    def has_critics(self) -> bool:
        """Whether a critic proposed checks."""
        return any(ensemble != BY_THE_WORDS for ensemble in self._weights)

    def finalists(self) -> list[Entrant]:
        """Entrants that pass all given checks; where none does, those that pass the most."""
        able = [each for each in self._voters if not each.barred]
        most = max((self._share_given(each) for each in able), default=0.0)
        return [each for each in able if self._share_given(each) == most]

    def score(self, entrant: Entrant) -> Score:
        """The score of one entrant."""
        agreement = self._agreement(entrant)
        shares = [
            sum(w for wish, w in weights.items() if self._passes(entrant, wish)) / whole
            for weights in self._weights.values()
            if (whole := sum(weights.values()))
        ]
        checks = sum(shares) / (len(shares) or 1)
        return Score(
            candidate=entrant.candidate,
            total=AGREEMENT * agreement + (1 - AGREEMENT) * checks,
            agreement=agreement,
            checks=checks,
            given=self._share_given(entrant),
        )

    def contradicts(self, one: int, other: int) -> bool:
        """Whether two candidates give different values for some input; failing is no value."""
        return any(
            mine != theirs and not mine.failure and not theirs.failure
            for mine, theirs in zip(self._did[one], self._did[other], strict=True)
        )

    def clusters(self, ranked: Sequence[int]) -> tuple[tuple[int, ...], ...]:
        """Groups of candidates with the same results everywhere; the best come first."""
        alike: dict[Hashable, list[int]] = defaultdict(list)
        for candidate in ranked:
            alike[self._did[candidate]].append(candidate)
        return tuple(tuple(each) for each in alike.values())

    def separation(self, winner: int, runner_up: int) -> Separation | None:
        """The simplest input on which two candidates differ by value, much like the examples."""
        styles = {_style(self._calls[wish.probe]) for wish in self._given}

        def simplicity(probe: int) -> tuple[bool, bool, int, str]:
            call = self._calls[probe]
            both = self._did[winner][probe], self._did[runner_up][probe]
            fails = any(did.failure for did in both)
            return fails, _style(call) not in styles, len(repr(call)), repr(call)

        differing = [
            probe
            for probe, call in enumerate(self._calls)
            if call is not None and self._did[winner][probe] != self._did[runner_up][probe]
        ]
        if not differing:
            return None
        probe = min(differing, key=simplicity)
        call = self._calls[probe]
        assert call is not None
        seen = [_shown(self._entrants[each], probe, call) for each in (winner, runner_up)]
        return Separation(call=call, winner=seen[0], runner_up=seen[1])

    def _behaviour(self, entrant: Entrant) -> tuple[_Did, ...]:
        done = map(self._done, self._calls, entrant.results)
        missing = len(self._calls) - len(entrant.results)
        return (*done, *[_Did(failure=NOT_RUN)] * missing)

    def _done(self, call: Input | None, result: ProbeResult) -> _Did:
        if call is None:
            passed = result.outcome == "passed"
            return _Did(value=True) if passed else _Did(failure=result.outcome)
        gave = observed(call, result)
        if gave:
            return _Did(value=meaning(gave, exact=self._exact))
        crashed = result.outcome in ("passed", "failed")
        return _Did(failure="crashed" if crashed else result.outcome)

    def _did_something(self, entrant: Entrant) -> bool:
        return any(not did.failure for did in self._did[entrant.candidate])

    def _wish(self, check: Check) -> _Wish:
        if not check.expected:
            return _Wish(probe=check.probe)
        return _Wish(probe=check.probe, value=meaning(check.expected, exact=self._exact))

    def _passes(self, entrant: Entrant, wish: _Wish) -> bool:
        if wish.value is None:
            result = _result(entrant, wish.probe)
            return result is not None and result.outcome == "passed"
        return self._did[entrant.candidate][wish.probe].value == wish.value

    def _share_given(self, entrant: Entrant) -> float:
        passed = sum(self._passes(entrant, wish) for wish in self._given)
        return passed / len(self._given) if self._given else 1.0

    def _weighed(self, checks: Sequence[Check]) -> dict[int, dict[_Wish, float]]:
        """The checks that each ensemble proposed, with their weights.

        What was proposed often is hardly ever wrong: the square of that counts, times the share of
        voters that pass it.
        """
        times: dict[int, Counter[_Wish]] = defaultdict(Counter)
        for check in checks:
            if not check.given:
                times[check.ensemble][self._wish(check)] += check.times
        return {
            ensemble: {wish: n**2 * self._reliability(wish) for wish, n in counted.items()}
            for ensemble, counted in times.items()
        }

    def _reliability(self, wish: _Wish) -> float:
        passing = Counter(v.ensemble for v in self._voters if self._passes(v, wish))
        return self._share(passing, doubt=0.0)

    def _counted(self, probe: int) -> dict[_Did, Counter[int]]:
        """The votes on one probe: for each result, how many voters of each ensemble gave it."""
        votes: dict[_Did, Counter[int]] = defaultdict(Counter)
        for voter in self._voters:
            votes[self._did[voter.candidate][probe]][voter.ensemble] += 1
        return votes

    def _share(self, votes: Counter[int], *, doubt: float) -> float:
        """The share of votes; each ensemble has one voice, however many voters it has."""
        shares = [(votes[each] + doubt) / (n + doubt) for each, n in self._sizes.items()]
        return sum(shares) / (len(shares) or 1)

    def _inputs(self) -> list[list[int]]:
        """The places of inputs in two groups of the same weight: of checks, and made-up ones."""
        given = {wish.probe for wish in self._given}
        checked = {wish.probe for weights in self._weights.values() for wish in weights}
        calls = [n for n, call in enumerate(self._calls) if call is not None and n not in given]
        halves = [n for n in calls if n in checked], [n for n in calls if n not in checked]
        if not calls:
            # Of objects there are only checks: agreement is on those that somebody passes.
            halves = [n for n in sorted(checked) if self._passed_by_some(n)], []
        return [half for half in halves if half]

    def _passed_by_some(self, probe: int) -> bool:
        return any(not self._did[voter.candidate][probe].failure for voter in self._voters)

    def _agreement(self, entrant: Entrant) -> float:
        """The geometric mean of an entrant's support: who is right is right everywhere."""
        means = [
            math.exp(sum(math.log(self._support(entrant, probe)) for probe in half) / len(half))
            for half in self._halves
        ]
        return sum(means) / (len(means) or 1)

    def _support(self, entrant: Entrant, probe: int) -> float:
        did = self._did[entrant.candidate][probe]
        votes = Counter[int]() if did.failure else self._votes[probe][did]
        return self._share(votes, doubt=DOUBT)


def _style(call: Input | None) -> Hashable:
    """The types of an input's arguments, two levels deep."""
    if not isinstance(call, Call):
        return type(call).__name__
    styles: list[Hashable] = []
    for arg in call.args:
        try:
            value = ast.literal_eval(arg)
        except UNREADABLE:
            return None
        items = value if isinstance(value, list | tuple | set | dict) else ()
        styles.append(
            (type(value).__name__, tuple(sorted({type(item).__name__ for item in items})))
        )
    return tuple(styles)


def _result(entrant: Entrant, probe: int) -> ProbeResult | None:
    return entrant.results[probe] if probe < len(entrant.results) else None


def _shown(entrant: Entrant, probe: int, call: Input) -> str:
    result = _result(entrant, probe)
    return NOT_RUN if result is None else observed(call, result) or result.outcome
