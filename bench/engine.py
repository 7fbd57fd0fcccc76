"""What durability costs: the same flow with and without it, in one run.

The model answers at once from a script and the sandbox is canned, so all CPU time measured is the
engine's, the journal's and the flow's own. Run with: make bench
"""

import asyncio
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from bench.flows import driven
from twinsmith.adapters.clock import SystemClock
from twinsmith.adapters.desk.terminal import Nobody
from twinsmith.adapters.durable.dbos_engine import DbosEngine
from twinsmith.adapters.durable.driving import DrivingTable
from twinsmith.adapters.durable.memory import MemoryDurable
from twinsmith.adapters.journal.files import FileJournal
from twinsmith.adapters.journal.memory import MemoryJournal
from twinsmith.adapters.knowledge.graph_memory import MemoryGraph
from twinsmith.adapters.knowledge.nothing import NothingKnown
from twinsmith.adapters.messages import MessageTable
from twinsmith.adapters.models.scripted import Script, ScriptedModel, ScriptedReply
from twinsmith.adapters.outbox.folder import FolderOutbox
from twinsmith.adapters.outbox.memory import MemoryOutbox
from twinsmith.adapters.sandbox.canned import CannedSandbox, EmptySandbox
from twinsmith.adapters.sandbox.review_canned import CannedReviewer
from twinsmith.core.budget import Budget
from twinsmith.core.effort import Effort
from twinsmith.core.execution import Limits
from twinsmith.core.judging.quality import Thresholds
from twinsmith.core.outcome import RunOutcome
from twinsmith.core.task import Job, Task
from twinsmith.flow.pipeline import PIPELINE_VERSION
from twinsmith.flow.recorder import Ports

RUNS = 20
LIMIT_MS = 150.0
PROFILE = {
    "entry": "double",
    "signature": "def double(n: int) -> int:",
    "question": "",
    "assumed": "",
}
CODE = "def double(n):\n    return n * 2\n"
CHECKS = "assert double(2) == 4\nassert double(-3) == -6\n"
SCRIPT = Script(
    name="bench",
    replies=(
        ScriptedReply(role="slow", text=json.dumps(PROFILE)),
        ScriptedReply(role="coder", text=CODE),
        ScriptedReply(role="coder", text=CODE),
        ScriptedReply(role="critic", text=CHECKS),
    ),
)

Reading = tuple[float, float]


def job(run: str, out: Path) -> Job:
    return Job(
        run=run,
        task=Task(text="double a number", language="python", kind="function"),
        budget=Budget(tokens=20_000, seconds=600),
        effort=Effort(candidates=2, least=0.0, votes=0, refinements=0),
        quality=Thresholds(),
        reply_tokens=2000,
        seed=0,
        out=str(out),
    )


def ports(folder: Path | None) -> Ports:
    """The outside world: all in memory, or as a real run has it."""
    clock = SystemClock()
    return Ports(
        model=ScriptedModel(SCRIPT),
        sandbox=CannedSandbox(functions={CODE: lambda n: n * 2}),
        reviewer=CannedReviewer(),
        sanitized=EmptySandbox(),
        retriever=NothingKnown(),
        graph=MemoryGraph(),
        desk=Nobody(),
        journal=FileJournal(folder / "journal", clock) if folder else MemoryJournal(clock),
        outbox=FolderOutbox() if folder else MemoryOutbox(),
        durable=MemoryDurable(clock),
        clock=clock,
    )


def timed(once: Callable[[], RunOutcome]) -> Reading:
    cpu, wall = time.process_time(), time.perf_counter()
    assert once().solved
    return (time.process_time() - cpu) * 1000, (time.perf_counter() - wall) * 1000


def in_memory(number: int) -> Reading:
    return timed(
        lambda: asyncio.run(_once(job(f"m{number}", Path("/") / f"m{number}"), ports(None)))
    )


def journalled(number: int, folder: Path) -> Reading:
    run = f"j{number}"
    return timed(lambda: asyncio.run(_once(job(run, folder / run), ports(folder))))


async def _once(given: Job, world: Ports) -> RunOutcome:
    engine = MemoryDurable(world.clock)
    return await driven(given, Limits(), replace(world, durable=engine), engine)


def durable(number: int, folder: Path) -> Reading:
    url, run = f"sqlite:///{folder / 'runs.db'}", f"d{number}"
    engine = DbosEngine(
        f"sqlite:///{folder / 'state.db'}",
        PIPELINE_VERSION,
        worker=f"bench-{number}",
        leases=DrivingTable(url),
        messages=MessageTable(url),
        clock=SystemClock(),
        living=list,
    )

    async def drive() -> RunOutcome:
        world = replace(ports(folder), durable=engine)
        try:
            return await driven(job(run, folder / run), Limits(), world, engine)
        finally:
            await engine.close()

    return timed(lambda: asyncio.run(drive()))


def command_cpu(*args: str) -> float:
    """CPU milliseconds of one start of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    env = {**os.environ, "TWINSMITH_HOME": tempfile.gettempdir() + "/twinsmith-bench-none"}
    subprocess.run([sys.executable, *args], env=env, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000


def median(readings: list[Reading]) -> Reading:
    return tuple(statistics.median(column) for column in zip(*readings, strict=True))


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="twinsmith-bench-"))
    try:
        durable(-1, folder)  # start-up: tables are made once
        rows = {
            "no durability (memory)": median([in_memory(n) for n in range(RUNS)]),
            "journal on disk": median([journalled(n, folder) for n in range(RUNS)]),
            "journal and DBOS on SQLite, with launch": median(
                [durable(n, folder) for n in range(RUNS)]
            ),
        }
    finally:
        shutil.rmtree(folder)
    base = rows["no durability (memory)"][0]
    print(f"skeleton run, median of {RUNS}; model and sandbox cost nothing here")
    print(f"{'':<42}{'CPU ms':>8}{'wall ms':>9}{'x memory':>10}")
    for name, (cpu, wall) in rows.items():
        print(f"{name:<42}{cpu:8.1f}{wall:9.1f}{cpu / base:10.1f}")
    cpu = rows["journal and DBOS on SQLite, with launch"][0] - base
    verdict = "within" if cpu < LIMIT_MS else "OVER"
    print(f"engine overhead {cpu:.0f} ms CPU: {verdict} the limit of {LIMIT_MS:.0f} ms\n")
    bare = statistics.median(command_cpu("-c", "pass") for _ in range(5))
    starts = {
        "twinsmith --help": statistics.median(
            command_cpu("-m", "twinsmith", "--help") for _ in range(5)
        ),
        "twinsmith status": statistics.median(
            command_cpu("-m", "twinsmith", "status") for _ in range(5)
        ),
    }
    print(f"{'start of a command':<42}{'CPU ms':>8}{'':>9}{'x python':>10}")
    print(f"{'python -c pass':<42}{bare:8.0f}{'':>9}{1:10.1f}")
    for name, cpu in starts.items():
        print(f"{name:<42}{cpu:8.0f}{'':>9}{cpu / bare:10.1f}")
    print(json.dumps({"engine_cpu_ms": rows, "start_cpu_ms": {"python": bare, **starts}}))


if __name__ == "__main__":
    main()
