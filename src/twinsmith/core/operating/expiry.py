"""Alarms by dates and lists, without readings: certificates, ends of life, known weaknesses."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from twinsmith.core.operating.alarm import Alarm, AlarmKind, Severity
from twinsmith.core.operating.watch import DAY, Watch

ENDS: Mapping[str, str] = {
    "debian 11": "2026-08-31",
    "debian 12": "2028-06-30",
    "debian 13": "2030-06-30",
    "ubuntu 22.04": "2027-04-30",
    "ubuntu 24.04": "2029-04-30",
}
"""The last day on which a distribution is mended for everybody, as its makers announced it."""
_PLACE = re.compile(r"(?:(?P<app>[a-z][a-z0-9-]{0,29}) )?(?P<where>/\S+|[\w.-]+:\d{1,5})", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a certificate is found: a file, or an address that is asked for it."""

    where: str
    app: str = ""
    """The app it belongs to; empty: whichever app is looked at first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dated:
    """Something that holds until a moment."""

    name: str
    until: float
    """Seconds since 1970."""
    app: str = ""
    """The app it belongs to; empty: all of them."""


def place_in(text: str) -> Place:
    """The place that a setting means; ValueError says how one is written."""
    found = _PLACE.fullmatch(" ".join(text.split()))
    if found is None:
        raise ValueError(
            f"{text!r} is no place of a certificate; such as '/etc/ssl/shop.pem', "
            "'shop.example.org:443' or 'shop /etc/ssl/shop.pem'"
        )
    return Place(where=found["where"], app=found["app"] or "")


def distribution(release: str) -> Dated | None:
    """The distribution that a file such as /etc/os-release tells; None where no end is known."""
    told = dict(line.split("=", 1) for line in release.splitlines() if "=" in line)
    name = " ".join(told.get(key, "").strip("\"' ") for key in ("ID", "VERSION_ID"))
    if name not in ENDS:
        return None
    day = datetime.fromisoformat(ENDS[name]).replace(tzinfo=UTC)
    return Dated(name=name, until=day.timestamp() + DAY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A release of an app at one moment."""

    app: str
    release: int
    at: float
    """Seconds since 1970."""

    def alarm(self, kind: AlarmKind, evidence: str, severity: Severity) -> Alarm:
        """An alarm about a fact: known at once, and sure."""
        return Alarm(
            app=self.app,
            release=self.release,
            kind=kind,
            at=self.at,
            delay=0.0,
            evidence=evidence,
            confidence=1.0,
            severity=severity,
        )


def certificate(now: Moment, name: str, not_after: float, watch: Watch) -> Alarm | None:
    """A certificate that is over soon, or is over; `not_after` in seconds since 1970."""
    days = (not_after - now.at) / DAY
    if days > watch.certificate_days:
        return None
    severity: Severity = "critical" if days <= watch.certificate_severe_days else "warning"
    said = f"is over in {days:.1f} days" if days > 0 else f"is over since {-days:.1f} days"
    return _left(now.alarm("certificate", f"the certificate of {name} {said}", severity), days)


def end_of_life(now: Moment, name: str, ends: float, watch: Watch) -> Alarm | None:
    """A dependency or base that is no longer mended soon, or is not any more."""
    days = (ends - now.at) / DAY
    if days > watch.end_of_life_days:
        return None
    said = f"for {days:.0f} more days" if days > 0 else f"no longer since {-days:.0f} days"
    return _left(now.alarm("end of life", f"{name} is mended {said}", "warning"), days)


def advisory(now: Moment, package: str, known: Sequence[str], fixed_in: str = "") -> Alarm | None:
    """Weaknesses of a package that became known, by their identifiers."""
    if not known:
        return None
    mended = f"; fixed in {fixed_in}" if fixed_in else "; no fixed version is known"
    return now.alarm("advisory", f"{package}: {', '.join(known)}{mended}", "warning")


def _left(alarm: Alarm, days: float) -> Alarm:
    return replace(alarm, seconds_left=max(0.0, days * DAY))
