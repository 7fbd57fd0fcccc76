"""What was seen of an app at one moment; detectors judge many of these in a row."""

from dataclasses import dataclass

from twinsmith.core.operating.instance import InstanceState


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """How an instance stands and what it has used up; None: its host cannot tell."""

    state: InstanceState
    restarts: int = 0
    reason: str = ""
    """Why it ended the last time, in words."""
    cpu_seconds: float | None = None
    """Processor time since it was started; smaller than before only after a restart."""
    memory: int | None = None
    """Bytes that cannot be taken back from it: what counts against its limit in the end."""
    memory_limit: int | None = None
    descriptors: int | None = None
    """Open files and connections of the process that has the most."""
    descriptor_limit: int | None = None
    processes: int | None = None
    log_bytes: int | None = None
    """Bytes of log that it wrote since it was started, also those that are gone by now."""
    disk: int | None = None
    """Bytes of its data volume."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """The requests of people to an app between two readings, as its proxy saw them."""

    requests: int = 0
    failed: int = 0
    """Those that were answered with 500 or above, or not at all."""
    median: float | None = None
    """Seconds; None where there was no request."""
    slowest: float | None = None
    """The 95th percentile in seconds; None where there was no request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What an instance wrote to its log between two readings."""

    errors: int = 0
    """Lines that tell of an error."""
    fresh: tuple[str, ...] = ()
    """Messages of errors that it never wrote before, without numbers, at most ten."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What was seen of the serving release of an app at one moment; None: it was not looked at."""

    app: str
    release: int
    at: float
    """Seconds since 1970."""
    usage: Usage
    status: int | None = None
    """What the probe was answered; 0: nothing in time; None: it was not probed this time."""
    probe_seconds: float | None = None
    traffic: Traffic = Traffic()
    said: Said = Said()
