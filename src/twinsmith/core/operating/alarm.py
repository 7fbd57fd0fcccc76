"""An alarm: what is wrong with an app, by which evidence, and how sure that is."""

from dataclasses import dataclass
from typing import Literal, get_args

AlarmKind = Literal[
    "crash",
    "crash loop",
    "down",
    "probe failing",
    "probe slow",
    "errors",
    "latency",
    "memory leak",
    "descriptor leak",
    "disk growth",
    "log flood",
    "hang",
    "new errors",
    "certificate",
    "end of life",
    "advisory",
]
ALARMS: tuple[AlarmKind, ...] = get_args(AlarmKind)
Severity = Literal["info", "warning", "critical"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm:
    """One thing that a detector found wrong."""

    app: str
    release: int
    kind: AlarmKind
    at: float
    """When it was found, in seconds since 1970."""
    delay: float
    """Seconds from the first reading that shows it until it was found."""
    evidence: str
    """What was measured, in one line: figures, limits, what is usual."""
    confidence: float
    """From 0 to 1."""
    severity: Severity = "critical"
    seconds_left: float | None = None
    """Until a limit is reached, at the present pace; None where nothing runs out."""
