"""Command lines for Docker and Podman, and reading their answers; nothing is run here."""

import io
import json
import shutil
import tarfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from twinsmith.adapters.sandbox.cell import HOSTNAME, NAMES, Cell
from twinsmith.adapters.sandbox.harness import PLACE
from twinsmith.core.execution import Limits

Engine = Literal["docker", "podman"]
Control = Literal["network", "memory", "pids", "seccomp", "judge", "cpu"]
NEEDED: tuple[Control, ...] = ("network", "memory", "pids", "seccomp", "judge")
PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
HOME = {"PATH": PATH, "HOME": "/tmp"}  # noqa: S108
PREFIX = "twinsmith"
FOLDERS = "usr etc proc sys dev tmp run run/cache run/layer"
LINKS = "bin lib lib64 sbin"
SHOWN = ("/usr", "/etc/ld.so.cache", "/etc/alternatives")
SHARED_MEMORY_MB = 16
# Terminals are made in there, and the machine has a fixed number of them.
NO_TERMINALS = "ro,nosuid,nodev,noexec,mode=0555,size=4k"
# An address for documentation: this machine's own name server is nobody's business inside.
NOWHERE = "192.0.2.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """An engine that is ready for use: image, files, runtime and the controls that hold."""

    engine: Engine
    image: str
    harness: str
    profile: str
    version: str = ""
    host: str = ""
    runtime: str = ""
    controls: frozenset[Control] = frozenset()
    filter: str = ""
    """The filter of system calls that the judge puts up, where the engine puts up none."""
    shown: tuple[str, ...] = SHOWN


def engine_args(ready: Ready) -> list[str]:
    """The words with which every command line of the engine begins."""
    host = ["--host", ready.host] if ready.host and ready.engine == "docker" else []
    runtime = ["--runtime", ready.runtime] if ready.runtime and ready.engine == "podman" else []
    return [ready.engine, *host, *runtime]


def run_args(ready: Ready, cell: Cell, command: list[str], *, name: str, user: int) -> list[str]:
    """The command line that runs `command` in a new container."""
    limits = cell.limits
    memory = [f"--memory={cell.memory_mb}m", f"--memory-swap={cell.memory_mb}m"]
    # The judge, the starter and a checker are in there as well; gVisor's own threads, too.
    own = 128 if ready.runtime == "runsc" else 8
    tmp, shared = (
        _scratch(ready.engine, size, limits) for size in (limits.scratch_mb, SHARED_MEMORY_MB)
    )
    return [
        *engine_args(ready),
        *["run", "--interactive", "--pull=never", f"--name={name}", f"--hostname={HOSTNAME}"],
        *([f"--runtime={ready.runtime}"] if ready.runtime and ready.engine == "docker" else []),
        *_only(ready.engine),
        *["--network=none", "--cap-drop=ALL", "--security-opt=no-new-privileges"],
        *[f"--security-opt=seccomp={ready.profile}", f"--user={user}:{user}", "--read-only"],
        *(memory if "memory" in ready.controls else []),
        *([f"--pids-limit={limits.processes + own}"] if "pids" in ready.controls else []),
        *(["--cpu-shares=256"] if "cpu" in ready.controls else []),
        *["--ulimit=core=0:0", "--ulimit=nofile=1024:1024", "--ulimit=nproc=1024:1024"],
        *["--log-driver=none", "--workdir=/tmp"],
        *(f"--env={key}={value}" for key, value in {**HOME, **cell.environment}.items()),
        *[f"--tmpfs=/tmp:{tmp}", f"--tmpfs=/dev/shm:{shared}", f"--tmpfs=/dev/pts:{NO_TERMINALS}"],
        *(f"--volume={place}:{place}:ro" for place in ready.shown),
        *(f"--volume={mount.source}:{mount.target}:ro" for mount in cell.mounts),
        *[f"--volume={ready.harness}:{PLACE}:ro", ready.image, *command],
    ]


def remove_args(engine: Engine, name: str) -> list[str]:
    """The words that end and remove a container at once."""
    return ["rm", "--force", *(["--time=0"] if engine == "podman" else []), name]


def lower_args(name: str, memory_mb: int) -> list[str]:
    """The words that lower the memory limit of a running container."""
    return ["update", f"--memory={memory_mb}m", f"--memory-swap={memory_mb}m", name]


def image() -> bytes:
    """The container image as an archive: the folders to mount on, and the files of host names."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in FOLDERS.split():
            folder = tarfile.TarInfo(name)
            # Docker gives the scratch folder the mode that it finds here.
            folder.type, folder.mode = tarfile.DIRTYPE, 0o1777 if name == "tmp" else 0o755
            archive.addfile(folder)
        for name in LINKS.split():
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.SYMTYPE, f"usr/{name}"
            archive.addfile(link)
        for place, text in NAMES.items():
            file = tarfile.TarInfo(place.lstrip("/"))
            file.size, file.mode = len(text), 0o444
            archive.addfile(file, io.BytesIO(text.encode()))
    return written.getvalue()


def version(engine: Engine, told: Mapping[str, object]) -> str:
    """The engine's version; empty when only its client answered."""
    if engine == "docker":
        return str(told.get("ServerVersion") or "")
    known = told.get("version")
    return str(known.get("Version", "")) if isinstance(known, dict) else ""


def limited(engine: Engine, told: Mapping[str, object]) -> frozenset[Control]:
    """The limits that the engine can set for all processes of a container together."""
    if engine == "docker":
        names: dict[str, Control] = {"MemoryLimit": "memory", "PidsLimit": "pids"}
        names["CPUShares"] = "cpu"
        return frozenset(control for name, control in names.items() if told.get(name) is True)
    host = told.get("host")
    controllers = (host.get("cgroupControllers") if isinstance(host, dict) else None) or ()
    controls: tuple[Control, ...] = ("memory", "pids", "cpu")
    return frozenset(control for control in controls if control in controllers)


def runtimes(engine: Engine) -> tuple[str, ...]:
    """The runtimes worth a try, the best first; an empty one means the engine's own choice."""
    others = ("runc", "crun") if engine == "podman" else ()
    return ("", *(name for name in others if shutil.which(name, path=PATH)))


def looks_spent(out: bytes, memory_mb: int) -> bool:
    """Whether a probe was killed while it held at least half of the memory for all."""
    rows = []
    for line in out.splitlines():
        with suppress(ValueError):
            rows.append(json.loads(line))
    told = [row for row in rows if isinstance(row, dict)]
    killed = [row for row in told if row.get("code") == -9 and row.get("outcome") == "killed"]
    return any(row.get("peak_kb", 0) >= memory_mb << 9 for row in killed)


def abandoned(names: Iterable[str]) -> list[str]:
    """The names of our containers whose process is gone."""
    parts = ((name, name.split("-")) for name in names)
    ours = [(name, words[1]) for name, words in parts if words[0] == PREFIX and len(words) == 3]
    return [name for name, pid in ours if pid.isdigit() and not Path(f"/proc/{pid}").exists()]


def _only(engine: Engine) -> list[str]:
    """Options that keep an engine from adding things of this machine to a container."""
    if engine == "podman":
        told = "--security-opt=mask=/proc/cmdline"
        return ["--read-only-tmpfs=false", "--http-proxy=false", "--no-hosts", told]
    return [f"--dns={NOWHERE}"]


def _scratch(engine: Engine, size_mb: int, limits: Limits) -> str:
    files = f",nr_inodes={limits.scratch_files}" if engine == "docker" else ""
    return f"rw,nosuid,nodev,exec,mode=1777,size={size_mb}m{files}"
