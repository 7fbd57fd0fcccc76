"""Untrusted programs in bubblewrap: no network, no host files, no host environment.

Nothing on the host is bound into the sandbox but the read-only toolchain. The program goes in
through standard input and results come out through standard output, so there is no folder to
collect from and no link to follow.
"""

import asyncio
import json
import os
import shutil
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from twinsmith.core.errors import SandboxError
from twinsmith.core.execution import Execution, Limits, Outcome, ProbeResult
from twinsmith.core.probe import Probe, Probes
from twinsmith.core.program import Program

PATH = "/usr/bin:/bin"
PYTHON = "/usr/bin/python3"
INSTALL = "apt-get install -y bubblewrap python3"
# As root the sandbox starts as a user that owns nothing, before any namespace is made.
NOBODY = 64001
# Controls that later versions add; their absence is said, never hidden.
MISSING = ("cgroup", "seccomp")
STARTUP_SECONDS = 10.0
OUTCOMES: Mapping[str, Outcome] = {
    word: word for word in ("passed", "failed", "raised", "timed out", "output too large", "killed")
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Isolation:
    """What keeps untrusted code in on this machine, and what is missing."""

    backend: str
    version: str
    missing: tuple[str, ...]

    def __str__(self) -> str:
        grade = "degraded" if self.missing else "full"
        return f"backend={self.backend} isolation={grade} missing=[{','.join(self.missing)}]"


class BubblewrapSandbox:
    """One start of bubblewrap a program; all probes inside it."""

    async def run(self, program: Program, probes: Probes, limits: Limits) -> Execution:
        """Run every probe on the program."""
        if not probes.checks:
            return Execution(candidate=0, results=())
        job = {
            "source": program.source,
            "setup": probes.setup,
            "probes": [{"source": probe.source} for probe in probes.checks],
            "limits": {"probe_seconds": limits.probe_seconds, "output_bytes": limits.output_bytes},
        }
        wall = STARTUP_SECONDS + limits.probe_seconds * (len(probes.checks) + 1)
        judge = [PYTHON, "-sS", "/run/harness.py", "judge"]
        out, err, code = await _start(judge, job, limits, wall)
        rows = _rows(out)
        if not rows and code != -signal.SIGKILL:
            raise SandboxError(
                f"bubblewrap ended with status {code}: {err.strip()[:300]}; run 'twinsmith doctor'"
            )
        return Execution(
            candidate=0,
            results=tuple(_result(probe, rows.get(n)) for n, probe in enumerate(probes.checks)),
            output="".join(row[2] for row in rows.values())[: limits.output_bytes],
        )

    async def isolation(self) -> Isolation:
        """Start something harmless; raises SandboxError with the line that mends it."""
        for command in ("bwrap", "prlimit", PYTHON):
            if shutil.which(command, path=PATH) is None:
                raise SandboxError(f"{command} is not installed; run: {INSTALL}")
        out, err, code = await _start(["bwrap", "--version"], {}, Limits(), STARTUP_SECONDS)
        if code != 0:
            raise SandboxError(
                f"bubblewrap does not start here: {err.strip()[:300]}; "
                "allow unprivileged user namespaces (sysctl -w kernel.unprivileged_userns_clone=1)"
            )
        return Isolation(backend="bubblewrap", version=out.split()[-1], missing=MISSING)


def sandbox_args(command: list[str], limits: Limits, harness: int, *, root: bool) -> list[str]:
    """The command line that runs `command` inside the sandbox."""
    # Without `env -i` the caller's environment can be read from /proc/1/environ inside.
    drop = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs"]
    return [
        *["env", "-i", f"PATH={PATH}"],
        *(drop if root else []),
        *["bwrap", "--unshare-all", "--unshare-user", "--uid", "1000", "--gid", "1000"],
        *["--disable-userns", "--die-with-parent", "--new-session", "--as-pid-1", "--clearenv"],
        *["--setenv", "PATH", PATH, "--setenv", "HOME", "/tmp", "--setenv", "LANG", "C.UTF-8"],  # noqa: S108
        *["--setenv", "PYTHONHASHSEED", "0", "--setenv", "PYTHONDONTWRITEBYTECODE", "1"],
        *["--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin"],
        *["--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64"],
        *["--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"],
        *["--ro-bind-try", "/etc/alternatives", "/etc/alternatives"],
        *["--proc", "/proc", "--dev", "/dev"],
        *["--perms", "0444", "--ro-bind-data", str(harness), "/run/harness.py"],
        *["--size", str(limits.scratch_mb << 20), "--perms", "1777", "--tmpfs", "/tmp"],  # noqa: S108
        *["--size", str(16 << 20), "--perms", "1777", "--tmpfs", "/dev/shm"],  # noqa: S108
        *["--chdir", "/tmp", "--remount-ro", "/dev", "--remount-ro", "/", "--cap-drop", "ALL"],  # noqa: S108
        *["--", "prlimit", f"--nproc={limits.processes}", f"--as={limits.memory_mb << 20}"],
        *[f"--cpu={int(limits.probe_seconds) + 2}", f"--fsize={32 << 20}", "--nofile=256"],
        *["--core=0", "--", *command],
    ]


async def _start(
    command: list[str], job: Mapping[str, object], limits: Limits, wall: float
) -> tuple[str, str, int]:
    """Start the sandbox, give it the job, take what it says; kill it when time is up."""
    harness = os.memfd_create("harness")
    try:
        os.write(harness, Path(__file__).with_name("harness.py").read_bytes())
        os.lseek(harness, 0, os.SEEK_SET)
        process = await asyncio.create_subprocess_exec(
            *sandbox_args(command, limits, harness, root=os.geteuid() == 0),
            pass_fds=(harness,),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={"PATH": PATH},
            start_new_session=True,
        )
    except OSError as error:
        raise SandboxError(f"the sandbox does not start: {error}; run: {INSTALL}") from error
    finally:
        os.close(harness)
    talk = asyncio.ensure_future(process.communicate(json.dumps(job).encode()))
    try:
        await asyncio.wait({talk}, timeout=wall)
    finally:
        if process.returncode is None:
            process.kill()
        await asyncio.wait({talk})
    out, err = talk.result()
    return out.decode(errors="replace"), err.decode(errors="replace"), process.returncode or 0


def _rows(out: str) -> dict[int, list[str]]:
    """The judge's lines by the number of the probe; a last line that was cut off is dropped."""
    rows: dict[int, list[str]] = {}
    for line in out.splitlines():
        try:
            number, outcome, detail, printed = json.loads(line)
        except (ValueError, TypeError):
            continue
        rows[int(number)] = [str(outcome), str(detail), str(printed)]
    return rows


def _result(probe: Probe, row: list[str] | None) -> ProbeResult:
    if row is None:
        lost = "the sandbox ended before this probe"
        return ProbeResult(name=probe.name, outcome="killed", detail=lost)
    return ProbeResult(name=probe.name, outcome=OUTCOMES.get(row[0], "killed"), detail=row[1])
