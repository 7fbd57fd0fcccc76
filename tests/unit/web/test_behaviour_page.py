"""The page of behaviour and its API: groups of calls, what changed and why, two side by side."""

from dataclasses import replace
from pathlib import Path

import pytest

from bench.journals import Levels, Plan, day_of, write
from tests.replies import MODEL, REPLY
from tests.unit.web.test_models_page import OTHER, run_with
from tests.unit.web.test_overview import EVIL, begun, told
from tests.web_clients import Site, site
from twinsmith.cli.analyse import _report
from twinsmith.core.behaviour.figures import Wanted
from twinsmith.runs.analyse import Analysis

USUAL = Levels()
NEW = replace(USUAL, version="2024-11-20", seconds=5.0)
CAME = 14
PAGE = "/models/behaviour"
API = "/api/v1/analysis"


@pytest.fixture
def drifted(tmp_path: Path) -> Site:
    place = site(tmp_path)
    folder = place.settings.home / "journal"
    write(Plan(shape=lambda day: NEW if day >= CAME else USUAL, days=21, runs=8, folder=folder))
    return place


def test_before_the_first_run_the_page_teaches(tmp_path: Path) -> None:
    page = site(tmp_path).signed_in("ann", "viewer").get(PAGE).text
    assert "No model was asked yet" in page
    assert "Too few days and calls to tell" in page


def test_a_change_is_drawn_with_its_day_its_cause_and_its_runs(drifted: Site) -> None:
    page = drifted.signed_in("ann", "viewer").get(PAGE).text
    assert f"{day_of(CAME)}: seconds per call" in page
    assert "Likely cause: <b>model version</b>" in page
    assert '<line class="mark bad" x1="70.0%"' in page, "the fifteenth of twenty-one days"
    assert f'<a href="/runs/{day_of(CAME).replace("-", "")}-' in page
    assert "How well confidence held" in page


def test_the_page_the_api_and_its_data_tell_the_same(drifted: Site) -> None:
    browser = drifted.signed_in("ann", "viewer")
    key = drifted.key("bob", "viewer")
    asked = {"view": "roles", "by": "role,language", "since": day_of(3)}
    page = browser.get(f"{PAGE}.json", params=asked).json()
    api = drifted.client.get(
        f"{API}/roles", params={"by": "role,language", "since": day_of(3)}, headers=key
    ).json()
    assert page == api
    assert api["by"] == ["role", "language"]
    assert {tuple(row["key"]) for row in api["rows"]} >= {("coder", "go"), ("slow", "rust")}


def test_two_stand_side_by_side(tmp_path: Path) -> None:
    place = site(tmp_path)
    run_with(place, "r-1")
    run_with(place, "r-2", model=OTHER, right=False)
    browser, key = place.signed_in("ann", "viewer"), place.key("bob", "viewer")
    page = browser.get(PAGE, params={"a": MODEL, "b": OTHER}).text
    assert "As fast coder" in page
    pair = {"a": MODEL, "b": OTHER}
    both = place.client.get(f"{API}/models/compare", params=pair, headers=key).json()
    (coder,) = (each for each in both["pairs"] if each["role"] == "coder")
    assert (coder["a"]["work"]["right"], coder["b"]["work"]["right"]) == (1, 0)
    unknown = browser.get(PAGE, params={"a": "nobody", "b": OTHER})
    assert unknown.status_code == 200
    assert "told nothing that can be compared" in unknown.text
    refused = place.client.get(
        f"{API}/models/compare", params={"a": "nobody", "b": OTHER}, headers=key
    )
    assert refused.status_code == 400, refused.text
    assert "nobody" in refused.json()["detail"]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"view": "planets"}, "prompts"),
        ({"by": "model,colour"}, "colour"),
        ({"since": "soon"}, "is no day"),
    ],
)
def test_what_is_not_known_is_said_and_no_fault(
    tmp_path: Path, asked: dict[str, str], words: str
) -> None:
    place = site(tmp_path)
    answered = place.signed_in("ann", "viewer").get(PAGE, params=asked)
    assert answered.status_code == 400
    assert words in answered.text
    view = asked.get("view", "models")
    rest = {name: value for name, value in asked.items() if name != "view"}
    key = place.key("bob", "viewer")
    refused = place.client.get(f"{API}/{view}", params=rest, headers=key)
    assert refused.status_code in (400, 422)
    assert words in refused.text


def test_what_no_model_wrote_says_so_on_the_page_and_at_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = site(tmp_path)
    begun(place, "r-1")
    told(place, "r-1", "model.replied", REPLY)
    told(place, "r-1", "candidate.written", {"candidate": 900, "ensemble": 0, "shares": []})
    page = place.signed_in("ann", "viewer").get(PAGE).text
    assert page.count('<td class="nowrap">no model</td>') == 2
    _report(Analysis(place.book).report(Wanted(view="models", by=("role", "model"), since="")))
    lines = [line.split("  ") for line in capsys.readouterr().out.splitlines()]
    assert [line[0] for line in lines if "no model" in line] == ["-", "-"]


def test_names_from_the_journal_are_escaped(tmp_path: Path) -> None:
    place = site(tmp_path)
    begun(place, "r-1")
    told(place, "r-1", "model.replied", {**REPLY, "model": f"x:{EVIL}", "version": EVIL})
    page = place.signed_in("ann", "viewer").get(PAGE)
    assert page.status_code == 200
    assert "x:" in page.text
    assert EVIL not in page.text
