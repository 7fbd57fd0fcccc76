"""What the server bears: open event streams and requests beside them, on two cores.

    python -m bench.api [--seconds 600] [--streams 200] [--rate 50] [--runs 60]

A server as a person starts it (without worker and monitor) on a data folder with finished runs. A
run that goes on has two events a second, which every stream gets. Requests are sent when they are
due, however long those before them take; what a request waits for its turn counts. The load comes
from this process, on the same cores. Memory is the server's resident set.
"""

import argparse
import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import httpx2

from tests.conftest import Command
from tests.served import Served, key_for, serving
from twinsmith.core.events import SYSTEM, Event, Json
from twinsmith.core.people.actor import Actor
from twinsmith.runs.book import Book
from twinsmith.settings import load

EVENTS_A_RUN = 250
GROWING = "20261118-000000-live"
PATHS = (
    ("/api/v1/runs", 4),
    ("/api/v1/runs/{run}", 4),
    ("/api/v1/runs/{run}/board", 2),
    ("/api/v1/runs?state=solved&q=number", 1),
    ("/api/v1/apps", 2),
    ("/api/v1/approvals", 2),
    ("/api/v1/questions", 1),
    ("/api/v1/queue", 1),
    ("/api/v1/incidents", 1),
    ("/api/v1/models/use", 1),
    ("/api/v1/me", 2),
    ("/api/v1/metrics", 1),
    ("/api/v1/journal?limit=50", 1),
    ("POST /api/v1/overrides", 1),
)
GOAL_MS = 300.0


@dataclass(slots=True)
class Seen:
    """What came of the load."""

    times: dict[str, list[float]] = field(default_factory=dict)
    statuses: Counter[int] = field(default_factory=Counter)
    streamed: Counter[int] = field(default_factory=Counter)
    """The events of each stream."""
    twice: int = 0
    resident: list[tuple[float, float]] = field(default_factory=list)


async def filled(home: Path, runs: int) -> list[str]:
    """A data folder with runs that have ended, and one that goes on."""
    book = Book(load({"TWINSMITH_HOME": str(home)}), Actor(name="bench"))
    names = [f"20261117-{number:06}-bead" for number in range(runs)]
    for name in [*names, GROWING]:
        task = f"a function number {name} that adds a number to another"
        data: dict[str, Json] = {"run": name, "task": task}
        await book.journal.append(Event(run=SYSTEM, kind="run.started", who="b", data=data))
        await book.journal.append(Event(run=name, kind="run.started", who="b", data=data))
    for name in names:
        for number in range(EVENTS_A_RUN):
            reply: dict[str, Json] = {
                "role": ("slow", "coder", "critic")[number % 3],
                "nth": number,
                "ensemble": 1 + number % 2,
                "model": "embedded:bench",
                "tokens": 300,
                "tokens_in": 200,
                "tokens_out": 100,
                "seconds": 1.5,
            }
            await book.journal.append(Event(run=name, kind="model.replied", who="b", data=reply))
        await book.end(name, "solved", {"reason": "all checks pass", "winner": 1})
    return names


def grow(home: Path, over: float) -> None:
    """Let a run go on, in a process of its own as a worker would."""
    book = Book(load({"TWINSMITH_HOME": str(home)}), Actor(name="bench"))
    while time.time() < over:
        asyncio.run(book.tell(GROWING, "stage.started", {"stage": f"at {time.time()}"}))
        time.sleep(0.5)


async def streamed(client: httpx2.AsyncClient, number: int, seen: Seen, over: float) -> None:
    """Listen to the run that goes on, beginning again where a stream ends."""
    last = 0
    while time.monotonic() < over:
        headers = {"last-event-id": str(last)}
        path = f"/api/v1/runs/{GROWING}/events"
        try:
            async with client.stream("GET", path, headers=headers, timeout=30) as answer:
                seen.statuses[answer.status_code] += 1
                async for line in answer.aiter_lines():
                    if line.startswith("id: "):
                        at = int(line[4:])
                        seen.twice += at <= last
                        last = at
                        seen.streamed[number] += 1
                    if time.monotonic() > over:
                        return
        except httpx2.HTTPError:
            seen.statuses[0] += 1
            await asyncio.sleep(0.5)


