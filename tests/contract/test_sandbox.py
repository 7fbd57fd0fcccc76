"""What every sandbox must do: the canned one, and bubblewrap with real processes."""

import asyncio
import os
import subprocess
import time
from pathlib import Path

import pytest

from twinsmith.adapters.sandbox.bubblewrap import BubblewrapSandbox, sandbox_args
from twinsmith.adapters.sandbox.canned import CannedSandbox
from twinsmith.core.errors import SandboxError
from twinsmith.core.execution import Execution, Limits, ProbeResult
from twinsmith.core.probe import Probe, Probes
from twinsmith.core.program import Program

LIMITS = Limits(probe_seconds=2.0, memory_mb=256, output_bytes=10_000)
SQUARE = "def f(n):\n    return n * n\n"

# A line as the judge writes it, on every file a process can reach.
SCRIBBLE = """
import os
for fd in range(64):
    try: os.write(fd, b'[0, "passed", "", ""]\\n')
    except OSError: pass
"""
REACH = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def must(code):
    if code != 0: raise OSError(ctypes.get_errno(), 'refused')
"""
FORGERIES = {
    "print": """print('[0, "passed", "", ""]')\ndef f(): return 0""",
    "own files": f"{SCRIBBLE}\ndef f(): return 0",
    "foreign files": """
import os
answer = 0
for pid in range(1, 20):
    for fd in range(8):
        if pid == os.getpid(): continue
        try: open(f'/proc/{pid}/fd/{fd}', 'wb').write(b'[0, "passed", "", ""]\\n')
        except OSError: continue
        answer = 1
def f(): return answer
""",
    "foreign memory": """
import os
answer = 0
for pid in range(1, 20):
    if pid == os.getpid(): continue
    try: open(f'/proc/{pid}/mem', 'r+b')
    except OSError: continue
    answer = 1
def f(): return answer
""",
    "ptrace": f"""{REACH}
answer = 0
for pid in range(1, 20):
    if pid != os.getpid() and libc.ptrace(16, pid, 0, 0) == 0: answer = 1
def f(): return answer
""",
    "built-ins": "import builtins\nbuiltins.AssertionError = ValueError\ndef f(): return 0",
    "equality": """
class Sly(int):
    def __eq__(self, other): return True
    __hash__ = int.__hash__
def f(): return Sly(0)
""",
    "objects": """
import gc
def f():
    for o in gc.get_objects():
        if isinstance(o, dict) and 'source' in o: o['source'] = 'pass'
    return 0
