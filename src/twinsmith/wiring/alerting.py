"""From settings to what alerts need: the policy, the table, the courier."""

from typing import TYPE_CHECKING

from twinsmith.settings import Settings
from twinsmith.wiring.shared import shared_url

if TYPE_CHECKING:
    from twinsmith.adapters.alerts.apprise_courier import AppriseCourier
    from twinsmith.adapters.alerts.table import AlertTable
    from twinsmith.core.operating.alert import AlertPolicy


def alert_policy_of(settings: Settings) -> "AlertPolicy":
    """The channels, the quiet hours and the patience with what repeats."""
    from twinsmith.core.operating.alert import AlertPolicy, channel_in, quiet_in

    given = settings.values.alerts
    return AlertPolicy(
        channels=tuple(map(channel_in, given.channels)),
        quiet=quiet_in(given.quiet),
        repeat_seconds=given.repeat_seconds,
    )


def alerts_of(settings: Settings) -> "AlertTable":
    """The alerts of the database that all share."""
    from twinsmith.adapters.alerts.table import AlertTable

    return AlertTable(shared_url(settings), alert_policy_of(settings), settings.masking)


def courier_of(settings: Settings) -> "AppriseCourier":
    """What brings alerts to their channels."""
    from twinsmith.adapters.alerts.apprise_courier import AppriseCourier

    return AppriseCourier(settings.alert_addresses, settings.masking.text)
