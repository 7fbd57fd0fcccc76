"""How whole programs are asked for, found and told: what decides, without running anything."""

import argparse
import ast
import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from bench.programs import (
    OWN,
    Way,
    command_of,
    environment_of,
    row_of,
    setting,
    taken,
    with_outcome,
)
from bench.programs_asked import Asked
from bench.programs_baxbench import moved
from bench.programs_raw import answered, prompt_of
from bench.programs_rows import Row, as_line, model_share, read_rows, told
from bench.programs_truth import (
    Delivered,
    Judged,
    dialogues,
)
from tests.conftest import ROOT
from twinsmith.core.wording import spoken

ASKED = Asked(name="x", language="python", kind="service", text="A service.", truth="# a\nb")
ROW = Row(
    name="x",
    group="own",
    language="python",
    kind="service",
    system="twinsmith",
    works=True,
    passed=3,
    total=3,
    solved=True,
    confidence=0.9,
    tokens=1000,
    seconds=60.0,
    share=0.25,
)


# The sentences


def test_there_are_enough_sentences_in_every_kind_and_language() -> None:
    assert len(OWN) >= 34
    assert len({asked.name for asked in OWN}) == len(OWN)
    kinds = Counter(asked.kind for asked in OWN)
    assert kinds["service"] >= 14
    assert kinds["cli"] >= 11
    assert kinds["library"] >= 9
    assert {asked.language for asked in OWN} == {"python", "go", "rust", "perl", "c", "cpp"}


@pytest.mark.parametrize("asked", OWN, ids=lambda asked: asked.name)
def test_a_sentence_names_its_language_and_its_truth_can_be_read(asked: Asked) -> None:
    assert re.search(rf"\b{re.escape(spoken(asked.language))}", asked.text, re.IGNORECASE)
    checks = dialogues(asked.truth)
    assert len(checks) >= 2
    assert len({check.name for check in checks}) == len(checks)
    for check in checks:
        ast.parse(check.source)


def test_truth_is_nowhere_in_the_product() -> None:
    told_there = "\n".join(
        path.read_text(encoding="utf-8", errors="replace")
        for path in (ROOT / "src").rglob("*")
        if path.suffix in (".py", ".md", ".toml")
    ) + (ROOT / "README.md").read_text(encoding="utf-8")
    for asked in OWN:
        assert asked.text[:60] not in told_there


# How the product and the raw model are asked


def test_the_product_is_asked_as_a_user_would(tmp_path: Path) -> None:
    way = Way(seed=3, seconds=100, tokens=2000)
    command = command_of(ASKED, way, tmp_path)
    assert command[1:5] == ["-m", "twinsmith", "build", "A service."]
    assert command[5:] == [
        *["--out", str(tmp_path / "result"), "--json", "--seed", "3"],
        *["--budget-seconds", "100", "--budget-tokens", "2000"],
    ]
    scenario = replace(ASKED, group="baxbench", spec="openapi: 3")
    assert command_of(scenario, way, tmp_path)[5:9] == ["--language", "python", "--kind", "service"]
    assert "--spec" not in command_of(scenario, way, tmp_path)
    command = command_of(scenario, replace(way, spec=True), tmp_path)
    assert command[command.index("--spec") + 1] == str(tmp_path / "spec.yaml")
    assert "--spec" not in command_of(ASKED, replace(way, spec=True), tmp_path)


def test_models_and_settings_go_by_the_environment() -> None:
    way = Way(model="server:big", settings=("build.frame=off", "gateway.at_once=2"))
    given = environment_of(way, {"PATH": "/bin"}, {"TWINSMITH_MODELS_FOLDER": "/m"})
    assert given["PATH"] == "/bin"
    assert given["TWINSMITH_MODELS_FOLDER"] == "/m"
    assert given["TWINSMITH_BUILD_FRAME"] == "off"
    assert given["TWINSMITH_GATEWAY_AT_ONCE"] == "2"
    assert given["TWINSMITH_ENSEMBLE_2_CRITIC"] == "server:big"
    assert given["TWINSMITH_MODELS_SERVER_MODEL"] == "big"
    assert way.variant == "build.frame=off gateway.at_once=2"
    assert environment_of(Way(), {"A": "b"}, {}) == {"A": "b"}


def test_a_setting_has_a_section_a_name_and_a_value() -> None:
    assert setting("build.frame=off") == "build.frame=off"
    with pytest.raises(argparse.ArgumentTypeError, match="'frame=off' is no setting"):
        setting("frame=off")


