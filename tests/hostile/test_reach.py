"""Programs that reach for the host: its files, secrets, sockets, processes and kernel."""

import os
import platform
import re
import secrets
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.hostile.attacks import CALLS, REACH
from tests.hostile.attacks_c import OTHER_TABLES
from tests.hostile.calls import ATTEMPTS, LINES
from tests.hostile.left import ALONE, CASES, FEW, LIMITS, attack, command, ready
from tests.sandboxes import ENGINES, checks, sandbox
from twinsmith.core.execution import Limits
from twinsmith.core.probe import Call, Probe

ENVIRONMENT = {"PATH", "HOME", "LANG", "LC_CTYPE", "PYTHONHASHSEED"}
# A container has a list of users of its own, a /sys without the parts that matter, and system
# tools whose set-user-ID bits mean nothing because it can gain no privileges.
CONTAINERS_OWN = {"/etc/passwd", "/sys/kernel/security", "suid"}
HOST_USERS = {
    line for line in Path("/etc/passwd").read_text().splitlines() if not line.startswith("root:")
}
ROOMY = Limits(probe_seconds=10.0, cpu_seconds=10.0, output_bytes=500_000)
on_x86 = pytest.mark.elsewhere(
    platform.machine() != "x86_64", reason="the numbers of system calls are those of x86-64"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bait:
    """What a program must not reach."""

    args: tuple[str, ...]
    secret: str
    sockets: tuple[socket.socket, ...]


@pytest.fixture
def bait(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bait]:
    """A secret in a file and in the environment; a port and two Unix sockets that listen."""
    secret, name = secrets.token_hex(16), f"bait-{secrets.token_hex(4)}"
    monkeypatch.setenv("BAIT_API_KEY", secret)
    file, path = Path(f"/tmp/{name}.txt"), Path(f"/tmp/{name}.sock")
    file.write_text(secret)
    file.chmod(0o644)
    port = socket.create_server(("127.0.0.1", 0))
    hidden, plain = (socket.socket(socket.AF_UNIX) for _ in range(2))
    hidden.bind(f"\0{name}")
    plain.bind(str(path))
    path.chmod(0o777)
    for each in (port, hidden, plain):
        each.listen()
        each.setblocking(False)
    number = str(port.getsockname()[1])
    args = (number, name, str(path), str(file), str(os.getpid()))
    yield Bait(args=args, secret=secret, sockets=(port, hidden, plain))
    for each in (port, hidden, plain):
        each.close()
    file.unlink()
    path.unlink()


@pytest.mark.parametrize(("backend", "language"), CASES)
async def test_the_host_is_out_of_reach(backend: str, language: str, bait: Bait) -> None:
    box = ready(backend, language)
    probe = command(*bait.args)
    execution = await attack(box, REACH[language], probe, language=language, limits=ROOMY)
    (seen,) = execution.results
    assert (seen.outcome, seen.detail) == ("passed", ""), seen.errors
    lines = seen.output.splitlines()
    escaped = {line.split()[0] for line in lines if line.endswith(" ESCAPED")}
    assert escaped <= (CONTAINERS_OWN if backend in ENGINES else set())
    assert sum(line.endswith(" contained") for line in lines) > 20
    assert bait.secret not in seen.output + seen.errors
    assert "pytest" not in seen.output
    assert not HOST_USERS & set(lines)
    if language in FEW:
        assert re.search(r"NoNewPrivs:\s1", seen.output)
    names = {line[4:].partition("=")[0] for line in lines if line.startswith("ENV ")}
    assert names <= ENVIRONMENT
    for each in bait.sockets:
        with pytest.raises(BlockingIOError):
            each.accept()


@on_x86
@pytest.mark.parametrize(("backend", "language"), CASES)
async def test_no_system_call_leads_out(backend: str, language: str) -> None:
    box = ready(backend, language)
    probe = command(stdin=LINES)
    execution = await attack(box, CALLS[language], probe, language=language, limits=ROOMY)
    (seen,) = execution.results
    assert (seen.outcome, seen.detail) == ("passed", ""), (seen.output, seen.errors)
    got = dict(line.split("\t") for line in seen.output.splitlines())
    assert set(got) == {attempt.name for attempt in ATTEMPTS}
    wrong = {
        attempt.name: (int(got[attempt.name]), sorted(attempt.errors))
        for attempt in ATTEMPTS
        if int(got[attempt.name]) not in (attempt.errors or {0})
    }
    assert wrong == {}


@on_x86
@pytest.mark.parametrize("backend", ALONE)
async def test_other_tables_of_system_calls_lead_nowhere(backend: str) -> None:
    box = ready(backend, "c")
    probes = command("32"), command("x32")
    execution = await attack(box, OTHER_TABLES, *probes, language="c")
    assert len(execution.results) == 2, execution.problem
    for seen in execution.results:
        assert seen.output == "contained\n" or seen.detail == "the program ended by SIGSYS"


@pytest.mark.groups  # without them nobody may make a file in memory, which nothing would count
@pytest.mark.parametrize("backend", ALONE)
async def test_a_program_made_in_memory_stands_behind_the_same_walls(backend: str) -> None:
    tries = (
        "import ctypes, os; c = ctypes.CDLL(None, use_errno=True); "
        "print(c.unshare(0x10000000), ctypes.get_errno(), os.access('/etc/shadow', 0))"
    )
    source = (
        "import os, sys\n"
        "made = os.memfd_create('hostile')\n"
        "with open(os.path.realpath('/usr/bin/python3'), 'rb') as file:\n"
        "    os.write(made, file.read())\n"
        f"os.execve(made, ['python3', '-Sc', {tries!r}], {{}})\n"
    )
    probe = command(stdout="-1 1 False\n")
    execution = await attack(sandbox(backend), source, probe, language="python", limits=ROOMY)
    (seen,) = execution.results
    assert (seen.outcome, seen.detail) == ("passed", ""), seen


JUDGE = {
    # What a program does to process 1 and to its parent; it says "done" and ends well.
    **{f"signal {n}": f"os.kill(1, {n})" for n in (1, 2, 3, 9, 10, 13, 14, 15, 17, 19, 20, 24)},
    "no files": "resource.prlimit(1, resource.RLIMIT_NOFILE, (0, 0))",
    "no time": "resource.prlimit(1, resource.RLIMIT_CPU, (0, 0))",
    "no memory": "resource.prlimit(1, resource.RLIMIT_AS, (0, 0))",
    "no processes": "resource.prlimit(1, resource.RLIMIT_NPROC, (0, 0))",
    "parent killed": "os.kill(os.getppid(), 9)",
    "parent interrupted": "os.kill(os.getppid(), 2)",
    "parent stopped": "os.kill(os.getppid(), 19)",
    "parent without files": "resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (0, 0))",
    "parent is nice": "os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)",
    "parent has one processor": "os.sched_setaffinity(os.getppid(), {0})",
    "everything killed": "os.kill(-1, 9)",
    "everything interrupted": "os.kill(-1, 2)",
}


@pytest.mark.parametrize("backend", ALONE)
@pytest.mark.parametrize("how", JUDGE)
async def test_the_judge_and_the_next_probe_are_unharmed(backend: str, how: str) -> None:
    """The first probe may end in any way but an error of the sandbox; the second is as ever."""
    source = (
        "import os, resource, signal, sys, time\n"
        "if len(sys.argv) > 1:\n"
        "    try:\n"
        f"        {JUDGE[how]}\n"
        "    except (PermissionError, ValueError):\n"
        "        pass\n"
        "    time.sleep(0.2)\n"
        "limits = [resource.getrlimit(getattr(resource, 'RLIMIT_' + name))\n"
        "          for name in ('NOFILE', 'FSIZE', 'CORE', 'CPU')]\n"
        "print(os.nice(0), len(os.sched_getaffinity(0)), limits)\n"
    )
    probes = command("first"), command(), command()
    limits = Limits(probe_seconds=2.0, cpu_seconds=10.0)
    execution = await attack(sandbox(backend), source, *probes, language="python", limits=limits)
    _, second, third = execution.results
    assert (second.outcome, second.detail) == ("passed", ""), second
    assert second.output == third.output
    wanted = [(256, 256), (64 << 20, 64 << 20), (0, 0), (10, 11)]
    assert second.output == f"0 {len(os.sched_getaffinity(0))} {wanted}\n"


MESS = {
    "a folder nobody may enter": "os.makedirs('/tmp/a/b'); os.chmod('/tmp/a/b', 0)",
    "many that nobody may enter": (
        "os.makedirs('/tmp/a/b/c/d'); [os.chmod('/tmp/a' + '/b/c/d'[:n], 0) for n in (6, 4, 2, 0)]"
    ),
    "a work folder nobody may enter": "os.mkdir('x'); os.chmod('x', 0); os.chmod('.', 0)",
    "names with dots": "[open(f'/tmp/.{n}', 'w') for n in range(9)]",
    "folders with dots": "[os.makedirs(f'/tmp/.{n}/x') for n in range(9)]",
    "no work folder": "os.rename('/tmp/work', '/tmp/other')",
    "a link for a work folder": (
        "os.rename('/tmp/work', '/tmp/other'); os.symlink('/usr', '/tmp/work')"
    ),
    "links to everywhere": (
        "[os.symlink(p, '/tmp/hostile-' + p.replace('/', '_')) "
        "for p in ('/usr', '/', '/proc', '/etc/passwd')]"
    ),
    "a deep tree": "for n in range(900):\n        os.mkdir('d'); os.chdir('d')",
    "long and odd names": (
        "for name in (b'\\xff' * 255, b'-rf', b'a\\nb', b'\\xed\\xa0\\x80'):\n"
        "        os.mkdir(b'/tmp/' + name); open(b'/tmp/' + name + b'/' + name, 'w')"
    ),
    "pipes and sockets": (
        "os.mkfifo('/tmp/pipe'); import socket; socket.socket(1).bind('/tmp/socket')"
    ),
    "a full disk": (
        "file = open('/tmp/file', 'wb', buffering=0)\n    import contextlib\n"
        "    with contextlib.suppress(OSError):\n"
        "        while True: file.write(bytes(1 << 20))"
    ),
}


@pytest.mark.parametrize("backend", ALONE)
@pytest.mark.parametrize("how", MESS)
async def test_every_probe_finds_its_folder_as_new(backend: str, how: str) -> None:
    source = (
        "import os, sys\n"
        "print(sorted(os.listdir('/tmp')), os.listdir('/dev/shm'), sorted(os.listdir('.')),\n"
        "      oct(os.stat('.').st_mode), os.getcwd(), flush=True)\n"
        f"if len(sys.argv) > 1:\n    {MESS[how]}\n"
    )
    fresh = command(stdout="['work'] [] ['solution.py'] 0o40700 /tmp/work\n")
    execution = await attack(
        sandbox(backend), source, command("mess"), fresh, fresh, language="python"
    )
    assert [(seen.outcome, seen.detail) for seen in execution.results] == [("passed", "")] * 3


@pytest.mark.parametrize(("backend", "language"), [("bubblewrap", "c"), ("bubblewrap", "rust")])
async def test_what_a_build_leaves_is_not_there_for_one_probe_only(
    backend: str, language: str
) -> None:
    box = ready(backend, language)
    source = {
        "c": '#include <stdlib.h>\nint main(void) { return system("ls -A . /tmp"); }',
        "rust": 'fn main() { std::process::Command::new("ls").args(["-A", ".", "/tmp"])'
        ".status().unwrap(); }",
    }[language]
    execution = await attack(box, source, command(), command(), language=language, limits=ROOMY)
    nothing = ("passed", ".:\n\n/tmp:\nwork\n")
    assert [(seen.outcome, seen.output) for seen in execution.results] == [nothing] * 2


@pytest.mark.parametrize("backend", ALONE)
async def test_time_passes_and_chance_is_chance(backend: str) -> None:
    source = (
        "import os, random, secrets, time, uuid\nimport numpy\n"
        "def now():\n    return time.time()\n"
        "def chance():\n    return [random.random(), secrets.token_hex(8), str(uuid.uuid4()),\n"
        "            os.urandom(8), float(numpy.random.rand())]\n"
    )
    names = ("now", "chance", "chance")
    probes = [Probe(name=name, origin="plan", call=Call(function=name, args=())) for name in names]
    box = sandbox(backend)
    drawn: list[object] = []
    for _ in range(2):
        execution = await attack(
            box, source, *probes, language="python", kind="function", limits=ROOMY
        )
        now, *chances = execution.results
        assert abs(float(now.value) - time.time()) < 30
        drawn += [each for seen in chances for each in seen.value.split(", ")]
    assert len(set(drawn)) == len(drawn) == 20


@pytest.mark.parametrize("backend", ALONE)
async def test_a_probe_that_changes_what_all_share_changes_it_for_itself(backend: str) -> None:
    source = (
        "import json, os, sys\nSTATE = {}\n"
        "def f():\n"
        "    seen = [len(STATE), os.environ.get('MARK'), sys.getrecursionlimit(), os.umask(0o22),\n"
        "            json.dumps(1), os.getcwd(), os.path.exists('/dev/shm/hostile')]\n"
        "    STATE['x'] = 1\n    os.environ['MARK'] = 'x'\n    sys.setrecursionlimit(99)\n"
        "    os.umask(0o777)\n    json.dumps = lambda value: 'x'\n    os.chdir('/')\n"
        "    open('/dev/shm/hostile', 'w').close()\n"
        "    return seen\n"
    )
    expected = "[0, None, 1000, 18, '1', '/tmp/work', False]"
    probes = checks(*[f"assert f() == {expected}"] * 3).checks
    execution = await attack(
        sandbox(backend), source, *probes, language="python", kind="function", limits=LIMITS
    )
    assert [seen.detail for seen in execution.results] == [""] * 3
