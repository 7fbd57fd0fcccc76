"""What every sandbox must do: the canned one, and each real one with real processes."""

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.sandboxes import BACKENDS, LAYERS, LIMITS, checks, code, run, sandbox
from twinsmith.adapters.sandbox.bubblewrap import Bubblewrap
from twinsmith.adapters.sandbox.canned import CannedSandbox
from twinsmith.adapters.sandbox.runner import IsolatedSandbox
from twinsmith.core.errors import ConfigError, SandboxError
from twinsmith.core.execution import Execution, Limits, ProbeResult
from twinsmith.core.probe import Call, Command, Probe, Probes
from twinsmith.core.program import Program

SQUARE = "def f(n):\n    return n * n\n"


@pytest.fixture(params=BACKENDS)
def box(request: pytest.FixtureRequest) -> IsolatedSandbox:
    return sandbox(str(request.param))


async def outcomes(box: IsolatedSandbox, source: str, probes: Probes) -> list[str]:
    execution = await run(source, kind="function", probes=probes, box=box)
    assert execution.results, execution.problem
    return [result.outcome for result in execution.results]


async def details(box: IsolatedSandbox, source: str, probes: Probes) -> list[str]:
    execution = await run(source, kind="function", probes=probes, box=box)
    return [result.detail for result in execution.results]


def command(*args: str, stdin: str = "", stdout: str | None = None, exit_code: int = 0) -> Probe:
    wanted = Command(args=args, stdin=stdin, stdout=stdout, exit_code=exit_code)
    return Probe(name="command", origin="plan", command=wanted)


@pytest.mark.parametrize("kind", ["canned", *BACKENDS])
async def test_one_result_a_probe_in_order(kind: str) -> None:
    said = "assert f(3) == 6: f(3) returned 9"
    told = {"check 1": ProbeResult(name="check 1", outcome="failed", detail=said)}
    box = CannedSandbox({SQUARE: told}) if kind == "canned" else sandbox(kind)
    probes = code("assert f(2) == 4", "assert f(3) == 6", "assert f(0) == 0")
    execution = await box.run(Program(entry="f", source=SQUARE), probes, LIMITS)
    # What was answered on the way is told by those who ask.
    results = tuple(replace(result, value="") for result in execution.results)
    assert replace(execution, results=results) == Execution(
        candidate=0,
        results=(
            ProbeResult(name="check 0", outcome="passed"),
            told["check 1"],
            ProbeResult(name="check 2", outcome="passed"),
        ),
    )
    nothing = await box.run(Program(entry="f", source=SQUARE), Probes(), LIMITS)
    assert nothing.results == ()


