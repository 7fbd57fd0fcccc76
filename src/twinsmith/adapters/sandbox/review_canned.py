"""A reviewer with canned findings: it reads nothing."""

from collections.abc import Mapping

from twinsmith.core.program import Program
from twinsmith.core.verdict import Finding


class CannedReviewer:
    """A reviewer with findings by source text; all other programs have none."""

    def __init__(self, findings: Mapping[str, tuple[Finding, ...]] | None = None) -> None:
        self._findings = findings or {}

    async def review(self, program: Program) -> tuple[Finding, ...]:
        """The canned findings of a program."""
        return self._findings.get(program.source, ())
