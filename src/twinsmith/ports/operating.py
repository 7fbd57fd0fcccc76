"""What is needed to bring a program where it runs."""

from collections.abc import Collection
from typing import Protocol

from twinsmith.core.operating.locked import Pin
from twinsmith.core.operating.source import Source


class Inventory(Protocol):
    """Lists what a program is made of."""

    def sbom(self, source: Source, pins: Collection[Pin]) -> str:
        """The bill of materials of a program and its packages, as CycloneDX JSON."""
        ...
