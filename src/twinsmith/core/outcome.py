"""What a run made, and how it ended."""

from dataclasses import dataclass, field

from twinsmith.core.budget import Spent
from twinsmith.core.plan import Plan
from twinsmith.core.probe import Probes
from twinsmith.core.program import Candidate
from twinsmith.core.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Everything a run made; `problem` says why it stopped early."""

    plan: Plan | None = None
    probes: Probes = field(default_factory=Probes)
    candidates: tuple[Candidate, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutcome:
    """Solved or not, with the reason, and where the result lies."""

    run: str
    solved: bool
    reason: str
    out: str
    verdicts: tuple[Verdict, ...]
    winner: int | None
    spent: Spent
    models: tuple[str, ...]
