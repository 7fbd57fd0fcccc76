"""The moments of an app: what becomes a mark of its charts, and what is one already."""

from tests.troubled import alarm, incident, iso, release
from twinsmith.core.operating.action import Queued
from twinsmith.core.operating.incident import Incident, Step, joined, moved, opened, path
from twinsmith.core.operating.moments import moments

NOW = 1_795_000_000.0


def test_moments_are_told_in_their_order_and_only_those_of_the_span() -> None:
    known = [release(1, "replaced", NOW - 9000), release(4, "refused", NOW - 100)]
    found = moments(known, [incident(NOW)], [], since=NOW - 600, until=NOW)
    assert [each.at for each in found] == sorted(each.at for each in found)
    kinds = [each.kind for each in found]
    assert kinds == ["alarm", "deed", "deed", "deed", "deed", "deed", "release"]
    assert found[-1].text.startswith("release 4 begun by ann: refused: ")
    assert found[0].incident == incident(NOW).id


def test_what_healing_did_is_not_told_twice_and_what_a_person_did_is() -> None:
    told = incident(NOW)

    def action(run: str, at: float) -> Queued:
        return Queued(run=run, app="cart", kind="rollback", state="done", by="user:ann", at=iso(at))

    deeds = [action("healed", NOW - 449), action("asked", NOW - 50)]
    found = moments([], [told], deeds, since=0.0, until=NOW)
    assert [each.run for each in found if each.run] == ["asked"]
    assert found[-1].text == "rollback cart by ann (done)"


def test_the_end_of_an_incident_is_good() -> None:
    closed = moved(opened("i-1", alarm(NOW - 60)), "closed", "well again", NOW - 10)
    found = moments([], [closed], [], since=0.0, until=NOW)
    assert [each.kind for each in found] == ["alarm", "good"]


def test_the_path_of_an_incident_is_what_its_steps_led_to() -> None:
    told = incident(NOW)
    way = ("seen", "restarted", "rolling back", "fixing", "fixing", "escalated")
    assert path(told) == way
    # A further alarm leads nowhere.
    assert path(joined(told, alarm(NOW, "hang"))) == way
    assert path(opened("i-1", alarm(NOW))) == ("seen",)


def test_an_incident_that_was_kept_without_stages_has_a_beginning_and_an_end() -> None:
    kept = Incident(
        id="i-1",
        app="cart",
        release=2,
        kind="hang",
        opened=1.0,
        changed=2.0,
        stage="closed",
        steps=(Step(at=1.0, did="hang"), Step(at=2.0, did="over")),
    )
    assert path(kept) == ("seen", "closed")
