"""How models behave, as a server tells it."""

from twinsmith.client.wire import Wire
from twinsmith.core.behaviour.figures import View, Wanted
from twinsmith.core.behaviour.report import Comparison, Report


class Analyses:
    """Figures on models, roles, prompts and runs, and what changed of them."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def report(self, wanted: Wanted) -> Report:
        """What calls took, what became of the answers, how confidence held, what changed."""
        asked = {"by": ",".join(wanted.by), "since": wanted.since}
        return self._wire.get(f"analysis/{wanted.view}", Report, asked)

    def compare(self, view: View, a: str, b: str, since: str = "") -> Comparison:
        """Two things side by side, role by role."""
        asked = {"a": a, "b": b, "since": since}
        return self._wire.get(f"analysis/{view}/compare", Comparison, asked)
