"""The `Sandbox` port: runs a program and its probes in one room and gives the execution."""

import ast
import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from twinsmith.adapters.sandbox import controls
from twinsmith.adapters.sandbox.cell import Cell, Ended, Isolation, Mount, Walls
from twinsmith.adapters.sandbox.harness import ENVIRONMENT
from twinsmith.adapters.sandbox.inside import wire
from twinsmith.adapters.sandbox.languages import LANGUAGES
from twinsmith.adapters.sandbox.languages.language import (
    CACHE,
    WORK,
    BadProgram,
    Language,
    Recipe,
    Toolchain,
)
from twinsmith.adapters.sandbox.layers import Layers, refused, warmed
from twinsmith.adapters.sandbox.stateless import is_stateless
from twinsmith.core.errors import ConfigError, SandboxError
from twinsmith.core.execution import Execution, Limits, Outcome, ProbeResult
from twinsmith.core.probe import Probe, Probes
from twinsmith.core.program import Program

LAYER = "/run/layer"
START_SECONDS = 10.0
SERVICE_SECONDS = 25.0
KILLED = -9
OUTCOMES: Mapping[str, Outcome] = {
    word: word
    for word in (
        "passed",
        "failed",
        "raised",
        "timed out",
        "output too large",
        "out of memory",
        "killed",
    )
}


class IsolatedSandbox:
    """Runs programs behind one kind of walls."""

    def __init__(self, walls: Walls, layers: Layers) -> None:
        self._walls = walls
        self._layers = layers

    async def run(self, program: Program, probes: Probes, limits: Limits) -> Execution:
        """Run every probe on the program; whatever the program does is a result."""
        if not probes.checks:
            return Execution(candidate=0, results=())
        language = LANGUAGES.get(program.language)
        if language is None:
            known = ", ".join(LANGUAGES)
            raise ConfigError(f"language {program.language!r} is unknown; one of {known}")
        toolchain = await asyncio.to_thread(found, language)
        problem = refused(program)
        if problem:
            return Execution(candidate=0, results=(), problem=problem)
        try:
            recipe = language.recipe(program, toolchain)
        except BadProgram as error:
            return Execution(candidate=0, results=(), problem=f"does not compile: {error}")
        return await self.follow(recipe, program, toolchain, probes, limits)

    async def follow(
        self,
        recipe: Recipe,
        program: Program,
        toolchain: Toolchain,
        probes: Probes,
        limits: Limits,
        beside: tuple[Mount, ...] = (),
    ) -> Execution:
        """Build and run a program by a recipe, which may be another than its language's own."""
        own = await self._mounts(program, LANGUAGES[program.language], toolchain)
        mounts = (*own, *beside)
        cell = _cell(program, probes, limits, recipe, toolchain, mounts)
        return _execution(probes, await self._walls.enter(cell), limits)

    async def isolation(self) -> Isolation:
        """The isolation of the walls, after a program has tried them from inside."""
        isolation = await self._walls.isolation()
        program, probes = controls.trial()
        execution = await self.run(program, probes, controls.LIMITS)
        weak = controls.missing(execution, isolation.backend)
        return replace(isolation, missing=tuple(dict.fromkeys([*isolation.missing, *weak])))

    async def _mounts(
        self, program: Program, language: Language, toolchain: Toolchain
    ) -> tuple[Mount, ...]:
        mounts = [Mount(source=place, target=place) for place in toolchain.mounts]
        mounts += [Mount(source=what, target=where) for where, what in toolchain.placed.items()]
        prepared = await self._layers.prepared(language, toolchain, program.kind)
        if prepared is not None:
            mounts.append(Mount(source=str(prepared), target=CACHE))
        layer = await self._layers.layer(program)
        if layer is not None:
            mounts.append(Mount(source=str(layer), target=LAYER))
        return tuple(mounts)


@cache
def found(language: Language) -> Toolchain:
    """The tools of a language; SandboxError tells how to install them where there are none."""
    toolchain = language.locate()
    if toolchain is None:
        raise SandboxError(f"{language.name} is not installed; run: {language.install}")
    return toolchain


def _cell(
    program: Program,
    probes: Probes,
    limits: Limits,
    recipe: Recipe,
    toolchain: Toolchain,
    mounts: tuple[Mount, ...],
) -> Cell:
    environment = {
        "PATH": ":".join(_folders(toolchain)),
        "HOME": "/tmp",  # noqa: S108
        "LANG": "C.UTF-8",
        **ENVIRONMENT,
        **toolchain.environment,
        **recipe.environment,
    }
    room = _room(
        program, limits, recipe, environment, layered=any(m.target == LAYER for m in mounts)
    )
    builds = len(recipe.build) * limits.build_seconds
    service = SERVICE_SECONDS if program.kind == "service" else 0.0
    return Cell(
        room=room,
        job={"setup": probes.setup, "probes": [_probe(probe) for probe in probes.checks]},
        limits=limits,
        wall_seconds=START_SECONDS
        + builds
        + service
        + (limits.probe_seconds + 0.5) * len(probes.checks),
        build_mb=limits.build_memory_mb if recipe.build else 0,
        mounts=mounts,
        environment=environment,
    )


