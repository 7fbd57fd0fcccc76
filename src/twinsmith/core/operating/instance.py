"""One running copy of a program: what is started, on which data, and how it stands."""

import re
from dataclasses import dataclass
from typing import Literal

from twinsmith.core.errors import ConfigError

HostName = Literal["local", "docker", "podman"]
HOSTS: tuple[HostName, ...] = ("local", "docker", "podman")
InstanceState = Literal["absent", "running", "restarting", "exited"]
SOCKET = "http.sock"
"""The file in an instance's own folder at which it answers HTTP."""
MEMORY_MB = 512
PROCESSES = 128
_APP = re.compile(r"[a-z][a-z0-9-]{0,29}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A program made ready for a host; the same source gives the same image."""

    reference: str
    """The name by which its host finds it."""
    digest: str
    """What the host made of it, as its SHA-256."""
    base: str = ""
    """The base image with its digest; empty where there is none."""
    existed: bool = False
    """Whether it was there already and nothing was built."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """A copy of a program that is to run; secrets are handed over beside it, and never kept."""

    name: str
    """Its name on the host, such as `shop-3`; starting it twice starts it once."""
    app: str
    image: str
    """The reference of its image."""
    data: str
    """The name of its data volume, which outlives it; made where it is not there."""
    memory_mb: int = MEMORY_MB
    processes: int = PROCESSES
    restarts: bool = True
    """Whether it is started again when it ends by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceStatus:
    """How an instance stands, as its host sees it."""

    name: str
    state: InstanceState
    since: str = ""
    """When it came into this state, ISO 8601 in UTC."""
    restarts: int = 0
    reason: str = ""
    """Why it ended the last time, in words: `exit code 1`, `out of memory`, `signal 9`."""
    address: str = ""
    """The path of the Unix socket at which it answers; empty where it does not run."""


def app_name(text: str) -> str:
    """The name of an app as a person typed it; ConfigError where it cannot be one."""
    if not _APP.fullmatch(text):
        raise ConfigError(
            f"{text!r} cannot be the name of an app; lower-case letters, digits and '-', at most "
            "30, beginning with a letter: give one with --name"
        )
    return text


def host_name(text: str) -> HostName:
    """The host that a person means; ConfigError where it is none."""
    for known in HOSTS:
        if text == known:
            return known
    raise ConfigError(f"host {text!r} is not known; one of {', '.join(HOSTS)}")


def instance_name(app: str, number: int, *, trial: bool = False) -> str:
    """The name of the instance of a release: `shop-3`, and `shop-3-trial` while it is tried."""
    return f"{app}-{number}{'-trial' if trial else ''}"
