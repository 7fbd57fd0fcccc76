"""What of an app ends soon or became known, and of what a person was told already."""

from dataclasses import replace

from tests.unit.core.test_remedy import SHOP
from twinsmith.adapters.packaging.advisories_canned import CannedAdvisories
from twinsmith.adapters.watching.memory import FixedAlmanac
from twinsmith.core.operating.alarm import Alarm
from twinsmith.core.operating.expiry import Dated, Place
from twinsmith.core.operating.incident import opened
from twinsmith.core.operating.locked import Pin
from twinsmith.core.operating.scan import Advisory
from twinsmith.core.operating.watch import DAY, Watch
from twinsmith.flow.operate.notice import AGAIN_SECONDS, Lookup, news, noticed

NOW = 1e9
FLASK = Pin(name="flask", version="3.0.0", lines=(), needed_by=frozenset())
WEAK = Advisory(name="PYSEC-1", fixed_in=("3.0.2",))
PLACES = (Place(where="/shop.pem"), Place(where="gone:443"))


async def looked(advisories: CannedAdvisories, now: float = NOW) -> tuple[list[Alarm], list[str]]:
    """The alarms about an app with a certificate, one that cannot be read, and an old base."""
    said: list[str] = []
    almanac = FixedAlmanac(
        {"/shop.pem": Dated(name="/shop.pem", until=NOW + 10 * DAY)},
        {"local": Dated(name="debian 12", until=NOW - 3 * DAY)},
    )
    lookup = Lookup(almanac=almanac, advisories=advisories, watch=Watch(), said=said.append)
    found = await noticed(SHOP, [FLASK], PLACES, lookup, now)
    return list(found), said


async def test_what_ends_or_became_known_is_an_alarm_and_what_cannot_be_known_is_said() -> None:
    found, said = await looked(CannedAdvisories({"flask": (WEAK,)}))
    assert [(each.kind, each.app, each.release) for each in found] == [
        ("certificate", SHOP.name, SHOP.serving),
        ("end of life", SHOP.name, SHOP.serving),
        ("advisory", SHOP.name, SHOP.serving),
    ]
    assert found[2].evidence == "flask==3.0.0: PYSEC-1; fixed in 3.0.2"
    assert said == ["the certificate of gone:443 cannot be read: nobody knows it"]


async def test_who_cannot_be_asked_about_packages_is_said() -> None:
    found, said = await looked(CannedAdvisories(unasked="no network"))
    assert [each.kind for each in found] == ["certificate", "end of life"]
    assert said[-1] == f"{SHOP.name}: weaknesses of 1 of its packages are not known: no network"


async def test_a_person_is_told_again_after_a_week_and_at_once_of_what_is_new_or_worse() -> None:
    found, _ = await looked(CannedAdvisories({"flask": (WEAK,)}))
    known = [opened(str(number), each) for number, each in enumerate(found)]
    later, _ = await looked(CannedAdvisories({"flask": (WEAK,)}), NOW + 2 * DAY)
    assert news(later, known) == ()
    worse, _ = await looked(CannedAdvisories({"flask": (WEAK,)}), NOW + AGAIN_SECONDS - 1)
    assert news(worse, known) == ()
    severe, _ = await looked(
        CannedAdvisories({"flask": (WEAK, replace(WEAK, name="PYSEC-2"))}), NOW + 9 * DAY
    )
    assert [each.kind for each in news(severe, known)] == ["certificate", "end of life", "advisory"]
    fresh, _ = await looked(CannedAdvisories({"flask": (WEAK, replace(WEAK, name="X"))}), NOW + 1)
    assert [each.kind for each in news(fresh, known)] == ["advisory"]
