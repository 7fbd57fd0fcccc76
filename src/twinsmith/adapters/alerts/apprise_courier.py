"""Messages to Slack, PagerDuty, mail, webhooks and a hundred more, by way of Apprise.

The address of a channel holds its secrets. It is given to Apprise and to nobody else: what Apprise
logs is kept from every log, and why it failed is masked.
"""

import asyncio
import logging
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING
from urllib.parse import unquote

from twinsmith.core.operating.alarm import Severity
from twinsmith.core.operating.alert import MOST_PROBLEM, Alert
from twinsmith.core.sensitive.places import MASK

if TYPE_CHECKING:
    from apprise import Apprise, AppriseResult

SECONDS = 20.0
"""The time for one message; a claim on its delivery lasts three times as long."""
_BETWEEN = re.compile(r"[/:@?&=#,\s]+")
_SHORTEST_WORD = 4
_TYPES: dict[Severity, str] = {"info": "info", "warning": "warning", "critical": "failure"}


class AppriseCourier:
    """Sends alerts to channels whose addresses are in the environment."""

    def __init__(
        self,
        addresses: Mapping[str, str],
        mask: Callable[[str], str],
        *,
        seconds: float = SECONDS,
    ) -> None:
        self._addresses = addresses
        self._mask = mask
        self._seconds = seconds

    async def send(self, channel: str, alert: Alert) -> str:
        """Send an alert to a channel now; empty where it was delivered, else why not."""
        return await asyncio.to_thread(self._sent, channel, alert)

    def lacks(self, channel: str) -> str:
        """What a channel lacks before anything can be sent; empty where it is ready."""
        service = self._service(channel)
        return service if isinstance(service, str) else ""

    def _sent(self, channel: str, alert: Alert) -> str:
        service = self._service(channel)
        if isinstance(service, str):
            return service
        title = f"[{alert.severity}] {f'{alert.app}: ' if alert.app else ''}{alert.title}"
        result = service.notify(
            title=title,
            body=alert.text or alert.title,
            notify_type=_TYPES[alert.severity],
            body_format="text",
            timeout=self._seconds,
        )
        # An address may call itself optional: Apprise takes its failure for a success.
        taken = result and all(each.attempts and each.attempts[-1] for each in result)
        return "" if taken else self._reason(result, self._addresses[channel])

    def _service(self, channel: str) -> "Apprise | str":
        """What sends to a channel, or why nothing can."""
        variable = f"TWINSMITH_ALERT_{channel.upper()}"
        address = self._addresses.get(channel, "")
        if not address:
            return f"no address in {variable}"
        from apprise import Apprise, AppriseAsset

        # Both write whole addresses to whoever looks closely enough.
        for name in ("apprise", "urllib3.connectionpool"):
            logging.getLogger(name).setLevel(logging.WARNING)
        logging.getLogger("apprise").propagate = False
        asset = AppriseAsset(storage_mode="memory", service_timeout=self._seconds)
        service = Apprise(asset=asset)
        if not service.add(address):
            return f"the address in {variable} is none that Apprise knows"
        if len(service) != 1:
            return f"{variable} holds {len(service)} addresses; name a channel for each"
        for each in service:
            # An address may ask for more patience than there is: the process could not end.
            each.socket_read_timeout = min(each.socket_read_timeout, self._seconds)
            each.socket_connect_timeout = min(each.socket_connect_timeout, self._seconds)
        return service

    def _reason(self, result: "AppriseResult", address: str) -> str:
        """What Apprise said last, without any word of the address."""
        said = [entry.message for each in result for entry in each.logs()]
        told = " ".join(" ".join(said[-1:]).split()) or "it was not taken"
        _scheme, *words = _BETWEEN.split(address)
        for word in sorted({*words, *map(unquote, words)}, key=len, reverse=True):
            if len(word) >= _SHORTEST_WORD:
                told = told.replace(word, MASK)
        return self._mask(told)[:MOST_PROBLEM]
