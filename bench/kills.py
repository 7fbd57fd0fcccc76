"""`kill -9`s of running builds: what is lost, repeated or paid twice.

A hundred at random: each round starts a build or resumes the last one, kills it after a random
time and, once the run is through, checks outcome, journal and bill. Run with: make kills

At every commit window: right before and right after each single write of a run, and once more in
a later one while it goes on. Run with: python -m bench.kills --windows [--postgresql]
"""

import argparse
import itertools
import json
import os
import queue
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from tests.postgresql import find_server, serving
from tests.windows import STORIES, Story, Trial, Warm, Window, warm

PROFILE = {
    "entry": "double",
    "signature": "def double(n: int) -> int:",
    "question": "",
    "assumed": "",
}
REPLIES = [
    {"role": "slow", "text": json.dumps(PROFILE), "delay": 0.15},
    {"role": "coder", "text": "def double(n):\n    return n * n\n", "delay": 0.15},
    {"role": "coder", "text": "def double(n):\n    return n * 2\n", "delay": 0.15},
    {"role": "critic", "text": "assert double(-3) == -6\n", "delay": 0.15},
]
# One round of two candidates, and nothing besides: what is killed is the engine's work.
EFFORT = {
    "TWINSMITH_BUILD_CANDIDATES": "2",
    "TWINSMITH_BUILD_VOTES": "0",
    "TWINSMITH_BUILD_REFINEMENTS": "0",
    "TWINSMITH_BUILD_LEAST": "0.0",
    "TWINSMITH_BUILD_RETRIEVAL": "false",
    "TWINSMITH_QUALITY_REVIEW": "false",
    "TWINSMITH_QUALITY_SANITIZE": "false",
}


def start(home: Path, *args: str) -> "subprocess.Popen[bytes]":
    env = {
        **os.environ,
        "TWINSMITH_HOME": str(home),
        "TWINSMITH_MODELS_SCRIPT": f"{home}/s.json",
        **EFFORT,
    }
    return subprocess.Popen(
        [sys.executable, "-m", "twinsmith", *args],
        env=env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def runs(home: Path) -> list[str]:
    return sorted(path.stem for path in home.glob("journal/runs/*.jsonl"))


def faults(home: Path, run: str) -> list[str]:
    """What is wrong with a run that is through."""
    found = []
    result = home / "runs" / run / "result"
    report = json.loads((result / "report.json").read_text())
    if not report["solved"] or "n * 2" not in (result / "solution.py").read_text():
        found.append("another outcome")
    lines = (home / "journal" / "runs" / f"{run}.jsonl").read_text().splitlines()
    keys = Counter(event["key"] for event in map(json.loads, lines) if event["key"])
    found += [f"event {key} {count} times" for key, count in keys.items() if count > 1]
    bill = (home / "scripted-bill.jsonl").read_text().splitlines()
    paid = Counter(key for key in (json.loads(line)["key"] for line in bill) if key.startswith(run))
    if len(paid) != len(REPLIES) or max(paid.values()) != 1:
        found.append(f"paid {dict(paid)}")
    if start(home, "log", run, "--verify").wait() != 0:
        found.append("journal altered")
    return found


def cuts(story: Story, writes: list[str], chance: random.Random) -> list[tuple[Window, ...]]:
    """Every write of a story from both sides, and every one with a later one after it."""
    own = story.own(writes)
    once = [(Window(write=write, when=when),) for write in own for when in ("before", "after")]
    again = [*writes, "journal run.resumed", "engine goes on with the run"]
    later = [chance.choice(again[writes.index(write) :]) for write in own]
    twice = [
        (Window(write=write, when="after"), Window(write=then, when="after"))
        for write, then in zip(own, later, strict=True)
    ]
    return [*once, *twice]


def at_windows(story: Story, url: str, chance: random.Random) -> list[str]:
    """Cut one story off in every window; what is not as it has to be then."""
    folder = Path(tempfile.mkdtemp(prefix="twinsmith-windows-"))
    waiting: queue.SimpleQueue[Warm] = queue.SimpleQueue()
    numbers = itertools.count()

    def trial() -> tuple[Trial, Warm]:
        command, number = waiting.get(), next(numbers)
        database = f"{url}/windows_{time.time_ns()}" if url else ""
        return Trial(story, folder / str(number), command, database), command

    def tried(windows: tuple[Window, ...]) -> list[str]:
        made, command = trial()
        try:
            with made:
                found = made.problems(expected, *windows)
        finally:
            waiting.put(command)
            shutil.rmtree(made.place.home.parent)
        for each in found:
            print(f"{story.name}, {', then '.join(map(str, windows))}: {each}", flush=True)
        return found

    began = time.monotonic()
    with warm() as one, warm() as other:
        for command in (one, other):
            waiting.put(command)
        made, command = trial()
        with made:
            expected, writes = made.undisturbed()
        waiting.put(command)
        wanted = cuts(story, writes, chance)
        with ThreadPoolExecutor(2) as pool:
            found = [problem for problems in pool.map(tried, wanted) for problem in problems]
    shutil.rmtree(folder)
    seconds = time.monotonic() - began
    print(f"{story.name}: {len(writes)} writes, {len(wanted)} cuts, {seconds:.0f} s", flush=True)
    return found


def windows(options: argparse.Namespace) -> None:
    chance = random.Random(options.seed)
    with ExitStack() as open_now:
        url = ""
        if options.postgresql:
            binaries = find_server()
            if binaries is None:
                raise SystemExit("no PostgreSQL server; run: apt-get install -y postgresql")
            url = open_now.enter_context(serving(binaries))
        chosen = [STORIES[name] for name in options.story or STORIES]
        problems = [each for story in chosen for each in at_windows(story, url, chance)]
    print("every cut ends as if it had not been" if not problems else f"{len(problems)} faults")
    raise SystemExit(1 if problems else 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--windows", action="store_true")
    parser.add_argument("--postgresql", action="store_true", help="with --windows")
    parser.add_argument("--story", choices=STORIES, action="append", help="with --windows")
    options = parser.parse_args()
    if options.windows:
        windows(options)
    at_random(options)


def at_random(options: argparse.Namespace) -> None:
    chance = random.Random(options.seed)
    home = Path(tempfile.mkdtemp(prefix="twinsmith-kills-"))
    (home / "s.json").write_text(json.dumps({"name": "kills", "replies": REPLIES}))
    kills, through, problems = 0, 0, []
    began = time.monotonic()
    run = ""
    while kills < options.kills or run:
        process = start(home, "resume", run) if run else start(home, "build", "double a number")
        try:
            if kills < options.kills:
                process.wait(timeout=chance.uniform(0.2, 4.0))
            else:
                process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            kills += 1
            known = [name for name in runs(home) if name > run or name == run]
            run = known[-1] if known else ""
            continue
        run = runs(home)[-1]
        through += 1
        problems += [f"{run}: {fault}" for fault in faults(home, run)]
        run = ""
    shutil.rmtree(home)
    print(f"{kills} kills, {through} runs seen through, {time.monotonic() - began:.0f} s")
    for problem in problems:
        print(problem)
    print("nothing lost, repeated or paid twice" if not problems else f"{len(problems)} faults")
    raise SystemExit(1 if problems else 0)


if __name__ == "__main__":
    main()
