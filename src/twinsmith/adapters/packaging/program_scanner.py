"""The `Scanner` port: code by reviewers, secrets by rules, packages by licence and advisory."""

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from twinsmith.core.masking import Masking
from twinsmith.core.operating.containerfile import packages_of
from twinsmith.core.operating.inspected import Inspected
from twinsmith.core.operating.locked import Pin, needed
from twinsmith.core.operating.scan import (
    Policy,
    ScanFinding,
    code_findings,
    dependency_findings,
    files_of,
    image_findings,
    inspected,
    licence_findings,
    secret_findings,
)
from twinsmith.core.operating.source import Source
from twinsmith.ports.building import Reviewer
from twinsmith.ports.scanning import Advisories


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramScanner:
    """Scans programs by one policy."""

    reviewer: Reviewer
    advisories: Advisories
    pins: Collection[Pin]
    """Every package that a program may have."""
    licences: Mapping[str, str]
    """Licences by `name==version`."""
    masking: Masking
    policy: Policy

    async def scan(self, source: Source) -> Inspected:
        """The findings in a program and its packages, what of them blocks, and the risk."""
        return inspected(await self.findings(source), self.policy)

    async def findings(self, source: Source) -> tuple[ScanFinding, ...]:
        """Everything that was found, as values."""
        program = source.program
        pins = needed(self.pins, packages_of(source))
        reviewed = await self.reviewer.review(program)
        advised = await self.advisories.known(pins)
        # A rule set that others keep is loaded with the first text that may hold a secret.
        secrets = await asyncio.to_thread(secret_findings, files_of(program), self.masking)
        return (
            *code_findings(program, reviewed, self.masking),
            *secrets,
            *licence_findings(pins, self.licences, self.policy),
            *dependency_findings(pins, advised),
            *image_findings(),
        )
