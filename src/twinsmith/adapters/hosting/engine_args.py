"""What is asked of Docker or Podman for a container or a build, and what they say; nothing is run.

There is no way to ask for privileges, devices, a network or the engine's own socket: a container
has what stands here, and nothing else.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Literal

from twinsmith.core.errors import ConfigError
from twinsmith.core.operating.containerfile import DATA, USER
from twinsmith.core.operating.instance import SOCKET, Instance, InstanceState, InstanceStatus

Engine = Literal["docker", "podman"]
ENGINES: tuple[Engine, ...] = ("docker", "podman")
APPS, BASES, RUNS, TOOLS, EMPTY = (
    f"twinsmith-{name}" for name in ("app", "base", "run", "tools", "empty")
)
RUN = "/run/app"
LISTEN = f"{RUN}/{SOCKET}"
LONGEST_SOCKET = 100
TMP = "rw,nosuid,nodev,noexec,mode=1777,size=64m"
SHARED_BYTES = 16 << 20
# Processes are counted over all programs of the user here; each program has its own limit besides.
# Podman starts nothing without the first two.
EACH_PROCESS = {"nofile": 4096, "nproc": 4096, "core": 0, "fsize": 4 << 30}
LOG = {"max-size": "1m", "max-file": "2"}
LOG_BYTES = 1_000_000
"""Bytes at least after which an engine rolls a log: Docker's megabyte is the larger one."""
BUILD_SECONDS = 600
BUILD_BYTES = 2 << 30
ASKED = "dev.twinsmith.asked"
# With links a program could make its socket point at another one of this machine.
LINKS = ("symlink", "symlinkat")
EPERM = 1
KILLED = 137
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}", re.ASCII)


def mark_of(home: str) -> str:
    """A short name of a data folder: what is made from two of them never collides."""
    return hashlib.sha256(home.encode()).hexdigest()[:8]


def container_name(mark: str, name: str) -> str:
    """The name of an instance's container."""
    return f"{APPS}-{mark}-{name}"


def volume_name(mark: str, name: str) -> str:
    """The name of a volume on the engine."""
    return f"twinsmith-{mark}-{name}"


def repository(engine: Engine, name: str) -> str:
    """The name of a repository of images that is nowhere but here."""
    return f"localhost/{name}" if engine == "podman" else name


def image_tag(package: Mapping[str, str], bases: Iterable[str]) -> str:
    """The tag of a program's image: the same files on the same bases give the same one."""
    told = [sorted(package.items()), list(bases)]
    return hashlib.sha256(json.dumps(told, ensure_ascii=False).encode()).hexdigest()[:16]


def topped_tag(language: str, base: str, line: str) -> str:
    """The tag of a base on which one line has put what a language needs."""
    return f"{language}-{hashlib.sha256(f'{base} {line}'.encode()).hexdigest()[:12]}"


def filtered(profile: str) -> str:
    """A profile of refused system calls with those that make links refused as well."""
    told = json.loads(profile)
    refused = {"names": list(LINKS), "action": "SCMP_ACT_ERRNO", "errnoRet": EPERM, "args": []}
    return json.dumps({**told, "syscalls": [*told["syscalls"], refused]})


def environment(secrets: Mapping[str, str]) -> dict[str, str]:
    """The variables of an instance; ConfigError where a secret's name cannot be one."""
    for name, value in secrets.items():
        if not _NAME.fullmatch(name) or "\0" in value:
            raise ConfigError(f"{name!r} cannot be the name of a secret; letters, digits and '_'")
    return {
        **secrets,
        "HOME": "/tmp",  # noqa: S108
        "LISTEN": LISTEN,
        "GUNICORN_CMD_ARGS": f"--bind unix:{LISTEN} --umask 0",
    }


def container_body(
    engine: Engine,
    instance: Instance,
    secrets: Mapping[str, str],
    *,
    mark: str,
    folder: str,
    profile: str,
) -> dict[str, object]:
    """The container of an instance: `folder` is for its socket, `profile` refuses system calls.

    Secrets are told to the engine as variables, and stand nowhere else.
    """
    variables = environment(secrets)
    memory = instance.memory_mb << 20
    walls: dict[str, object] = {
        "NetworkMode": "none",
        "ReadonlyRootfs": True,
        "CapDrop": ["ALL"],
        "SecurityOpt": ["no-new-privileges", f"seccomp={profile}"],
        "Memory": memory,
        "MemorySwap": memory,
        "PidsLimit": instance.processes,
        "Ulimits": _ulimits(),
        "Tmpfs": {"/tmp": TMP},  # noqa: S108
        "ShmSize": SHARED_BYTES,
        "IpcMode": "private",
        "Init": False,
        "RestartPolicy": {"Name": "unless-stopped" if instance.restarts else "no"},
        "LogConfig": _log(engine),
        "Mounts": [
            {"Type": "volume", "Source": volume_name(mark, instance.data), "Target": DATA},
            {"Type": "bind", "Source": folder, "Target": RUN},
        ],
    }
    body: dict[str, object] = {
        "Image": instance.image,
        "User": f"{USER}:{USER}",
        "StopSignal": "SIGTERM",
        # Those who keep instances ask them over HTTP; Podman's own check needs systemd.
        "Healthcheck": {"Test": ["NONE"]},
        "HostConfig": walls,
    }
    asked = hashlib.sha256(json.dumps([body, sorted(variables)]).encode()).hexdigest()
    return {
        **body,
        "Env": [f"{name}={value}" for name, value in variables.items()],
        "Labels": {
            "dev.twinsmith.app": instance.app,
            "dev.twinsmith.instance": instance.name,
            "dev.twinsmith.home": mark,
            ASKED: asked,
        },
    }


