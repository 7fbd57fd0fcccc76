"""What of the alarms a person is told, and alarms by dates and lists."""

from dataclasses import replace

import pytest

from twinsmith.core.operating.alarm import Alarm
from twinsmith.core.operating.damping import Episode, Maintenance, audible, begun, episodes
from twinsmith.core.operating.expiry import (
    Moment,
    Place,
    advisory,
    certificate,
    distribution,
    end_of_life,
    place_in,
)
from twinsmith.core.operating.watch import DAY, Watch

WATCH = Watch(quiet=300)
NOW = Moment(app="shop", release=3, at=1e9)


def alarm(at: float, **changed: object) -> Alarm:
    plain = Alarm(
        app="shop", release=3, kind="errors", at=at, delay=2, evidence="30% fail", confidence=0.9
    )
    return replace(plain, **changed)  # type: ignore[arg-type]


def test_an_alarm_that_comes_and_goes_is_one() -> None:
    known: tuple[Episode, ...] = ()
    told: list[Alarm] = []
    for at in range(0, 1000, 10):
        after = episodes(known, [alarm(at)] if at % 40 < 20 else [], at, WATCH)
        told += begun(known, after)
        known = after
    assert told == [alarm(0)]
    assert known[0].comings == 25
    assert known[0].flaps
    assert known[0].latest.at == 970


def test_an_alarm_is_over_after_quiet() -> None:
    known = episodes((), [alarm(0)], 0, WATCH)
    assert known == (Episode(first=alarm(0), latest=alarm(0)),)
    assert not known[0].flaps
    paused = episodes(known, [], 299, WATCH)
    assert paused == (replace(known[0], present=False),)
    assert episodes(paused, [], 300, WATCH) == ()
    assert begun((), episodes((), [alarm(400)], 400, WATCH)) == (alarm(400),)


def test_an_alarm_that_stays_is_not_told_again_though_the_clock_jumps() -> None:
    known = episodes((), [alarm(0)], 0, WATCH)
    for at in (1e6, -1e6):
        after = episodes(known, [alarm(at)], at, WATCH)
        assert begun(known, after) == ()
        assert after[0].comings == 1


@pytest.mark.parametrize(
    "other", [alarm(1, kind="crash"), alarm(1, app="cart"), alarm(1, release=4)]
)
def test_another_alarm_is_news(other: Alarm) -> None:
    known = episodes((), [alarm(0)], 0, WATCH)
    after = episodes(known, [alarm(1), other], 1, WATCH)
    assert begun(known, after) == (other,)


@pytest.mark.parametrize(
    ("maintenance", "silent"),
    [
        (Maintenance(since=0, until=100), True),
        (Maintenance(since=0, until=100, app="shop"), True),
        (Maintenance(since=0, until=100, app="cart"), False),
        (Maintenance(since=0, until=100, kinds=frozenset({"errors"})), True),
        (Maintenance(since=0, until=100, kinds=frozenset({"crash"})), False),
        (Maintenance(since=0, until=50), False),
        (Maintenance(since=51, until=100), False),
    ],
)
def test_maintenance_silences(maintenance: Maintenance, *, silent: bool) -> None:
    assert audible([alarm(50)], [maintenance]) == (() if silent else (alarm(50),))
    assert audible([alarm(50)], []) == (alarm(50),)


@pytest.mark.parametrize(
    ("days", "severity", "said"),
    [
        (20, None, ""),
        (10, "warning", "the certificate of shop.test is over in 10.0 days"),
        (1, "critical", "the certificate of shop.test is over in 1.0 days"),
        (-3, "critical", "the certificate of shop.test is over since 3.0 days"),
    ],
)
def test_certificates_end(days: float, severity: str | None, said: str) -> None:
    told = certificate(NOW, "shop.test", NOW.at + days * DAY, WATCH)
    assert (told and (told.severity, told.evidence, told.seconds_left)) == (
        severity and (severity, said, max(0, days * DAY))
    )


def test_ends_of_life() -> None:
    assert end_of_life(NOW, "python 3.11", NOW.at + 91 * DAY, WATCH) is None
    soon = end_of_life(NOW, "python 3.11", NOW.at + 30 * DAY, WATCH)
    late = end_of_life(NOW, "python 3.11", NOW.at - 30 * DAY, WATCH)
    assert soon is not None
    assert late is not None
    assert (soon.kind, soon.severity) == ("end of life", "warning")
    assert soon.evidence == "python 3.11 is mended for 30 more days"
    assert late.evidence == "python 3.11 is mended no longer since 30 days"
    assert late.seconds_left == 0


def test_advisories() -> None:
    assert advisory(NOW, "flask==3.0.0", ()) is None
    told = advisory(NOW, "flask==3.0.0", ("PYSEC-1", "CVE-2"), "3.1.3")
    assert told is not None
    assert told.evidence == "flask==3.0.0: PYSEC-1, CVE-2; fixed in 3.1.3"
    assert (told.kind, told.app, told.release, told.at) == ("advisory", "shop", 3, 1e9)
    bare = advisory(NOW, "flask==3.0.0", ("PYSEC-1",))
    assert bare is not None
    assert bare.evidence.endswith("no fixed version is known")


def test_places_of_certificates_are_read() -> None:
    assert place_in(" shop  /etc/ssl/shop.pem ") == Place(where="/etc/ssl/shop.pem", app="shop")
    assert place_in("shop.example.org:443") == Place(where="shop.example.org:443")
    for wrong in ("shop.pem", "shop", "a b /c", "https://shop.example.org", "host:", "/a b"):
        with pytest.raises(ValueError, match="is no place of a certificate"):
            place_in(wrong)


def test_only_distributions_whose_end_is_known_have_one() -> None:
    known = distribution("ID=ubuntu\nVERSION_ID='24.04'")
    assert known is not None
    assert known.name == "ubuntu 24.04"
    assert distribution("ID=arch") is None
    assert distribution("nonsense") is None
