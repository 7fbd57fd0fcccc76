"""What all tests share: the real command, the scripts it answers from, a real PostgreSQL."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import LiteralString

import psycopg
import pytest

from tests.models import installed
from tests.postgresql import find_server, serving
from tests.strictness import (  # noqa: F401
    pytest_configure,
    pytest_make_collect_report,
    pytest_runtest_makereport,
    pytest_runtest_setup,
)
from twinsmith.adapters.sandbox.cgroup import here
from twinsmith.core.events import SYSTEM

ROOT = Path(__file__).parents[1]
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Who starts the tests in the background hands this on to every command that is interrupted.
    signal.signal(signal.SIGINT, signal.default_int_handler)
NO_GROUPS = "no control group can be made here; run as root, with /sys/fs/cgroup writable"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip, with the reason, what is marked as in need of control groups where there are none."""
    needy = [item for item in items if item.get_closest_marker("groups")]
    if needy and here() is None:
        for item in needy:
            item.add_marker(pytest.mark.elsewhere(reason=NO_GROUPS))


PROFILE = {
    "entry": "double",
    "signature": "def double(n: int) -> int:",
    "question": "",
    "assumed": "",
}
CHECKS = "```python\nassert double(2) == 4\nassert double(-3) == -6\nassert double(0) == 0\n```"
WRONG = "```python\ndef double(n: int) -> int:\n    return n * n\n```"
RIGHT = "```python\ndef double(n: int) -> int:\n    return n * 2\n```"
DOUBLE = "a function that doubles a number"
# One round of two candidates, taken for what it is: a test that wants more says so.
SHORT = {
    "TWINSMITH_BUILD_CANDIDATES": "2",
    "TWINSMITH_BUILD_VOTES": "0",
    "TWINSMITH_BUILD_REFINEMENTS": "0",
    "TWINSMITH_BUILD_LEAST": "0.0",
    "TWINSMITH_BUILD_RETRIEVAL": "false",
    "TWINSMITH_QUALITY_REVIEW": "false",
    "TWINSMITH_QUALITY_SANITIZE": "false",
}


def script(
    *,
    delay: float = 0.0,
    profile: str | None = None,
    code: tuple[str, ...] = (WRONG, RIGHT),
    checks: tuple[str, ...] = (CHECKS,),
    reference: str = "no idea",
) -> dict[str, object]:
    """A script for `double`, answering any task; all that compute results write `reference`."""
    texts = {"slow": (profile or json.dumps(PROFILE),), "coder": code, "critic": checks}
    replies = [
        {"role": role, "text": text, "delay": delay}
        for role, said in texts.items()
        for text in said
    ]
    called = {"role": "slow", "when": "What is such a program called?", "text": "some tool"}
    wanted = {"role": "slow", "when": "What kind of program does a task", "text": "function"}
    # Who is asked to split a task apart has nothing to say: it is judged as a whole then.
    apart = {"role": "slow", "when": "Split a task", "text": json.dumps({"requirements": []})}
    computed = [
        {"role": "critic", "when": words, "text": reference}
        for words in ("work out what is printed", "work out what they should give")
    ]
    return {"name": "double", "replies": [*replies, called, wanted, apart, *computed]}


@dataclass
class Command:
    """The real `twinsmith` command with a data folder of its own."""

    home: Path
    env: dict[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        clean = {k: v for k, v in os.environ.items() if not k.startswith("TWINSMITH_")}
        keys = ("OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "ANTHROPIC_API_KEY")
        return {
            **{k: v for k, v in clean.items() if k not in keys},
            "TWINSMITH_HOME": str(self.home),
            "COLUMNS": "120",
            **self.env,
        }

    def __call__(self, *args: str, code: int | None = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "twinsmith", *args],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )
        if code is not None:
            assert done.returncode == code, f"{args}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done

    def start(self, *args: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-m", "twinsmith", *args],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def use_script(self, content: dict[str, object]) -> None:
        path = self.home / "script.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))
        self.env["TWINSMITH_MODELS_SCRIPT"] = str(path)
        self.env |= {name: value for name, value in SHORT.items() if name not in self.env}

    def events(self, run: str) -> list[dict[str, object]]:
        if self._server:
            ask = "SELECT line FROM twinsmith_journal WHERE chain = %s ORDER BY seq"
            return [json.loads(line) for line in self._told(ask, run)]
        path = self.home / "journal" / "runs" / f"{run}.jsonl"
        if not path.exists():
            return []
        whole = path.read_text().rpartition("\n")[0]
        return [json.loads(line) for line in whole.split("\n") if line]

    def runs(self) -> list[str]:
        if self._server:
            ask = "SELECT DISTINCT chain FROM twinsmith_journal WHERE chain <> %s"
            return sorted(self._told(ask, SYSTEM))
        return sorted(path.stem for path in (self.home / "journal" / "runs").glob("*.jsonl"))

    @property
    def _server(self) -> str:
        """The address of a PostgreSQL that this command uses, or nothing."""
        url = self.env.get("TWINSMITH_DATABASE_URL", "")
        return url if url.startswith("postgresql") else ""

    def _told(self, ask: LiteralString, *values: str) -> list[str]:
        """What the server's journal says; nothing where there is none yet."""
        try:
            with psycopg.connect(self._server) as connection:
                return [row[0] for row in connection.execute(ask, values)]
        except (psycopg.OperationalError, psycopg.errors.UndefinedTable):
            return []

    def bill(self) -> list[str]:
        path = self.home / "scripted-bill.jsonl"
        return [json.loads(line)["key"] for line in path.read_text().splitlines()]


def alive(process: str) -> bool:
    """Whether a process runs; one that has ended and waits to be collected does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def until(condition: object, *, seconds: float = 120.0) -> None:
    """Wait for a condition; fail when it does not come."""
    assert callable(condition)
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.005)


@pytest.fixture
def command(tmp_path: Path) -> Command:
    return Command(home=tmp_path / "home")


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """A real PostgreSQL of this test run's own, on a loopback port; yields its address."""
    binaries = find_server()
    if binaries is None:
        pytest.skip("PostgreSQL server is not installed; run: apt-get install -y postgresql")
    with serving(binaries) as address:
        yield address


@pytest.fixture(scope="session")
def smollm() -> Path:
    """The smallest real model: 98 MB."""
    return installed("smollm2-135m")


@pytest.fixture(scope="session")
def qwen() -> Path:
    """The default embedded model: 1.1 GB."""
    return installed("qwen2.5-coder-1.5b")
