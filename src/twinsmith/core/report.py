"""The report of a run, for a person and for a script."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from difflib import SequenceMatcher

from twinsmith.core.events import Json
from twinsmith.core.knowing.knowledge import Hit
from twinsmith.core.origins import Origin, origins, shares
from twinsmith.core.outcome import RunOutcome, Work
from twinsmith.core.planning.standing import table
from twinsmith.core.program import Candidate
from twinsmith.core.task import Job

SHORTEST_COPY = 30
"""The fewest characters in a row that count as copied."""


def report_json(job: Job, work: Work, end: RunOutcome) -> str:
    """The report of a run as JSON, for a script."""
    best = work.best
    told: dict[str, Json] = {
        "run": job.run,
        "task": job.task.text,
        "language": job.task.language,
        "kind": job.task.kind,
        "solved": end.solved,
        "confidence": round(end.confidence, 3),
        "reason": end.reason,
        "winner": end.winner,
        "assumed": work.profile.answer,
        "told": list(work.told),
        "unsupported": work.profile.unsupported,
        "practice": work.profile.practice,
        "plans": {str(ensemble): text for ensemble, text in work.plans.items()},
        "reminders": [each.text for each in work.reminders],
        "candidates": [_candidate(each) for each in work.pool.candidates],
        "verdicts": [asdict(verdict) for verdict in end.verdicts],
        "ways": [list(cluster) for cluster in work.selection.clusters],
        "pieces": [_lineage(hit) for hit in work.pieces],
        "copied": round(copied(best, [hit.passage.text for hit in work.pieces]), 3),
        "origins": dict(shares(_origins(work))),
        "lines": {name: [list(run) for run in runs] for name, runs in _origins(work).items()},
        "requirements": _requirements(work),
        "uncovered": list(work.asked.requirements.uncovered(job.task.text)) if work.asked else [],
        "models": list(end.models),
        "seed": job.seed,
        "tokens": end.spent.tokens,
        "seconds": round(end.spent.seconds, 1),
        "usd": round(end.spent.usd, 6),
        "unpriced": end.spent.unpriced,
    }
    return json.dumps(told, indent=2, ensure_ascii=False) + "\n"


def markdown(job: Job, work: Work, end: RunOutcome) -> str:
    """The report of a run as Markdown, for a person."""
    spent = f"{end.spent.tokens} tokens, {end.spent.seconds:.0f} s, {end.spent.usd:.4f} USD"
    lines = [
        f"# {'Solved' if end.solved else 'Not solved'}",
        "",
        f"> {' '.join(job.task.text.split())}",
        "",
        f"{end.reason}.",
        "",
        f"Run `{job.run}`, seed {job.seed}: {spent}.",
        f"Models: {', '.join(end.models) or 'none'}.",
        "",
    ]
    if work.profile.answer:
        lines += ["## Assumed", "", f"{work.profile.question} {work.profile.answer}", ""]
    if work.profile.unsupported:
        lines += [f"Not supported, and therefore not built: {work.profile.unsupported}.", ""]
    if work.told:
        lines += ["## Told by a person", "", *(f"- {each}" for each in work.told), ""]
    if work.profile.practice:
        lines += ["## Kept to", "", work.profile.practice, ""]
    for ensemble, text in work.plans.items():
        lines += [f"## Plan of ensemble {ensemble}", "", text, ""]
    if work.asked is not None:
        lines += ["## What was asked", "", table(work.asked.standings), ""]
        left = work.asked.requirements.uncovered(job.task.text)
        if left:
            lines += [f"Words of the task that no requirement covers: {', '.join(left)}.", ""]
    lines += ["## Candidates", "", *_candidates(work, end), *_sources(work)]
    return "\n".join(lines) + "\n"


def copied(best: Candidate | None, texts: Sequence[str]) -> float:
    """The share of a program that stands word for word in texts it was written from."""
    source = best.program.text if best and best.program else ""
    covered: set[int] = set()
    for text in filter(None, texts):
        matcher = SequenceMatcher(None, source, text, autojunk=False)
        for block in matcher.get_matching_blocks():
            if block.size >= SHORTEST_COPY:
                covered.update(range(block.a, block.a + block.size))
    return len(covered) / len(source) if source else 0.0


def _candidates(work: Work, end: RunOutcome) -> Iterator[str]:
    """The lines of the report about every candidate: its repairs and findings."""
    for candidate, verdict in zip(work.pool.candidates, end.verdicts, strict=True):
        mark = "**chosen**, " if candidate.number == work.selection.winner else ""
        yield (
            f"- {candidate.number} (ensemble {candidate.ensemble}, {candidate.way}): {mark}"
            f"{verdict.passed} of {verdict.total} checks"
        )
        yield from (f"  - mended: {words}" for words in candidate.repairs)
        if candidate.told:
            yield f"  - its coder was told: {' '.join(candidate.told.split())}"
        for finding in verdict.findings:
            yield f"  - {finding.where} {finding.what}: {' '.join(finding.evidence.split())}"


def _origins(work: Work) -> dict[str, list[tuple[Origin, int]]]:
    if work.best is None or work.best.program is None:
        return {}
    return origins(work.best.program, work.asked, [hit.passage.text for hit in work.pieces])


def _sources(work: Work) -> Iterator[str]:
    """The lines of the report about text that comes from elsewhere: how much, and from where."""
    told = ", ".join(
        f"{name} {100 * share:.0f} %" for name, share in shares(_origins(work)).items()
    )
    if told:
        yield f"\nLines of the program by origin: {told}."
    if work.pieces:
        share = 100 * copied(work.best, [hit.passage.text for hit in work.pieces])
        yield "\n## Pieces\n"
        yield f"{share:.0f} % of the program stands in them word for word."
        yield from (f"- {hit.passage.source}: {hit.passage.path}" for hit in work.pieces)


def _candidate(each: Candidate) -> dict[str, Json]:
    return {
        "number": each.number,
        "ensemble": each.ensemble,
        "way": each.way,
        "repairs": list(each.repairs),
        "told": each.told,
        "problem": each.problem,
    }


def _requirements(work: Work) -> list[Json]:
    return [
        {
            "number": each.requirement.number,
            "what": each.requirement.what,
            "quote": each.requirement.quote,
            "pieces": list(each.functions),
            "shown": list(each.shown),
            "against": list(each.against),
            "met": each.met,
            "why": each.why,
        }
        for each in (work.asked.standings if work.asked else ())
    ]


def _lineage(hit: Hit) -> dict[str, Json]:
    passage = hit.passage
    return {
        "source": passage.source,
        "path": passage.path,
        "symbol": passage.symbol,
        "version": passage.version,
        "licence": passage.licence,
        "score": hit.score,
    }
