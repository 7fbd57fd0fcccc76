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
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from string import Template
from subprocess import PIPE

from bench.verdicts import BareTools
from tests import engines
from tests.sandboxes import FOLDER, LAYERS, checks, code, run
from twinsmith.adapters.sandbox.bubblewrap import Bubblewrap
from twinsmith.adapters.sandbox.container import ContainerWalls
from twinsmith.adapters.sandbox.container_args import image
from twinsmith.adapters.sandbox.languages import LANGUAGES
from twinsmith.adapters.sandbox.languages.python import INTERPRETER
from twinsmith.adapters.sandbox.runner import IsolatedSandbox
from twinsmith.core.execution import Execution, Limits
from twinsmith.core.probe import Command, Probe, Probes
from twinsmith.core.program import Kind, Program

CORES = os.cpu_count() or 1
HELLO, IMAGE = "print('hello')\n", "twinsmith-bench"
SHOWN = ("--volume=/usr:/usr:ro", "--volume=/etc/ld.so.cache:/etc/ld.so.cache:ro")
BARE, OURS, DOCKER = "bare python3 hello.py", "twinsmith, bubblewrap", "docker run"
MOST_TIMES_BARE, LEAST_TIMES_QUICKER = 2.2, 6.0
LEAST_A_SECOND, MOST_TIMES_COMPILER = 25.0, 1.3
PEER_INSTALL = "python3 -m venv PEER && PEER/bin/pip install 'llm-sandbox[docker]'"
# A new session each time; without SIGKILL its end would wait ten seconds for a shell that stays.
PEER = """
import sys
from llm_sandbox.bubblewrap import BubblewrapSession
from llm_sandbox.docker import SandboxDockerSession
address, image = sys.argv[1:]
kinds = {"bubblewrap": (BubblewrapSession, {})}
if address:
    import docker
    files = {"/usr": "/usr", "/usr/bin/python3": "/tmp/bin/python"}
    config = {"volumes": {k: {"bind": v, "mode": "ro"} for k, v in files.items()}}
    config |= {"network_mode": "none", "command": ["/bin/sh"], "user": "0:0"}
    config |= {"stop_signal": "SIGKILL", "environment": {"PATH": "/tmp/bin:/usr/bin:/bin"}}
    options = {"image": image, "runtime_configs": config, "workdir": "/tmp"}
    options["client"] = docker.DockerClient(base_url=address)
    kinds["docker"] = (SandboxDockerSession, options)
for line in sys.stdin:
    session, options = kinds[line.strip()]
    with session(lang="python", skip_environment_setup=True, **options) as session:
        said = session.run("print('hello')")
    assert said.stdout == "hello\\n", said
    print("done", flush=True)
"""
Way = Callable[[], object]


def passed(execution: Execution) -> None:
    assert execution.results, execution.problem
    wrong = [each for each in execution.results if each.outcome != "passed"]
    assert not wrong, wrong[0]


def printing(text: str) -> Probes:
    return Probes(checks=(Probe(name="run", origin="plan", command=Command(stdout=text)),))


def alternating(ways: Mapping[str, Way], rounds: int) -> dict[str, list[float]]:
    """Drift of the machine hits all alike; the first round is for warming up."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(rounds + 1):
        for name, way in ways.items():
            began = time.perf_counter()
            way()
            times[name] += [time.perf_counter() - began] if turn else []
    return times


def target(what: str, value: float, *, least: float = 0.0, most: float = float("inf")) -> None:
    wanted = f"at least {least:g}" if least else f"at most {most:g}"
    holds = "holds" if least <= value <= most else "DOES NOT HOLD"
    print(f"target {holds}: {what}: {value:.2f}, {wanted}")


@contextmanager
def docker_engine() -> Iterator[str | None]:
    """The address of the engine that runs already, else of one of our own; None without Docker."""
    if absent := engines.absent("docker"):
        print(absent)
        yield None
        return
    for words in map(str.split, subprocess.getoutput("pgrep -ax dockerd").splitlines()):
        if "--host" in words and engines.SOCKET not in words:
            # A second one in the same network namespace would be in its way.
            yield words[words.index("--host") + 1]
            return
    with engines.serving("docker") as host:
        yield host


def docker(host: str, *words: str, given: bytes = b"") -> str:
    line = ["docker", *(["--host", host] if host else []), *words]
    return subprocess.run(line, input=given, capture_output=True, check=True).stdout.decode()


def in_sandbox(runner: asyncio.Runner, box: IsolatedSandbox) -> Way:
    print(runner.run(box.isolation()))
    program, probes = Program(source=HELLO, kind="cli"), printing("hello\n")
    return lambda: passed(runner.run(box.run(program, probes, Limits())))


def docker_ways(host: str, folder: str, stack: ExitStack) -> dict[str, Way]:
    """A user's plain `docker run`, and `docker exec` in a container that is there already."""
    docker(host, "import", "-", IMAGE, given=image())
    stack.callback(docker, host, "rmi", "--force", IMAGE)
    common = (*SHOWN, f"--volume={folder}:/mnt:ro", "--network=none")
    warm = docker(host, "run", "--detach", "--rm", *common, IMAGE, "/bin/sleep", "inf").strip()
    stack.callback(docker, host, "rm", "--force", warm)
    hello = (INTERPRETER, "/mnt/hello.py")
    return {
        DOCKER: lambda: docker(host, "run", "--rm", *common, IMAGE, *hello),
        "docker exec, warm": lambda: docker(host, "exec", warm, *hello),
    }


