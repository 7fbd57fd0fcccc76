"""A process that outlives the one that started it, and how to end it again."""

import asyncio
import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from twinsmith.core.errors import HostError

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
DRAIN_SECONDS = 20
"""How long a proxy that is asked to end lets requests in flight finish."""
_SAID_CHARACTERS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """A process that was started a moment ago, and the file with what it says."""

    process: "subprocess.Popen[bytes]"
    said: Path

    @property
    def ended(self) -> bool:
        """Whether it is gone already."""
        return self.process.returncode is not None

    def end(self) -> None:
        """End it at once, and what it started, where it is not gone already."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def last_words(self) -> str:
        """The last line that it wrote, cut short."""
        lines = self.said.read_text(errors="replace").strip().splitlines()
        return " ".join(lines[-1:])[-_SAID_CHARACTERS:]


def start(line: Sequence[str], home: Path, said: Path, extra: Mapping[str, str]) -> Started:
    """Start a process in a session of its own; its files are for nobody else."""
    environment = {"PATH": PATH, "HOME": str(home), **extra}
    try:
        with said.open("wb") as log:
            process = subprocess.Popen(
                line,
                cwd=home,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                umask=0o077,
            )
    except OSError as error:
        raise HostError(f"{line[0]} cannot be started: {error.strerror}") from error
    # Collects it, should it end before we do.
    threading.Thread(target=process.wait, daemon=True).start()
    return Started(process=process, said=said)


def pid_in(file: Path, word: str) -> int:
    """The process whose number a file has; 0 where it is gone, or the number is another's by now.

    The process is known by a word of its command line.
    """
    try:
        pid = int(file.read_text())
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except (OSError, ValueError):
        return 0
    return pid if word.encode() in words else 0


def ask_to_end(file: Path, word: str) -> int:
    """Ask the process whose number is in a file to finish; its number, 0 where there is none."""
    pid = pid_in(file, word)
    if pid:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    return pid


async def until_ended(pid: int) -> None:
    """Wait until a process that was asked to finish is gone; ended for good in the end."""
    for step in range(int((DRAIN_SECONDS + 5) / 0.02)):
        if not _lives(pid):
            return
        if step == int((DRAIN_SECONDS + 4) / 0.02):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        await asyncio.sleep(0.02)
    raise HostError(f"process {pid} does not end; run: kill -9 {pid}")


def _lives(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False