async def asked(client: httpx2.AsyncClient, path: str, due: float, seen: Seen) -> None:
    """One request, timed from when it was due."""
    method, _, address = path.rpartition(" ")
    body = {"command": "release", "scope": "all", "reason": "bench"} if method else None
    try:
        answer = await client.request(method or "GET", address, json=body, timeout=30)
        seen.statuses[answer.status_code] += 1
    except httpx2.HTTPError:
        seen.statuses[0] += 1
    kind = address.partition("?")[0].replace("20261117", "…")
    seen.times.setdefault("/".join(kind.split("/")[:4]), []).append(time.monotonic() - due)


async def load_on(server: Served, key: str, names: list[str], given: argparse.Namespace) -> Seen:
    """All streams and requests for as long as was asked for."""
    seen, chance = Seen(), random.Random(1)
    over = time.monotonic() + given.seconds
    headers = {"authorization": f"Bearer {key}"}
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=100)
    paths = [path for path, weight in PATHS for _ in range(weight)]
    async with httpx2.AsyncClient(
        base_url=server.address, headers=headers, limits=limits
    ) as client:
        streams = [
            asyncio.ensure_future(streamed(client, number, seen, over))
            for number in range(given.streams)
        ]
        await asyncio.sleep(3)
        requests, began, sent = set[asyncio.Task[None]](), time.monotonic(), 0
        while time.monotonic() < over:
            due = began + sent / given.rate
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            path = chance.choice(paths).replace("{run}", chance.choice(names))
            task = asyncio.ensure_future(asked(client, path, due, seen))
            requests.add(task)
            task.add_done_callback(requests.discard)
            sent += 1
            if sent % (given.rate * 5) == 1:
                seen.resident.append((time.monotonic() - began, resident_mb(server.process.pid)))
        await asyncio.gather(*requests, *streams, return_exceptions=True)
    return seen


def resident_mb(pid: int) -> float:
    """The resident set of a process."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def report(seen: Seen, given: argparse.Namespace) -> None:
    """Print what came of it."""
    every = sorted(each for times in seen.times.values() for each in times)
    print(f"{given.streams} streams, {given.rate} requests/s, {given.seconds} s")
    for name, times in sorted(seen.times.items()):
        print(f"  {name:<28} {len(times):>6}  {_at(times, 0.5):>7.1f}  {_at(times, 0.99):>7.1f} ms")
    print(f"requests: {len(every)}, p50 {_at(every, 0.5):.1f} ms, p99 {_at(every, 0.99):.1f} ms")
    print(f"goal p99 <= {GOAL_MS:.0f} ms: {'kept' if _at(every, 0.99) <= GOAL_MS else 'MISSED'}")
    print(f"statuses: {dict(sorted(seen.statuses.items()))}")
    counts = list(seen.streamed.values())
    print(f"events a stream: {min(counts)} to {max(counts)}; seen twice: {seen.twice}")
    third = max(len(seen.resident) // 3, 1)
    first = statistics.median(mb for _, mb in seen.resident[:third])
    last = statistics.median(mb for _, mb in seen.resident[-third:])
    print(f"memory: {first:.0f} MB in the first third, {last:.0f} MB in the last")


def _at(times: list[float], share: float) -> float:
    ordered = sorted(times)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)] * 1000


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("seconds", 600), ("streams", 200), ("rate", 50), ("runs", 60)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--grow", nargs=2)
    given = parser.parse_args()
    if given.grow:
        grow(Path(given.grow[0]), float(given.grow[1]))
        return
    with tempfile.TemporaryDirectory(prefix="twinsmith-bench-") as folder:
        command = Command(home=Path(folder) / "home")
        command.env["TWINSMITH_SERVER_PER_SECOND"] = "1000"
        command.env["TWINSMITH_SERVER_BURST"] = "2000"
        names = asyncio.run(filled(command.home, given.runs))
        with serving(command, "--no-worker", "--no-monitor") as server:
            key = key_for(command, "read", "override", "audit")
            until = str(time.time() + given.seconds)
            line = [sys.executable, "-m", "bench.api", "--grow", str(command.home), until]
            growing = subprocess.Popen(line)
            try:
                seen = asyncio.run(load_on(server, key, names, given))
            finally:
                growing.kill()
                growing.wait()
        report(seen, given)
        print(json.dumps({"machine": f"{os.cpu_count()} cores"}))


if __name__ == "__main__":
    main()
