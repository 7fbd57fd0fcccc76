"""What a scan of a program needs from outside."""

from collections.abc import Collection
from typing import Protocol

from twinsmith.core.operating.locked import Pin
from twinsmith.core.operating.scan import Advised


class Advisories(Protocol):
    """Knows the weaknesses of packages that others found."""

    async def known(self, pins: Collection[Pin]) -> Advised:
        """What is known about these versions; nobody who can be asked is a result as well."""
        ...