class TestFunctions:
    @pytest.mark.parametrize("form", [checks, code])
    async def test_failures_name_the_expression_and_the_values(
        self, box: IsolatedSandbox, form: Callable[..., Probes]
    ) -> None:
        source = "def f(n):\n    return 10 // n\n"
        by_zero = "ZeroDivisionError: integer division or modulo by zero (line 2)"
        probes = form("assert f(5) == 3", "assert f(0) == 0", "assert f(n=1) == 2")
        assert await details(box, source, probes) == [
            "assert f(5) == 3: f(5) returned 2",
            f"{by_zero}; f(0) raised {by_zero}",
            "assert f(n=1) == 2: f(n=1) returned 10",
        ]

    async def test_the_line_that_fails_is_the_one_that_is_named(self, box: IsolatedSandbox) -> None:
        setup = "def same(a, b):\n    assert a == b"
        probes = checks(
            "assert f(1) == 1\nassert f(2) == 5\nassert f(3) == 9",
            "for n in (1, 2):\n    same(f(n), 1)\nassert f(0) == 0",
            setup=setup,
        )
        assert await details(box, SQUARE, probes) == [
            "assert f(2) == 5: f(2) returned 4",
            "same(f(n), 1): f(2) returned 4",
        ]

    async def test_a_call_that_expects_nothing_tells_what_it_gave(
        self, box: IsolatedSandbox
    ) -> None:
        source = "def f(*a):\n    print('heard')\n    return (1, 'é', [2.5, None], {3: {4}})\n"
        probe = Probe(name="look", origin="plan", call=Call(function="f", args=("1", "'x'")))
        execution = await run(source, kind="function", probes=Probes(checks=(probe,)), box=box)
        (seen,) = execution.results
        assert (seen.outcome, seen.value) == ("passed", "(1, 'é', [2.5, None], {3: {4}})")
        assert seen.output == "heard\n"

    async def test_arguments_changed_in_place_and_iterators_and_exceptions_cross(
        self, box: IsolatedSandbox
    ) -> None:
        source = (
            "class Own(Exception): ...\n"
            "def f(items):\n    items.sort()\n"
            "def g(n):\n    yield from range(n)\n"
            "def h():\n    raise Own('mine')\n"
            "LIMIT = (1, 2)\n"
        )
        probes = checks(
            "x = [3, 1, 2]\nf(x)\nassert x == [1, 2, 3]",
            "assert list(g(3)) == [0, 1, 2]",
            "assert LIMIT == (1, 2)",
            "try:\n    f(3)\nexcept AttributeError:\n    pass\nelse:\n    assert False",
            "h()",
            "import solution\nassert list(solution.g(1)) == [0]",
            "from solution import g as other\nassert list(other(2)) == [0, 1]",
        )
        expected = ["passed"] * 4 + ["raised"] + ["passed"] * 2
        assert await outcomes(box, source, probes) == expected

    async def test_setup_runs_before_each_check(self, box: IsolatedSandbox) -> None:
        setup = "from solution import f\nVALUES = [1, 2]\ndef total(): return sum(VALUES)"
        check = "VALUES.append(f(3))\nassert total() == 12"
        probes = checks(check, check, setup=setup)
        assert await outcomes(box, SQUARE, probes) == ["passed", "passed"]

    async def test_a_program_keeps_nothing_between_probes(self, box: IsolatedSandbox) -> None:
        source = (
            "import os, pathlib\nseen = []\n"
            "def f():\n    seen.append(1)\n    return len(seen)\n"
            "def g():\n    found = [os.listdir(p) for p in ('/tmp', '/dev/shm', '/tmp/work')]\n"
            "    for p in ('/tmp/a', '/dev/shm/a', '/tmp/work/a'): os.makedirs(p + '/b/c')\n"
            "    pathlib.Path('solution.py').write_text('def g(): return 0')\n"
            "    return found\n"
        )
        look = "assert g() == [['work'], [], ['solution.py']]"
        probes = checks("assert f() == 1", "assert f() == 1", look, look, look)
        assert await outcomes(box, source, probes) == ["passed"] * 5

    async def test_sets_of_words_have_the_same_order_every_time(self, box: IsolatedSandbox) -> None:
        source = "def f():\n    return list({'alpha', 'beta', 'gamma', 'delta', 'epsilon'})\n"
        first = await details(box, source, checks("assert f() == 0"))
        assert await details(box, source, checks("assert f() == 0")) == first

    async def test_each_probe_has_its_own_figures(self, box: IsolatedSandbox) -> None:
        source = "def f(n):\n    return len(b'x' * (n << 20)) + sum(range(n * 50_000))\n"
        probes = checks("assert f(1) > 0", "assert f(60) > 0")
        execution = await run(source, kind="function", probes=probes, box=box)
        small, large = execution.results
        assert large.cpu_seconds > small.cpu_seconds > 0
        assert large.peak_mb - small.peak_mb > 50

    async def test_a_program_that_cannot_be_read_says_where(self, box: IsolatedSandbox) -> None:
        (seen,) = await details(box, "def f(:\n", checks("assert f() == 1"))
        assert seen.startswith("SyntaxError: ")
        assert "line 1" in seen


