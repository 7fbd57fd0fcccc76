"""Incidents: the list, the drawing of healing, what was seen and tried, and closing by a person."""

import time
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.troubled import ASKS, ESCAPED, HOSTILE, INCIDENT, alarm, iso, reading, troubled
from tests.web_clients import BASE, Site, csrf_in, site
from twinsmith.core.operating.incident import moved, opened
from twinsmith.core.people.approval import ApprovalRequest, Decision, Dossier
from twinsmith.runs.health import found_incident
from twinsmith.web.machine import HEIGHT, MEANING, STAGES, USUAL, WIDTH, machine
from twinsmith.wiring.delivering import approvals_of
from twinsmith.wiring.watching import incidents_of, readings_of

NOW = time.time()
ASKED = ApprovalRequest(
    id=f"{ASKS}.a1",
    run=ASKS,
    app="cart",
    by="user:ann",
    dossier=Dossier(what=f"hand over cart {HOSTILE}", occasions=("escalation",)),
    asked=iso(NOW - 290),
    until=iso(NOW + 9000),
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A server with an incident that waits for a person."""
    made = site(tmp_path_factory.mktemp("site"))
    troubled(made, NOW)
    approvals_of(made.settings).put(ASKED)
    return made


@pytest.fixture(scope="module")
def operator(place: Site) -> TestClient:
    return place.signed_in("olga", "operator")


def test_every_stage_is_drawn_and_means_something() -> None:
    drawn = machine(["seen"])
    assert [box.stage for box in drawn.boxes] == list(STAGES)
    assert set(MEANING) == set(STAGES)
    for box in drawn.boxes:
        assert box.x >= 0
        assert box.right <= WIDTH
        assert box.y + drawn.tall <= HEIGHT
    boxes = [(box.x, box.y) for box in drawn.boxes]
    assert len(set(boxes)) == len(boxes)
    assert len(drawn.ways) == len(USUAL)
    assert not any(way.lit for way in drawn.ways)


def test_the_way_that_an_incident_went_is_lit_and_told_by_shape_and_word() -> None:
    drawn = machine(["seen", "restarted", "restarted", "rolling back", "fixing", "escalated"])
    told = {box.stage: box.text for box in drawn.boxes}
    assert told["seen"] == "✓ seen"
    assert told["restarted"] == "✓ restarted \N{MULTIPLICATION SIGN}2"
    assert told["proving"] == "○ proving"
    assert told["escalated"] == "▲ escalated"
    assert sum(way.lit for way in drawn.ways) == 5
    assert drawn.ways[-1].lit, "what was gone lies over what was not"
    assert [box.stage for box in drawn.boxes if box.here] == ["escalated"]


def test_a_way_that_is_not_usual_is_drawn_where_it_was_gone() -> None:
    drawn = machine(["seen", "rolling back", "closed"])
    assert len(drawn.ways) == len(USUAL) + 1
    for path in (["fixing", "seen"], ["escalated", "escalated"], ["escalated", "seen"]):
        assert machine(path).ways[-1].line.startswith("M")  # type: ignore[arg-type]


def test_the_list_holds_what_is_not_over_or_all_there_ever_was(operator: TestClient) -> None:
    page = operator.get("/incidents").text
    assert f'href="/incidents/{INCIDENT}"' in page
    assert "20261118-080000-0001" not in page
    every = operator.get("/incidents?all=1").text
    assert "20261118-080000-0001" in every
    assert every.index(INCIDENT) < every.index("20261118-080000-0001")
    old = operator.get("/incidents?all=1&app=old").text
    assert INCIDENT not in old
    assert "No incident is like that" in operator.get("/incidents?app=nothing").text
    assert [each["id"] for each in operator.get("/incidents.json").json()["items"]] == [INCIDENT]


def test_a_list_without_incidents_teaches(tmp_path: Path) -> None:
    browser = site(tmp_path).signed_in("ann", "viewer")
    assert "twinsmith monitor" in browser.get("/incidents").text
    assert "There never was an incident" in browser.get("/incidents?all=1").text


def test_long_lists_go_on_at_a_cursor(tmp_path: Path) -> None:
    place = site(tmp_path)
    for number in range(60):
        begun = opened(f"20261118-0000{number:02}-aaaa", alarm(NOW - 9000 + number))
        incidents_of(place.settings).save(moved(begun, "closed", "well", NOW))
    browser = place.signed_in("ann", "viewer")
    first = browser.get("/incidents.json?all=1").json()
    rest = browser.get(f"/incidents.json?all=1&cursor={first['next']}").json()
    names = [each["id"] for each in (*first["items"], *rest["items"])]
    assert names == sorted(names, reverse=True)
    assert len(names) == 60
    assert "Older incidents" in browser.get("/incidents?all=1").text


def test_an_incident_tells_all_of_it_and_nothing_of_it_is_markup(operator: TestClient) -> None:
    answer = operator.get(f"/incidents/{INCIDENT}")
    page = answer.text
    assert answer.status_code == 200
    assert HOSTILE not in page
    assert " style=" not in page
    assert page.count(ESCAPED) >= 6, "evidence, a request, a line of the log, a cause, a reason"
    for words in (
        "<title>Stages of healing: seen, passed;",
        "escalated, present",
        "proving, not reached",
        "rollback cart to 1: hang",
        "1,200 bytes behind",
        "2 of at most 3",
        "no fix",
        "● under way",
    ):
        assert words in page, words
    assert f'href="/runs/{ASKS}"' in page
    assert 'href="/runs/20261118-091500-f1f1"' in page
    assert 'href="/apps/cart?diff=3#diff"' in page
    assert "Readings around it" in page
    assert page.count("<polyline") >= 7
    told = operator.get(f"/incidents/{INCIDENT}.json").json()
    assert told["path"][-1] == "escalated"
    assert told["incident"]["id"] == INCIDENT


def test_an_incident_is_found_by_the_end_of_its_name(operator: TestClient) -> None:
    assert operator.get("/incidents/77c1").status_code == 200
    assert operator.get("/incidents/nothing").status_code == 404


def test_what_waits_for_a_person_leads_to_where_it_is_decided(
    place: Site, operator: TestClient
) -> None:
    page = operator.get(f"/incidents/{INCIDENT}").text
    assert "It waits for a person" in page
    assert f'href="/approvals/{ASKED.id}"' in page
    said = Decision(said="reject", by="user:ben", at=iso(NOW), note=f"mine {HOSTILE}")
    assert approvals_of(place.settings).decide(ASKED.id, said)
    page = operator.get(f"/incidents/{INCIDENT}").text
    assert "It waits for a person" not in page
    assert "It is left to a person" in page
    assert f"mine {ESCAPED}" in page


def test_readings_around_an_old_incident_may_be_gone(tmp_path: Path) -> None:
    place = site(tmp_path)
    old = opened("20250101-000000-0000", alarm(NOW - 99 * 86_400))
    incidents_of(place.settings).save(moved(old, "closed", "well", NOW - 98 * 86_400))
    readings_of(place.settings).add([reading(NOW)])
    page = place.signed_in("ann", "viewer").get("/incidents/0000").text
    assert "its readings are gone" in page
    assert "data-live" not in page, "nothing of it changes any more"


def test_a_person_closes_an_incident_with_a_note(tmp_path: Path) -> None:
    place = site(tmp_path)
    begun = replace(opened(INCIDENT, alarm(NOW - 60)), app="cart")
    incidents_of(place.settings).save(begun)
    address = f"/incidents/{INCIDENT}"
    assert f'action="{address}/close"' not in place.signed_in("vera", "viewer").get(address).text
    browser = place.signed_in("olga", "operator")
    token = csrf_in(browser.get(address))

    def closed(note: str) -> str:
        form = {"csrf": token, "reason": note}
        came = {"referer": f"{BASE}{address}"}
        return browser.post(f"{address}/close", data=form, headers=came).text

    assert "Not done: say what was done about it" in closed(" ")
    assert found_incident(place.book, INCIDENT).stage == "seen"
    assert "is closed: olga: config" in closed(f"config {HOSTILE}")
    assert found_incident(place.book, INCIDENT).stage == "closed"
    assert "closed already" in closed("again")
    page = browser.get(address).text
    assert HOSTILE not in page
    assert f'action="{address}/close"' not in page
