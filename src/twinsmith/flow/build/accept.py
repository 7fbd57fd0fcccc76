"""Judged candidates in; out: is the task solved, and the reason that a person reads."""

from collections.abc import Sequence

from twinsmith.core.checks.inputs import input_text
from twinsmith.core.judging.doubt import doubted
from twinsmith.core.judging.raising import named_exceptions, never_raised
from twinsmith.core.outcome import Work
from twinsmith.core.planning.standing import Standing
from twinsmith.core.task import Job
from twinsmith.core.verdict import Verdict

UNCHECKED = (
    "nothing could be checked: the task gives no example and no critic wrote a check that "
    "can be used; add an example to the task, or give --tests"
)


def reason_for(job: Job, work: Work, verdicts: tuple[Verdict, ...]) -> tuple[bool, str]:
    """True where the best candidate is good enough to count as solved, with the reason for it."""
    chosen = work.selection
    if chosen.winner is None:
        return False, _nothing(work, verdicts)
    best = next(v for v in verdicts if v.candidate == chosen.winner)
    parts = max(1, len(work.profile.calls))
    believed = chosen.confidence**parts
    score = (
        f"candidate {best.candidate} passes {best.passed} of {best.total} checks, "
        f"confidence {chosen.confidence:.2f}"
    )
    if parts > 1:
        # Fitted on single functions; a library is right only where all that it offers is.
        score += f" in each of {parts} parts, {believed:.2f} in all"
    blocking = next((f for f in best.findings if f.severity == "blocking"), None)
    if blocking is not None:
        return False, f"{score}; {blocking.where} {blocking.what}: {blocking.evidence}{_hint(work)}"
    if not work.pool.checks:
        return False, f"{score}; {_agreed(work)}{UNCHECKED}"
    unmet = work.asked.unmet if work.asked else ()
    if unmet:
        return False, f"{score}; {_missing(unmet)}"
    never = _never_raised(job, work, chosen.winner)
    if never:
        return False, f"{score}; {never}"
    # A person's tests decide by themselves; where nothing was left to a model, so do the frame's.
    brought = work.asked is not None and work.asked.brought
    # A fix is chosen only where it passes what failed and everything that it was accepted by.
    if job.task.tests or job.mend is not None or brought or believed >= job.effort.least:
        return True, score
    return False, "; ".join([f"{score}: too little to call it solved", *_doubts(work, best)])


def _never_raised(job: Job, work: Work, winner: int) -> str:
    """The exceptions that a Python task names and nothing made the program raise, for a person."""
    task = job.task
    decided = bool(task.tests) or job.mend is not None or task.kind == "service"
    if decided or task.language != "python":
        return ""
    missing = never_raised(named_exceptions(task.text), work.pool, winner)
    told = " and ".join(missing)
    return f"not shown: nothing that was tried made it raise {told}" if missing else ""


def _missing(unmet: Sequence[Standing]) -> str:
    """The first requirement that no check showed to be met, and how many more there are."""
    first = unmet[0]
    more = f", and {len(unmet) - 1} more" if len(unmet) > 1 else ""
    return f"not shown: {first.requirement.quote!r} ({first.why}){more}"


def _hint(work: Work) -> str:
    """A hint that an example of the task may be mistaken: all good candidates break it alike."""
    doubt = doubted(work.pool)
    if doubt is None:
        return ""
    return (
        f"; all {doubt.programs} candidates that do the rest give {doubt.gave[:80]} for "
        f"{input_text(doubt.call)[:80]}: if the example is mistaken, change it and build again"
    )


def _agreed(work: Work) -> str:
    """The number of candidates that agree, for a person; agreement alone proves nothing."""
    alike, of = len(work.selection.clusters[0]), len(work.pool.candidates)
    if not work.pool.probes:
        return ""
    return f"{alike} of {of} candidates agree on everything that was tried, but "


def _nothing(work: Work, verdicts: tuple[Verdict, ...]) -> str:
    """The reason that no candidate leads: none was written, none runs, or all were refused."""
    if work.problem:
        return work.problem
    if any(each.program for each in work.pool.candidates) and not work.pool.probes:
        return UNCHECKED
    objections = (
        f"{f.what}, {f.where}: {f.evidence}"
        for v in verdicts
        for f in v.findings
        if v.candidate in work.pool.barred and f.severity == "blocking"
    )
    if refused := next(objections, ""):
        return f"every candidate that runs was refused: {refused}"
    first = next((f.evidence for v in verdicts for f in v.findings), "none was written")
    return f"no candidate runs: {first}"


def _doubts(work: Work, best: Verdict) -> list[str]:
    """The reasons that the best candidate is not believed to be right, a phrase each."""
    doubts = [work.problem] if work.problem else []
    doubts += [f"{note.where} {note.what}: {note.evidence}" for note in best.findings[:1]]
    between = work.selection.separating
    if between is not None:
        doubts.append(f"others give {between.runner_up[:80]} where it gives {between.winner[:80]}")
    return doubts