def peer_ways(python: str, host: str | None, stack: ExitStack) -> dict[str, Way]:
    """llm-sandbox, in an interpreter of its own."""
    if subprocess.call([python, "-c", "import llm_sandbox, docker"], stderr=subprocess.DEVNULL):
        print(f"llm-sandbox: skipped, not in {python}; {PEER_INSTALL}; then --peer PEER/bin/python")
        return {}
    address = "unix:///var/run/docker.sock" if host == "" else host or ""
    line = [python, "-c", PEER, address, IMAGE]
    child = stack.enter_context(subprocess.Popen(line, stdin=PIPE, stdout=PIPE, text=True))

    def ask(which: str) -> None:
        assert child.stdin is not None
        assert child.stdout is not None
        print(which, file=child.stdin, flush=True)
        assert child.stdout.readline() == "done\n"

    ways: dict[str, Way] = {"llm-sandbox, bubblewrap": lambda: ask("bubblewrap")}
    return ways | ({"llm-sandbox, Docker": lambda: ask("docker")} if address else {})


def start(rounds: int, peer: str) -> None:
    with ExitStack() as stack:
        host = stack.enter_context(docker_engine())
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        Path(folder, "hello.py").write_text(HELLO)
        runner = stack.enter_context(asyncio.Runner())
        line = [INTERPRETER, f"{folder}/hello.py"]
        ways: dict[str, Way] = {BARE: lambda: subprocess.run(line, capture_output=True, check=True)}
        ways[OURS] = in_sandbox(runner, IsolatedSandbox(Bubblewrap(), LAYERS))
        if host is not None:
            box = IsolatedSandbox(ContainerWalls("docker", FOLDER, host=host), LAYERS)
            ways["twinsmith, Docker"] = in_sandbox(runner, box)
            ways |= docker_ways(host, folder, stack)
        ways |= peer_ways(peer, host, stack)
        times = alternating(ways, rounds)
    print(f"{rounds} rounds, each way once a round; ms")
    print(f"{'':<26}{'p50':>8}{'p90':>8}{'x bare':>8}")
    p50 = {name: statistics.median(each) for name, each in times.items()}
    for name, each in times.items():
        p90 = statistics.quantiles(each, n=10, method="inclusive")[-1]
        print(f"{name:<26}{p50[name] * 1e3:8.1f}{p90 * 1e3:8.1f}{p50[name] / p50[BARE]:8.2f}")
    target(f"{OURS}: times bare", p50[OURS] / p50[BARE], most=MOST_TIMES_BARE)
    if DOCKER in p50:
        target("times quicker than Docker", p50[DOCKER] / p50[OURS], least=LEAST_TIMES_QUICKER)


SOURCE = '''
def grade_$n(scores, bonus):
    """Count how many of the scores pass, and give the sum of the best ones."""
    ranked = sorted((score + bonus + $n for score in scores), reverse=True)
    best = [score for i, score in enumerate(ranked) if i < 3 + $n % 4]
    passing = sum(1 for score in ranked if score >= 50)
    return [passing, sum(best)]
'''
CACHED = "CACHE = {}\n" + SOURCE.replace("best =", "CACHE[bonus] = best =")
KINDS = {
    "stateless": (SOURCE, checks),
    "a process a call": (CACHED, checks),
    "code as checks": (SOURCE, code),
}


