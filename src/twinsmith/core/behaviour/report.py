"""A report on behaviour: groups of calls, how confidence held, and what changed."""

from dataclasses import dataclass

from twinsmith.core.behaviour.drift import Drift
from twinsmith.core.behaviour.figures import Dimension, Read, Row, View
from twinsmith.core.behaviour.trust import Trust


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a view tells."""

    view: View
    by: tuple[Dimension, ...]
    since: str
    rows: tuple[Row, ...]
    """The busiest first."""
    total: Row
    trust: tuple[Trust, ...]
    """Of all models, then of each that has enough results."""
    drifts: tuple[Drift, ...]
    examined: int
    """The courses in which a change was looked for."""
    read: Read


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two things side by side in one role."""

    role: str
    a: Row | None
    b: Row | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two things side by side, role by role."""

    view: View
    since: str
    a: str
    b: str
    pairs: tuple[Pair, ...]
    read: Read
