"""What is needed to tell people about apps, and to be sure that it reaches them."""

from typing import Protocol

from twinsmith.core.operating.alert import Alert, AlertRecord, ChannelHealth, Posting


class Alerts(Protocol):
    """Keeps alerts for good, with what became of them."""

    def tell(self, alert: Alert) -> bool:
        """Keep an alert, without secrets; False where one of its id is kept already.

        The same again, soon after, is counted with the first; what is more severe is not the same.
        """
        ...

    def listed(self, most: int) -> tuple[AlertRecord, ...]:
        """The latest alerts, newest first."""
        ...

    def channels(self) -> tuple[ChannelHealth, ...]:
        """Every channel that was ever used, by name."""
        ...

    def forget(self, before: float) -> None:
        """Forget alerts that were raised before a moment, whatever became of them."""
        ...


class Postbox(Protocol):
    """Hands deliveries out to processes that send them, each attempt to one of them."""

    def due(self, now: float) -> tuple[Posting, ...]:
        """The deliveries whose next attempt may begin, oldest first."""
        ...

    def claim(self, posting: Posting, now: float) -> Posting | None:
        """Take the next attempt of a delivery; None where somebody else has it."""
        ...

    def settle(self, posting: Posting, problem: str, now: float) -> None:
        """Keep how an attempt ended that was claimed; an empty problem: it went well."""
        ...

    def tried(self, channel: str, problem: str, now: float) -> None:
        """Keep how a channel did; where it works, what waits for it is due at once."""
        ...


class Courier(Protocol):
    """Brings messages to channels."""

    async def send(self, channel: str, alert: Alert) -> str:
        """Send an alert to a channel now; empty where it was delivered, else why not."""
        ...
