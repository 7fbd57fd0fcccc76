"""An examiner and a scanner that are told what they find: the fakes."""

from collections.abc import Mapping

from twinsmith.core.execution import Execution, ProbeResult
from twinsmith.core.operating.inspected import Inspected
from twinsmith.core.operating.source import Source
from twinsmith.core.probe import Probes


class CannedExaminer:
    """Passes every check, but those that fail at addresses with a certain part."""

    def __init__(self, failing: Mapping[str, str] | None = None) -> None:
        self.failing = dict(failing or {})
        """By a part of the address: the beginning of the names of checks that fail there."""

    async def examine(self, address: str, probes: Probes) -> Execution:
        """The results of all checks."""
        bad = [name for part, name in self.failing.items() if part in address]
        return Execution(
            candidate=0,
            results=tuple(
                ProbeResult(name=each.name, outcome="failed", detail="it was told to fail")
                if any(each.name.startswith(name) for name in bad)
                else ProbeResult(name=each.name, outcome="passed")
                for each in probes.checks
            ),
        )


class CannedScanner:
    """Finds what it was told to find in a source, by its digest; nothing elsewhere."""

    def __init__(self, found: Mapping[str, Inspected] | None = None) -> None:
        self.found = dict(found or {})

    async def scan(self, source: Source) -> Inspected:
        """What was told of this source."""
        return self.found.get(source.digest, Inspected())
