"""Advisories that are known beforehand: nobody is asked."""

from collections.abc import Collection, Mapping

from twinsmith.core.operating.locked import Pin
from twinsmith.core.operating.scan import Advised, Advisory, spelled


class CannedAdvisories:
    """Advisories by the names of packages, whatever version; with a reason, nobody is asked."""

    def __init__(
        self, known: Mapping[str, tuple[Advisory, ...]] | None = None, *, unasked: str = ""
    ) -> None:
        self._known = known or {}
        self._unasked = unasked

    async def known(self, pins: Collection[Pin]) -> Advised:
        """The canned advisories of these packages."""
        if self._unasked:
            return Advised(unasked={spelled(pin): self._unasked for pin in pins})
        known = {spelled(pin): self._known[pin.name] for pin in pins if pin.name in self._known}
        return Advised(known=known)
