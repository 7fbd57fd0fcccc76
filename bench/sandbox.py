"""What the sandbox costs, beside bare execution and peers, all in one run.

    python -m bench.sandbox start     a Python hello: bare, here, `docker run`, llm-sandbox
    python -m bench.sandbox many      candidates a second, and whether they leave anything behind
    python -m bench.sandbox compile   C, C++, Go, Rust and Perl beside their bare tools

llm-sandbox is no dependency: `--peer PYTHON` names an interpreter that has it.
"""

import argparse
import asyncio
import ctypes
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from string import Template

from bench.verdicts import BareTools
from tests import engines
from tests.sandboxes import FOLDER, LAYERS
from twinsmith.adapters.sandbox.bubblewrap import Bubblewrap
from twinsmith.adapters.sandbox.container import ContainerWalls
from twinsmith.adapters.sandbox.container_args import image
from twinsmith.adapters.sandbox.languages import LANGUAGES
from twinsmith.adapters.sandbox.languages.python import INTERPRETER
from twinsmith.adapters.sandbox.runner import IsolatedSandbox, found
from twinsmith.core.execution import Execution, Limits
from twinsmith.core.probe import Call, Command, Probe, Probes
from twinsmith.core.program import Kind, Program

CORES = os.cpu_count() or 1
HELLO = "print('hello')\n"
IMAGE = "twinsmith-bench"
SHOWN = ("--volume=/usr:/usr:ro", "--volume=/etc/ld.so.cache:/etc/ld.so.cache:ro")
BARE, OURS, DOCKER = "bare python3 hello.py", "twinsmith, bubblewrap", "docker run"
MOST_TIMES_BARE, LEAST_TIMES_QUICKER = 2.2, 6.0
LEAST_A_SECOND, MOST_TIMES_COMPILER = 25.0, 1.3
PEER_INSTALL = "python3 -m venv PEER && PEER/bin/pip install 'llm-sandbox[docker]'"
# Its close() waits ten seconds for a shell that ignores SIGTERM: here that is not counted.
PEER = """
import sys, time
from llm_sandbox.bubblewrap import BubblewrapSession
from llm_sandbox.docker import SandboxDockerSession
address, image = sys.argv[1:]
common = {"lang": "python", "skip_environment_setup": True}
if address:
    import docker
    client = docker.DockerClient(base_url=address)
    files = {"/usr": "/usr", "/usr/bin/python3": "/tmp/bin/python"}
    config = {"volumes": {k: {"bind": v, "mode": "ro"} for k, v in files.items()}}
    config |= {"network_mode": "none", "command": ["/bin/sh"], "user": "0:0"}
    config |= {"stop_signal": "SIGKILL", "environment": {"PATH": "/tmp/bin:/usr/bin:/bin"}}
def opened(which):
    if which == "bubblewrap":
        return BubblewrapSession(**common)
    return SandboxDockerSession(
        client=client, image=image, workdir="/tmp", runtime_configs=config, **common)
for line in sys.stdin:
    began = time.perf_counter()
    with opened(line.strip()) as session:
        said = session.run("print('hello')")
    took = time.perf_counter() - began
    assert said.stdout == "hello\\n", said
    print(took, flush=True)
"""
Way = Callable[[], float]


def once(program: Program, *probes: Probe) -> tuple[Program, Probes, Limits]:
    return program, Probes(checks=probes), Limits()


def passed(execution: Execution) -> None:
    wrong = [each for each in execution.results if each.outcome != "passed"]
    assert execution.results, execution.problem
    assert not wrong, wrong[0]


@contextmanager
def docker_engine() -> Iterator[str | None]:
    """The address of the engine that runs already, else of one of our own; None without Docker."""
    absent = engines.absent("docker")
    if absent:
        print(absent)
        yield None
        return
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            words = place.read_text().split("\0")
            if words[0].endswith("dockerd") and "--host" in words:
                host = words[words.index("--host") + 1]
                if host != engines.SOCKET:
                    # Two engines in one network namespace would be in each other's way.
                    yield host
                    return
    with engines.serving("docker") as host:
        yield host