def is_same(told: Mapping[str, object], body: Mapping[str, object]) -> bool:
    """Whether a container is the one that is asked for, secrets included."""
    config = _mapping(told.get("Config"))
    labels, wanted = _mapping(config.get("Labels")), _mapping(body["Labels"])
    has, asked = config.get("Env"), body["Env"]
    if not isinstance(has, list) or not isinstance(asked, list):
        return False
    return labels.get(ASKED) == wanted[ASKED] and set(asked) <= set(has)


def holder_body(image: str, volume: str) -> dict[str, object]:
    """A container that is never started and holds a volume, so that its files can be reached."""
    return {
        "Image": image,
        "Cmd": ["never"],
        "HostConfig": {
            "NetworkMode": "none",
            "Mounts": [{"Type": "volume", "Source": volume, "Target": DATA}],
        },
    }


def question_body(image: str, words: list[str]) -> dict[str, object]:
    """A container that says one thing about its image."""
    return {
        "Image": image,
        "Entrypoint": words,
        "User": f"{USER}:{USER}",
        "HostConfig": {
            "NetworkMode": "none",
            "ReadonlyRootfs": True,
            "CapDrop": ["ALL"],
            "SecurityOpt": ["no-new-privileges"],
            "Ulimits": _ulimits(),
        },
    }


def build_query(
    engine: Engine,
    tag: str,
    *,
    online: bool,
    arguments: Mapping[str, str],
    labels: Mapping[str, str],
) -> dict[str, object]:
    """A build in the words of the engine's client; without a network unless it is `online`."""
    offline = "NetworkDisabled" if engine == "podman" else "none"
    return {
        "tag": tag,
        "custom_context": True,
        "dockerfile": "Containerfile",
        "network_mode": "host" if online else offline,
        "buildargs": dict(arguments),
        "labels": dict(labels),
        "container_limits": {"memory": BUILD_BYTES, "memswap": BUILD_BYTES},
        "rm": True,
        "forcerm": True,
        "pull": False,
        "decode": True,
        "use_config_proxy": False,
    }


def status_of(
    engine: Engine, name: str, told: Mapping[str, object], address: str, last: str = ""
) -> InstanceStatus:
    """How an instance stands; `last` is how it ended before it was started again."""
    state = _mapping(told.get("State"))
    status: InstanceState = "exited"
    if state.get("Status") in ("running", "paused"):
        status = "running"
    elif state.get("Status") == "restarting":
        status = "restarting"
    since = "StartedAt" if status == "running" else "FinishedAt"
    return InstanceStatus(
        name=name,
        state=status,
        since=moment(str(state.get(since, ""))),
        restarts=restarts_of(told),
        reason=last if status == "running" else reason_of(engine, state),
        address=address if status == "running" else "",
    )


def restarts_of(told: Mapping[str, object]) -> int:
    """How often the engine has started a container again."""
    count = told.get("RestartCount")
    return count if isinstance(count, int) else 0


def reason_of(engine: Engine, state: Mapping[str, object]) -> str:
    """Why a container ended, in words."""
    code = state.get("ExitCode")
    if state.get("Error"):
        return " ".join(str(state["Error"]).split())[:200]
    if not isinstance(code, int):
        return ""
    return ended_in_words(engine, code, out_of_memory=state.get("OOMKilled") is True)


def ended_in_words(engine: Engine, code: int, *, out_of_memory: bool) -> str:
    """The code of a program that ended, in words; Podman does not say what ran out of memory.

    Nobody else kills a program that was not stopped.
    """
    if out_of_memory or (engine == "podman" and code == KILLED):
        return "out of memory"
    return f"signal {code - 128}" if 128 < code < 128 + 65 else f"exit code {code}"


def last_end(engine: Engine, events: Iterable[Mapping[str, object]]) -> str:
    """Why a container ended the last time, from what the engine remembers; empty: nothing."""
    reason, out_of_memory = "", False
    for event in events:
        about = _mapping(_mapping(event.get("Actor")).get("Attributes"))
        if event.get("Action") == "oom":
            out_of_memory = True
            continue
        code = str(about.get("exitCode", about.get("containerExitCode", "")))
        if code.isdigit():
            reason = ended_in_words(engine, int(code), out_of_memory=out_of_memory)
        out_of_memory = False
    return reason


def moment(told: str) -> str:
    """A moment as engines write it, ISO 8601 in UTC; empty for one that never was."""
    found = re.fullmatch(
        r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,6})\d*)?(Z|[+-]\d\d:\d\d)", told
    )
    if found is None or told.startswith("0001"):
        return ""
    at = datetime.fromisoformat(found[1] + found[3].replace("Z", "+00:00"))
    parts = int((found[2] or "0").ljust(6, "0"))
    return at.astimezone(UTC).replace(microsecond=parts).isoformat(timespec="microseconds")


def _ulimits() -> list[dict[str, object]]:
    return [{"Name": name, "Soft": most, "Hard": most} for name, most in EACH_PROCESS.items()]


def _log(engine: Engine) -> dict[str, object]:
    if engine == "podman":
        return {"Type": "k8s-file", "Config": {"max-size": "1mb"}}
    return {"Type": "json-file", "Config": dict(LOG)}


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
