"""A program that tries, from inside a sandbox, whether every control holds."""

import json

from twinsmith.core.errors import SandboxError
from twinsmith.core.execution import Execution, Limits
from twinsmith.core.probe import Command, Probe, Probes
from twinsmith.core.program import Program

# Without these there is no sandbox; without others it is a weaker one, and says so.
VITAL = ("network", "files", "namespaces", "capabilities", "environment")
GROUP = "run as root, or in a delegated group: systemd-run --user --scope twinsmith …"
ADVICE = {
    "memory": GROUP,
    "cpu": GROUP,
    "users": "run as root, which gives every program a user id of its own",
    "host": "use bubblewrap, on a kernel with overlayfs",
    "terminals": "use bubblewrap",
    "lasting": "apt-get install -y libseccomp2",
    "sockets": "apt-get install -y libseccomp2",
    "seccomp": "apt-get install -y libseccomp2",
    "scratch": "run 'twinsmith doctor' as another user, or use another backend",
}
SOURCE = """
import ctypes, errno, json, os, socket
from os import environ
from os.path import exists
libc = ctypes.CDLL(None, use_errno=True)
status = dict(line.split(":\\t", 1) for line in open("/proc/self/status") if ":\\t" in line)
devices = open("/proc/net/dev").readlines()
def refused(call, *args):
    return call(*args) == -1 and ctypes.get_errno() == errno.EPERM
def writable(folder):
    try:
        open(folder + "/.try", "w").close()
        return True
    except OSError:
        return False
def opened(words):
    try:
        socket.socket(*words).close()
        return True
    except OSError:
        return False
print(json.dumps({
    "network": {line.split(":")[0].strip() for line in devices if ":" in line} <= {"lo"},
    "files": not any(map(writable, ("/", "/usr", "/etc", "/dev", "/run"))),
    "namespaces": libc.unshare(0x10000000) == -1 and os.getpid() < 100,
    "capabilities": int(status["CapEff"], 16) == 0 == int(status["CapPrm"], 16),
    "environment": set(environ) <= {"PATH", "HOME", "LANG", "LC_CTYPE", "PYTHONHASHSEED"},
    "seccomp": refused(libc.ptrace, 0, 0, 0, 0),
    "sockets": not any(map(opened, ((16, 3, 0), (2, 1, 262), (2, 1, 132), (2, 2, 0)))),
    "lasting": libc.shmget(0, 4096, 0o1600) == -1 and libc.mq_open(b"/try", 0o102, 0o600, 0) == -1,
    "terminals": not exists("/dev/ptmx"),
    "host": os.uname().nodename == "sandbox" and not open("/proc/cmdline").read(),
    "scratch": 0 < os.statvfs("/tmp").f_files <= FILES and 0 < os.statvfs("/dev/shm").f_blocks,
}))
"""
LIMITS = Limits()


def trial() -> tuple[Program, Probes]:
    """The program that tries the controls, and the probe that runs it."""
    program = Program(source=SOURCE.replace("FILES", str(LIMITS.scratch_files)), kind="cli")
    return program, Probes(checks=(Probe(name="controls", origin="plan", command=Command()),))


def missing(execution: Execution, backend: str) -> list[str]:
    """The controls that do not hold; SandboxError where one of them is indispensable."""
    result = execution.results[0]
    if result.outcome != "passed":
        raise SandboxError(
            f"{backend} does not work here: {result.detail}; choose another sandbox.backend"
        )
    held = json.loads(result.output)
    open_walls = [name for name in VITAL if not held[name]]
    if open_walls:
        raise SandboxError(
            f"{backend} does not isolate here: {', '.join(open_walls)}; "
            "choose another sandbox.backend"
        )
    return [name for name in held if not held[name]]