def test_the_raw_model_is_told_the_sentence_and_where_to_listen() -> None:
    prompt = prompt_of(ASKED)
    assert prompt.temperature == 0
    assert "in Python" in prompt.text
    assert "\n\nA service.\n" in prompt.text
    assert "PORT" in prompt.text
    assert "PORT" not in prompt_of(replace(ASKED, kind="cli")).text


@pytest.mark.parametrize(
    ("answer", "source"),
    [
        ("Sure:\n```python\na = 1\n```\nand\n```sh\nx\n```\n", "a = 1\n"),
        ("```python\ncut = 1\n", "cut = 1\n"),
        ("plain = 1", "plain = 1"),
    ],
)
def test_the_raw_model_s_program_is_taken_as_it_is(answer: str, source: str) -> None:
    assert answered(ASKED, answer) == Delivered(language="python", source=source)


def test_tasks_are_taken_by_group_and_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = argparse.Namespace(group="", only="", data=tmp_path)
    assert taken(chosen) == list(OWN)
    assert f"no BaxBench in {tmp_path}: skipped" in capsys.readouterr().out
    chosen = argparse.Namespace(group="own", only="rooms,days", data=tmp_path)
    assert [asked.name for asked in taken(chosen)] == ["rooms", "days"]
    chosen = argparse.Namespace(group="own", only="none", data=tmp_path)
    with pytest.raises(SystemExit, match="--only none: there is no such task; there are ledger"):
        taken(chosen)


def test_exploits_aim_at_what_the_sandbox_has() -> None:
    assert moved("['whoami'] > '/danger.txt'") == "['echo', 'root'] > '/tmp/danger.txt'"


# Rows


def test_a_row_holds_what_the_product_said_of_itself() -> None:
    seen = Judged(passed=1, total=2, problem="b")
    made = Delivered(language="python", source="", report={"origins": {"model": 30, "frame": 90}})
    row = row_of(ASKED, Way(seed=2), made, seen)
    assert (row.works, row.solved, row.share, row.key) == (
        *(False, False, 0.25),
        ("x", "twinsmith", "", "", 2),
    )
    said = {"solved": True, "confidence": 0.8123, "spent": {"tokens": 5}, "reason": "why"}
    row = with_outcome(row, f"noise\n{json.dumps(said)}\n", "")
    assert (row.solved, row.confidence, row.tokens, row.reason) == (True, 0.812, 5, "why")
    assert row.wrong
    parked = with_outcome(row_of(ASKED, Way(), None, seen), "", "no model; resume\n")
    assert (parked.solved, parked.reason) == (False, "no model; resume")


def test_the_share_of_the_model_is_what_a_report_tells() -> None:
    assert model_share({"origins": {"model": 1, "retrieved": 3}}) == 0.25
    assert model_share({"frame": 0.5, "copied": 0.25}) == 0.25
    assert model_share({"frame": 0.9, "copied": 0.25}) == 0
    assert model_share({"origins": {}}) is None
    assert model_share({}) is None


def test_rows_are_remembered(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    rows = [ROW, replace(ROW, name="y", weaknesses=("XSS",), tried=2, share=None)]
    assert read_rows(path) == read_rows(None) == []
    path.write_text("".join(as_line(row) + "\n" for row in rows))
    assert read_rows(path) == rows


def test_what_works_withstands_and_is_wrongly_called_solved_is_told_apart() -> None:
    attacked = replace(ROW, group="baxbench", tried=2, untried=1)
    rows = [
        ROW,
        replace(ROW, name="y", works=False, passed=1, problem="b\nc", tokens=3000),
        replace(ROW, name="z", kind="cli", solved=False, share=None),
        replace(attacked, name="good"),
        replace(attacked, name="weak", weaknesses=("XSS",)),
        replace(attacked, name="unsure", tried=0, untried=3),
        replace(ROW, system="raw", solved=False),
    ]
    text = told(rows)
    lines = {line[:28].strip(): line[28:].split() for line in text.split("\n\n")[1].splitlines()}
    assert lines["own: service"] == ["2", "1", "-", "-", "-", "2", "1", "2000", "60", "25", "%"]
    assert lines["own: cli"][:7] == ["1", "1", "-", "-", "-", "0", "0"]
    assert lines["own: all"][:7] == ["3", "2", "-", "-", "-", "2", "1"]
    assert lines["baxbench: all"][:7] == ["3", "3", "1", "1", "5", "3", "0"]
    assert lines["all"][0] == "6"
    assert text.split("\n\n")[2].startswith("raw ")
    assert "1/3     WRONG" in text
    assert "b c" in text
    assert "withstands (1 of 3 exploits not tried)" in text
    assert "XSS (1 of 3 exploits not tried)" in text
    assert "not tried (3 of 3 exploits not tried)" in text
