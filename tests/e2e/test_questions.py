"""A run that waits for an answer costs no process, and any process can answer it."""

import json
from pathlib import Path

from tests.conftest import DOUBLE, PROFILE, RIGHT, Command, script


def parked(command: Command, out: Path) -> str:
    """A run that waits for two days; its question."""
    asks = {**PROFILE, "question": "Of text, too?", "assumed": "only numbers"}
    command.use_script(script(profile=json.dumps(asks), code=(RIGHT, RIGHT)))
    command.env |= {"TWINSMITH_BUILD_QUESTIONS": "park", "TWINSMITH_BUILD_ANSWER_SECONDS": "172800"}
    said = command("build", DOUBLE, "--out", str(out), code=6).stderr
    assert "waits until" in said
    assert said.count("\n") == 1
    (question,) = json.loads(command("questions", "--json").stdout)
    assert f"twinsmith answer {question['id']}" in said
    assert (question["text"], question["assumed"]) == ("Of text, too?", "only numbers")
    return str(question["id"])


def test_a_run_waits_without_a_process_and_goes_on_with_the_answer(
    command: Command, tmp_path: Path
) -> None:
    question = parked(command, tmp_path / "out")
    run = question.rpartition(".")[0]
    assert json.loads(command("status", run, "--json").stdout)["state"] == "waiting"
    shown = command("questions").stdout
    assert "Of text, too?" in shown
    assert "then: only numbers" in shown
    # Going on without an answer waits again.
    command("resume", run, code=6)
    told = command("answer", question[-6:], "text as well").stdout
    assert told == f"{question}: text as well\ngo on with: twinsmith resume {run}\n"
    command("resume", run)
    assert json.loads((tmp_path / "out" / "report.json").read_text())["assumed"] == "text as well"
    assert command("questions").stdout == "no open questions\n"
    (kept,) = json.loads(command("questions", "--all", "--json").stdout)
    assert kept["answer"]["by"].startswith("user:")
    events = [json.loads(line) for line in command("log", run, "--json").stdout.splitlines()]
    kinds = [each["kind"] for each in events]
    assert kinds.count("question.answered") == kinds.count("person.answered") == 1


def test_wrong_answers_are_one_line(command: Command, tmp_path: Path) -> None:
    question = parked(command, tmp_path / "out")
    unknown = command("answer", "nope", "x", code=2).stderr
    assert unknown == ("twinsmith: question 'nope' is not known; twinsmith questions lists them\n")
    command("answer", question, "first")
    twice = command("answer", question, "second", code=2).stderr
    assert f"question {question} is answered already: 'first' by user:" in twice


def test_once_the_time_is_over_the_assumption_holds(command: Command, tmp_path: Path) -> None:
    command.env["TWINSMITH_BUILD_QUESTIONS"] = "park"
    asks = {**PROFILE, "question": "Of text, too?", "assumed": "only numbers"}
    command.use_script(script(profile=json.dumps(asks), code=(RIGHT, RIGHT)))
    command.env["TWINSMITH_BUILD_ANSWER_SECONDS"] = "0"
    command("build", DOUBLE, "--out", str(tmp_path / "out"))
    assert "only numbers" in (tmp_path / "out" / "report.md").read_text()
