"""Workers under a storm of kills, and how much more of them do.

The storm: two workers and 200 runs; 20 times, at random, a worker is killed with `kill -9` and
another one hired, or every connection to the database is cut; one worker is suspended and woken
when its runs are another's. Every run has to end, once, and what was asked is counted by a real
HTTP server. Throughput: one, two and four workers on runs that wait for that server.

    python -m bench.workers [--runs 200] [--kills 20] [--sqlite | --postgresql]
"""

import argparse
import asyncio
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import psycopg

from tests.conftest import SHORT
from tests.postgresql import find_server, serving
from tests.windows import Provider
from tests.wire import Received, Turn
from twinsmith.core.budget import Budget
from twinsmith.core.events import Event
from twinsmith.core.people.actor import Actor
from twinsmith.core.progress import ENDED
from twinsmith.core.task import Task
from twinsmith.runs.book import Book
from twinsmith.runs.submit import new_job, submit
from twinsmith.settings import load

TASK = "Write a Python function double(n) that doubles a number. This is order {}."
ANSWERS = 3
"""Questions of one run: two programs, one set of checks."""
LONGEST_SECONDS = 1500
WAIT_SECONDS = 2.0
SUSPENDED_SECONDS = 14


class Slow(Provider):
    """A provider that takes its time, and counts every call that reaches it."""

    def __init__(self, delay: float) -> None:
        super().__init__()
        self._delay = delay

    def take(self, call: Received) -> Turn:
        """The answer to the question that the key names, after a while."""
        return replace(super().take(call), delay=self._delay)


class Yard:
    """One database, its workers and the provider that they ask."""

    def __init__(self, folder: Path, database: str, delay: float) -> None:
        self.database = database
        self.provider = Slow(delay)
        self._folder = folder
        self.env = {
            **SHORT,
            "TWINSMITH_HOME": str(folder / "home"),
            "OPENAI_API_KEY": "sk-bench-abcdefghijklmnop",
            "OPENAI_BASE_URL": f"{self.provider.url}/v1",
            "TWINSMITH_MODELS_EMBEDDED": "",
            "TWINSMITH_MODELS_OLLAMA": "",
        }
        if database:
            self.env["TWINSMITH_DATABASE_URL"] = database
        self.book = Book(load(self.env), Actor(name="bench"))
        self.workers: list[subprocess.Popen[bytes]] = []

    def hire(self, concurrency: int) -> None:
        """Start a worker."""
        log = (self._folder / "workers.log").open("ab")
        with log:
            self.workers.append(
                subprocess.Popen(
                    [
                        sys.executable,
                        "-m",
                        "twinsmith",
                        "worker",
                        "--concurrency",
                        str(concurrency),
                    ],
                    env={**os.environ, **self.env},
                    stdout=log,
                    stderr=log,
                )
            )

    def serving(self) -> int:
        """The number of workers that take runs."""
        return len(self.book.workers(serving=True))

    def submit(self, count: int) -> list[str]:
        """Queue runs, each with another task: no answer is remembered from the one before."""
        return [asyncio.run(self._submitted(number)) for number in range(count)]

    async def _submitted(self, number: int) -> str:
        task = Task(text=TASK.format(number), language="python", kind="function")
        budget = Budget(tokens=60_000, seconds=600)
        return await submit(self.book, new_job(self.book, task, out=None, seed=0, budget=budget))

    def ended(self, runs: list[str]) -> int:
        """How many of these runs have ended."""
        return sum(self.book.progress(run).state in ENDED for run in runs)

    def cut_connections(self) -> None:
        """End every connection to the database but this one."""
        with psycopg.connect(self.database, autocommit=True) as server:
            server.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )

    def close(self) -> None:
        """End what was started."""
        for worker in self.workers:
            worker.send_signal(signal.SIGCONT)
            worker.terminate()
        for worker in self.workers:
            try:
                worker.wait(timeout=30)
            except subprocess.TimeoutExpired:
                worker.kill()
                worker.wait()
        self.provider.stop()


@contextmanager
def yard(server: str, delay: float) -> Iterator[Yard]:
    """A fresh database and nobody there yet."""
    folder = Path(tempfile.mkdtemp(prefix="twinsmith-workers-"))
    made = Yard(folder, f"{server}/bench_{time.time_ns()}" if server else "", delay)
    try:
        yield made
    finally:
        made.close()
        shutil.rmtree(folder, ignore_errors=True)


