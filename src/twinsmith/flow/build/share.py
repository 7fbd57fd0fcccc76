"""A finished run in, insights and a program that later runs start from out."""

from collections.abc import Iterator

from twinsmith.core.checks.inputs import input_text
from twinsmith.core.knowing.insight import Insight, Outcome, Reminder, weight
from twinsmith.core.knowing.knowledge import Built
from twinsmith.core.outcome import RunOutcome, Work
from twinsmith.core.probe import Call
from twinsmith.core.program import Candidate
from twinsmith.core.replies.reply_files import as_blocks
from twinsmith.core.task import Job
from twinsmith.flow.insights import insights, record, tell_outcomes
from twinsmith.flow.recorder import Recorder
from twinsmith.ports import Graph

LONGEST_TASK = 200
LONGEST_REMINDER = 400
MOST_TOLD = 3
LEAST_WEIGHT = 0.4
"""An insight that failed more often than it helped of late is not told any more."""
SURE = 0.75
"""A program that is right with a lower probability would teach later runs its mistakes."""


async def remember(job: Job, graph: Graph) -> tuple[Reminder, ...]:
    """The insights of earlier runs on such a task, without those that have stopped to help."""
    if not job.effort.retrieval:
        return ()
    found = await insights(graph, about=job.task.text, language=job.task.language, limit=MOST_TOLD)
    return tuple(
        Reminder(key=each.key, text=each.text[:LONGEST_REMINDER])
        for each in found
        if weight(each) >= LEAST_WEIGHT
    )


async def share(job: Job, work: Work, end: RunOutcome, recorder: Recorder) -> None:
    """Keep the lessons and the program of a run, and note if the insights that it got helped."""

    async def keep(graph: Graph, now: str) -> int:
        learned = tuple(lessons(job, work, end, now)) if end.solved else ()
        await record(graph, learned, task=job.task.text, models=end.models)
        outcome = Outcome(run=job.run, helped=end.solved, at=now)
        await tell_outcomes(graph, [each.key for each in work.reminders], outcome)
        return len(learned)

    if end.solved or work.reminders:
        await recorder.share(keep)
    made = verified(job, work, end)
    if made is not None and job.effort.retrieval:
        await recorder.keep(made)


def verified(job: Job, work: Work, end: RunOutcome) -> Built | None:
    """The program of a run for the library; None where it is not surely right."""
    program = work.pool.numbered(end.winner).program if end.winner is not None else None
    # A person's tests, and checks that follow from a service's interface, leave no doubt.
    decided = bool(job.task.tests) or job.task.kind == "service"
    confidence = 1.0 if decided else end.confidence
    if not end.solved or program is None or confidence < SURE:
        return None
    return Built(
        run=job.run,
        task=job.task.text,
        language=program.language,
        entry=program.entry,
        source=as_blocks(program) if program.files else program.source,
        confidence=confidence,
    )


def lessons(job: Job, work: Work, end: RunOutcome, now: str) -> Iterator[Insight]:
    """The insights of a run: its plan, its repairs, an input that tells good programs from bad."""
    winner = work.selection.winner
    if winner is None:
        return
    best = work.pool.numbered(winner)
    about = " ".join(job.task.text.split())[:LONGEST_TASK]

    def insight(text: str, kind: str, subject: str = "", error: str = "") -> Insight:
        match kind:
            case "counterexample" | "fix" | "plan" | "practice":
                return Insight(
                    text=text,
                    kind=kind,
                    language=job.task.language,
                    run=job.run,
                    learned=now,
                    subject=subject,
                    error=error,
                )
        raise ValueError(kind)

    if best.way == "planned" and best.ensemble in work.plans:
        yield insight(f"{about}: {work.plans[best.ensemble]}", "plan")
    if best.way == "refined":
        yield from (insight(*row) for row in _fixes(work, best, about))
    between = work.selection.separating
    if between is not None and isinstance(between.call, Call) and end.solved:
        text = f"{about}: {input_text(between.call)} gives {between.winner}"
        yield insight(text, "counterexample", f"{about}: {input_text(between.call)}")


def _fixes(work: Work, best: Candidate, about: str) -> Iterator[tuple[str, str, str, str]]:
    """The mistakes that a refined candidate mended: text, kind, subject and error of each."""
    for other in work.pool.candidates:
        if other.number < best.number and other.ensemble == best.ensemble:
            for check, probe, result in work.pool.failing(other.number)[:1]:
                what = input_text(probe.asks) if probe.asks else probe.name
                # Of a check in code the value is all that was said, not one result.
                gave = result.value if probe.call else ""
                saw = gave or result.detail or result.outcome
                right = f"; right is {check.expected}" if check.expected else ""
                error = "wrong result" if gave else result.detail or result.outcome
                yield f"{about}: {what} gave {saw}{right}", "fix", "", error[:LONGEST_TASK]
