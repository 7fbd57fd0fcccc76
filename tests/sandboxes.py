"""Real sandboxes for tests, and the small words they are spoken to with."""

import asyncio
import atexit
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest

from tests.engines import absent, serving
from twinsmith.adapters.sandbox.bubblewrap import Bubblewrap
from twinsmith.adapters.sandbox.cell import Walls
from twinsmith.adapters.sandbox.container import ContainerWalls
from twinsmith.adapters.sandbox.container_args import Engine
from twinsmith.adapters.sandbox.languages import LANGUAGES
from twinsmith.adapters.sandbox.layers import Layers
from twinsmith.adapters.sandbox.runner import IsolatedSandbox
from twinsmith.core.errors import SandboxError
from twinsmith.core.execution import Execution, Limits, ProbeResult
from twinsmith.core.probe import Command, Probe, Probes, read_check
from twinsmith.core.program import Kind, Program

# Packages and prepared compiler files are made once for all test runs of this machine.
FOLDER = Path(
    os.environ.get("TWINSMITH_TEST_SANDBOX", Path.home() / ".cache" / "twinsmith-tests" / "sandbox")
)
ENGINES: tuple[Engine, ...] = ("docker", "podman")
ENGINE_MARKS = (pytest.mark.xdist_group("engines"), pytest.mark.groups)
"""One worker at a time uses an engine, which makes a control group for each container."""
LAYERS = Layers(FOLDER / "layers")
BACKENDS = ("bubblewrap", *(pytest.param(engine, marks=ENGINE_MARKS) for engine in ENGINES))
LIMITS = Limits(probe_seconds=2.0, cpu_seconds=2.0, memory_mb=256, output_bytes=10_000)


_unusable: dict[str, str] = {}
_engines = ExitStack()
atexit.register(_engines.close)


def _walls(backend: str) -> Walls:
    for engine in ENGINES:
        if backend == engine:
            why = absent(engine)
            if why:
                pytest.skip(why)
            host = _engines.enter_context(serving(engine))
            return ContainerWalls(engine, FOLDER / "containers", host=host)
    return Bubblewrap()


@cache
def sandbox(backend: str = "bubblewrap") -> IsolatedSandbox:
    """The sandbox; skips the test, with the reason, where it does not work."""
    if backend in _unusable:
        pytest.skip(_unusable[backend])
    box = IsolatedSandbox(_walls(backend), LAYERS)
    try:
        with ThreadPoolExecutor(1) as aside:
            # A test's own loop may be running here.
            aside.submit(lambda: asyncio.run(box.isolation())).result()
    except SandboxError as error:
        _unusable[backend] = f"{backend}: {error}"
        pytest.skip(_unusable[backend])
    return box


def needs(language: str) -> None:
    """Skip where a language's tools are absent, saying what installs them."""
    if LANGUAGES[language].locate() is None:
        pytest.skip(f"{language} is not installed; run: {LANGUAGES[language].install}")


def checks(*sources: str, setup: str = "") -> Probes:
    """Asserts as probes; what is plain data becomes a call."""
    probes = (
        read_check(source, number=n) or Probe(name=f"check {n}", origin="plan", source=source)
        for n, source in enumerate(sources)
    )
    return Probes(checks=tuple(probes), setup=setup)


def code(*sources: str) -> Probes:
    """The same, never as calls."""
    return Probes(
        checks=tuple(
            Probe(name=f"check {n}", origin="plan", source=source)
            for n, source in enumerate(sources)
        )
    )


async def run(
    source: str,
    *,
    language: str = "python",
    kind: Kind = "cli",
    probes: Probes | None = None,
    limits: Limits = LIMITS,
    box: IsolatedSandbox | None = None,
) -> Execution:
    """Run a program; without probes, as a command that is expected to end well."""
    ended = Probes(checks=(Probe(name="run", origin="plan", command=Command()),))
    program = Program(source=source, language=language, kind=kind)
    return await (box or sandbox()).run(program, probes or ended, limits)


async def result(source: str, *, language: str = "python", limits: Limits = LIMITS) -> ProbeResult:
    """What came of one run as a command."""
    execution = await run(source, language=language, limits=limits)
    assert execution.results, execution.problem
    return execution.results[0]
