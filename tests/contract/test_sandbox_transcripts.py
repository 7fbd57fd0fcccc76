"""What a program answered during a check in code, whether that passed or not."""

import ast

import pytest

from tests.sandboxes import BACKENDS, LIMITS, code, needs, run, sandbox
from twinsmith.adapters.sandbox.inside.transcript import LONGEST, MOST_ENTRIES
from twinsmith.adapters.sandbox.runner import IsolatedSandbox
from twinsmith.core.execution import Limits
from twinsmith.core.probe import Command, Probe, Probes
from twinsmith.core.program import Kind

LEFT_OUT = ["…"]


@pytest.fixture(params=BACKENDS)
def box(request: pytest.FixtureRequest) -> IsolatedSandbox:
    return sandbox(str(request.param))


async def transcripts(
    source: str,
    *checks: str,
    kind: Kind = "function",
    language: str = "python",
    box: IsolatedSandbox | None = None,
    limits: Limits = LIMITS,
) -> list[list[list[object]]]:
    execution = await run(
        source, kind=kind, language=language, probes=code(*checks), box=box, limits=limits
    )
    assert execution.results, execution.problem
    assert all(len(result.value) <= LONGEST for result in execution.results)
    return [ast.literal_eval(result.value) for result in execution.results]


async def test_of_functions(box: IsolatedSandbox) -> None:
    source = "def f(n, by=1):\n    return {n // by: ['é']}\ndef g():\n    yield from (1, 2)\n"
    checks = ("f(4)\nassert f(4, by=2) == 5", "f(1, by=0)", "assert list(g()) == [1, 2]", "pass")
    assert await transcripts(source, *checks, box=box) == [
        [["f(4)", "returned", "{4: ['é']}"], ["f(4, by=2)", "returned", "{2: ['é']}"]],
        [["f(1, by=0)", "raised", "ZeroDivisionError"]],
        [["g()", "returned", "iter([1, 2])"]],
        [],
    ]


async def test_of_commands(box: IsolatedSandbox) -> None:
    source = "import sys\nprint(sys.argv[1:], sys.stdin.read())\nsys.exit(len(sys.argv) - 1)\n"
    check = "run('a', 'b c', stdin='x')\nassert run(1).exit_code == 0"
    assert await transcripts(source, check, kind="cli", box=box) == [
        [[["a", "b c"], 2, "['a', 'b c'] x\n"], [["1"], 1, "['1'] \n"]]
    ]


SERVICE = """
import http.server, os
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == '/die': os._exit(3)
        body = b'x' * 5000 if self.path == '/long' else 'für alle'.encode()
        self.send_response(200 if self.path != '/none' else 404)
        self.send_header('Content-Type', 'Text/Plain; charset=utf-8')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)
address = ('127.0.0.1', int(os.environ['PORT']))
http.server.ThreadingHTTPServer(address, Handler).serve_forever()
"""
TOGETHER = """
import threading
threads = [threading.Thread(target=http, args=('GET', f'/{n}')) for n in range(20)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


async def test_of_services(box: IsolatedSandbox) -> None:
    checks = (
        "http('GET', '/a?b=1')\nassert http('GET', '/none').status == 200",
        *("http('GET', '/long')", TOGETHER, "http('GET', '/die')"),
    )
    seen = await transcripts(SERVICE, *checks, kind="service", box=box)
    assert seen[0] == [
        ["GET", "/a?b=1", 200, "text/plain", "für alle"],
        ["GET", "/none", 404, "text/plain", "für alle"],
    ]
    assert seen[1] == [["GET", "/long", 200, "text/plain", "x" * 2000]]
    assert sorted(str(path) for _, path, *_ in seen[2]) == sorted(f"/{n}" for n in range(20))
    assert seen[3] == [["GET", "/die", 0, "", "RemoteDisconnected"]]


LIBRARY = """
class Empty(Exception): ...
class Stack:
    def __init__(self, *items): self.items = list(items)
    @classmethod
    def of(cls, items): return cls(*items)
    def push(self, item):
        self.items.append(item)
        return self
    def pop(self):
        if not self.items: raise Empty('nothing')
        return self.items.pop()
    def __add__(self, other): return Stack(*self.items, *other.items)
    def __len__(self): return len(self.items)
