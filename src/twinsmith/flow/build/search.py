"""One ensemble: what its slow thinker, coder and critic are asked in a round."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from twinsmith.core.checks.inputs import input_text, observed
from twinsmith.core.effort import Round
from twinsmith.core.judging.pool import Pool
from twinsmith.core.judging.selection import Selection
from twinsmith.core.model import Question
from twinsmith.core.program import Candidate, Way
from twinsmith.core.task import Task
from twinsmith.flow.build.generate import Brief
from twinsmith.flow.build.refine import refinement

LONGEST_VALUE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Where a search stands: all that was made, and which of it is best."""

    pool: Pool
    selection: Selection
    plans: Mapping[int, str]
    reminded: bool = False
    """Whether a slow thinker was told what earlier runs learned."""
    told: tuple[str, ...] = ()
    """What a person said on the way."""
    stopped: str = ""
    """Why it ended before it was done."""

    @property
    def passes(self) -> bool:
        """Whether the best one does all that was given."""
        winner = self.selection.winner
        return winner is not None and not self.pool.failing(winner)

    def best_of(self, ensemble: int) -> Candidate | None:
        """The candidate of an ensemble that comes nearest, if one of its answers is a program."""
        own = [c for c in self.pool.candidates if c.ensemble == ensemble and c.program]
        return max(own, key=lambda c: (self.pool.passed(c.number), -c.number), default=None)

    def standing_of(self, ensemble: int) -> str:
        """The same for a person."""
        best = self.best_of(ensemble)
        if best is None:
            return ""
        passed, total = self.pool.passed(best.number)
        return f"{best.number}, {passed}/{total} checks"


def briefs(
    what: Round, made: int, guidance: Mapping[int, str], advice: str, *, advised: int = 2
) -> Iterator[Brief]:
    """What each candidate of a round is written from; numbers go on where they stopped.

    One of so many is shown what was retrieved: it is copied word for word now and then.
    """
    number = made
    for ensemble, temperatures in what.temperatures.items():
        for temperature in temperatures:
            number += 1
            plan = guidance.get(ensemble, "")
            unplanned: Way = "noted" if ensemble in what.noted else "direct"
            yield Brief(
                number=number,
                ensemble=ensemble,
                temperature=temperature,
                way="planned" if plan else unplanned,
                told="\n".join(filter(None, ("" if number % advised else advice, plan))),
            )


def refinements(
    task: Task, found: Found, ensembles: tuple[int, ...]
) -> list[tuple[Question, Brief]]:
    """For each ensemble: what mends the candidate of its own that comes nearest."""
    number = len(found.pool.candidates)
    asked: list[tuple[Question, Brief]] = []
    for best in filter(None, map(found.best_of, ensembles)):
        question = refinement(task, found.pool, best, number + len(asked) + 1)
        if question is not None:
            brief = Brief(
                number=number + len(asked) + 1,
                ensemble=best.ensemble,
                temperature=question.temperature,
                way="refined",
            )
            asked.append((question, brief))
    return asked


def lesson(found: Found, ensemble: int, *, from_others: bool) -> str:
    """What an ensemble's slow thinker hears: where programs failed, and where they differ.

    What the other ensemble saw is told as well, unless they are kept apart.
    """
    lines: list[str] = []
    for candidate in found.pool.candidates:
        if candidate.ensemble != ensemble and not from_others:
            continue
        for check, probe, result in found.pool.failing(candidate.number)[:1]:
            asked = probe.asks
            what = input_text(asked) if asked else probe.source
            gave = observed(asked, result) if asked else ""
            saw = (gave or f"{result.outcome}: {result.detail}")[:LONGEST_VALUE]
            lines.append(f"- {what} gave {saw}; right is {check.expected or 'that it holds'}")
    between, chosen = found.selection.separating, found.selection
    own = {c.number for c in found.pool.candidates if c.ensemble == ensemble}
    told = from_others or {chosen.winner, chosen.runner_up} <= own
    if told and between is not None:
        lines.append(
            f"- for {input_text(between.call)} one program gives {between.winner[:LONGEST_VALUE]}, "
            f"another gives {between.runner_up[:LONGEST_VALUE]}"
        )
    return "\n".join(dict.fromkeys(lines))
