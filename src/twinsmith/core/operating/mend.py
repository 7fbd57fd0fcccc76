"""A service that is to be mended: its source as it is deployed, and what it was accepted by."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from twinsmith.core.events import Json
from twinsmith.core.operating.trouble import Trouble
from twinsmith.core.planning.contract import Contract
from twinsmith.core.planning.patch import with_tables
from twinsmith.core.planning.spec import contract_from
from twinsmith.core.probe import Probes
from twinsmith.core.program import Program


@dataclass(frozen=True, slots=True, kw_only=True)
class Mend:
    """The start of a fix; the checks that fail on it are the tests of its task, or are hunted."""

    program: Program
    checks: Probes = field(default_factory=Probes)
    """The checks that it was accepted by, and has to pass afterwards as well."""
    told: str = ""
    """What was seen, in words, for whoever mends it."""
    app: str = ""
    """The name of the app, whose fix it is."""
    trouble: Trouble | None = None
    """The incident that the fix is about; None where a person gives a check that fails."""

    def contract(self, document: Mapping[str, Json]) -> Contract:
        """The contract of the service, with the tables that its source has."""
        return with_tables(contract_from(document), self.program.source)