class TestCommands:
    async def test_arguments_input_output_and_exit_code(self, box: IsolatedSandbox) -> None:
        source = "import sys\nprint(sys.argv[1:], sys.stdin.read())\nsys.exit(len(sys.argv) - 1)\n"
        probes = Probes(
            checks=(
                command("a", "b c", stdin="text\n", stdout="['a', 'b c'] text\n\n", exit_code=2),
                command(stdout="[] \n"),
                command("x", stdout="[] \n"),
            )
        )
        execution = await run(source, probes=probes, box=box)
        assert [r.outcome for r in execution.results] == ["passed", "passed", "failed"]
        assert execution.results[2].detail == (
            "exit code 1, not 0; printed \"['x'] \\n\", not '[] \\n'"
        )
        assert [r.exit_code for r in execution.results] == [2, 0, 1]

    async def test_it_runs_as_python_would_run_it(self, box: IsolatedSandbox) -> None:
        source = (
            "import atexit, sys, threading, time\n"
            "atexit.register(print, 'last')\n"
            "threading.Thread(target=lambda: (time.sleep(0.05), print('thread'))).start()\n"
            "print(__name__, __file__, open('solution.py').readline().strip()[:6])\n"
            "print(open('/dev/stdin').read())\n"
            "if len(sys.argv) > 1: raise ValueError('no')\n"
            "exit('why')\n"
        )
        good = "__main__ solution.py import\nhello\nthread\nlast\n"
        probes = Probes(
            checks=(
                command(stdin="hello", stdout=good, exit_code=1),
                command("x", stdin="hello", stdout=good, exit_code=1),
            )
        )
        execution = await run(source, probes=probes, box=box)
        assert [r.detail for r in execution.results] == ["", ""]
        assert execution.results[0].errors == "why\n"
        trace = execution.results[1].errors.splitlines()
        assert trace[:2] == [
            "Traceback (most recent call last):",
            '  File "solution.py", line 6, in <module>',
        ]
        assert trace[-1] == "ValueError: no"

    async def test_a_check_may_run_it_several_times(self, box: IsolatedSandbox) -> None:
        source = "import sys\nprint(int(sys.argv[1]) + int(sys.stdin.read() or 0))\n"
        probes = code(
            "a = run('2', stdin='3')\nassert (a.stdout, a.exit_code) == ('5\\n', 0)\n"
            "b = run('x')\nassert b.exit_code == 1 and 'ValueError' in b.stderr",
            "assert run('1').stdout == '2\\n'",
        )
        execution = await run(source, probes=probes, box=box)
        assert [r.outcome for r in execution.results] == ["passed", "failed"]
        assert all(r.cpu_seconds > 0 and r.peak_mb > 1 for r in execution.results)

    async def test_a_signal_is_named(self, box: IsolatedSandbox) -> None:
        execution = await run("import os\nos.kill(os.getpid(), 11)", box=box)
        (seen,) = execution.results
        assert (seen.outcome, seen.detail) == ("killed", "the program ended by SIGSEGV")
        assert seen.exit_code == -11

    async def test_large_input_and_output_cross(self, box: IsolatedSandbox) -> None:
        limits = Limits(output_bytes=3_000_000)
        text = "x" * 2_000_000
        probes = Probes(checks=(command(stdin=text, stdout=text),))
        source = "import sys\nsys.stdout.write(sys.stdin.read())"
        execution = await run(source, probes=probes, box=box, limits=limits)
        assert execution.results[0].outcome == "passed"


SERVICE = """
import http.server, json, os
kept = {}
class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def do_GET(self):
        if self.path == '/die': os._exit(3)
        self.answer(200 if self.path in kept else 404, kept.get(self.path))
    def do_PUT(self):
        size = int(self.headers['Content-Length'])
        kept[self.path] = [json.loads(self.rfile.read(size)), self.headers.get('X-Key')]
        self.answer(201, 'kept')
print('starting', flush=True)
http.server.HTTPServer(('127.0.0.1', int(os.environ['PORT'])), Handler).serve_forever()
"""


class TestServices:
    async def test_it_is_started_once_asked_and_stopped(self, box: IsolatedSandbox) -> None:
        probes = code(
            "r = http('GET', '/a')\nassert r.status == 404\n"
            "assert r.headers['CONTENT-length'] == r.headers.get('content-Length') == '4'\n"
            "assert 'content-LENGTH' in r.headers and 'x-none' not in r.headers",
            "r = http('PUT', '/a', json={'n': 1}, headers={'X-Key': 'k'})\n"
            "assert (r.status, r.json()) == (201, 'kept')",
            "assert http('GET', '/a').json() == [{'n': 1}, 'k']",
            "assert http('GET', '/a').json() == 5",
            "http('GET', '/die')",
            "assert http('GET', '/a').status == 200",
        )
        execution = await run(SERVICE, kind="service", probes=probes, box=box)
        seen = [result.outcome for result in execution.results]
        assert seen == ["passed"] * 3 + ["failed", "raised", "killed"]
        assert execution.results[3].detail.endswith("""GET /a gave 200 '[{"n": 1}, "k"]'""")
        assert execution.results[5].detail.startswith("the service ended with exit code 3;")
        assert execution.log.startswith("starting\n")
        assert execution.peak_mb > 5

    async def test_one_that_never_listens_says_what_it_said(self, box: IsolatedSandbox) -> None:
        source = "raise SystemExit('no configuration')"
        execution = await run(source, kind="service", probes=code("http('GET', '/')"), box=box)
        assert execution.results[0].detail == (
            "the service ended with exit code 1 before it listened; it said: no configuration"
        )


