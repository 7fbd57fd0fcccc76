"""Alerts remembered for as long as the process lives, and a courier that only notes: the fakes."""

from collections.abc import Mapping
from dataclasses import replace

from twinsmith.core.masking import NOTHING_KNOWN, Masking
from twinsmith.core.operating.alert import (
    Alert,
    AlertPolicy,
    AlertRecord,
    ChannelHealth,
    Delivery,
    Posting,
    claimed,
    deliveries_of,
    fitted,
    is_due,
    is_held_back,
    rank,
    repeated,
    settled,
    tried,
)


class MemoryAlerts:
    """Alerts and their deliveries in dictionaries."""

    def __init__(self, policy: AlertPolicy, masking: Masking = NOTHING_KNOWN) -> None:
        self._policy = policy
        self._masking = masking
        self._alerts: dict[str, Alert] = {}
        self._within: dict[str, str] = {}
        self._latest: dict[tuple[str, str], Alert] = {}
        self._deliveries: dict[tuple[str, str], Delivery] = {}
        self._health: dict[str, ChannelHealth] = {}

    def tell(self, alert: Alert) -> bool:
        """Keep an alert, without secrets; False where one of its id is kept already."""
        if alert.id in self._alerts:
            return False
        kept = self._alerts[alert.id] = fitted(alert, self._masking.text)
        first = self._latest.get((kept.app, kept.key))
        if first is not None and self._is_same(first, kept):
            self._within[kept.id] = first.id
            self._deliveries |= {
                name: repeated(each) for name, each in self._deliveries.items() if first.id in name
            }
            return True
        self._latest[kept.app, kept.key] = kept
        for each in deliveries_of(kept, self._policy):
            self._deliveries[each.alert, each.channel] = each
        return True

    def listed(self, most: int) -> tuple[AlertRecord, ...]:
        """The latest alerts, newest first."""
        firsts = [each for each in self._alerts.values() if each.id not in self._within]
        ordered = sorted(firsts, key=lambda each: (each.at, each.id), reverse=True)
        return tuple(map(self._record, ordered[:most]))

    def channels(self) -> tuple[ChannelHealth, ...]:
        """Every channel that was ever used, by name."""
        return tuple(self._health[name] for name in sorted(self._health))

    def forget(self, before: float) -> None:
        """Forget alerts that were raised before a moment, whatever became of them."""
        old = {each.id for each in self._alerts.values() if each.at < before}
        self._alerts = {name: each for name, each in self._alerts.items() if name not in old}
        self._within = {name: to for name, to in self._within.items() if name not in old}
        self._deliveries = {
            name: each for name, each in self._deliveries.items() if each.alert not in old
        }

    def due(self, now: float) -> tuple[Posting, ...]:
        """The deliveries whose next attempt may begin, oldest first."""
        found = [
            Posting(alert=self._alerts[each.alert], delivery=each)
            for each in self._deliveries.values()
            if is_due(each, now)
        ]
        return tuple(sorted(found, key=lambda each: (each.alert.at, each.delivery.channel)))

    def claim(self, posting: Posting, now: float) -> Posting | None:
        """Take the next attempt of a delivery; None where somebody else has it."""
        name = posting.delivery.alert, posting.delivery.channel
        known = self._deliveries[name]
        if known.attempts != posting.delivery.attempts or not is_due(known, now):
            return None
        self._deliveries[name] = claimed(known, now)
        return replace(posting, delivery=self._deliveries[name])

    def settle(self, posting: Posting, problem: str, now: float) -> None:
        """Keep how an attempt ended that was claimed; an empty problem: it went well."""
        mine = posting.delivery
        known = self._deliveries[mine.alert, mine.channel]
        if (known.state, known.attempts) == ("sending", mine.attempts):
            after = settled(known, problem, now, told=mine.repeats)
            self._deliveries[mine.alert, mine.channel] = after
        self.tried(mine.channel, problem, now)

    def tried(self, channel: str, problem: str, now: float) -> None:
        """Keep how a channel did; where it works, what waits for it is due at once."""
        self._health[channel] = tried(self._health.get(channel), channel, problem, now)
        if problem:
            return
        for name, each in self._deliveries.items():
            if each.channel == channel and is_held_back(each):
                self._deliveries[name] = replace(each, next_try=min(each.next_try, now))

    def _is_same(self, first: Alert, again: Alert) -> bool:
        is_soon = again.at < first.at + self._policy.repeat_seconds
        return is_soon and rank(again.severity) <= rank(first.severity)

    def _record(self, alert: Alert) -> AlertRecord:
        return AlertRecord(
            alert=alert,
            repeats=list(self._within.values()).count(alert.id),
            deliveries=tuple(
                self._deliveries[name] for name in sorted(self._deliveries) if name[0] == alert.id
            ),
        )


class NotingCourier:
    """Notes what it is given to send; some channels are dead."""

    def __init__(self, dead: Mapping[str, str] | None = None) -> None:
        self.dead = dict(dead or {})
        """Why a channel takes nothing, by its name."""
        self.sent: list[tuple[str, Alert]] = []

    async def send(self, channel: str, alert: Alert) -> str:
        """Note an alert; why not, where the channel is dead."""
        if channel not in self.dead:
            self.sent.append((channel, alert))
        return self.dead.get(channel, "")