def candidate(n: int, kind: str, probes: int) -> tuple[str, Probes]:
    template, reading = KINDS[kind]
    source = Template(template).substitute(n=n)
    space: dict[str, Callable[..., object]] = {}
    exec(source, space)
    asserts = []
    for i in range(probes):
        scores, bonus = [(i * 37 + k * k * 11) % 90 for k in range(i % 9)], i % 13
        value = space[f"grade_{n}"](scores, bonus)
        asserts.append(f"assert grade_{n}({scores}, {bonus}) == {value}")
    return source, reading(*asserts)


async def rate(box: IsolatedSandbox, jobs: list[tuple[str, Probes]]) -> float:
    left = iter(jobs)

    async def worker() -> None:
        for source, probes in left:
            passed(await run(source, kind="function", probes=probes, limits=Limits(), box=box))

    began = time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(CORES)))
    return len(jobs) / (time.perf_counter() - began)


def world() -> dict[str, set[str]]:
    """What a run could leave behind."""
    own, tasks = os.getpid(), Path("/proc/self/task").glob("*/children")
    mounts = Path("/proc/self/mounts").read_text().splitlines()
    return {
        "processes": {pid for file in tasks for pid in file.read_text().split()},
        "groups": set(map(str, Path("/sys/fs/cgroup").rglob(f"twinsmith/{own}-*"))),
        # A container engine beside us has mounts that come and go.
        "mounts": {line for line in mounts if not line.startswith(("overlay", "nsfs", "shm"))},
        "files": {path.name for path in Path("/tmp").iterdir()},
        "descriptors": {path.name for path in Path("/proc/self/fd").iterdir()},
    }


async def many(candidates: int, probes: int) -> None:
    # PR_SET_CHILD_SUBREAPER: whatever outlives its parent becomes a child of ours, and is seen.
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
    box = IsolatedSandbox(Bubblewrap(), LAYERS)
    print(await box.isolation())
    print(f"{candidates} candidates of {probes} probes, {CORES} at a time")
    for kind in KINDS:
        await rate(box, [candidate(n, kind, 2) for n in range(2 * CORES)])
        before = world()
        jobs = [candidate(n, kind, probes) for n in range(candidates)]
        per_second = await rate(box, jobs)
        print(f"{kind:<20}{per_second:8.1f} candidates/s{per_second * probes:10.0f} probes/s")
        left = {what: sorted(now - before[what]) for what, now in world().items()}
        print("  left behind:", {what: each for what, each in left.items() if each} or "nothing")
        if kind == "stateless":
            target("candidates a second", per_second, least=LEAST_A_SECOND)


# In every language the same: sorted downwards, each times its place; and how many differ.
# What stands above, and a function that is written as often as wanted.
VALUES = [5, 3, 9, 3, 7, 1, 9, 4]
PROGRAMS = {
    "c": """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int order(const void *a, const void *b) { return *(const int *)b - *(const int *)a; }

int work_$n(const int *values, int count) {
    int *copy = malloc(sizeof(int) * count), sum = $seed, different = 0;
    qsort(memcpy(copy, values, sizeof(int) * count), count, sizeof(int), order);
    for (int i = 0; i < count; i++)
        sum += (i + $n) * copy[i], different += i == 0 || copy[i] != copy[i - 1];
    free(copy);
    return sum + different;
}
""",
    "cpp": """#include <algorithm>
#include <iostream>
#include <map>
#include <vector>

int work_$n(std::vector<int> values) {
    std::map<int, int> times;
    std::sort(values.begin(), values.end(), [](int a, int b) { return a > b; });
    int sum = $seed, place = $n;
    for (int value : values) sum += place++ * value, times[value]++;
    return sum + static_cast<int>(times.size());
}
""",
    "go": """package main; import ("fmt"; "sort")

func Work$n(values []int) int {
    sorted := append([]int{}, values...)
    sort.Slice(sorted, func(a, b int) bool { return sorted[a] > sorted[b] })
    sum, times := $seed, map[int]int{}
    for place, value := range sorted { sum += (place + $n) * value; times[value]++ }
    return sum + len(times)
}
""",
    "rust": """use std::collections::HashMap;

fn work_$n(values: &[i64]) -> i64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(|a, b| b.cmp(a));
    let (mut sum, mut times) = ($seed, HashMap::new());
    for (i, each) in sorted.iter().enumerate() { sum += (i as i64 + $n) * each; }
    for each in &sorted { *times.entry(*each).or_insert(0) += 1; }
    sum + times.len() as i64
}
""",
    "perl": """use strict; use warnings;

sub work_$n {
    my ($$values) = @_; my ($$sum, $$place, %times) = ($seed, $n);
    $$sum += $$place++ * $$_, $$times{$$_}++ for sort { $$b <=> $$a } @$$values;
    return $$sum + scalar keys %times;
}
""",
}
# How each of them calls that function, and what stands below.
ENDS = {
    "c": ("work_$n(v, 8)", 'int main(void) { int v[] = {$values}; printf("%d\\n", $calls); }'),
    "cpp": (
        "work_$n(v)",
        "int main() { std::vector<int> v{$values}; std::cout << $calls << '\\n'; }",
    ),
    "go": ("Work$n(v)", "func main() { v := []int{$values}; fmt.Println($calls) }"),
    "rust": ("work_$n(&v)", 'fn main() { let v = vec![$values]; println!("{}", $calls); }'),
    "perl": ("work_$n($$v)", 'my $$v = [$values]; print $calls, "\\n" unless caller;'),
}


