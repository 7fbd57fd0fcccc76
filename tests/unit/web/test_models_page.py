"""The pages of models: routes, use, behaviour from day to day, two of them side by side."""

from pathlib import Path

import pytest

from tests.unit.core.test_behaviour import CODER, REPLY, reply
from tests.unit.web.test_overview import EVIL, begun, told
from tests.web_clients import Site, site
from twinsmith.core.behaviour import Conduct, after
from twinsmith.core.errors import ConfigError
from twinsmith.core.events import Json
from twinsmith.runs.behaviour import MOST_RUNS, Behaviour
from twinsmith.runs.glance import Glance
from twinsmith.web.console.models import compared, drifts, subjects

OTHER = "google:gemini-2.5-flash"


def run_with(place: Site, run: str, *, model: str = CODER.model, right: bool = True) -> None:
    """A run in which a model wrote one candidate, and ended."""
    begun(place, run, "double a number")
    told(place, run, "model.replied", {**REPLY, "model": model})
    written: dict[str, Json] = {
        "candidate": 1,
        "ensemble": 1,
        "shares": [{"ensemble": 1, "nth": 0}],
    }
    told(place, run, "candidate.written", written)
    judged: dict[str, Json] = {
        "columns": [1],
        "cells": {"1": "p" if right else "f"},
        "verdicts": {"1": [1, 1]},
        "checks": [{"number": 1, "name": "c", "text": "f(1)", "given": True}],
        "winner": 1,
    }
    told(place, run, "candidates.judged", judged)
    state = "solved" if right else "not solved"
    told(place, run, "run.ended", {"state": state, "winner": 1 if right else None})


def test_before_the_first_run_the_page_teaches(tmp_path: Path) -> None:
    page = site(tmp_path).signed_in("ann", "viewer").get("/models").text
    assert "No model was asked yet" in page
    assert "Ensemble 1" in page
    assert "slow thinker" in page


def test_routes_use_and_behaviour_are_told(tmp_path: Path) -> None:
    place = site(tmp_path)
    run_with(place, "r-1")
    run_with(place, "r-2", model=OTHER, right=False)
    browser = place.signed_in("ann", "viewer")
    page = browser.get("/models").text
    assert CODER.model in page
    assert "1 of 1" in page
    assert "0 of 1" in page
    data = browser.get("/models.json").json()
    assert {(each["ensemble"], each["role"]) for each in data["routes"]} >= {(1, "slow")}
    assert [each["use"]["calls"] for each in data["use"]] == [1, 1]
    fates = {each["seat"]["model"]: each["fates"] for each in data["behaviour"]}
    assert (fates[CODER.model]["right"], fates[CODER.model]["won"]) == (1, 1)
    assert (fates[OTHER]["judged"], fates[OTHER]["right"], fates[OTHER]["won"]) == (1, 0, 0)


def test_two_models_stand_side_by_side(tmp_path: Path) -> None:
    place = site(tmp_path)
    run_with(place, "r-1")
    run_with(place, "r-2", model=OTHER, right=False)
    browser = place.signed_in("ann", "viewer")
    page = browser.get("/models/compare", params={"a": CODER.model, "b": OTHER}).text
    assert "As fast coder" in page
    assert "candidates right" in page
    unknown = browser.get("/models/compare", params={"a": EVIL, "b": OTHER}).text
    assert EVIL not in unknown
    assert "has not answered" in unknown
    assert "Choose two" in browser.get("/models/compare").text


def test_names_from_the_journal_are_escaped_everywhere(tmp_path: Path) -> None:
    place = site(tmp_path)
    run_with(place, "r-1", model=f"x:{EVIL}")
    told(place, "r-1", "model.replied", {**REPLY, "role": EVIL, "version": EVIL})
    browser = place.signed_in("ann", "viewer")
    for address in ("/models", f"/models/compare?a=x:{EVIL}&b={CODER.model}"):
        page = browser.get(address)
        assert page.status_code == 200
        assert EVIL not in page.text


def test_settings_that_cannot_be_routed_are_a_line_and_not_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_settings: object) -> None:
        raise ConfigError("ensemble_1.slow 'x' is not a model")

    monkeypatch.setattr("twinsmith.wiring.models.offer", refuse)
    page = site(tmp_path).signed_in("ann", "viewer").get("/models")
    assert page.status_code == 200
    assert "is not a model" in page.text


def test_a_run_that_goes_on_is_read_on_and_one_that_ended_is_not_read_again(
    tmp_path: Path,
) -> None:
    place = site(tmp_path)
    begun(place, "r-1")
    told(place, "r-1", "model.replied", REPLY)
    behaviour = Behaviour(place.book, Glance(place.book))
    assert behaviour.of("r-1").seats()[CODER].answered == 1
    assert behaviour.of("r-1").fates == {}
    told(place, "r-1", "model.replied", REPLY)
    told(place, "r-1", "run.ended", {"state": "solved"})
    assert behaviour.of("r-1").seats()[CODER].answered == 2
    assert behaviour.of("r-1").fates[CODER].solved == 1
    assert behaviour.all() == behaviour.of("r-1")
    assert MOST_RUNS >= 100


def test_what_can_be_compared_are_models_and_versions_where_there_are_several() -> None:
    conduct = after(Conduct(), [reply()])
    assert subjects(conduct) == (CODER.model,)
    later = after(conduct, [reply(version="2025-01-01")])
    assert subjects(later) == (
        CODER.model,
        f"{CODER.model} {CODER.version}",
        f"{CODER.model} 2025-01-01",
    )


def test_only_roles_that_both_played_have_figures() -> None:
    conduct = after(Conduct(), [reply(), reply(model=OTHER), reply(role="slow")])
    roles = {each.role: each for each in compared(conduct, CODER.model, OTHER)}
    assert roles["slow"].only == CODER.model
    assert roles["slow"].figures == ()
    figures = {name: (one, other) for name, one, other, _ in roles["coder"].figures}
    assert figures["seconds per call"] == (2.0, 2.0)
    assert "runs solved" not in figures, "no run has ended"


def test_days_without_calls_are_gaps_on_one_axis_and_new_versions_are_marked() -> None:
    conduct = after(
        Conduct(),
        [
            reply(at="2026-11-10T00:00:00+00:00"),
            reply(at="2026-11-14T00:00:00+00:00", version="2025-01-01", seconds=4.0),
            reply(at="2026-11-12T00:00:00+00:00", model=OTHER),
        ],
    )
    busiest, other = drifts(conduct)
    assert busiest.model == CODER.model
    assert busiest.pace is not None
    assert (busiest.pace.last, busiest.pace.most) == (4.0, 4.0)
    assert busiest.marks == (("2025-01-01", 100.0),)
    assert list(busiest.days) == ["2026-11-10", "2026-11-14"]
    assert other.marks == ()
    assert other.pace is not None
    assert other.pace.lines[0].startswith("500,"), "the third of five days"


def test_nothing_and_models_that_never_answered_by_themselves_have_no_curve() -> None:
    assert drifts(Conduct()) == ()
    assert drifts(after(Conduct(), [reply(cached=True)])) == ()
