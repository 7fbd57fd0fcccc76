"""What steps of a run remember, so that a run that goes on does not do them again."""

from dataclasses import dataclass

from twinsmith.core.knowing.insight import Reminder
from twinsmith.core.knowing.knowledge import Hit
from twinsmith.core.verdict import Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """What was found, as a step remembers it; a library that is away stops no run."""

    hits: tuple[Hit, ...]
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """What earlier runs learned, as a step remembers it."""

    reminders: tuple[Reminder, ...]
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspected:
    """What was found, as a step remembers it."""

    findings: tuple[Finding, ...]
