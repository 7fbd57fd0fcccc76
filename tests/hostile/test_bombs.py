"""Programs that use up whatever there is, or that stay when they are over."""

import asyncio

import pytest

from tests.hostile.attacks import BOMBS
from tests.hostile.left import (
    ALONE,
    CASES,
    ENGINE_CASES,
    LIMITS,
    SIX_CASES,
    all_gone,
    all_well,
    attack,
    command,
    look,
    ready,
)
from tests.sandboxes import checks, run, sandbox
from twinsmith.core.execution import Execution, Limits
from twinsmith.core.probe import Probes

SHARED_MEMORY = 16 << 20
OPEN_FILES = 256
MEMORY = f"more than {LIMITS.memory_mb} MB in all its processes"
# Long enough for an ordinary program beside a bomb, on a machine that others use as well.
SECONDS = 2
ENDS = {
    "fork": ("timed out", f"no answer in {SECONDS} s"),
    "memory": ("out of memory", MEMORY),
    "memories": ("out of memory", MEMORY),
    "loop": ("timed out", "the program used more than 1 s of processor time"),
    "sleep": ("timed out", f"no answer in {SECONDS} s"),
    "output": ("output too large", f"more than {LIMITS.output_bytes} bytes printed"),
}
ORDINARY = command("ordinary", stdout="42\n")
# What only a control group counts, for all processes together. No program here may open a socket
# for datagrams: those need none.
COUNTED = {"memory", "memories", "tcp", "unix", "pipe"}


def marked(*cases: str) -> list[object]:
    """The cases, with a mark on those that need control groups."""
    needy = pytest.mark.groups
    return [pytest.param(case, marks=needy) if case in COUNTED else case for case in cases]


def limits(bomb: str) -> Limits:
    """With time to spare where it is not time that runs out."""
    seconds = float({"fork": SECONDS, "sleep": SECONDS}.get(bomb, 60))
    cpu = {"loop": 1.0}.get(bomb, 60.0)
    return Limits(
        probe_seconds=seconds,
        cpu_seconds=cpu,
        memory_mb=LIMITS.memory_mb,
        output_bytes=LIMITS.output_bytes,
        scratch_mb=LIMITS.scratch_mb,
        scratch_files=LIMITS.scratch_files,
    )


async def go_off(backend: str, language: str, bomb: str) -> Execution:
    """The bomb, and the same program doing something ordinary in the same room."""
    box = ready(backend, language)
    source = BOMBS[language]
    probes = command(bomb), ORDINARY
    execution = await attack(box, source, *probes, language=language, limits=limits(bomb))
    assert len(execution.results) == 2, execution.problem
    second = execution.results[1]
    assert (second.outcome, second.detail) == ("passed", "")
    return execution


@pytest.mark.parametrize(("backend", "language"), SIX_CASES)
@pytest.mark.parametrize("bomb", marked(*ENDS))
async def test_a_bomb_goes_off_alone(backend: str, language: str, bomb: str) -> None:
    execution = await go_off(backend, language, bomb)
    # On a busy machine a fork bomb may use up its memory before its time.
    wanted = [ENDS[bomb], *([ENDS["memory"]] if bomb == "fork" else [])]
    assert (execution.results[0].outcome, execution.results[0].detail) in wanted


@pytest.mark.parametrize(("backend", "language"), ENGINE_CASES)
@pytest.mark.parametrize("bomb", ["fork", "memories"])
async def test_so_it_does_in_a_container(backend: str, language: str, bomb: str) -> None:
    execution = await go_off(backend, language, bomb)
    # Podman cannot tell, on every machine, that memory ran out in many small processes.
    killed = ("killed", "the program ended by SIGKILL")
    wanted = [ENDS[bomb], *([killed] if (backend, bomb) == ("podman", "memories") else [])]
    assert (execution.results[0].outcome, execution.results[0].detail) in wanted


@pytest.mark.parametrize(("backend", "language"), SIX_CASES)
async def test_scratch_and_open_files_have_an_end(backend: str, language: str) -> None:
    execution = await go_off(backend, language, "fill")
    seen = execution.results[0]
    assert seen.outcome == "passed", seen.errors
    words = seen.output.split()
    figures = dict(zip(words[::2], map(int, words[1::2]), strict=True))
    assert 0.8 * (LIMITS.scratch_mb << 20) < figures["bytes"] <= LIMITS.scratch_mb << 20
    assert 0.9 * SHARED_MEMORY < figures["shm"] <= SHARED_MEMORY
    assert 0.9 * LIMITS.scratch_files < figures["files"] <= LIMITS.scratch_files
    assert 0.9 * OPEN_FILES < figures["open"] <= OPEN_FILES


@pytest.mark.parametrize(("backend", "language"), [case for case in SIX_CASES if case[1] != "perl"])
async def test_threads_have_an_end(backend: str, language: str) -> None:
    execution = await go_off(backend, language, "threads")
    seen = execution.results[0]
    if language == "go":  # whose runtime gives up
        assert (seen.outcome, seen.exit_code) == ("failed", 2)
        assert "failed to create new OS thread" in seen.errors
        return
    assert seen.outcome == "passed", seen.errors
    assert 10 < int(seen.output.split()[1]) <= LIMITS.processes + 8


@pytest.mark.parametrize(("backend", "language"), CASES)
async def test_nothing_survives_its_probe(backend: str, language: str) -> None:
    """The result does not wait for a daemon that holds the pipe; the next probe is alone."""
    box = ready(backend, language)
    probes = (command("survive", stdout="gone\n"), command("look"), ORDINARY)
    roomy = Limits(probe_seconds=60.0)
    started = attack(box, BOMBS[language], *probes, language=language, limits=roomy)
    execution = await asyncio.wait_for(started, 30)
    assert [result.outcome for result in execution.results] == ["passed"] * 3, execution
    # The judge, the starter, and the one that looks.
    assert execution.results[1].output == "3\n"