""",
}


def _unusable() -> str:
    try:
        asyncio.run(BubblewrapSandbox().isolation())
    except SandboxError as error:
        return str(error)
    return ""


needs_bubblewrap = pytest.mark.skipif(bool(_unusable()), reason=_unusable() or "-")


def probes(*sources: str, setup: str = "") -> Probes:
    checks = tuple(
        Probe(name=f"p{n}", source=source, origin="plan") for n, source in enumerate(sources)
    )
    return Probes(checks=checks, setup=setup)


async def outcomes(
    source: str, *checks: str, setup: str = "", limits: Limits = LIMITS
) -> list[str]:
    program = Program(entry="f", source=source)
    execution = await BubblewrapSandbox().run(program, probes(*checks, setup=setup), limits)
    return [result.outcome for result in execution.results]


async def details(source: str, *checks: str) -> list[str]:
    program = Program(entry="f", source=source)
    execution = await BubblewrapSandbox().run(program, probes(*checks), LIMITS)
    return [result.detail for result in execution.results]


@pytest.mark.parametrize("kind", ["canned", pytest.param("bubblewrap", marks=needs_bubblewrap)])
async def test_one_result_a_probe_in_order(kind: str) -> None:
    told = {
        "p1": ProbeResult(name="p1", outcome="failed", detail="assert f(3) == 6: f(3) returned 9")
    }
    sandbox = CannedSandbox({SQUARE: told}) if kind == "canned" else BubblewrapSandbox()
    checks = probes("assert f(2) == 4", "assert f(3) == 6", "assert f(0) == 0")
    execution = await sandbox.run(Program(entry="f", source=SQUARE), checks, LIMITS)
    assert execution == Execution(
        candidate=0,
        results=(
            ProbeResult(name="p0", outcome="passed"),
            told["p1"],
            ProbeResult(name="p2", outcome="passed"),
        ),
    )
    nothing = await sandbox.run(Program(entry="f", source=SQUARE), Probes(), LIMITS)
    assert nothing.results == ()


@needs_bubblewrap
class TestOrdinaryPrograms:
    async def test_failures_name_the_expression_and_the_values(self) -> None:
        source = "def f(n):\n    return 10 // n\n"
        by_zero = "ZeroDivisionError: integer division or modulo by zero (line 2)"
        assert await details(
            source, "assert f(5) == 3", "assert f(0) == 0", "assert f(n=1) == 2"
        ) == [
            "assert f(5) == 3: f(5) returned 2",
            f"{by_zero}; f(0) raised {by_zero}",
            "assert f(n=1) == 2: f(n=1) returned 10",
        ]

    async def test_arguments_changed_in_place_and_iterators_and_exceptions_cross(self) -> None:
        source = (
            "class Own(Exception): ...\n"
            "def f(items):\n    items.sort()\n"
            "def g(n):\n    yield from range(n)\n"
            "def h():\n    raise Own('mine')\n"
            "LIMIT = (1, 2)\n"
        )
        seen = await outcomes(
            source,
            "x = [3, 1, 2]\nf(x)\nassert x == [1, 2, 3]",
            "assert list(g(3)) == [0, 1, 2]",
            "assert LIMIT == (1, 2)",
            "try:\n    f(3)\nexcept AttributeError:\n    pass\nelse:\n    assert False",
            "h()",
            "import solution\nassert list(solution.g(1)) == [0]",
            "from solution import g as other\nassert list(other(2)) == [0, 1]",
        )
        assert seen == ["passed"] * 4 + ["raised"] + ["passed"] * 2

    async def test_setup_runs_before_each_check(self) -> None:
        setup = "from solution import f\nVALUES = [1, 2]\ndef total(): return sum(VALUES)"
        check = "VALUES.append(f(3))\nassert total() == 12"
        assert await outcomes(SQUARE, check, check, setup=setup) == ["passed", "passed"]

    async def test_a_program_keeps_nothing_between_probes(self) -> None:
        source = "seen = []\ndef f():\n    seen.append(1)\n    return len(seen)\n"
        assert await outcomes(source, "assert f() == 1", "assert f() == 1") == ["passed", "passed"]

    async def test_sets_of_words_have_the_same_order_every_time(self) -> None:
        source = "def f():\n    return list({'alpha', 'beta', 'gamma', 'delta', 'epsilon'})\n"
        first = await details(source, "assert f() == 0")
        assert await details(source, "assert f() == 0") == first

    async def test_what_is_printed_is_kept_apart(self) -> None:
        program = Program(entry="f", source="def f():\n    print('hello')\n    return 1\n")
        execution = await BubblewrapSandbox().run(program, probes("assert f() == 1"), LIMITS)
        assert (execution.results[0].outcome, execution.output) == ("passed", "hello\n")


@needs_bubblewrap
class TestHostilePrograms:
    """The first of many; each must be contained, named, and leave the next run unharmed."""

    @pytest.mark.parametrize(
        ("source", "expected"),
        [
            ("raise RuntimeError('no')", "raised"),
            ("def f(): raise SystemExit(0)", "raised"),
            ("import os\ndef f(): os._exit(0)", "killed"),
            ("import os\nos._exit(0)", "killed"),
            ("import os, signal\ndef f(): os.kill(os.getpid(), 9)", "killed"),
            ("import os\ndef f(): os.abort()", "killed"),
            ("def f():\n    while True: pass", "timed out"),
            ("while True: pass", "timed out"),
            ("import time\ndef f(): time.sleep(60)", "timed out"),
            ("def f():\n    while True: print('x' * 1000)", "output too large"),
            ("def f(): return bytearray(1 << 30)", "raised"),
            ("def f(): return 'x' * (50 << 20)", "killed"),
            ("import sys\nsys.setrecursionlimit(10**9)\ndef f(): return f()", None),
        ],
    )
    async def test_a_program_that_misbehaves_is_a_result(
        self, source: str, expected: str | None
    ) -> None:
        (seen,) = await outcomes(source, "assert f() == 1")
        assert seen == expected if expected else seen != "passed"
        assert await outcomes(SQUARE, "assert f(2) == 4") == ["passed"]

    @pytest.mark.parametrize("name", FORGERIES)
    async def test_a_program_cannot_print_itself_a_pass(self, name: str) -> None:
        (seen,) = await outcomes(FORGERIES[name], "assert f() == 1")
        # Scribbling over its own answer is the only one that leaves nothing to judge.
        assert seen == ("killed" if name == "own files" else "failed")

    async def test_a_check_cannot_forge_the_result_of_another(self) -> None:
        forge = (
            "import os\nfor fd in range(64):\n"
            '    try: os.write(fd, b\'[1, "passed", "", ""]\\n\')\n    except OSError: pass'
        )
        seen = await outcomes(SQUARE, forge, "assert f(2) == 5")
        assert seen[1] == "failed"

    async def test_killing_everything_in_sight_is_not_a_pass(self) -> None:
        source = "import os\ndef f():\n    os.kill(-1, 9)\n    return 1\n"
        (seen,) = await outcomes(source, "assert f() == 1")
        assert seen == "killed"

    async def test_three_time_outs_are_enough(self) -> None:
        program = Program(entry="f", source="def f():\n    while 1: pass")
        limits = Limits(probe_seconds=0.5)
        execution = await BubblewrapSandbox().run(program, probes(*["f()"] * 20), limits)
        assert {result.outcome for result in execution.results} == {"timed out"}
        ran = [r for r in execution.results if r.detail == "no answer in 0.5 s"]
        left = [r for r in execution.results if r.detail.startswith("not run: 3 probes before it")]
        assert (len(ran), len(left)) == (3, 17)

    @pytest.mark.parametrize(
        ("name", "body"),
        [
            ("network", "import socket; socket.create_connection(('127.0.0.1', PORT), 1)"),
            ("names", "import socket; socket.getaddrinfo('localhost.example', 80)"),
            ("home", "open('/root/.bashrc').read()"),
            ("passwords", "open('/etc/passwd').read()"),
            ("host root", "open('/proc/1/root/etc/hostname').read()"),
            ("write usr", "open('/usr/x', 'w')"),
            ("write root", "open('/x', 'w')"),
            ("write dev", "open('/dev/x', 'w')"),
            ("mount", "must(libc.mount(b'x', b'/tmp', b'tmpfs', 0, 0))"),
            ("device", "import os; os.mknod('/tmp/d', 0o60600, 0x800)"),
            ("user namespace", "must(libc.unshare(0x10000000))"),
            ("fill tmp", "open('/tmp/x', 'wb').write(bytes(80 << 20))"),
        ],
    )
    async def test_the_host_is_out_of_reach(self, name: str, body: str) -> None:
        import socket

        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            body = body.replace("PORT", str(port))
            source = f"{REACH}def f():\n    {body}\n    return 1\n"
            (seen,) = await outcomes(source, "assert f() == 1")
        assert seen == "raised", name

    async def test_the_hosts_environment_cannot_be_read(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "swordfish-42")
        source = (
            "import os, glob\ndef f():\n    seen = [dict(os.environ)]\n"
            "    for path in glob.glob('/proc/*/environ') + glob.glob('/proc/*/cmdline'):\n"
            "        try: seen.append(open(path, 'rb').read())\n        except OSError: pass\n"
            "    return repr(seen)\n"
        )
        seen = await outcomes(source, "assert 'swordfish' not in f()", "assert 'PATH' in f()")
        assert seen == ["passed", "passed"]

    async def test_nothing_survives(self) -> None:
        source = (
            "import os, time\ndef f():\n    if os.fork() == 0:\n        os.setsid()\n"
            "        os.execvp('sleep', ['sleep', '987'])\n    return 1\n"
        )
        assert await outcomes(source, "assert f() == 1") == ["passed"]
        assert "sleep\x00987" not in _command_lines()

    async def test_forking_without_end_is_bounded(self) -> None:
        source = "import os\ndef f():\n    while True: os.fork()\n"
        (seen,) = await outcomes(source, "assert f() == 1")
        assert seen != "passed"
        assert await outcomes(SQUARE, "assert f(2) == 4") == ["passed"]

    async def test_giving_up_leaves_nothing_running(self) -> None:
        program = Program(entry="f", source="import os\ndef f(): os.system('sleep 986')\n")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await BubblewrapSandbox().run(program, probes("f()"), LIMITS)
        deadline = time.monotonic() + 5
        while "sleep\x00986" in _command_lines():
            assert time.monotonic() < deadline
            await asyncio.sleep(0.05)


@needs_bubblewrap
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become somebody else")
def test_an_ordinary_user_can_use_it_too() -> None:
    harness = os.memfd_create("harness")
    os.write(harness, b"print('inside')")
    os.lseek(harness, 0, os.SEEK_SET)
    line = sandbox_args(["/usr/bin/python3", "/run/harness.py"], LIMITS, harness, root=False)
    person = ["setpriv", "--reuid=64002", "--regid=64002", "--clear-groups"]
    done = subprocess.run(
        [*person, *line], pass_fds=(harness,), capture_output=True, text=True, check=False
    )
    os.close(harness)
    assert (done.stdout, done.returncode) == ("inside\n", 0), done.stderr


async def test_without_bubblewrap_it_refuses_with_the_line_that_installs_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("twinsmith.adapters.sandbox.bubblewrap.PATH", str(tmp_path))
    with pytest.raises(
        SandboxError, match="bwrap is not installed; run: apt-get install -y bubblew"
    ):
        await BubblewrapSandbox().isolation()
    with pytest.raises(SandboxError):
        await BubblewrapSandbox().run(
            Program(entry="f", source=SQUARE), probes("assert f(1) == 1"), LIMITS
        )


def _command_lines() -> str:
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(path.read_text())
        except OSError:
            continue
    return "\n".join(lines)
