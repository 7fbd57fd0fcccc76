"""The journal of a server: looked through, read whole, verified."""

from collections.abc import Iterator

from twinsmith.client.shapes import EntryShown, Listed, Verified
from twinsmith.client.stream import read
from twinsmith.client.wire import Params, Wire
from twinsmith.core.events import Entry


class Journal:
    """The journal; times are ISO 8601, `kind` is the beginning of a kind of events."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def entries(
        self,
        run: str = "",
        *,
        kind: str = "",
        who: str = "",
        since: str = "",
        until: str = "",
        page: int = 100,
    ) -> Iterator[EntryShown]:
        """Entries of a run's journal, or of the system's own, newest first, page by page."""
        asked = {"run": run, "kind": kind, "who": who, "since": since, "until": until}
        cursor = ""
        while True:
            given: Params = {**asked, "limit": page, "cursor": cursor or "0"}
            found = self._wire.get("journal", Listed[EntryShown], given)
            yield from found.items
            cursor = found.next
            if not cursor:
                return

    def export(
        self, run: str = "", *, kind: str = "", who: str = "", since: str = "", until: str = ""
    ) -> Iterator[Entry]:
        """Everything that is wanted as it stands in its chain: of one run, or of all chains."""
        asked = {"run": run, "kind": kind, "who": who, "since": since, "until": until}
        return read(self._wire, "journal/export", asked)

    def verify(self, run: str = "") -> Verified:
        """Whether every hash holds; the first altered line of each chain where one does not."""
        return self._wire.get("journal/verify", Verified, {"run": run})
