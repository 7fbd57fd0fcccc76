"""What the bench of releases counts: requests lost and late, moments of switches, stages."""

import ast
from dataclasses import replace
from pathlib import Path

import pytest

from bench import release
from bench.release_documented import STEPS, WHO, documented
from bench.release_hand import ByHand, run_words
from bench.release_load import (
    Asked,
    answered,
    first_answer,
    last_other,
    longest_silence,
    mark_in,
    marked,
    percentile,
    request,
    scheduled,
    tally,
)
from bench.release_overhead import Beside, Cost, cost, ratio
from bench.release_switches import Switch, by_kind, stage_medians
from bench.release_yard import Told, stages, starts
from tests.contract.test_packaged import SOURCE


def asked(
    due: float, mark: str = "a", *, took: float = 0.01, status: int = 200, why: str = ""
) -> Asked:
    return Asked(
        due=due, sent=due, answered=due + took, status=status, mark="" if why else mark, why=why
    )


def lost(due: float, *, why: str = "ConnectionResetError") -> Asked:
    return asked(due, status=0, why=why)


def test_a_request_is_lost_unless_its_status_is_the_expected_one() -> None:
    found = [
        asked(0.0),
        asked(1.0, status=502),
        replace(asked(2.0, status=201), method="POST"),
        replace(asked(3.0), method="POST"),
        replace(lost(4.0), kept=True),
        asked(5.0, took=1.5),
    ]
    counted = tally(found)
    assert (counted.asked, counted.lost, counted.late) == (6, 3, 1)
    assert counted.why == {
        "GET new: 502": 1,
        "POST new: 200": 1,
        "GET kept: ConnectionResetError": 1,
    }
    assert counted.longest_ms == pytest.approx(1500)
    assert counted.median_ms == pytest.approx(10)


def test_time_runs_from_when_a_request_was_due_and_the_clients_own_delay_is_told() -> None:
    behind = replace(asked(0.0, took=0.5), sent=0.4)
    counted = tally([behind])
    assert counted.longest_ms == pytest.approx(500)
    assert counted.lag_ms == pytest.approx(400)
    assert tally([]).p99_ms == 0.0


def test_percentiles_are_values_that_were_seen() -> None:
    values = [float(each) for each in range(1, 101)]
    assert [percentile(values, share) for share in (50, 99, 100)] == [50.0, 99.0, 100.0]
    assert percentile([7.0], 50) == 7.0


def test_a_switch_is_seen_by_its_first_answer_and_by_the_last_of_the_other() -> None:
    found = [asked(0.0), asked(1.0), asked(1.2), asked(1.3, "b"), lost(1.35), asked(1.4, "b")]
    assert first_answer(found, "b", 1.1) == pytest.approx(0.21)
    assert first_answer(found, "c", 1.1) is None
    assert last_other(found, "b", 1.1) == pytest.approx(0.1)
    assert last_other(found, "b", 1.25) == 0.0


def test_silence_is_from_the_first_request_that_failed_to_the_next_good_answer() -> None:
    found = [asked(0.0), lost(1.0), lost(1.5), asked(2.0), lost(3.0), asked(3.1)]
    assert longest_silence(found) == pytest.approx(1.01)
    assert longest_silence([asked(0.0)]) == 0.0
    assert longest_silence([asked(0.0), lost(1.0), lost(4.0)]) == pytest.approx(3.01)


def test_half_of_the_requests_keep_their_connection_and_a_quarter_of_each_half_writes() -> None:
    made = [scheduled(number) for number in range(800)]
    assert made.count(("POST", True)) == made.count(("POST", False)) == 100
    assert made.count(("GET", True)) == made.count(("GET", False)) == 300