def docker(host: str, *words: str, given: bytes = b"") -> str:
    line = ["docker", *(["--host", host] if host else []), *words]
    return subprocess.run(line, input=given, capture_output=True, check=True).stdout.decode()


def timed(act: Callable[[], object]) -> Way:
    def way() -> float:
        began = time.perf_counter()
        act()
        return time.perf_counter() - began

    return way


def says_hello(*line: str) -> Way:
    def act() -> None:
        done = subprocess.run(line, capture_output=True, check=True)
        assert done.stdout == b"hello\n", done

    return timed(act)


def in_sandbox(runner: asyncio.Runner, box: IsolatedSandbox) -> Way:
    hello = Probe(name="hello", origin="plan", command=Command(stdout="hello\n"))
    what = once(Program(source=HELLO, kind="cli"), hello)
    return timed(lambda: passed(runner.run(box.run(*what))))


def docker_ways(host: str, folder: str, stack: ExitStack) -> dict[str, Way]:
    """A user's plain `docker run`, and `docker exec` in a container that is there already."""
    docker(host, "import", "-", IMAGE, given=image())
    stack.callback(docker, host, "rmi", "--force", IMAGE)
    common = (*SHOWN, f"--volume={folder}:/mnt:ro", "--network=none")
    sleeping = (INTERPRETER, "-c", "import time; time.sleep(1e6)")
    warm = docker(host, "run", "--detach", "--rm", *common, IMAGE, *sleeping).strip()
    stack.callback(docker, host, "rm", "--force", warm)
    client = ("docker", *(("--host", host) if host else ()))
    hello = (INTERPRETER, "/mnt/hello.py")
    return {
        DOCKER: says_hello(*client, "run", "--rm", *common, IMAGE, *hello),
        "docker exec, warm": says_hello(*client, "exec", warm, *hello),
    }