@pytest.mark.parametrize("backend", ALONE)
async def test_nothing_of_a_function_survives_either(backend: str) -> None:
    """Its daemon holds every pipe there is and answers for it once more."""
    source = (
        "import os, time\n"
        "def f():\n"
        "    if os.fork() == 0:\n"
        "        os.setsid()\n"
        "        if os.fork() == 0:\n"
        "            while True:\n"
        "                time.sleep(0.01)\n"
        '                os.write(4, b\'\\0\\0\\0\\x17{"value": 5, "args": []}\')\n'
        "        os._exit(0)\n"
        "    os.wait()\n"
        "    return 1\n"
        "def g():\n"
        "    return sum(name.isdigit() for name in os.listdir('/proc'))\n"
    )
    probes = checks("assert f() == 1", "assert g() == 3", "assert f() == 1", "assert g() == 3")
    roomy = Limits(probe_seconds=60.0)
    started = attack(
        sandbox(backend), source, *probes.checks, language="python", kind="function", limits=roomy
    )
    execution = await asyncio.wait_for(started, 30)
    assert [result.detail for result in execution.results] == [""] * 4


@pytest.mark.parametrize("backend", ALONE)
@pytest.mark.parametrize("bomb", marked("fork", "memories", "fill"))
async def test_a_neighbour_does_not_notice(backend: str, bomb: str) -> None:
    box = sandbox(backend)
    before = look()
    probes = Probes(checks=(command(bomb),))
    bombs = [run(BOMBS["python"], probes=probes, box=box, limits=limits(bomb)) for _ in range(3)]
    running = asyncio.gather(*bombs)
    while not running.done():
        await all_well(box)
    # Three fork bombs at once on a busy machine may use up their memory before their time.
    ends = {ENDS.get(bomb, ("passed", ""))[0], *(("out of memory",) if bomb == "fork" else ())}
    for execution in await running:
        assert execution.results[0].outcome in ends
    await all_gone(before)


@pytest.mark.groups
@pytest.mark.parametrize("backend", ALONE)
async def test_who_ran_out_of_memory_is_told_from_who_was_killed(backend: str) -> None:
    source = BOMBS["python"] + 'if sys.argv[1] == "kill": os.kill(os.getpid(), 9)\n'
    probes = command("kill"), command("memory"), command("kill"), ORDINARY
    execution = await attack(
        sandbox(backend), source, *probes, language="python", limits=limits("memory")
    )
    killed = ("killed", "the program ended by SIGKILL")
    assert [(seen.outcome, seen.detail) for seen in execution.results] == [
        killed,
        ENDS["memory"],
        killed,
        ("passed", ""),
    ]


@pytest.mark.parametrize(
    ("backend", "language"), [("bubblewrap", "python"), ("bubblewrap", "perl")]
)
async def test_when_memory_runs_out_the_program_goes_before_the_judge(
    backend: str, language: str
) -> None:
    """Also where it is the kernel's memory that is used up, of which no process has any."""
    box = ready(backend, language)
    source = {
        "python": "print(open('/proc/self/oom_score_adj').read(), end='')",
        "perl": "open F, '<', '/proc/self/oom_score_adj'; print <F>;",
    }[language]
    execution = await attack(box, source, command(stdout="1000\n"), language=language)
    assert execution.results[0].detail == ""


KERNEL_MEMORY = {
    # What waits in a socket or a pipe is the kernel's memory, and must be the cell's.
    "tcp": """
    listening = socket.create_server(("127.0.0.1", 0))
    one = socket.create_connection(listening.getsockname())
    pair = one, listening.accept()[0]
    one.setblocking(False)
    while True:
        total += one.send(BLOCK)
""",
    "udp": """
    other = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    other.bind(("127.0.0.1", 0))
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    pair = one, other
    one.setblocking(False)
    for _ in range(8):
        total += one.sendto(BLOCK[:50_000], other.getsockname())
    raise BlockingIOError
""",
    "unix": """
    pair = one, _ = socket.socketpair()
    one.setblocking(False)
    while True:
        total += one.send(BLOCK)
""",
    "pipe": """
    pair = _, one = os.pipe()
    os.set_blocking(one, False)
    fcntl.fcntl(one, fcntl.F_SETPIPE_SZ, 1 << 20)
    while True:
        total += os.write(one, BLOCK)
""",
}
KERNEL_BOMB = """
import fcntl, os, socket
BLOCK, total, kept = b"x" * 65536, 0, []
for child in range(3):
    if os.fork() == 0:
        break
for n in range(100):
  try:
{}
  except BlockingIOError:
    kept.append(pair)
  except OSError:
    break
  if total > 40 << 20:
    break
import time
print(total >> 20, flush=True)
time.sleep(0.3)
"""


@pytest.mark.parametrize("backend", ALONE)
@pytest.mark.parametrize("way", marked(*KERNEL_MEMORY))
async def test_memory_of_the_kernel_is_counted(backend: str, way: str) -> None:
    """Four processes that put 160 MB into buffers, where 64 are allowed."""
    lines = KERNEL_MEMORY[way].strip("\n").replace("\n", "\n  ")
    source = KERNEL_BOMB.format(f"  {lines}")
    few = Limits(probe_seconds=5.0, cpu_seconds=5.0, memory_mb=64)
    execution = await attack(sandbox(backend), source, language="python", limits=few)
    (seen,) = execution.results
    held = sum(int(word) for word in seen.output.split())
    assert seen.outcome == "out of memory" or held <= few.memory_mb, (seen, held)
