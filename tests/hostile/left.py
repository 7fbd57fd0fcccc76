"""Runs a hostile program and looks at the host: nothing runs, nothing lies about, all is well."""

import asyncio
import os
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import gettempdir

import pytest

from tests.sandboxes import ENGINE_MARKS, ENGINES, needs, run, sandbox
from twinsmith.adapters.sandbox.languages import LANGUAGES
from twinsmith.adapters.sandbox.runner import IsolatedSandbox
from twinsmith.adapters.sandbox.users import FIRST_USER, USERS
from twinsmith.core.execution import Execution, Limits
from twinsmith.core.probe import Command, Probe, Probes
from twinsmith.core.program import Kind

SIX = ("python", "perl", "rust", "go", "c", "cpp")
# An interpreter and bare system calls are enough to try the same walls built by somebody else.
FEW = ("python", "c")
ALONE = ("bubblewrap",)
"""For what tries the judge more than its walls."""
SIX_CASES = [("bubblewrap", language) for language in SIX]
ENGINE_CASES = [
    pytest.param(engine, language, marks=ENGINE_MARKS) for engine in ENGINES for language in FEW
]
CASES = [*SIX_CASES, *ENGINE_CASES]
LIMITS = Limits(
    probe_seconds=1.0,
    cpu_seconds=1.0,
    memory_mb=192,
    output_bytes=50_000,
    scratch_mb=32,
    scratch_files=1000,
    build_seconds=20.0,
)
TRACE = "hostile"
"""In the name of every file that a hostile program makes."""
# Where a host's file could appear, and where other tests mount: their engines, their small disks.
OPEN_FOLDERS = ("/tmp", "/var/tmp", "/dev/shm", "/run", "/")
OTHERS = ("/var/lib/", "/run/", "/proc/", "/tmp/twinsmith-", f"{gettempdir()}/pytest-of-")
PATIENCE = 5.0


def ready(backend: str, language: str) -> IsolatedSandbox:
    """The sandbox; skips, with the reason, where it or the language is missing."""
    if language not in LANGUAGES:
        pytest.skip(f"{language} is not in LANGUAGES; its entry is still to be registered")
    box = sandbox(backend)
    needs(language)
    return box


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """What of a cell could be seen from outside."""

    processes: frozenset[str]
    groups: frozenset[str]
    files: frozenset[str]
    mounts: frozenset[str]

    def beyond(self, before: "Host") -> dict[str, list[str]]:
        """What is here and was not before."""
        names = ("processes", "groups", "files", "mounts")
        new = {name: sorted(getattr(self, name) - getattr(before, name)) for name in names}
        return {name: found for name, found in new.items() if found}


def look() -> Host:
    """Only what is this process's own: other tests have sandboxes as well."""
    return Host(
        processes=frozenset(_processes()),
        groups=frozenset(
            str(path) for folder in _group_folders() for path in folder.glob(f"{os.getpid()}-*")
        ),
        files=frozenset(str(path) for place in OPEN_FOLDERS for path in _own_files(Path(place))),
        mounts=frozenset(_mounts()),
    )


@cache
def _group_folders() -> tuple[Path, ...]:
    """Where cells have their groups, in every hierarchy."""
    return tuple(Path("/sys/fs/cgroup").glob("**/twinsmith"))


def _processes() -> list[str]:
    """Descendants of this process, and members of its control groups, wherever they went."""
    parents, lines, members = {}, {}, set()
    for path in Path("/proc").glob("[0-9]*"):
        try:
            words = (path / "stat").read_text().rpartition(")")[2].split()
            line = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            group = (path / "cgroup").read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if words[0] == "Z":
            continue
        parents[path.name], lines[path.name] = words[1], f"{path.name} {line[:80]}"
        if f"/twinsmith/{os.getpid()}-" in group:
            members.add(path.name)
    own = {str(os.getpid())}
    while more := {pid for pid, parent in parents.items() if parent in own} - own:
        own |= more
    return [lines[pid] for pid in (own | members) - {str(os.getpid())} if pid in lines]


def _own_files(place: Path) -> list[Path]:
    def owned(path: Path) -> bool:
        try:
            return FIRST_USER <= path.lstat().st_uid < FIRST_USER + USERS
        except FileNotFoundError:
            return False

    return [path for path in place.iterdir() if path.name.startswith(TRACE) or owned(path)]


def _mounts() -> list[str]:
    points = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    return [point for point in points if not point.startswith(OTHERS)]


def command(*args: str, stdin: str = "", stdout: str | None = None) -> Probe:
    """A run that is expected to end well."""
    wanted = Command(args=args, stdin=stdin, stdout=stdout)
    return Probe(name=" ".join(args) or "run", origin="plan", command=wanted)


async def attack(
    box: IsolatedSandbox,
    source: str,
    *probes: Probe,
    language: str,
    kind: Kind = "cli",
    limits: Limits = LIMITS,
) -> Execution:
    """Run it; afterwards nothing is left on the host and an ordinary program runs as ever."""
    before = look()
    execution = await run(
        source,
        language=language,
        kind=kind,
        probes=Probes(checks=probes or (command(),)),
        limits=limits,
        box=box,
    )
    await all_gone(before)
    await all_well(box)
    return execution


async def all_gone(before: Host) -> None:
    """Fail where something is still there after a moment."""
    end = time.monotonic() + PATIENCE
    while (left := look().beyond(before)) and time.monotonic() < end:
        await asyncio.to_thread(time.sleep, 0.02)
    assert not left, left


async def all_well(box: IsolatedSandbox) -> None:
    """An ordinary program finds an ordinary machine."""
    source = (
        "import os, sys, time\n"
        "open('file', 'w').write('x' * 100_000)\n"
        "assert len(os.listdir('/proc')) > 10 and os.listdir('/dev/shm') == []\n"
        "assert sorted(os.listdir('/tmp')) == ['work'] and len(b'x' * (50 << 20))\n"
        "print(os.nice(0), len(os.sched_getaffinity(0)), abs(time.time() - float(sys.argv[1])) < 9)"
    )
    stdout = f"0 {len(os.sched_getaffinity(0))} True\n"
    probe = command(str(time.time()), stdout=stdout)
    execution = await run(source, probes=Probes(checks=(probe,)), box=box)
    (seen,) = execution.results
    assert (seen.outcome, seen.detail, seen.errors) == ("passed", "", "")
