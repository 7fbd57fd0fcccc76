"""The pool of a run: all candidates and checks of both ensembles, and the results so far."""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from twinsmith.core.checks.inputs import expected_of, input_text, observed, observing
from twinsmith.core.execution import Execution, ProbeResult
from twinsmith.core.judging.meaning import meaning
from twinsmith.core.judging.selection import Check, Entrant, Evidence
from twinsmith.core.probe import Call, Command, Input, Probe, Probes
from twinsmith.core.program import Candidate
from twinsmith.core.verdict import Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """All candidates, probes and results of a run; probes and results stand in the same order."""

    probes: tuple[Probe, ...] = ()
    setup: str = ""
    checks: tuple[Check, ...] = ()
    """The expected results of probes: given by the task or a person, or proposed by a critic."""
    candidates: tuple[Candidate, ...] = ()
    seen: Mapping[int, tuple[ProbeResult, ...]] = field(default_factory=dict)
    problems: Mapping[int, str] = field(default_factory=dict)
    """Why a candidate did not run at all, by its number."""
    findings: Mapping[int, tuple[Finding, ...]] = field(default_factory=dict)
    """Findings in candidates that were in the lead at some time, by their numbers."""
    barred: frozenset[int] = frozenset()
    """The numbers of candidates that a critic refuses, whatever they return."""
    exact: bool = True
    """Whether a tuple and a list differ; False for languages without tuples."""
    about: Mapping[int, frozenset[int]] = field(default_factory=dict)
    """By a probe's place, the numbers of all requirements that it was proposed for."""

    def evidence(self) -> Evidence:
        """The evidence by which a candidate is selected."""
        entrants = (
            Entrant(
                candidate=each.number,
                results=self.seen[each.number],
                ensemble=each.ensemble,
                barred=each.number in self.barred,
                edited=each.way == "varied",
            )
            for each in self.candidates
            if each.number in self.seen
        )
        calls = tuple(probe.asks for probe in self.probes)
        return Evidence(calls=calls, entrants=tuple(entrants), checks=self.checks, exact=self.exact)

    def unseen_by(self, number: int) -> Probes:
        """The probes that a candidate has not been tried with yet."""
        known = len(self.seen.get(number, ()))
        return Probes(checks=self.probes[known:], setup=self.setup)

    def calls(self) -> tuple[Call, ...]:
        """Every call of a function among the probes."""
        return tuple(probe.call for probe in self.probes if probe.call)

    def failing(
        self, number: int, *, given: bool = True
    ) -> tuple[tuple[Check, Probe, ProbeResult], ...]:
        """Checks that a candidate fails, of those given or those proposed; the shortest first."""
        seen = self.seen.get(number, ())
        held = self.held(number)
        missed = {
            (check.probe, check.expected): (check, self.probes[check.probe], seen[check.probe])
            for check in self.checks
            if check.given == given and check.probe < len(seen) and check not in held
        }
        return tuple(sorted(missed.values(), key=lambda row: len(row[1].source)))

    def held(self, number: int) -> tuple[Check, ...]:
        """The checks that a candidate passes."""
        seen = self.seen.get(number, ())
        return tuple(
            check
            for check in self.checks
            if check.probe < len(seen) and self._holds(check, seen[check.probe])
        )

    def agreed(self, number: int) -> tuple[int, ...]:
        """Places of inputs without a known result on which all that pass the given checks agree."""
        others = [n for n in self.seen if n != number and not self.failing(n)]
        checked = {check.probe for check in self.checks}
        return tuple(
            place
            for place, own in enumerate(self.seen.get(number, ()))
            if place not in checked
            and (gave := self._gave(place, own)) is not None
            and others
            and all(
                place < len(self.seen[n]) and self._gave(place, self.seen[n][place]) == gave
                for n in others
            )
        )

    def passed(self, number: int) -> tuple[int, int]:
        """How many checks a candidate passes, of how many; what two critics proposed is one."""
        held, known = (
            {(check.probe, check.expected) for check in checks}
            for checks in (self.held(number), self.checks)
        )
        return len(held), len(known)

    def numbered(self, number: int) -> Candidate:
        """The candidate with a number."""
        return next(each for each in self.candidates if each.number == number)

    def with_candidates(self, more: Iterable[Candidate]) -> "Pool":
        """The pool with more candidates."""
        return replace(self, candidates=(*self.candidates, *more))

    def with_given(self, probes: Probes) -> "Pool":
        """The pool with the checks that decide: a person's tests and the task's examples."""
        pool = replace(self, setup=probes.setup)
        for probe in probes.checks:
            pool = pool.with_check(probe, given=True)
        return pool

    def with_inputs(self, more: Iterable[Input]) -> "Pool":
        """The pool with more inputs whose results nobody knows."""
        pool = self
        for asked in more:
            pool, _ = pool.with_probe(_observing(asked))
        return pool

    def with_proposed(self, found: Mapping[Probe, int], ensemble: int) -> "Pool":
        """The pool with the checks that the critic of an ensemble proposed, and how often each."""
        pool = self
        for probe, times in found.items():
            pool = pool.with_check(probe, times=times, ensemble=ensemble)
        return pool

    def with_check(
        self, probe: Probe, *, given: bool = False, times: int = 1, ensemble: int = 0
    ) -> "Pool":
        """The pool with one more check."""
        asked = probe.asks
        expected = expected_of(asked) if asked else ""
        pool, place = self.with_probe(_observing(asked, probe) if asked else probe)
        same = [
            check
            for check in self.checks
            if (check.probe, check.expected, check.ensemble, check.given)
            == (place, expected, ensemble, given)
        ]
        before = sum(check.times for check in same)
        check = Check(
            probe=place, expected=expected, times=before + times, ensemble=ensemble, given=given
        )
        rest = tuple(each for each in self.checks if each not in same)
        return replace(pool, checks=(*rest, check))

    def without(self, check: Check) -> "Pool":
        """The pool without one of its checks."""
        return replace(self, checks=tuple(each for each in self.checks if each != check))

    def with_probe(self, probe: Probe) -> "tuple[Pool, int]":
        """The pool with a probe, and the probe's place; a probe that asks the same is kept once."""
        asked = [(known.asks or known.source) for known in self.probes]
        mine = probe.asks or probe.source
        place = asked.index(mine) if mine in asked else len(asked)
        about = self.about
        if probe.about:
            about = {**about, place: about.get(place, frozenset()) | {probe.about}}
        probes = self.probes if place < len(asked) else (*self.probes, probe)
        if place < len(asked) and probe.about and not self.probes[place].about:
            # Somebody thought of it before, and of no requirement.
            named = replace(self.probes[place], about=probe.about)
            probes = (*probes[:place], named, *probes[place + 1 :])
        return replace(self, probes=probes, about=about), place

    def with_findings(self, number: int, findings: tuple[Finding, ...], *, barred: bool) -> "Pool":
        """The pool with the findings in one candidate."""
        before = self.findings.get(number, ())
        return replace(
            self,
            findings={**self.findings, number: (*before, *findings)},
            barred=self.barred | {number} if barred else self.barred,
        )

    def with_execution(self, execution: Execution) -> "Pool":
        """The pool with the results of one candidate."""
        number = execution.candidate
        seen = (*self.seen.get(number, ()), *execution.results)
        pool = replace(self, seen={**self.seen, number: seen}) if seen else self
        if execution.problem:
            return replace(pool, problems={**self.problems, number: execution.problem})
        return pool

    def _holds(self, check: Check, result: ProbeResult) -> bool:
        asked = self.probes[check.probe].asks
        if asked is None or not check.expected:
            return result.outcome == "passed"
        gave = observed(asked, result)
        return bool(gave) and self._meaning(gave) == self._meaning(check.expected)

    def _gave(self, place: int, result: ProbeResult) -> Hashable:
        """The result that a program gave for an input, ready to compare; None where it failed."""
        asked = self.probes[place].asks
        gave = observed(asked, result) if asked else ""
        return self._meaning(gave) if gave else None

    def _meaning(self, literal: str) -> Hashable:
        return meaning(literal, exact=self.exact)


def _observing(asked: Input, of: Probe | None = None) -> Probe:
    """A probe without an expected result: it only observes what a program gives."""
    seen = observing(asked)
    return Probe(
        name=of.name if of else input_text(asked),
        origin=of.origin if of else "plan",
        call=seen if isinstance(seen, Call) else None,
        command=seen if isinstance(seen, Command) else None,
        source=of.source if of else "",
        about=of.about if of else 0,
    )
