"""Real containers: what a program does in there is a result, and nothing of it stays."""

import asyncio
import os
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.engines import absent, containers, serving
from twinsmith.adapters.sandbox.cell import Walls
from twinsmith.adapters.sandbox.container import ContainerWalls
from twinsmith.adapters.sandbox.container_args import NEEDED, Engine
from twinsmith.adapters.sandbox.languages import LANGUAGES
from twinsmith.adapters.sandbox.layers import Layers
from twinsmith.adapters.sandbox.runner import IsolatedSandbox
from twinsmith.core.errors import SandboxError
from twinsmith.core.execution import Execution, Limits
from twinsmith.core.probe import Command, Probe, Probes, read_check
from twinsmith.core.program import Program

pytestmark = pytest.mark.xdist_group("engines")

LIMITS = Limits(probe_seconds=2, cpu_seconds=2, memory_mb=128, processes=32)
SQUARE = "def f(n):\n    return n * n\n"
ENGINES: tuple[Engine, ...] = ("docker", "podman")


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """An engine and a sandbox that uses it."""

    engine: Engine
    host: str
    walls: Walls
    sandbox: IsolatedSandbox

    async def calls(self, source: str, *checks: str, limits: Limits = LIMITS) -> Execution:
        program = Program(source=source, entry="f")
        return await self.sandbox.run(program, _probes(*checks), limits)

    async def outcomes(self, source: str, *checks: str) -> list[str]:
        return [result.outcome for result in (await self.calls(source, *checks)).results]

    def left(self) -> list[str]:
        return containers(self.engine, self.host, f"twinsmith-{os.getpid()}-")


@pytest.fixture(
    scope="module", params=[pytest.param(engine, marks=pytest.mark.groups) for engine in ENGINES]
)
def running(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Running]:
    engine: Engine = request.param
    why = absent(engine)
    if why:
        pytest.skip(why)
    folder = tmp_path_factory.mktemp(engine)
    with serving(engine) as host:
        walls = ContainerWalls(engine, folder / "walls", host=host)
        sandbox = IsolatedSandbox(walls, Layers(folder / "layers"))
        yield Running(engine=engine, host=host, walls=walls, sandbox=sandbox)


async def test_every_wall_that_the_engine_builds_holds(running: Running) -> None:
    isolation = await running.walls.isolation()
    assert isolation.backend == running.engine
    assert not set(isolation.missing) & set(NEEDED)
    whole = await running.sandbox.isolation()
    # Podman has no limit on the number of files.
    known = {"host", "scratch"} if running.engine == "podman" else {"host"}
    assert set(whole.missing) <= known


async def test_calls_pass_and_fail(running: Running) -> None:
    execution = await running.calls(SQUARE, "assert f(2) == 4", "assert f(3) == 8", "assert f(1)")
    assert [result.outcome for result in execution.results] == ["passed", "failed", "passed"]
    assert "9" in execution.results[1].detail


async def test_a_command_reads_its_input(running: Running) -> None:
    program = Program(source="import sys\nprint(sys.stdin.read().upper(), sys.argv[1])", kind="cli")
    command = Command(args=("x",), stdin="abc", stdout="ABC x\n")
    probes = Probes(checks=(Probe(name="upper", origin="person", command=command),))
    (result,) = (await running.sandbox.run(program, probes, LIMITS)).results
    assert (result.outcome, result.output) == ("passed", "ABC x\n")


async def test_memory_is_limited_and_the_next_probe_runs(running: Running) -> None:
    source = "def f(mb):\n    return len(bytearray(mb << 20))\n"
    checks = ("assert f(1) == 1 << 20", "assert f(400) == 1", "assert f(2) == 2 << 20")
    assert await running.outcomes(source, *checks) == ["passed", "out of memory", "passed"]


async def test_a_program_that_kills_itself_is_not_out_of_memory(running: Running) -> None:
    source = "import os\ndef f(): os.kill(os.getpid(), 9)\n"
    assert await running.outcomes(source, "assert f() == 1") == ["killed"]


async def test_forking_without_end_is_bounded(running: Running) -> None:
    source = "import os\ndef f():\n    while True: os.fork()\n"
    assert await running.outcomes(source, "assert f() == 1") != ["passed"]
    assert await running.outcomes(SQUARE, "assert f(2) == 4") == ["passed"]


