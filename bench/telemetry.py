"""The processor time that telling costs a run: off, kept in the database, sent to a collector.

    .venv/bin/python -m bench.telemetry [ROUNDS] [RUNS]

In each round, one process for each way builds RUNS functions and services from scripts, one after
the other, in an order that turns from round to round. Counted is the processor time of that process
and of all that it started, from the second run on: its start is the same for all of them. Ways are
compared within a round, so that what else the machine does strikes all alike.
"""

import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random
from statistics import median
from typing import TYPE_CHECKING

from tests.collectors import http_collector
from tests.conftest import DOUBLE, SHORT, script
from tests.service_scripts import CART, cart_script

if TYPE_CHECKING:
    from twinsmith.runs.book import Book

WAYS = ("off", "embedded", "otlp")
RESAMPLES = 10_000


def main() -> None:
    """Print the processor time of a run by each way, and what each costs over none."""
    if sys.argv[1:2] == ["inside"]:
        inside(int(sys.argv[2]))
        return
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    with http_collector() as collector:
        for name, words, said in (
            ("a function", DOUBLE, script()),
            ("a service", CART, cart_script()),
        ):
            took: dict[str, list[float]] = {way: [] for way in WAYS}
            for number in range(rounds):
                turned = WAYS[number % 3 :] + WAYS[: number % 3]
                for way in turned:
                    took[way].append(measured(way, collector.address, words, said, runs))
            report(name, took)


def measured(way: str, address: str, words: str, said: dict[str, object], runs: int) -> float:
    """The processor seconds of one run by one way."""
    with tempfile.TemporaryDirectory() as home:
        path = Path(home) / "script.json"
        path.write_text(json.dumps(said))
        environment = {
            **os.environ,
            **SHORT,
            "TWINSMITH_HOME": home,
            "TWINSMITH_MODELS_SCRIPT": str(path),
            "TWINSMITH_BUILD_ANSWER_SECONDS": "0",
            "TWINSMITH_TELEMETRY_KEEP_HOURS": "0" if way == "off" else "24",
            "TWINSMITH_TELEMETRY_ENDPOINT": address if way == "otlp" else "",
            "BENCH_TASK": words,
        }
        line = [sys.executable, "-m", "bench.telemetry", "inside", str(runs)]
        done = subprocess.run(
            line, env=environment, capture_output=True, text=True, check=True, timeout=600
        )
        return float(done.stdout.split()[-1])


def inside(runs: int) -> None:
    """Build so many runs in this process, and print the processor time of one."""
    from twinsmith.cli.book import opened_book

    book = opened_book()
    built(book)
    began = used()
    for _ in range(runs):
        built(book)
    book.telemetry.flush()
    print((used() - began) / runs)


def built(book: "Book") -> None:
    """Build a run, as a command does."""
    from twinsmith.core.budget import Budget
    from twinsmith.core.task import read_task
    from twinsmith.runs.drive import Driver
    from twinsmith.runs.submit import new_job

    task = read_task(text=os.environ["BENCH_TASK"], language="", kind="", tests="")
    budget = Budget(tokens=60_000, seconds=600)
    job = new_job(book, task, out=None, seed=None, budget=budget)
    outcome = asyncio.run(Driver(book).start(job))
    assert outcome.run == job.run


def used() -> float:
    """The processor seconds of this process and of all that it waited for."""
    own, others = (
        resource.getrusage(which) for which in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


def report(name: str, took: dict[str, list[float]]) -> None:
    """Print medians, and what a way costs over none with 95 % of resampled rounds."""
    off = took["off"]
    print(f"{name}: {len(off)} rounds, off {1000 * median(off):.0f} ms a run")
    for way in WAYS[1:]:
        pairs = list(zip(off, took[way], strict=True))
        low, high = spread(pairs)
        print(
            f"  {way}: {1000 * median(took[way]):.0f} ms, {100 * share(pairs):+.1f} % "
            f"({100 * low:+.1f} to {100 * high:+.1f})"
        )


def share(pairs: list[tuple[float, float]]) -> float:
    """The median of what a way costs over none, as a share."""
    return median(way / off - 1 for off, way in pairs)


def spread(pairs: list[tuple[float, float]]) -> tuple[float, float]:
    """Between what 95 in a hundred resampled medians lie."""
    chance = Random(7)
    drawn = sorted(share(chance.choices(pairs, k=len(pairs))) for _ in range(RESAMPLES))
    return drawn[RESAMPLES * 25 // 1000], drawn[RESAMPLES * 975 // 1000]


if __name__ == "__main__":
    main()