def written(language: str, units: int, seed: int) -> tuple[str, str, str]:
    """A program, what it prints and an assert; another seed makes it new to every cache."""
    head, unit = PROGRAMS[language].split("\n\n")
    call, end = ENDS[language]
    calls = " + ".join(Template(call).substitute(n=n) for n in range(units))
    main = Template(end).substitute(values=", ".join(map(str, VALUES)), calls=calls)
    functions = [Template(unit).substitute(n=n, seed=seed) for n in range(units)]
    first = sum(i * each for i, each in enumerate(sorted(VALUES, reverse=True)))
    answers = [seed + first + n * sum(VALUES) + len(set(VALUES)) for n in range(units)]
    told = f"assert work_0({VALUES}) == {answers[0]}".replace("_", "_" * (language != "go"))
    return "\n".join([head, *functions, main, ""]), f"{sum(answers)}\n", told


def compile_ways(
    language: str, units: int, tools: BareTools, runner: asyncio.Runner
) -> Mapping[str, Way]:
    seeds, box = count(), IsolatedSandbox(Bubblewrap(), LAYERS)

    def bare() -> None:
        source, prints, _ = written(language, units, next(seeds))
        seen = tools.run(Program(source=source, language=language, kind="cli"))
        assert seen.output == prints, seen

    def isolated(kind: Kind) -> None:
        source, prints, told = written(language, units, next(seeds))
        probes = printing(prints) if kind == "cli" else checks(told)
        program = Program(source=source, language=language, kind=kind)
        passed(runner.run(box.run(program, probes, Limits())))

    return {"bare": bare, "cli": lambda: isolated("cli"), "function": lambda: isolated("function")}


def compiled(rounds: int) -> None:
    print(f"{rounds} rounds, each way once a round; p50 in ms; in brackets: times bare")
    print(f"{'':<8}{'lines':>6}{'bare':>8}{'cli':>16}{'function':>16}", flush=True)
    with asyncio.Runner() as runner, BareTools() as tools:
        for language in [each for each in PROGRAMS if LANGUAGES[each].locate()]:
            for units in (4, 40):
                lines = written(language, units, 0)[0].count("\n")
                times = alternating(compile_ways(language, units, tools, runner), rounds)
                p50 = {name: statistics.median(each) * 1000 for name, each in times.items()}
                cells = (f"{p50[way]:.0f} ({p50[way] / p50['bare']:.2f})" for way in list(p50)[1:])
                print(f"{language:<8}{lines:6}{p50['bare']:8.0f}", *(f"{c:>15}" for c in cells))
                if language != "perl":  # which compiles nothing
                    target("times bare, cli", p50["cli"] / p50["bare"], most=MOST_TIMES_COMPILER)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["start", "many", "compile"])
    parser.add_argument("--rounds", type=int, default=0, help="else 50 starts, 7 compilations")
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
