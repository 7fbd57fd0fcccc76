"""The `Reviewer` port: tools read a program in one closed room and give findings.

A tool that is not there says nothing; one that is confused by a program says so in a note, since
programs are judged by what they do and not by what a tool can read.
"""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain

from twinsmith.adapters.sandbox.languages import LANGUAGES
from twinsmith.adapters.sandbox.languages.language import Recipe, Toolchain, written
from twinsmith.adapters.sandbox.reviews import REVIEWS
from twinsmith.adapters.sandbox.reviews.tool import SOURCE, Found, Tool
from twinsmith.adapters.sandbox.runner import IsolatedSandbox, found
from twinsmith.core.errors import SandboxError
from twinsmith.core.execution import Limits, ProbeResult
from twinsmith.core.probe import Command, Probe, Probes
from twinsmith.core.program import Program, SourceFile
from twinsmith.core.verdict import Finding

MOST_FINDINGS = 50
LIMITS = Limits(probe_seconds=20.0, cpu_seconds=20.0, memory_mb=1024, output_bytes=4 << 20)
# Runs the command line that it is given.
RUN = ("/usr/bin/env",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Presence:
    """A tool of a language, and whether it is on this machine."""

    language: str
    tool: str
    found: bool
    install: str


class SandboxReviewer:
    """Runs every tool that reads a language over a program, in one start of the sandbox."""

    def __init__(
        self,
        sandbox: IsolatedSandbox,
        tools: Mapping[str, tuple[Tool, ...]] = REVIEWS,
        limits: Limits = LIMITS,
    ) -> None:
        self._sandbox = sandbox
        self._tools = tools
        self._limits = limits

    async def review(self, program: Program) -> tuple[Finding, ...]:
        """The findings of all tools that are here, those that block the program first."""
        toolchain = await asyncio.to_thread(_toolchain, program.language)
        if toolchain is None:
            return ()
        ready = _ready(self._tools.get(program.language, ()), toolchain)
        if not ready:
            return ()
        execution = await self._sandbox.follow(
            _recipe(program, [tool for tool, _ in ready], toolchain),
            # Nothing of it is run, so that nothing has to be there for it.
            replace(program, source="", kind="cli", requires=(), files=()),
            _with_mounts(toolchain, [here for _, here in ready]),
            Probes(checks=tuple(_probe(tool, here, program) for tool, here in ready)),
            self._limits,
        )
        told = (
            read(tool, result, program.source, program.files)
            for (tool, _), result in zip(ready, execution.results, strict=True)
        )
        return most_important(chain.from_iterable(told))


def tools() -> tuple[Presence, ...]:
    """Every tool of every language, with the line that installs it."""
    return tuple(
        Presence(
            language=language,
            tool=tool.name,
            found=bool(toolchain is not None and tool.find(toolchain)),
            install=tool.install,
        )
        for language, listed in REVIEWS.items()
        for toolchain in (_toolchain(language),)
        for tool in listed
    )


def read(
    tool: Tool, result: ProbeResult, source: str, files: Iterable[SourceFile] = ()
) -> tuple[Finding, ...]:
    """The findings in a tool's output; where it did not come to its end, a note that says why."""
    texts = {SOURCE: source, **{file.name: file.text for file in files}}
    try:
        findings = tuple(tool.read(result, texts))
        trouble = ""
    except (ValueError, KeyError, TypeError, IndexError, RecursionError) as error:
        findings, trouble = (), f"what it said cannot be read: {error!r}"
    if result.outcome != "passed":
        trouble = f"{result.outcome}: {result.detail}"
    elif result.exit_code and not findings:
        last = result.errors.strip().rpartition("\n")[2]
        trouble = f"ended with exit code {result.exit_code}: {last}"
    if not trouble:
        return findings
    note = Finding(
        what=f"{tool.name} did not finish", where=SOURCE, evidence=trouble[:300], severity="note"
    )
    return (*findings, note)


def most_important(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings, each once, blocking ones first, and not too many."""
    once = dict.fromkeys(findings)
    return tuple(sorted(once, key=lambda each: each.severity != "blocking"))[:MOST_FINDINGS]


def _toolchain(language: str) -> Toolchain | None:
    known = LANGUAGES.get(language)
    try:
        return found(known) if known else None
    except SandboxError:
        return None


def _ready(tools: tuple[Tool, ...], toolchain: Toolchain) -> list[tuple[Tool, Found]]:
    looked = [(tool, tool.find(toolchain)) for tool in tools]
    return [(tool, here) for tool, here in looked if here is not None]


def _recipe(program: Program, tools: list[Tool], toolchain: Toolchain) -> Recipe:
    files = written(program, f"{SOURCE}{LANGUAGES[program.language].suffix}")
    for tool in tools:
        files |= tool.files(program, toolchain)
    return Recipe(files=files, run=RUN)


def _with_mounts(toolchain: Toolchain, tools: list[Found]) -> Toolchain:
    places = [*toolchain.mounts, *chain.from_iterable(here.mounts for here in tools)]
    placed = {where: what for here in tools for where, what in here.placed.items()}
    return replace(toolchain, mounts=tuple(dict.fromkeys(places)), placed=placed)


def _probe(tool: Tool, here: Found, program: Program) -> Probe:
    command = Command(args=(*here.command, *tool.more(program)), exit_code=None)
    return Probe(name=tool.name, origin="plan", command=command)
