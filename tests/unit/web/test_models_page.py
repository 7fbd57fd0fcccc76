"""The pages of models: routes, use, behaviour from day to day, two of them side by side."""

from pathlib import Path

import pytest

from tests.replies import MODEL, REPLY, VERSION
from tests.unit.web.test_overview import EVIL, begun, told
from tests.web_clients import Site, site
from twinsmith.core.behaviour.figures import Calls, Part, Read, Row, Spread
from twinsmith.core.behaviour.report import Comparison, Pair
from twinsmith.core.errors import ConfigError
from twinsmith.core.events import Json
from twinsmith.runs.analyse import Analysis
from twinsmith.web.console.models import compared, courses

OTHER = "google:gemini-2.5-flash"


def run_with(place: Site, run: str, *, model: str = MODEL, right: bool = True) -> None:
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
    assert MODEL in page
    assert "1 of 1" in page
    assert "0 of 1" in page
    data = browser.get("/models.json").json()
    assert {(each["ensemble"], each["role"]) for each in data["routes"]} >= {(1, "slow")}
    assert [each["calls"]["answered"] for each in data["use"]] == [1, 1]
    works = {each["key"][0]: each["work"] for each in data["behaviour"]}
    assert (works[MODEL]["right"], works[MODEL]["won"]) == (1, 1)
    assert (works[OTHER]["tested"], works[OTHER]["right"], works[OTHER]["won"]) == (1, 0, 0)


def test_everything_about_models_is_one_click_away(tmp_path: Path) -> None:
    browser = site(tmp_path).signed_in("ann", "viewer")
    page = browser.get("/models").text
    ways = ("/models/behaviour", "/models/versions", "/experiments", "/costs", "/telemetry")
    for way in ways:
        assert f'<a href="{way}">' in page
        assert browser.get(way).status_code == 200


def test_two_models_stand_side_by_side(tmp_path: Path) -> None:
    place = site(tmp_path)
    run_with(place, "r-1")
    run_with(place, "r-2", model=OTHER, right=False)
    browser = place.signed_in("ann", "viewer")
    page = browser.get("/models/compare", params={"a": MODEL, "b": OTHER}).text
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
    for address in ("/models", f"/models/compare?a=x:{EVIL}&b={MODEL}"):
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


def test_a_run_that_goes_on_is_read_on(tmp_path: Path) -> None:
    place = site(tmp_path)
    begun(place, "r-1")
    told(place, "r-1", "model.replied", REPLY)
    analysis = Analysis(place.book)
    (row,) = analysis.rows(("model",))
    assert (row.key, row.calls.answered, row.part.runs) == ((MODEL,), 1, 0)
    told(place, "r-1", "model.replied", REPLY)
    told(place, "r-1", "run.ended", {"state": "solved"})
    (row,) = analysis.rows(("model",))
    assert (row.calls.answered, row.part) == (2, Part(runs=1, solved=1))
    assert (row,) == Analysis(place.book).rows(("model",)), "who begins anew knows the same"


def test_what_can_be_compared_are_models_and_versions_where_there_are_several(
    tmp_path: Path,
) -> None:
    place = site(tmp_path)
    begun(place, "r-1")
    told(place, "r-1", "model.replied", REPLY)
    analysis = Analysis(place.book)
    assert analysis.subjects("models") == (MODEL,)
    told(place, "r-1", "model.replied", {**REPLY, "version": "2025-01-01"})
    assert analysis.subjects("models") == (MODEL, f"{MODEL} {VERSION}", f"{MODEL} 2025-01-01")
    both = analysis.compare("models", f"{MODEL} {VERSION}", f"{MODEL} 2025-01-01")
    (pair,) = both.pairs
    assert pair.a is not None
    assert pair.b is not None
    assert (pair.role, pair.a.calls.answered, pair.b.calls.answered) == ("coder", 1, 1)


def calls(**told: float) -> Calls:
    """A hundred calls of two seconds, or as it is told."""
    given: dict[str, float] = {"answered": 100, "seconds": 200.0, **told}
    return Calls(whole=Spread(mean=2.0, p50=2.0, p95=2.0), **given)  # type: ignore[arg-type]


def test_only_roles_that_both_played_have_figures() -> None:
    row = Row(key=("coder",), calls=calls())
    both = Comparison(
        view="models",
        since="",
        a=MODEL,
        b=OTHER,
        pairs=(Pair(role="coder", a=row, b=row), Pair(role="slow", a=row, b=None)),
        read=Read(),
    )
    roles = {each.role: each for each in compared(both)}
    assert roles["slow"].only == MODEL
    assert roles["slow"].figures == ()
    figures = {name: (one, other) for name, one, other, _ in roles["coder"].figures}
    assert figures["seconds per call"] == (2.0, 2.0)
    assert "runs solved" not in figures, "no run has ended"


def test_days_without_calls_are_gaps_on_one_axis_and_new_versions_are_marked() -> None:
    busiest, other = courses(
        (
            Row(key=(MODEL, VERSION, "2026-11-10"), calls=calls()),
            Row(key=(MODEL, "2025-01-01", "2026-11-14"), calls=calls(seconds=400.0)),
            Row(key=(OTHER, "", "2026-11-12"), calls=calls(answered=50)),
        )
    )
    assert busiest.model == MODEL
    assert busiest.pace is not None
    assert (busiest.pace.last, busiest.pace.most) == (4.0, 4.0)
    assert busiest.marks == (("2025-01-01", 100.0),)
    assert list(busiest.days) == ["2026-11-10", "2026-11-14"]
    assert other.marks == ()
    assert other.pace is not None
    assert other.pace.lines[0].startswith("500,"), "the third of five days"


def test_nothing_and_models_that_never_answered_by_themselves_have_no_curve() -> None:
    assert courses(()) == ()
    assert courses((Row(key=(MODEL, "", "2026-11-10"), calls=calls(cached=100)),)) == ()
