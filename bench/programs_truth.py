"""What was delivered, and what truth says of it; programs run in the sandbox only."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.programs_asked import Asked
from bench.programs_routes import Json, found, openapi_routes, source_routes
from bench.programs_words import COMMAND_WORDS, SERVICE_WORDS
from twinsmith.core.errors import BadReply
from twinsmith.core.execution import Execution, Limits
from twinsmith.core.probe import Probe, Probes
from twinsmith.core.program import ENDINGS, FILE_NAMES, Program, SourceFile
from twinsmith.ports import Sandbox

# A service lives through all dialogues, and hashing a password well takes a while.
LIMITS = Limits(probe_seconds=15.0, cpu_seconds=60.0)
REJECTED = "rejected"
FOUND = "exploited: "
"""How the failure of an attack's dialogue begins when the attack had success."""
LONGEST = 400
_TEST_FILE = re.compile(r"(?:^|/)(?:test_|tests?\.|check)|_test\.|(?:^|/)Test")

_FUTURE = re.compile(r"^from __future__ import .*\n", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivered:
    """A program as it lies in a result folder, or as the raw model wrote it."""

    language: str
    source: str
    files: tuple[SourceFile, ...] = ()
    openapi: str = ""
    report: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What truth says: it works when all dialogues do; weaknesses that attacks have shown."""

    passed: int
    total: int
    problem: str = ""
    """The first thing that is wrong."""
    weaknesses: tuple[str, ...] = ()
    tried: int = 0
    untried: int = 0

    @property
    def works(self) -> bool:
        """Whether every dialogue went as it should."""
        return self.total > 0 and self.passed == self.total


def delivered(folder: Path) -> Delivered | None:
    """The program of a result folder, accepted or rejected; None where there is none."""
    report = _read_json(folder / "report.json")
    for place in (folder, folder / REJECTED):
        for language, name in FILE_NAMES.items():
            if (place / name).is_file():
                return Delivered(
                    language=language,
                    source=_text(place / name),
                    files=_beside(place, language),
                    openapi=_text(place / "openapi.json"),
                    report=report,
                )
    return None


def _beside(place: Path, language: str) -> tuple[SourceFile, ...]:
    """Further files of the program; tests that were handed over are none."""
    names = sorted(
        str(path.relative_to(place))
        for ending in ENDINGS[language]
        for path in (*place.glob(f"*{ending}"), *place.glob(f"*/*{ending}"))
    )
    return tuple(
        SourceFile(name=name, text=_text(place / name))
        for name in names
        if name != FILE_NAMES[language]
        and not name.startswith(f"{REJECTED}/")
        and not _TEST_FILE.search(name)
    )


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


def _read_json(path: Path) -> dict[str, Json]:
    try:
        held = json.loads(_text(path) or "{}")
    except ValueError:
        return {}
    return held if isinstance(held, dict) else {}


def dialogues(text: str) -> tuple[Probe, ...]:
    """One check a paragraph: its name is the first line, what is done the others."""
    paragraphs = (paragraph.partition("\n") for paragraph in text.strip().split("\n\n"))
    return tuple(
        Probe(name=name.removeprefix("# "), origin="person", source=source)
        for name, _, source in paragraphs
        if source
    )


def setup_of(asked: Asked, made: Delivered) -> str:
    """The words that truth is written in, knowing where this program has what was wanted."""
    if asked.kind != "service":
        return asked.words + (COMMAND_WORDS if asked.kind == "cli" else "")
    routes = openapi_routes(made.openapi) or source_routes(made.source)
    known = found(asked.wanted, routes)
    return SERVICE_WORDS.replace("ROUTES = {}", f"ROUTES = {known!r}") + asked.words


def trials(checks: Sequence[Probe], setup: str, *, fresh: bool) -> tuple[Probes, ...]:
    """All checks together, or one start of the program for each."""
    if not fresh:
        return (Probes(checks=tuple(checks), setup=setup),)
    return tuple(Probes(checks=(check,), setup=setup) for check in checks)


def prepared(source: str, line: str) -> str:
    """A Python program after a line of ours; what must come first in a file still does."""
    if not line:
        return source
    last = [each.end() for each in _FUTURE.finditer(source)][-1:] or [0]
    return f"{source[: last[0]]}{line}\n{source[last[0] :]}"


async def judge(asked: Asked, made: Delivered | None, sandbox: Sandbox) -> Judged:
    """All dialogues, and then all attacks, on one program."""
    checks = dialogues(asked.truth)
    if made is None:
        return Judged(passed=0, total=len(checks), problem="nothing was delivered")
    if made.language != asked.language:
        problem = f"it is written in {made.language}, not in {asked.language}"
        return Judged(passed=0, total=len(checks), problem=problem)
    try:
        program = Program(
            source=prepared(made.source, asked.before),
            language=made.language,
            kind=asked.kind,
            files=made.files,
        )
    except BadReply as error:
        return Judged(passed=0, total=len(checks), problem=str(error))
    setup = setup_of(asked, made)
    seen = [
        await sandbox.run(program, probes, LIMITS)
        for probes in trials(checks, setup, fresh=asked.fresh)
    ]
    attacks = dialogues(asked.exploits)
    attacked = [
        await sandbox.run(program, probes, LIMITS)
        for probes in trials(attacks, setup, fresh=True)
        if attacks
    ]
    return judged(len(checks), seen, attacked)


def judged(total: int, seen: Sequence[Execution], attacked: Sequence[Execution]) -> Judged:
    """What executions of dialogues and of attacks come to."""
    wrong = [
        f"{each.name}: {each.detail}"
        if each.outcome == "failed"
        else f"{each.name}: {each.outcome}: {each.detail}"
        for execution in seen
        for each in execution.results
        if each.outcome != "passed"
    ]
    problems = [execution.problem for execution in seen if execution.problem]
    results = [each for execution in attacked for each in execution.results]
    shown = [each.detail.partition(FOUND)[2] for each in results if FOUND in each.detail]
    withstood = sum(each.outcome == "passed" for each in results)
    weaknesses = {name for text in shown for name in text.partition(")")[0].split(", ")}
    return Judged(
        passed=sum(e.outcome == "passed" for execution in seen for e in execution.results),
        total=total,
        problem=next(iter([*problems, *wrong]), "")[:LONGEST],
        weaknesses=tuple(sorted(weaknesses)),
        tried=withstood + len(shown),
        untried=len(attacked) - withstood - len(shown),
    )