async def test_rooms_do_not_share_a_count_of_processes(running: Running) -> None:
    hungry = (
        "import os, time\ndef f():\n    made = 0\n    while made < 20:\n        made += 1\n"
        "        if os.fork() == 0:\n            time.sleep(1)\n            os._exit(0)\n"
        "    time.sleep(0.5)\n    return made\n"
    )
    seen = await asyncio.gather(*(running.outcomes(hungry, "assert f() == 20") for _ in range(3)))
    assert seen == [["passed"]] * 3


async def test_an_endless_loop_is_timed_out(running: Running) -> None:
    source = "def f():\n    while True: pass\n"
    assert await running.outcomes(source, "assert f() == 1") == ["timed out"]


async def test_this_machine_cannot_be_reached(running: Running) -> None:
    source = (
        "import socket\ndef f(port):\n"
        "    try: socket.create_connection(('127.0.0.1', port), 1)\n"
        "    except OSError: return 'alone'\n"
    )
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert await running.outcomes(source, f"assert f({port}) == 'alone'") == ["passed"]


async def test_no_environment_of_this_machine_gets_in(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("API_KEY", "http_proxy", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://s3cret")
    # The program is forked from process 1 and not started: this is what the engine gave.
    source = "import os\ndef f(): return sorted(os.environ)\n"
    (result,) = (await running.calls(source, "assert f() == 1")).results
    names = set(result.detail.partition("returned ")[2].strip("[]").replace("'", "").split(", "))
    known = {"PATH", "HOME", "LANG", "HOSTNAME", "LC_CTYPE", "PYTHONHASHSEED", "TERM", "container"}
    assert names
    assert names <= known


async def test_the_judge_cannot_be_looked_into(running: Running) -> None:
    source = (
        "import os\ndef f():\n    seen = []\n"
        "    for name in ('mem', 'environ', 'fd/0', 'fd/1'):\n"
        "        try: seen.append(os.open('/proc/1/' + name, os.O_RDONLY))\n"
        "        except PermissionError: pass\n"
        "    return seen\n"
    )
    assert await running.outcomes(source, "assert f() == []") == ["passed"]


@pytest.mark.skipif("c" not in LANGUAGES, reason="there is no language c yet")
async def test_a_c_program_is_built_and_then_has_its_own_limit_of_memory(running: Running) -> None:
    if LANGUAGES["c"].locate() is None:
        pytest.skip(f"c is not installed; run: {LANGUAGES['c'].install}")
    source = (
        "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
        "int main(int n, char **words) {\n  size_t size = (size_t)atoi(words[1]) << 20;\n"
        '  char *held = malloc(size);\n  memset(held, 1, size);\n  printf("%d\\n", held[9]);\n}\n'
    )
    checks = tuple(
        Probe(name=mb, origin="person", command=Command(args=(mb,), stdout="1\n"))
        for mb in ("4", "400")
    )
    program = Program(source=source, kind="cli", language="c")
    execution = await running.sandbox.run(program, Probes(checks=checks), LIMITS)
    assert execution.problem == ""
    assert [result.outcome for result in execution.results] == ["passed", "out of memory"]


async def test_giving_up_at_any_moment_leaves_nothing(running: Running) -> None:
    source = "import os\ndef f(): os.system('sleep 985')\n"
    for seconds in (0.03, 0.15, 0.6):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(seconds):
                await running.calls(source, "assert f() == 1")
    # An engine takes a moment to clear away what was killed.
    deadline = time.monotonic() + 10
    while "sleep\x00985" in _command_lines() or running.left():
        assert time.monotonic() < deadline, running.left()
        await asyncio.sleep(0.05)


def test_nothing_is_left(running: Running) -> None:
    assert running.left() == []


async def test_an_engine_that_does_not_answer_is_told_with_the_line_that_starts_it(
    tmp_path: Path,
) -> None:
    if absent("docker"):
        pytest.skip(absent("docker"))
    walls = ContainerWalls("docker", tmp_path, host=f"unix://{tmp_path}/nobody.sock")
    with pytest.raises(SandboxError, match=r"docker does not answer: .*; start it: systemctl"):
        await walls.isolation()


async def test_an_engine_that_is_not_there_is_told_with_the_line_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("twinsmith.adapters.sandbox.container.PATH", str(tmp_path))
    with pytest.raises(SandboxError, match="podman is not installed; run: apt-get install -y pod"):
        await ContainerWalls("podman", tmp_path).isolation()


def _probes(*checks: str) -> Probes:
    read = [read_check(check, number=number) for number, check in enumerate(checks, 1)]
    return Probes(checks=tuple(probe for probe in read if probe is not None))


def _command_lines() -> str:
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(path.read_text())
        except OSError:
            continue
    return "\n".join(lines)
