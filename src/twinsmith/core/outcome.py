"""The work of a run, and how the run ended."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from twinsmith.core.budget import Spent
from twinsmith.core.judging.pool import Pool
from twinsmith.core.judging.selection import Selection
from twinsmith.core.knowing.insight import Reminder
from twinsmith.core.knowing.knowledge import Hit
from twinsmith.core.planning.standing import Asked
from twinsmith.core.profile import Profile
from twinsmith.core.program import Candidate
from twinsmith.core.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Everything that a run made; `problem` says why it stopped early."""

    profile: Profile = field(default_factory=Profile)
    pieces: tuple[Hit, ...] = ()
    """Passages that were known before and shown to the coders."""
    pool: Pool = field(default_factory=Pool)
    selection: Selection = field(default_factory=lambda: Selection(winner=None, confidence=0.0))
    plans: Mapping[int, str] = field(default_factory=dict)
    reminders: tuple[Reminder, ...] = ()
    """Insights of earlier runs that the slow thinkers were told."""
    told: tuple[str, ...] = ()
    """Answers and remarks of a person during the run."""
    asked: Asked | None = None
    """The requirements and the contract, and how the best candidate meets them."""
    problem: str = ""

    @property
    def best(self) -> Candidate | None:
        """The chosen candidate; where none was chosen, the one that came nearest."""
        if self.selection.winner is not None:
            return self.pool.numbered(self.selection.winner)
        written = [each for each in self.pool.candidates if each.program]
        return max(written, key=lambda c: (self.pool.passed(c.number), -c.number), default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutcome:
    """The end of a run: solved or not, the reason, and where the result lies."""

    run: str
    solved: bool
    reason: str
    out: str
    verdicts: tuple[Verdict, ...]
    winner: int | None
    confidence: float
    spent: Spent
    models: tuple[str, ...]
