"""Results of steps as the engine keeps them, so that a resumed run does not do them again."""

from dataclasses import dataclass

from twinsmith.core.knowing.insight import Reminder
from twinsmith.core.knowing.knowledge import Hit
from twinsmith.core.verdict import Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """The pieces that a search of the library found, or the problem where it is away."""

    hits: tuple[Hit, ...]
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """The insights of earlier runs that the graph gave, or the problem where it is away."""

    reminders: tuple[Reminder, ...]
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspected:
    """The reviewer's findings on one candidate."""

    findings: tuple[Finding, ...]
