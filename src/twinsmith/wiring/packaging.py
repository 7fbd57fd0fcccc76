"""From settings to what packages a program."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from twinsmith.adapters.sandbox.runner import IsolatedSandbox
    from twinsmith.core.operating.locked import Pin
    from twinsmith.ports import Advisories, Inventory, Scanner
    from twinsmith.settings import Settings


def inventory() -> "Inventory":
    """Lists what programs are made of."""
    from twinsmith.adapters.packaging.cyclonedx_inventory import CyclonedxInventory

    return CyclonedxInventory()


def pinned() -> "tuple[Pin, ...]":
    """Every package that a Python program may have, by version and hash."""
    from twinsmith.adapters.sandbox.layers import LOCK
    from twinsmith.core.operating.locked import pins_in

    return pins_in(LOCK.read_text(encoding="utf-8"))


def scanner_of(settings: "Settings", sandbox: "IsolatedSandbox") -> "Scanner":
    """Scans programs before they are released, by the policy of the settings."""
    from twinsmith.adapters.packaging.licences import known_licences
    from twinsmith.adapters.packaging.program_scanner import ProgramScanner
    from twinsmith.core.operating.licences import USUAL
    from twinsmith.core.operating.scan import Policy
    from twinsmith.wiring.sandbox import reviewer_of

    given = settings.values.scan
    return ProgramScanner(
        reviewer=reviewer_of(settings, sandbox),
        advisories=advisories_of(settings),
        pins=pinned(),
        licences=known_licences(),
        masking=settings.masking,
        policy=Policy(
            code=given.code,
            dependency=given.dependency,
            secret=given.secret,
            licence=given.licence,
            licences=frozenset(given.licences) or USUAL,
        ),
    )


def advisories_of(settings: "Settings") -> "Advisories":
    """Knows the weaknesses of packages, or says why nobody is asked."""
    given = settings.values.scan
    if not given.advisories:
        from twinsmith.adapters.packaging.advisories_canned import CannedAdvisories

        return CannedAdvisories(unasked="scan.advisories is off")
    from twinsmith.adapters.packaging.pip_audit import PipAudit

    return PipAudit(osv_url=given.advisories_url)
