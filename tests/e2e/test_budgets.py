"""A budget that would be passed stops a run until a person has decided, through the real command."""

import json
from pathlib import Path

from tests.conftest import DOUBLE, RIGHT, Command, script


def waiting(command: Command, out: Path, *limits: str) -> dict[str, str]:
    """A run that waits for a word about its budget; its question."""
    command.use_script(script(code=(RIGHT, RIGHT)))
    command.env["TWINSMITH_GATEWAY_REPLY_TOKENS"] = "100"
    command.env["TWINSMITH_BUDGETS_LIMITS"] = ",".join(limits)
    said = command("build", DOUBLE, "--out", str(out), code=6).stderr
    assert said.count("\n") == 1
    (question,) = json.loads(command("questions", "--json").stdout)
    assert f'twinsmith answer {question["id"]} "go on"' in said
    assert (question["assumed"], question["choices"]) == ("stop", ["go on", "stop"])
    return dict(question)


def kinds(command: Command, run: str) -> list[object]:
    return [each["kind"] for each in command.events(run)]


def test_a_run_goes_on_past_a_budget_when_a_person_says_so(
    command: Command, tmp_path: Path
) -> None:
    question = waiting(command, tmp_path / "out", "day 700 tokens", "day 1 tokens soft")
    assert "budget 'day 700 tokens' would be passed" in question["text"]
    run = question["run"]
    assert json.loads(command("status", run, "--json").stdout)["state"] == "waiting"
    command("resume", run, code=6)
    before = command.bill()
    command("answer", question["id"], "perhaps", code=2)
    command("answer", question["id"], "go on")
    command("resume", run)
    assert json.loads((tmp_path / "out" / "report.json").read_text())["solved"] is True
    # Nothing was paid twice, and nothing that was asked before it waited was asked again.
    paid = command.bill()
    assert len(paid) == len(set(paid)) > len(before)
    told = [each["data"] for each in command.events(run) if each["kind"] == "budget.passed"]
    assert [(each["budget"], each["soft"]) for each in told] == [  # type: ignore[index]
        ("day 1 tokens soft", True),
        ("day 700 tokens", False),
    ]
    raised = [each for each in json.loads(command("alerts", "--json").stdout)]
    assert len(raised) == 2
