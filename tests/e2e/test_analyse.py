"""`twinsmith analyse`: tables for people, JSON, a page in a file, here and on a server."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from bench.journals import Levels, Plan, day_of, write
from tests.conftest import DOUBLE, Command, script
from tests.served import key_for, serving

USUAL = Levels()
NEW = replace(USUAL, version="2024-11-20", seconds=5.0)
CAME = 14


@pytest.fixture
def drifted(command: Command) -> Command:
    """A home with a journal of three weeks, in which a version came that is slower."""
    folder = command.home / "journal"
    write(Plan(shape=lambda day: NEW if day >= CAME else USUAL, days=21, runs=8, folder=folder))
    return command


def told(command: Command, *args: str) -> dict[str, object]:
    found = json.loads(command("analyse", *args, "--json").stdout)
    assert isinstance(found, dict)
    return found


def test_figures_changes_and_their_causes_are_told(drifted: Command) -> None:
    out = drifted("analyse", "models").stdout
    lines = out.splitlines()
    assert lines[0].split()[:4] == ["model", "version", "role", "calls"]
    assert any("2024-11-20" in line and " coder " in line for line in lines)
    assert "confidence against solved: Brier" in out
    slower = [n for n, line in enumerate(lines) if f"{day_of(CAME)}: seconds per call" in line]
    assert slower
    assert all("likely cause: model version" in lines[n + 1] for n in slower), out
    assert "2024-07-18" in lines[slower[0] + 1]


@pytest.mark.parametrize("view", ["roles", "prompts", "runs"])
def test_every_view_tells_the_same_calls(drifted: Command, view: str) -> None:
    whole, other = told(drifted, "models"), told(drifted, view)
    assert whole["total"] == other["total"]
    rows = other["rows"]
    assert isinstance(rows, list)
    assert rows
    assert sum(each["calls"]["answered"] for each in rows) == other["total"]["calls"]["answered"]  # type: ignore[index]


def test_since_leaves_out_what_was_before(drifted: Command) -> None:
    late = told(drifted, "models", "--since", day_of(CAME))
    rows = late["rows"]
    assert isinstance(rows, list)
    assert {row["key"][1] for row in rows if row["calls"]["answered"]} == {"2024-11-20"}
    by_day = told(drifted, "models", "--by", "day,role", "--since", day_of(CAME))["rows"]
    assert isinstance(by_day, list)
    assert min(row["key"][0] for row in by_day) == day_of(CAME)
    nothing = drifted("analyse", "models", "--since", "2031-01-01").stdout
    assert nothing.startswith("no model was asked from 2031-01-01 on; every build counts")


def test_two_stand_side_by_side(drifted: Command) -> None:
    pair = ("openai:gpt-4o-mini 2024-07-18", "openai:gpt-4o-mini 2024-11-20")
    out = drifted("analyse", "models", "--compare", *pair).stdout
    assert "as coder" in out
    (pace,) = (
        re.findall(r"\d+\.\d+", line)
        for line in out.split("as coder")[1].split("as ")[0].splitlines()
        if line.strip().startswith("seconds per call")
    )
    assert float(pace[-1]) == pytest.approx(2.5, rel=0.2)
    both = told(drifted, "models", "--compare", *pair)
    assert (both["a"], both["b"]) == pair
    wrong = drifted("analyse", "models", "--compare", "nobody", pair[1], code=2)
    assert "'nobody' told nothing that can be compared; known: openai:gpt-4o-mini" in wrong.stderr


def test_a_page_in_a_file_needs_nothing_else(drifted: Command, tmp_path: Path) -> None:
    page = tmp_path / "behaviour.html"
    out = drifted("analyse", "models", "--html", str(page)).stdout
    assert out.splitlines()[-1] == f"written: {page}"
    html = page.read_text()
    assert "seconds per call" in html
    assert "<svg" in html
    assert not re.search(r"""<script|<link|<a |href=|src=|url\(""", html)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("planets",), "'planets'"),
        (("models", "--since", "yesterday"), "'yesterday' is no day; for example 2026-11-01"),
        (("models", "--by", "model,colour"), "'colour'"),
        (("models", "--html", "/no/such/folder/page.html"), "name a file in a folder"),
    ],
)
def test_what_is_not_known_is_one_line(command: Command, args: tuple[str, ...], words: str) -> None:
    refused = command("analyse", *args, code=2)
    assert words in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
    assert refused.stdout == ""


def test_what_a_real_run_told_is_analysed_here_and_on_a_server(
    command: Command, tmp_path: Path
) -> None:
    assert "no model was asked; every build counts" in command("analyse", "models").stdout
    command.use_script(script())
    command("build", DOUBLE)
    near = command("analyse", "models").stdout
    assert "scripted:double" in near
    assert "too few days and calls to tell" in near
    with serving(command, "--no-worker", "--no-monitor") as server:
        far = Command(
            home=tmp_path / "far",
            env={"TWINSMITH_KEY": key_for(command, "read")},
        )
        there = ("--server", server.address)
        assert far(*there, "analyse", "models").stdout == near
        roles = far(*there, "analyse", "roles", "--json").stdout
        assert json.loads(roles) == told(command, "roles")
        refused = far(*there, "analyse", "models", "--compare", "a", "b", code=2)
        assert "'a' told nothing" in refused.stderr
    assert not (tmp_path / "far" / "journal").exists()


def test_lines_that_were_altered_are_left_out_and_said(drifted: Command) -> None:
    path = min((drifted.home / "journal" / "runs").glob("*-0000.jsonl"))
    before = told(drifted, "models")["total"]
    path.write_text(path.read_text().replace('"tokens_in":', '"tokens_in":9', 1))
    done = drifted("analyse", "models")
    assert "left out: 1 altered and 0 unreadable" in done.stderr
    after = told(drifted, "models")["total"]
    assert isinstance(before, dict)
    assert isinstance(after, dict)
    assert after["calls"]["answered"] == before["calls"]["answered"] - 1
