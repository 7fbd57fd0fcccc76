"""The door to telemetry: what may not be told is taken out, and what is not sampled stays here."""

from functools import lru_cache

from twinsmith.core.masking import Masking
from twinsmith.core.measures import Measure
from twinsmith.core.telemetry import Span, is_sampled, presentable
from twinsmith.ports import Telemetry

REMEMBERED, SHORT = 4096, 200


class ScreenedTelemetry:
    """Tells spans without secrets, without prompts unless they are wanted, and only a share."""

    def __init__(
        self, telemetry: Telemetry, masking: Masking, *, prompts: bool, share: float
    ) -> None:
        self._telemetry = telemetry
        self._whole = masking.text
        # Names of models, roles and stages come again and again: each is looked at once.
        self._known = lru_cache(REMEMBERED)(masking.text)
        self._prompts = prompts
        self._share = share

    def tell(self, span: Span) -> None:
        """Tell a span as it may be told."""
        if is_sampled(span.place, self._share):
            self._telemetry.tell(presentable(span, self._masked, prompts=self._prompts))

    def observe(self, measure: Measure, value: float = 1.0, **labels: str) -> None:
        """Add a value to a figure, under labels without secrets."""
        shown = {name: self._masked(text) for name, text in labels.items()}
        self._telemetry.observe(measure, value, **shown)

    def flush(self) -> None:
        """Return once everything is where it belongs."""
        self._telemetry.flush()

    def _masked(self, text: str) -> str:
        return self._known(text) if len(text) <= SHORT else self._whole(text)
