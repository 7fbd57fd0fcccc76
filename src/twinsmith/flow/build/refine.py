"""A candidate and what it fails in, the question that mends it out."""

from twinsmith.core.checks.inputs import input_text, observed
from twinsmith.core.execution import ProbeResult
from twinsmith.core.judging.pool import Pool
from twinsmith.core.judging.selection import Check
from twinsmith.core.model import Question
from twinsmith.core.outcome import Work
from twinsmith.core.probe import Probe
from twinsmith.core.program import Candidate
from twinsmith.core.replies.reply_files import as_blocks
from twinsmith.core.task import Task
from twinsmith.flow.build.brief import Brief
from twinsmith.flow.build.search import best_of
from twinsmith.prompts import render

LONGEST_EVIDENCE = 1200


def refinements(task: Task, work: Work, ensembles: tuple[int, ...]) -> list[tuple[Question, Brief]]:
    """The questions that mend the best candidate of each ensemble, each with its brief."""
    number = len(work.pool.candidates)
    asked: list[tuple[Question, Brief]] = []
    for best in filter(None, (best_of(work, ensemble) for ensemble in ensembles)):
        question = refinement(task, work.pool, best, number + len(asked) + 1)
        if question is not None:
            brief = Brief(
                number=number + len(asked) + 1,
                ensemble=best.ensemble,
                temperature=question.temperature,
                way="refined",
                of=(best.number,),
            )
            asked.append((question, brief))
    return asked


def refinement(task: Task, pool: Pool, of: Candidate, number: int) -> Question | None:
    """The question that mends a candidate; None where nothing is known to be wrong with it."""
    failure = _failure(pool, of)
    if of.program is None or not failure:
        return None
    text = render(
        "refine",
        task=task.text,
        language=task.language,
        source=as_blocks(of.program),
        failure=failure[:LONGEST_EVIDENCE],
    )
    return Question(
        role="coder",
        nth=number - 1,
        text=text,
        ensemble=of.ensemble,
        temperature=0.4,
        template="refine",
    )


def _failure(pool: Pool, of: Candidate) -> str:
    """The smallest thing that a candidate was given and does not do, with what was seen."""
    if of.number in pool.problems:
        return pool.problems[of.number]
    return next((_told(*row) for row in pool.failing(of.number)), "")


def _told(check: Check, probe: Probe, result: ProbeResult) -> str:
    asked = probe.asks
    if asked is None or not check.expected:
        return f"{probe.source}\n{result.detail}\n{result.errors}".strip()
    gave = observed(asked, result)
    saw = f"gives {gave}" if gave else f"{result.outcome}: {result.detail}\n{result.errors}".strip()
    return f"{input_text(asked)} has to give {check.expected}, and {saw}"
