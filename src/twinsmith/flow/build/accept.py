"""Judged candidates in, the files a person gets out."""

import json
from collections.abc import Mapping
from dataclasses import asdict

from twinsmith.core.events import Json
from twinsmith.core.outcome import RunOutcome, Work
from twinsmith.core.plan import Plan
from twinsmith.core.probe import Probe, Probes
from twinsmith.core.program import MODULE
from twinsmith.core.task import Job
from twinsmith.core.verdict import Verdict, best_of


def choose(verdicts: tuple[Verdict, ...]) -> tuple[Verdict | None, str]:
    """The best candidate, and why it is or is not good enough."""
    best = best_of(verdicts)
    if best is None:
        return None, "no candidate was written"
    score = f"candidate {best.candidate} passes {best.passed} of {best.total} checks"
    if best.accepted:
        return best, score
    first = next(finding for finding in best.findings if finding.severity == "blocking")
    return best, f"{score}; {first.where} {first.what}: {first.evidence}"


def result_files(job: Job, work: Work, end: RunOutcome) -> Mapping[str, str]:
    """The program with its tests and report; what was not accepted lies under `rejected/`."""
    report = _report(job, work.plan, end)
    files = {
        "report.json": json.dumps(report, indent=2, ensure_ascii=False) + "\n",
        "report.md": _markdown(job, work.plan, end),
    }
    best = best_of(end.verdicts)
    program = next(
        (c.program for c in work.candidates if best and c.number == best.candidate), None
    )
    if program is not None:
        folder = "" if end.solved else "rejected/"
        files[f"{folder}{MODULE}.py"] = program.source
        files[f"{folder}test_{MODULE}.py"] = _tests(program.entry, work.probes)
    return files


def _report(job: Job, plan: Plan | None, end: RunOutcome) -> dict[str, Json]:
    return {
        "run": job.run,
        "task": job.task.text,
        "solved": end.solved,
        "reason": end.reason,
        "plan": asdict(plan) if plan else None,
        "winner": end.winner,
        "verdicts": [asdict(verdict) for verdict in end.verdicts],
        "models": list(end.models),
        "seed": job.seed,
        "tokens": end.spent.tokens,
        "seconds": round(end.spent.seconds, 1),
    }


def _markdown(job: Job, plan: Plan | None, end: RunOutcome) -> str:
    lines = [
        f"# {'Solved' if end.solved else 'Not solved'}",
        "",
        f"> {' '.join(job.task.text.split())}",
        "",
        f"{end.reason}.",
        "",
        f"Run `{job.run}`, seed {job.seed}, {end.spent.tokens} tokens.",
        f"Models: {', '.join(end.models) or 'none'}.",
        "",
    ]
    if plan:
        lines += ["## Plan", "", plan.approach, ""]
    lines += ["## Candidates", ""]
    for verdict in end.verdicts:
        word = "accepted" if verdict.accepted else "rejected"
        lines.append(f"- {verdict.candidate}: {word}, {verdict.passed} of {verdict.total} checks")
        lines += [
            f"  - {finding.where} {finding.what}: {' '.join(finding.evidence.split())}"
            for finding in verdict.findings
        ]
    return "\n".join(lines) + "\n"


def _tests(entry: str, probes: Probes) -> str:
    lines = [f'"""What {MODULE}.py was checked with."""', "", f"from {MODULE} import {entry}", ""]
    if probes.setup:
        lines += [probes.setup, ""]
    for number, probe in enumerate(probes.checks, start=1):
        lines += ["", *_test(number, probe), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _test(number: int, probe: Probe) -> list[str]:
    if not probe.source.startswith("assert"):
        # A person's function: the call that makes it a probe is pytest's business here.
        return probe.source.splitlines()[:-1]
    body = [f"    {line}" for line in probe.source.splitlines()]
    return [f"def test_{number}():", *body]
