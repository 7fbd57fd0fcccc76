"""A finished program in, the files that a person gets out: it, its tests, how to use it."""

import json
import shlex
from collections.abc import Mapping

from twinsmith.core.checks.command_tests import build_line, run_line
from twinsmith.core.checks.result_tests import tests_of
from twinsmith.core.judging.pool import Pool
from twinsmith.core.outcome import RunOutcome, Work
from twinsmith.core.planning.contract import Contract
from twinsmith.core.planning.openapi import openapi_of
from twinsmith.core.planning.python_kit import PACKAGES
from twinsmith.core.probe import Probes
from twinsmith.core.profile import Profile
from twinsmith.core.program import FILE_NAMES, MODULE, Program
from twinsmith.core.report import markdown, report_json
from twinsmith.core.services.service_tests import as_test_file
from twinsmith.core.task import Job, Task
from twinsmith.core.wording import spoken
from twinsmith.prompts import render

_USES = {
    "python": "```python\nfrom {module} import {names}\n```",
    "perl": '```perl\nrequire "./{file}";\n```',
    "rust": "```rust\nmod {module};\nuse {module}::{{{names}}};\n```",
    "go": "Put `{file}` beside the files of your own package and give it their package name.",
    "c": "Declare what you use and compile `{file}` with your own files.",
    "cpp": "Declare what you use and compile `{file}` with your own files.",
}


def result_files(job: Job, work: Work, end: RunOutcome) -> Mapping[str, str]:
    """The program with its tests and report; what was not accepted lies under `rejected/`."""
    files = {"report.json": report_json(job, work, end), "report.md": markdown(job, work, end)}
    best = work.best
    if best is None or best.program is None:
        return files
    program = best.program
    # What a model named comes first: no file of its own replaces one of ours.
    made = {each.name: each.text for each in program.files}
    made[FILE_NAMES[program.language]] = program.source
    if work.asked is not None and work.asked.contract is not None:
        probes = _kept(work.pool, best.number)
        made |= _service_files(job.task, work.asked.contract, probes, program)
        if job.mend is not None:
            # A fix changes nothing of what the service promises, not even the words.
            made["openapi.json"] = job.task.spec
    else:
        name, text = tests_of(program, work.pool, best.number, work.profile.names)
        made[name] = text
    if program.kind in ("cli", "library"):
        made["README.md"] = _readme(job.task.text, work.profile, program)
    folder = "" if end.solved else "rejected/"
    return files | {f"{folder}{name}": text for name, text in made.items()}


def _readme(task: str, profile: Profile, program: Program) -> str:
    """The README of a command or a library: how it is used and how it was checked."""
    file = FILE_NAMES[program.language]
    told = {"task": " ".join(task.split()), "outline": profile.outline, "file": file}
    if program.kind == "library":
        names = ", ".join(profile.names)
        use = _USES[program.language].format(module=MODULE, file=file, names=names)
        tests = (
            f"`python -m pytest test_{MODULE}.py` runs what it was checked with"
            if program.language == "python"
            else "`checks.json` holds the calls it was checked with and what they gave"
        )
        return render(
            "handover_library", **told, language=spoken(program.language), use=use, tests=tests
        )
    steps = [line for line in (build_line(program), run_line(program)) if line]
    return render(
        "handover_command",
        **told,
        language=spoken(program.language),
        run="\n".join(map(shlex.join, steps)),
        tests=f"test_{MODULE}",
    )


def _service_files(
    task: Task, contract: Contract, probes: Probes, program: Program
) -> dict[str, str]:
    """The files beside a service: README, packages, OpenAPI, tests for a person and `verify`."""
    tests = f"test_{MODULE}"
    told = {"task": " ".join(task.text.split()), "routes": contract.text(), "tests": tests}
    checks = [
        {"name": each.name, "source": each.source, "fresh": each.fresh} for each in probes.checks
    ]
    beside = [file.name for file in program.files]
    kept = {"setup": probes.setup, "files": beside, "checks": checks}
    files = {
        f"{tests}.py": as_test_file(
            probes,
            file=FILE_NAMES[task.language],
            name=tests,
            build=build_line(program),
            run=run_line(program),
        ),
        "checks.json": json.dumps(kept, indent=1) + "\n",
        "openapi.json": json.dumps(openapi_of(contract), indent=2, ensure_ascii=False) + "\n",
    }
    if task.language == "python":
        needs = "".join(f"{name}\n" for name in PACKAGES)
        readme = render("handover", **told, program=FILE_NAMES["python"])
        return {"README.md": readme, "requirements.txt": needs, **files}
    steps = [shlex.join(build_line(program)), f"PORT=8000 {shlex.join(run_line(program))}"]
    readme = render("handover_plain", **told, run="\n".join(filter(None, steps)))
    return {"README.md": readme, **files}


def _kept(pool: Pool, winner: int) -> Probes:
    """The checks that are handed over: what decided, and what the program passes."""
    held = {check.probe for check in pool.held(winner)}
    given = {check.probe for check in pool.checks if check.given}
    places = sorted(held | given)
    return Probes(checks=tuple(pool.probes[place] for place in places), setup=pool.setup)