"""


async def test_of_objects_which_go_by_their_class_and_a_number() -> None:
    check = (
        "a = Stack.of([1])\nb = Stack(2)\nc = (a + b).push(a)\nassert len(c) == 3\n"
        "c.items = [[b]]\nassert c.items == [[b]]\nc.pop()\nc.pop()"
    )
    plain, repr_of_its_own = [
        await transcripts(source, check, kind="library")
        for source in (LIBRARY, LIBRARY + "    def __repr__(self): return 'me'\n")
    ]
    assert plain == [
        [
            ["Stack.of([1])", "returned", "Stack#1"],
            ["Stack(2)", "returned", "Stack#2"],
            ["add(Stack#1, Stack#2)", "returned", "Stack#3"],
            ["Stack#3.push(Stack#1)", "returned", "Stack#3"],
            ["len(Stack#3)", "returned", "3"],
            ["Stack#3.items = [[Stack#2]]", "returned", "None"],
            ["Stack#3.items", "returned", "[[Stack#2]]"],
            ["Stack#3.pop()", "returned", "[Stack#2]"],
            ["Stack#3.pop()", "raised", "Empty"],
        ]
    ]
    assert repr_of_its_own == plain


async def test_no_address_is_told() -> None:
    source = "class A: ...\ndef f():\n    return [A(), {'a': A().__init__}, open]\n"
    (((_, _, seen),),) = await transcripts(source, "f()")
    assert "A object" in str(seen)
    assert "0x" not in str(seen)


OTHERS = {
    "perl": "sub twice { my ($n) = @_; return $n * 2 } 1;",
    "go": "package main\n\nfunc Twice(n int) int { return n * 2 }\n",
    "rust": "pub fn twice(n: i64) -> i64 { n * 2 }\n",
    "c": "long twice(long n) { return n * 2; }\n",
    "cpp": "long twice(long n) { return n * 2; }\n",
}


@pytest.mark.parametrize("language", OTHERS)
async def test_of_other_languages(language: str) -> None:
    needs(language)
    ((entry,),) = await transcripts(OTHERS[language], "assert twice(2) == 5", language=language)
    assert entry == ["Twice(2)" if language == "go" else "twice(2)", "returned", "4"]


async def test_calls_and_commands_that_are_data_have_none() -> None:
    command = Probe(name="run", origin="plan", command=Command())
    execution = await run("print(1)", probes=Probes(checks=(command,)))
    assert execution.results[0].value == ""


async def test_it_ends_where_it_would_be_too_long() -> None:
    source = "def f(n):\n    return 'é' * n\n"
    many, long, one = await transcripts(
        source,
        f"for _ in range({MOST_ENTRIES + 5}):\n    f(1)",
        "for _ in range(50):\n    f(900)\nf(1)",
        "f(600_000)\nf(1)",
        limits=Limits(),
    )
    assert [len(many), many[-2], many[-1]] == [
        MOST_ENTRIES + 1,
        ["f(1)", "returned", "'é'"],
        LEFT_OUT,
    ]
    assert 15 < len(long) < 25
    assert long[-2:] == [["f(900)", "returned", repr("é" * 900)], LEFT_OUT]
    assert [len(str(entry[2])) for entry in one] == [2000, 3]


@pytest.mark.parametrize("value", ["[" * 5000, "[[", "'text'", "[1]", " " * 30_000, "open('x')"])
async def test_what_a_check_scribbles_over_its_own_is_none(value: str) -> None:
    check = (
        "import json, os\n"
        f"body = json.dumps({{'verdict': ['passed', '', {value!r}], 'used': "
        "{'cpu': 0, 'peak_kb': 0}}).encode()\n"
        "for fd in range(3, 50):\n"
        "    try:\n"
        "        os.write(fd, len(body).to_bytes(4, 'big') + body)\n"
        "    except OSError:\n"
        "        pass\n"
        "os._exit(0)"
    )
    execution = await run("print(1)", kind="cli", probes=code(check))
    assert execution.results[0].value == ""