def test_requests_and_answers_on_the_wire() -> None:
    assert request("GET", kept=False).endswith(b"Connection: close\r\n\r\n")
    written = request("POST", kept=True)
    assert b"Connection: keep-alive\r\n" in written
    assert written.endswith(b"Content-Length: 2\r\n\r\n{}")
    assert answered(b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n") == (200, 12, True)
    assert answered(b"HTTP/1.1 502 Bad\r\nConnection: close\r\nContent-Length: 0\r\n\r\n") == (
        502,
        0,
        False,
    )
    assert answered(b"HTTP/1.0 200 OK\r\n\r\n") == (200, -1, False)
    assert [mark_in(body) for body in (b'{"mark":"a1"}', b"[]", b"<html>")] == ["a1", "", ""]


def test_a_marked_version_is_a_program_with_a_route_for_its_mark() -> None:
    text = marked("a1", SOURCE.files["solution.py"])
    names = [each.name for each in ast.parse(text).body if isinstance(each, ast.FunctionDef)]
    assert "route_mark" in names
    assert text.count("'a1'") == 2
    assert "from flask import request" in text


def event(kind: str, stage: str, second: int) -> dict[str, object]:
    return {"kind": kind, "data": {"stage": stage}, "at": f"1970-01-01T00:00:{second:02}+00:00"}


def test_stages_are_read_from_a_journal_with_the_start_and_the_end_of_the_command() -> None:
    journal: list[dict[str, object]] = [
        {"kind": "run.started", "data": {"task": "x"}, "at": "1970-01-01T00:00:02+00:00"},
        event("stage.started", "switch", 3),
        event("stage.finished", "switch", 5),
        event("stage.started", "soak", 6),
    ]
    assert stages(journal, 1.0, 9.0) == {
        "start": (1.0, 2.0),
        "begin": (2.0, 3.0),
        "switch": (3.0, 5.0),
        "end": (5.0, 9.0),
    }
    assert starts(journal) == {"switch": 3.0, "soak": 6.0}
    assert stages(journal[:1], 1.0, 9.0) == {}


def told(**spans: tuple[float, float]) -> Told:
    return Told(began=0.0, ended=4.0, cpu=1.0, stages=spans)


def test_medians_of_stages_are_over_those_that_have_them() -> None:
    several = [told(scan=(0, 1), canary=(1, 2)), told(scan=(0, 3)), told(scan=(0, 2))]
    assert stage_medians(several) == {"scan": 2, "canary": 1}


def test_switches_are_counted_by_kind_and_a_canary_answers_before_its_switch() -> None:
    answers = (asked(0.5), asked(1.5, "b"))
    plain = Switch(kind="rollback", told=told(switch=(1, 2)), mark="b", asked=answers)
    canary = replace(plain, kind="deploy, canary of 10 %")
    by_override = replace(plain, kind="override rollback", told=told())
    found = by_kind([plain, canary, by_override])
    assert found["rollback"].first_seconds == pytest.approx(0.51)
    assert found["rollback"].stage_seconds == 1
    assert found["deploy, canary of 10 %"].first_seconds is None
    # Without a stage it counts from the command.
    assert found["override rollback"].first_seconds == pytest.approx(1.51)
    assert found["override rollback"].stage_seconds is None


def test_the_cost_of_a_proxy_is_a_ratio_to_the_bare_service() -> None:
    bare = cost([[asked(0.0, took=0.002)]], [[asked(0.0)] * 400], 2.0)
    slow = [asked(0.0, took=0.003), lost(1.0)]
    stood_still = [asked(0.0, took=0.5)]
    through = cost([slow, stood_still, slow], [[asked(0.0)] * 300], 2.0)
    assert (bare.per_second, bare.lost, through.lost) == (200, 0, 2)
    beside = Beside(proxy="Caddy", kept=True, bare=bare, through=through)
    assert beside.ratios == pytest.approx((1.5, 1.5, 0.75))
    assert ratio(1.0, 0.0) == 0.0


def test_by_hand_a_version_has_the_limits_of_an_instance() -> None:
    assert run_words("image:1", "by-hand-0", Path("/s/a"), "data") == [
        *("run", "--detach", "--name", "by-hand-0", "--network=none", "--read-only"),
        *("--cap-drop=ALL", "--security-opt=no-new-privileges", "--memory=512m"),
        *("--memory-swap=512m", "--pids-limit=128", "--ulimit=nofile=4096"),
        *("--ulimit=nproc=4096", "--ulimit=core=0", "--ulimit=fsize=4294967296"),
        "--tmpfs=/tmp:rw,nosuid,nodev,noexec,mode=1777,size=64m",
        *("--volume=data:/data", "--volume=/s/a:/run/app", "--no-healthcheck"),
        "--env=LISTEN=/run/app/http.sock",
        "--env=GUNICORN_CMD_ARGS=--bind unix:/run/app/http.sock --umask 0",
        "image:1",
    ]


def test_a_report_tells_every_part_what_was_lost_and_which_goal_was_missed() -> None:
    switch = Switch(
        kind="rollback", told=told(switch=(1, 2)), mark="b", asked=(asked(1.5, "b"), lost(1.6))
    )
    cheap = Cost(median_ms=1.0, p99_ms=2.0, per_second=100.0, lost=0)
    by_hand = ByHand(way="stop, then start", first_seconds=None, seconds=2.0, asked=(lost(1.0),))
    report = release.Report(
        host="local",
        switches=by_kind([switch]),
        stages={"rollback": {"switch": 1.0}},
        quiet={
            "rollback": [told()],
            "override rollback": [replace(told(), ended=1.9)],
            "start: twinsmith --version": [replace(told(), ended=0.2)],
        },
        overhead=[Beside(proxy="small", kept=False, bare=cheap, through=cheap)],
        hand=[by_hand],
        skipped=["by podman: none"],
    )
    lines = "\n".join(release.shown(report))
    assert "lost 1 x GET new: ConnectionResetError" in lines
    assert "3 s: MISSED" in lines
    assert "2 s: met" in lines
    assert "small, connections new" in lines
    assert "stop, then start" in lines
    assert "skipped: by podman: none" in lines
    figures = release.figures(report)
    assert figures["skipped"] == ["by podman: none"]
    assert "asked" not in str(figures["commands"])


def test_what_others_document_has_no_figures_of_ours_and_says_that_it_was_not_run() -> None:
    lines = documented()
    assert "not run" in lines[0]
    assert len(lines) == 1 + len(STEPS) * (1 + len(WHO))
    assert all(all(said) for said in STEPS.values())