def storm(place: Yard, count: int, kills: int, chance: random.Random) -> list[str]:
    """Play the storm; what is wrong afterwards."""
    for _ in range(2):
        place.hire(4)
    runs = place.submit(count)
    began, told = time.monotonic(), Counter[str]()
    # Spread over the time in which most runs are under way.
    marks = sorted(chance.uniform(0.05, 0.85) for _ in range(kills))
    suspended: tuple[float, subprocess.Popen[bytes]] | None = None
    while (ended := place.ended(runs)) < count and time.monotonic() - began < LONGEST_SECONDS:
        if suspended and time.monotonic() > suspended[0]:
            suspended[1].send_signal(signal.SIGCONT)
            suspended = None
        if marks and ended >= marks[0] * count:
            marks.pop(0)
            cuts = place.database and chance.random() < 0.5
            told["connections cut" if cuts else "workers killed"] += 1
            if cuts:
                place.cut_connections()
            else:
                _replace(place, chance, suspended[1] if suspended else None)
            if told.total() == kills // 2:
                sleeper = chance.choice(place.workers)
                sleeper.send_signal(signal.SIGSTOP)
                suspended = (time.monotonic() + SUSPENDED_SECONDS, sleeper)
                told["workers suspended"] += 1
        time.sleep(0.2)
    seconds = time.monotonic() - began
    print(f"  {ended} of {count} runs ended in {seconds:.0f} s; {dict(told)}")
    return faults(place, runs)


def _replace(place: Yard, chance: random.Random, spared: "subprocess.Popen[bytes] | None") -> None:
    victim = chance.choice([each for each in place.workers if each is not spared])
    victim.kill()
    victim.wait()
    place.workers.remove(victim)
    place.hire(4)


def faults(place: Yard, runs: list[str]) -> list[str]:
    """What is wrong with runs that should have ended once, and how often was asked."""
    found = []
    for run in runs:
        events = [entry.event for entry in place.book.journal.entries(run)]
        found += [f"{run}: {problem}" for problem in _problems(events)]
    asked = {key: n for key, n in place.provider.asked.items() if key.partition("/")[0] in runs}
    again = sum(count - 1 for count in asked.values())
    print(f"  {sum(asked.values())} answers given to {len(asked)} questions, {again} of them again")
    if len(asked) != ANSWERS * len(runs):
        found.append(f"{len(asked)} questions instead of {ANSWERS * len(runs)}")
    found += [
        f"{checked.run}: {checked.broken}"
        for checked in place.book.journal.check_all()
        if checked.broken
    ]
    return found


def _problems(events: list[Event]) -> list[str]:
    kinds = Counter(event.kind for event in events)
    wanted = {"run.ended": 1, "result.published": 1, "model.replied": ANSWERS}
    found = [f"{kinds[kind]} {kind}" for kind, count in wanted.items() if kinds[kind] != count]
    keys = Counter(event.key for event in events if event.key)
    found += [f"{count} events {key!r}" for key, count in keys.items() if count > 1]
    states = [event.data.get("state") for event in events if event.kind == "run.ended"]
    return found + [f"ended as {state}" for state in states if state != "solved"]


def throughput(server: str, workers: int, count: int) -> float:
    """Seconds from the first run taken to the last one ended."""
    with yard(server, delay=WAIT_SECONDS) as place:
        for _ in range(workers):
            place.hire(1)
        while place.serving() < workers:
            time.sleep(0.1)
        runs = place.submit(count)
        while place.ended(runs) < count:
            time.sleep(0.1)
        entries = [entry for run in runs for entry in place.book.journal.entries(run)]
        taken = min(entry.at for entry in entries if entry.event.kind == "run.taken")
        ended = max(entry.at for entry in entries if entry.event.kind == "run.ended")
        return _seconds(ended) - _seconds(taken)


def _seconds(at: str) -> float:
    from datetime import datetime

    return datetime.fromisoformat(at).timestamp()


def main() -> None:
    """Both databases, or the one that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--waiting", type=int, default=16, help="runs to measure throughput by")
    parser.add_argument("--seed", type=int, default=1)
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--sqlite", action="store_true")
    only.add_argument("--postgresql", action="store_true")
    args = parser.parse_args()
    wrong = 0
    with ExitStack() as stack:
        servers = {} if args.postgresql else {"SQLite": ""}
        binaries = None if args.sqlite else find_server()
        if binaries:
            servers["PostgreSQL"] = stack.enter_context(serving(binaries))
        for name, server in servers.items():
            if args.runs:
                print(f"{name}: storm")
                with yard(server, delay=0.2) as place:
                    found = storm(place, args.runs, args.kills, random.Random(args.seed))
                for problem in found:
                    print(f"  WRONG {problem}")
                wrong += len(found)
            if args.waiting:
                one = throughput(server, 1, args.waiting)
                print(f"{name}: {args.waiting} runs that wait for a model: 1 worker {one:.1f} s")
                for workers in (2, 4):
                    several = throughput(server, workers, args.waiting)
                    print(f"  {workers} workers {several:.1f} s: {one / several:.2f} times as many")
    if not binaries and not args.sqlite:
        print("PostgreSQL was skipped: no server is installed")
    raise SystemExit(bool(wrong))


if __name__ == "__main__":
    main()