class TestPackages:
    async def test_an_allowed_package_is_there_read_only(self, box: IsolatedSandbox) -> None:
        source = (
            "import jwt, numpy as np\n"
            "def f(n):\n    return int(np.arange(n).sum())\n"
            "def g():\n    open(np.__file__, 'a')\n"
        )
        probes = checks("assert f(5) == 10", "g()")
        execution = await run(source, kind="function", probes=probes, box=box)
        passed, refused = execution.results
        assert (passed.outcome, refused.outcome) == ("passed", "raised"), passed.detail
        assert refused.detail.startswith(("PermissionError", "OSError: [Errno 30] Read-only"))

    @pytest.mark.parametrize(
        ("language", "source", "requires", "asked"),
        [
            ("python", "import requests, os.path\nfrom yaml import load", (), "requests, yaml"),
            ("python", "x = 1", ("flask", "evil"), "evil"),
            ("c", "int f(void) { return 1; }", ("libevil",), "libevil"),
        ],
    )
    async def test_any_other_is_a_finding(
        self, language: str, source: str, requires: tuple[str, ...], asked: str
    ) -> None:
        program = Program(source=source, language=language, requires=requires)
        execution = await sandbox().run(program, checks("assert f() == 1"), LIMITS)
        assert execution.results == ()
        wanted = f"asks for packages that are not allowed: {asked}; allowed: "
        assert execution.problem.startswith(wanted)

    async def test_one_that_may_be_missing_is_not(self) -> None:
        source = "try:\n    import yaml\nexcept ImportError:\n    yaml = None\ndef f(): return 1"
        assert await outcomes(sandbox(), source, checks("assert f() == 1")) == ["passed"]


async def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(ConfigError, match="language 'cobol' is unknown; one of python"):
        await run("x", language="cobol")


async def test_several_at_once_do_not_meet(box: IsolatedSandbox) -> None:
    source = "import os\ndef f(n):\n    open('/tmp/x', 'w').write(str(n))\n    return os.getpid()\n"
    programs = [
        outcomes(box, f"{source}N = {n}\n", code(f"assert N == {n} and 1 < f(N) < 20"))
        for n in range(6)
    ]
    assert await asyncio.gather(*programs) == [["passed"]] * 6


@pytest.mark.elsewhere(os.geteuid() != 0, reason="needs root, to become somebody else")
def test_an_ordinary_user_can_use_it_too(tmp_path: Path) -> None:
    """Without a control group of its own, which is said; everything else holds."""
    sandbox()
    home = tmp_path / "home"
    home.mkdir()
    package = tmp_path / "package"
    shutil.copytree(Path(sys.modules["twinsmith"].__file__ or "").parent, package / "twinsmith")
    for place in (*tmp_path.parents, tmp_path):
        if place.stat().st_mode & 0o1 == 0:
            place.chmod(place.stat().st_mode | 0o1)
    os.chown(home, 64002, 64002)
    script = (
        "import asyncio, pathlib\n"
        "from twinsmith.adapters.sandbox.bubblewrap import Bubblewrap\n"
        "from twinsmith.adapters.sandbox.layers import Layers\n"
        "from twinsmith.adapters.sandbox.runner import IsolatedSandbox\n"
        f"box = IsolatedSandbox(Bubblewrap(), Layers(pathlib.Path({str(home)!r})))\n"
        "print(asyncio.run(box.isolation()))\n"
    )
    person = ["setpriv", "--reuid=64002", "--regid=64002", "--clear-groups"]
    done = subprocess.run(
        [*person, "/usr/bin/python3", "-c", script],
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(package), "HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
    )
    expected = "backend=bubblewrap isolation=degraded missing=[memory,cpu,users]\n"
    assert done.stdout == expected, done.stderr


async def test_without_bubblewrap_it_refuses_with_the_line_that_installs_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("twinsmith.adapters.sandbox.bubblewrap.PATH", str(tmp_path))
    box = IsolatedSandbox(Bubblewrap(), LAYERS)
    line = "bwrap is not installed; run: apt-get install -y bubblew"
    with pytest.raises(SandboxError, match=line):
        await box.isolation()
    with pytest.raises(SandboxError):
        await run(SQUARE, box=box)