def peer_ways(python: str, host: str | None, stack: ExitStack) -> dict[str, Way]:
    """llm-sandbox, a new session each time, in an interpreter of its own."""
    has = subprocess.run([python, "-c", "import llm_sandbox, docker"], capture_output=True)
    if has.returncode:
        print(f"llm-sandbox: skipped, not in {python}; {PEER_INSTALL}; then --peer PEER/bin/python")
        return {}
    address = {None: "", "": "unix:///var/run/docker.sock"}.get(host, host) or ""
    child = stack.enter_context(
        subprocess.Popen(
            [python, "-c", PEER, address, IMAGE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
    )
    assert child.stdin is not None
    assert child.stdout is not None
    into, out = child.stdin, child.stdout

    def ask(which: str) -> float:
        print(which, file=into, flush=True)
        return float(out.readline())

    ways: dict[str, Way] = {"llm-sandbox, bubblewrap": lambda: ask("bubblewrap")}
    return ways | ({"llm-sandbox, Docker": lambda: ask("docker")} if address else {})


def start(rounds: int, peer: str) -> None:
    with ExitStack() as stack:
        host = stack.enter_context(docker_engine())
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        Path(folder, "hello.py").write_text(HELLO)
        runner = stack.enter_context(asyncio.Runner())
        box = IsolatedSandbox(Bubblewrap(), LAYERS)
        print(runner.run(box.isolation()))
        ways: dict[str, Way] = {BARE: says_hello(INTERPRETER, f"{folder}/hello.py")}
        ways[OURS] = in_sandbox(runner, box)
        if host is not None:
            other = IsolatedSandbox(ContainerWalls("docker", FOLDER, host=host), LAYERS)
            print(runner.run(other.isolation()))
            ways["twinsmith, Docker"] = in_sandbox(runner, other)
            ways |= docker_ways(host, folder, stack)
        ways |= peer_ways(peer, host, stack)
        times = alternating(ways, rounds)
    print(f"{rounds} rounds, each way once a round; ms")
    print(f"{'':<26}{'p50':>8}{'p90':>8}{'x bare':>8}")
    middle = {name: statistics.median(each) for name, each in times.items()}
    for name, each in times.items():
        p90 = statistics.quantiles(each, n=10, method="inclusive")[-1]
        ratio = middle[name] / middle[BARE]
        print(f"{name:<26}{middle[name] * 1000:8.1f}{p90 * 1000:8.1f}{ratio:8.2f}")
    target(f"{OURS}: times bare", middle[OURS] / middle[BARE], most=MOST_TIMES_BARE)
    if DOCKER in middle:
        quicker = middle[DOCKER] / middle[OURS]
        target(f"{OURS}: times quicker than {DOCKER}", quicker, least=LEAST_TIMES_QUICKER)


def alternating(ways: dict[str, Way], rounds: int) -> dict[str, list[float]]:
    """Drift of the machine hits all alike; the first round is for warming up."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(rounds + 1):
        for name, way in ways.items():
            took = way()
            times[name] += [took] if turn else []
    return times


def target(what: str, value: float, *, least: float = 0.0, most: float = float("inf")) -> None:
    wanted = f"at least {least:g}" if least else f"at most {most:g}"
    holds = "holds" if least <= value <= most else "DOES NOT HOLD"
    print(f"target {holds}: {what}: {value:.2f}, {wanted}")


STATELESS = Template('''
def grade_$n(scores, bonus):
    """Count how many of the scores pass, and give the sum of the best ones."""
    if not scores:
        return [0, 0]
    ranked = sorted((score + bonus + $n for score in scores), reverse=True)
    best = [score for i, score in enumerate(ranked) if i < 3 + $n % 4]
    passing = sum(1 for score in ranked if score >= 50)
    return [passing, sum(best)]
''')
WITH_STATE = "CACHE = {}\n" + STATELESS.template.replace(
    "    return [passing, sum(best)]", "    CACHE[bonus] = passing\n    return [passing, sum(best)]"
)


def candidate(n: int, kind: str, probes: int) -> tuple[Program, Probes, Limits]:
    name = f"grade_{n}"
    source = (Template(WITH_STATE) if kind == "a process a call" else STATELESS).substitute(n=n)
    space: dict[str, Callable[..., object]] = {}
    exec(source, space)
    checks = []
    for i in range(probes):
        args = [(i * 37 + k * k * 11) % 90 for k in range(i % 9)], i % 13
        value = space[name](*args)
        text = f"assert {name}(*{args!r}) == {value!r}"
        call = Call(function=name, args=tuple(map(repr, args)), expected=repr(value))
        checks.append(
            Probe(
                name=f"check {i}",
                origin="plan",
                source=text,
                call=None if kind == "code as checks" else call,
            )
        )
    return once(Program(source=source, entry=name), *checks)


async def rate(box: IsolatedSandbox, jobs: Iterator[tuple[Program, Probes, Limits]]) -> float:
    done = 0

    async def worker() -> None:
        nonlocal done
        for job in jobs:
            passed(await box.run(*job))
            done += 1

    began = time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(CORES)))
    return done / (time.perf_counter() - began)


def world() -> dict[str, set[str]]:
    """What a run could leave behind."""
    own = os.getpid()
    return {
        "processes": set(children(own)),
        "groups": set(map(str, Path("/sys/fs/cgroup").rglob(f"twinsmith/{own}-*"))),
        "mounts": set(Path("/proc/self/mounts").read_text().splitlines()),
        "files": {path.name for path in Path("/tmp").iterdir()},
        # The one that lists them is among them, and is the lowest that is free.
        "descriptors": set(os.listdir("/proc/self/fd")),
    }


def children(parent: int) -> Iterator[str]:
    for place in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            before, _, after = place.read_text().rpartition(")")
            if int(after.split()[1]) == parent:
                yield before


def adopt_orphans() -> None:
    """Whatever outlives its parent becomes a child of this process, and is seen."""
    child_subreaper = 36
    ctypes.CDLL(None).prctl(child_subreaper, 1, 0, 0, 0)


async def many(candidates: int, probes: int) -> None:
    adopt_orphans()
    box = IsolatedSandbox(Bubblewrap(), LAYERS)
    print(await box.isolation())
    kinds = ("stateless", "a process a call", "code as checks")
    for kind in kinds:
        await rate(box, (candidate(n, kind, 2) for n in range(2 * CORES)))
    print(f"{candidates} candidates of {probes} probes, {CORES} at a time")
    for kind in kinds:
        before = world()
        jobs = [candidate(n, kind, probes) for n in range(candidates)]
        per_second = await rate(box, iter(jobs))
        print(f"{kind:<20}{per_second:8.1f} candidates/s{per_second * probes:10.0f} probes/s")
        report_left(before, world())
        if kind == "stateless":
            target("candidates a second", per_second, least=LEAST_A_SECOND)


def report_left(before: dict[str, set[str]], after: dict[str, set[str]]) -> None:
    for what, seen in after.items():
        left = sorted(seen - before[what])
        if left:
            print(f"  left behind, {what}: {len(left)}, such as {left[:3]}")


# In every language the same: sorted downwards, each times its place; and how many differ.
# Its head, a function as often as wanted, its end and a call.
VALUES = [5, 3, 9, 3, 7, 1, 9, 4]
UNITS = {
    "c": r"""#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int order(const void *a, const void *b) { return *(const int *)b - *(const int *)a; }
---
int work_$n(const int *values, int count) {
    int *copy = malloc(sizeof(int) * count), sum = $seed, different = 0;
    memcpy(copy, values, sizeof(int) * count);
    qsort(copy, count, sizeof(int), order);
    for (int i = 0; i < count; i++) {
        sum += (i + $n) * copy[i];
        if (i == 0 || copy[i] != copy[i - 1]) different++;
    }
    free(copy);
    return sum + different;
}
---
int main(void) { int v[] = {$values}; printf("%d\n", $calls); }
---work_$n(v, 8)""",
    "cpp": r"""#include <algorithm>
#include <iostream>
#include <map>
#include <vector>
---
int work_$n(std::vector<int> values) {
    std::map<int, int> times;
    std::sort(values.begin(), values.end(), [](int a, int b) { return a > b; });
    int sum = $seed, place = $n;
    for (int value : values) sum += place++ * value, times[value]++;
    return sum + static_cast<int>(times.size());
}
---
int main() { std::vector<int> v{$values}; std::cout << $calls << std::endl; }
---work_$n(v)""",
    "go": r"""package main
import ("fmt"; "sort")
---
func Work$n(values []int) int {
    sorted := append([]int{}, values...)
    sort.Slice(sorted, func(a, b int) bool { return sorted[a] > sorted[b] })
    sum, times := $seed, map[int]int{}
    for place, value := range sorted {
        sum += (place + $n) * value
        times[value]++
    }
    return sum + len(times)
}
---
func main() { v := []int{$values}; fmt.Println($calls) }
---Work$n(v)""",
    "rust": r"""use std::collections::HashMap;
---
fn work_$n(values: &[i64]) -> i64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(|a, b| b.cmp(a));
    let (mut sum, mut times) = ($seed, HashMap::new());
    for (place, value) in sorted.iter().enumerate() {
        sum += (place as i64 + $n) * value;
        *times.entry(*value).or_insert(0) += 1;
    }
    sum + times.len() as i64
}
---
fn main() { let v = vec![$values]; println!("{}", $calls); }
---work_$n(&v)""",
    "perl": r"""use strict; use warnings;
---
sub work_$n {
    my ($$values) = @_;
    my ($$sum, $$place, %times) = ($seed, $n);
    $$sum += $$place++ * $$_, $$times{$$_}++ for sort { $$b <=> $$a } @$$values;
    return $$sum + scalar keys %times;
}
---
my $$v = [$values]; print $calls, "\n" unless caller;
---work_$n($$v)""",
}


def written(language: str, units: int, seed: int) -> tuple[str, int]:
    """A program, and what it prints; another seed makes it another program for a cache."""
    head, unit, end, call = (Template(part) for part in UNITS[language].split("---"))
    numbers = range(units)
    calls = " + ".join(call.substitute(n=n) for n in numbers)
    main = end.substitute(values=", ".join(map(str, VALUES)), calls=calls)
    functions = [unit.substitute(n=n, seed=seed) for n in numbers]
    return "".join([head.template, *functions, main]), sum(answer(n, seed) for n in numbers)


def answer(n: int, seed: int) -> int:
    ranked = sorted(VALUES, reverse=True)
    return seed + sum((i + n) * each for i, each in enumerate(ranked)) + len(set(VALUES))


def compile_ways(
    language: str, units: int, runner: asyncio.Runner, box: IsolatedSandbox, tools: BareTools
) -> dict[str, Way]:
    """A new program each time: no cache knows it."""
    seeds = count()

    def bare() -> None:
        source, printed = written(language, units, next(seeds))
        seen = tools.run(Program(source=source, language=language, kind="cli"))
        assert seen.output == f"{printed}\n", seen

    def isolated(kind: Kind) -> None:
        seed = next(seeds)
        source, printed = written(language, units, seed)
        command = Command(stdout=f"{printed}\n")
        call = Call(function="work_0", args=(repr(VALUES),), expected=str(answer(0, seed)))
        probe = Probe(name="run", origin="plan", command=command if kind == "cli" else None)
        probe = probe if kind == "cli" else replace(probe, call=call)
        program = Program(source=source, language=language, kind=kind)
        passed(runner.run(box.run(*once(program, probe))))

    return {
        "bare": timed(bare),
        "cli": timed(lambda: isolated("cli")),
        "function": timed(lambda: isolated("function")),
    }


def compiled(rounds: int) -> None:
    box = IsolatedSandbox(Bubblewrap(), LAYERS)
    print(f"{rounds} rounds, each way once a round; p50 in ms; in brackets: times bare")
    print(f"{'':<8}{'lines':>6}{'bare':>8}{'cli':>16}{'function':>16}")
    with asyncio.Runner() as runner, BareTools() as tools:
        for language in UNITS:
            if LANGUAGES[language].locate() is None:
                print(f"{language}: skipped; run: {LANGUAGES[language].install}")
                continue
            for units in (3, 30):
                lines = written(language, units, 0)[0].count("\n")
                times = alternating(compile_ways(language, units, runner, box, tools), rounds)
                p50 = {name: statistics.median(each) * 1000 for name, each in times.items()}
                ratios = {name: each / p50["bare"] for name, each in p50.items()}
                cells = [f"{p50[name]:8.0f} ({ratios[name]:.2f})" for name in ("cli", "function")]
                print(f"{language:<8}{lines:6}{p50['bare']:8.0f}" + "".join(f"{c:>16}" for c in cells))
                target(f"{language}, {lines} lines: times bare", ratios["cli"], most=MOST_TIMES_COMPILER)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["start", "many", "compile"])
    parser.add_argument("--rounds", type=int, default=0, help="50 starts, 7 compilations")
    parser.add_argument("--candidates", type=int, default=1000)
    parser.add_argument("--probes", type=int, default=50)
    parser.add_argument("--peer", default=sys.executable, help="a Python that has llm-sandbox")
    options = parser.parse_args()
    match options.what:
        case "start":
            start(options.rounds or 50, options.peer)
        case "many":
            asyncio.run(many(options.candidates, options.probes))
        case _:
            compiled(options.rounds or 7)


if __name__ == "__main__":
    main()