def _room(
    program: Program,
    limits: Limits,
    recipe: Recipe,
    environment: Mapping[str, str],
    *,
    layered: bool,
) -> dict[str, object]:
    return {
        "kind": program.kind,
        "source": program.source if not recipe.run else "",
        "entry": program.entry,
        "files": dict(recipe.files),
        "build": [list(command) for command in recipe.build],
        "artefact": recipe.artefact,
        "run": list(recipe.run),
        "work": WORK,
        "folders": ["/tmp", "/dev/shm"],  # noqa: S108
        "path": [LAYER] if layered else [],
        "preload": warmed(program) if program.language == "python" else [],
        "stateless": program.language == "python"
        and program.kind in ("function", "library")
        and limits.cpu_seconds >= limits.probe_seconds
        and not program.files
        and is_stateless(program.source),
        "environment": dict(environment),
        "limits": _limits(limits),
    }


def _folders(toolchain: Toolchain) -> list[str]:
    own = [path.rpartition("/")[0] for path in toolchain.commands.values()]
    return list(dict.fromkeys([*own, "/usr/local/bin", "/usr/bin", "/bin"]))


def _limits(limits: Limits) -> dict[str, object]:
    return {
        "probe_seconds": limits.probe_seconds,
        "cpu_seconds": limits.cpu_seconds,
        "output_bytes": limits.output_bytes,
        "processes": limits.processes,
        "build": {"probe_seconds": limits.build_seconds, "cpu_seconds": limits.build_seconds},
    }


def _probe(probe: Probe) -> dict[str, object]:
    if probe.command is not None:
        command = probe.command
        return {
            "command": {
                "args": list(command.args),
                "stdin": command.stdin,
                "stdout": command.stdout,
                "exit_code": command.exit_code,
                "files": dict(command.files),
            }
        }
    told: dict[str, object] = {"check": probe.source, "fresh": probe.fresh}
    if probe.call is not None:
        call: dict[str, object] = {
            "function": probe.call.function,
            "args": [_literal(arg) for arg in probe.call.args],
        }
        if probe.call.expected:
            call["expected"] = _literal(probe.call.expected)
        told["call"] = call
    return told


def _literal(text: str) -> object:
    return wire.encode(ast.literal_eval(text))


def _execution(probes: Probes, ended: Ended, limits: Limits) -> Execution:
    rows: dict[int, dict[str, Any]] = {}
    log, problem, peak = "", "", 0.0
    for number, line in enumerate(ended.out.splitlines()):
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if not isinstance(row, dict):
            continue
        if "broken" in row:
            raise SandboxError(
                f"the sandbox is not closed: {row['broken']}; run 'twinsmith doctor'"
            )
        problem, log = row.get("problem", problem), row.get("log", log)
        peak = max(peak, row.get("peak_kb", 0) / 1024)
        if "n" in row:
            spent = ended.out_of_memory if ended.spent is None else number in ended.spent
            rows[int(row["n"])] = {**row, "spent": spent}
    if problem:
        why = " (out of memory)" if ended.out_of_memory else ""
        return Execution(candidate=0, results=(), problem=problem + why)
    if not rows and not (ended.timed_out or ended.out_of_memory):
        raise SandboxError(
            f"the sandbox ended with status {ended.code}: {ended.err.strip()[-300:]}; "
            "run 'twinsmith doctor'"
        )
    return Execution(
        candidate=0,
        results=tuple(
            _result(probe, rows.get(n), ended, limits) for n, probe in enumerate(probes.checks)
        ),
        log=log,
        peak_mb=round(peak, 1),
    )


def _transcript(value: object) -> str:
    """The transcript of a check, which is a list of lists; empty where it is something else."""
    try:
        entries = ast.literal_eval(str(value))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return ""
    right = isinstance(entries, list) and all(isinstance(entry, list) for entry in entries)
    return str(value) if right else ""


def _result(probe: Probe, row: dict[str, Any] | None, ended: Ended, limits: Limits) -> ProbeResult:
    if row is None and ended.out_of_memory:
        spent = f"more than {limits.memory_mb} MB in all its processes"
        return ProbeResult(name=probe.name, outcome="out of memory", detail=spent)
    if row is None:
        said = ended.err.strip().rpartition("\n")[2][:300]
        lost = f"the sandbox ended before this probe{': ' if said else ''}{said}"
        return ProbeResult(name=probe.name, outcome="killed", detail=lost)
    outcome, detail = OUTCOMES.get(str(row["outcome"]), "killed"), str(row["detail"])
    if outcome == "killed" and row.get("code") == KILLED and row["spent"]:
        outcome, detail = "out of memory", f"more than {limits.memory_mb} MB in all its processes"
    return ProbeResult(
        name=probe.name,
        outcome=outcome,
        detail=detail,
        value=str(row.get("value", "")) if probe.asks else _transcript(row.get("value", "")),
        output=str(row.get("output", "")),
        errors=str(row.get("errors", "")),
        exit_code=row.get("code"),
        cpu_seconds=round(float(row.get("cpu", 0.0)), 4),
        peak_mb=round(float(row.get("peak_kb", 0)) / 1024, 1),
    )
