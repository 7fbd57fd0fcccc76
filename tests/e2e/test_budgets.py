"""A budget that would be passed stops a run until a person has decided; what costs are told."""

import getpass
import json
import secrets
from pathlib import Path

import pytest

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
    assert len(json.loads(command("alerts", "--json").stdout)) == 2


def test_without_a_word_a_run_ends_with_what_it_has(command: Command, tmp_path: Path) -> None:
    command.use_script(script(code=(RIGHT, RIGHT)))
    command.env["TWINSMITH_BUDGETS_LIMITS"] = "person day 1 tokens"
    command.env["TWINSMITH_BUDGETS_WAIT_SECONDS"] = "0"
    command("build", DOUBLE, "--out", str(tmp_path / "out"), code=1)
    assert command.runs()
    assert not (command.home / "scripted-bill.jsonl").exists()
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["reason"].startswith("the budget 'person day 1 tokens' is spent")
    (kept,) = json.loads(command("questions", "--all", "--json").stdout)
    assert (kept["answer"]["text"], kept["answer"]["by"]) == ("stop", "twinsmith")
    refused = command("models", "ask", "slow", "Why?", code=3).stderr
    assert "the budget 'person day 1 tokens' is spent" in refused


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("BUDGETS_LIMITS", "day five usd", "'five' in 'day five usd' is no number"),
        ("BUDGETS_LIMITS", "team blue day 5 usd", "names team 'blue'"),
        ("BUDGETS_TEAMS", "blue", "'blue' is no team"),
        ("COSTS_PRICES", "openai:gpt-4o 1 2", "is no price"),
    ],
)
def test_wrong_settings_are_one_line(command: Command, name: str, value: str, why: str) -> None:
    command.env[f"TWINSMITH_{name}"] = value
    said = command("status", code=2).stderr
    assert why in said
    assert said.count("\n") == 1


def test_costs_are_what_the_journal_tells_to_the_last_token(
    command: Command, tmp_path: Path
) -> None:
    told = script(code=(RIGHT, RIGHT))
    for price, reply in enumerate(told["replies"], 1):  # type: ignore[arg-type, var-annotated]
        reply["usd"] = price / 64
    command.use_script(told)
    command.env["TWINSMITH_BUDGETS_TEAMS"] = f"blue {getpass.getuser()} nobody,red nobody"
    command.env["TWINSMITH_BUDGETS_LIMITS"] = "month 1000000 tokens"
    assert "no model has answered yet" in command("costs").stdout
    for number in range(2):
        command("build", DOUBLE, "--out", str(tmp_path / f"out{number}"))
    command("models", "ask", "slow", "What is such a program called?")
    # The journal's own lines, read by nothing of twinsmith.
    chains = (command.home / "journal").rglob("*.jsonl")
    lines = [json.loads(line) for each in chains for line in each.read_text().splitlines()]
    calls = [each["data"] for each in lines if each["kind"] == "model.replied"]
    whole = {
        "calls": len(calls),
        "tokens_in": sum(each["tokens_in"] for each in calls),
        "tokens_out": sum(each["tokens_out"] for each in calls),
        "tokens": sum(each["tokens"] for each in calls),
        "usd": sum(each["usd"] for each in calls),
    }
    assert whole["calls"] > 8
    assert whole["usd"] > 0
    for by in ("model", "role", "app", "person", "team", "day"):
        found = json.loads(command("costs", "--by", by, "--json").stdout)
        for name, value in whole.items():
            assert found["total"][name] == value, (by, name)
            assert sum(row[name] for row in found["rows"]) == value, (by, name)
    roles = json.loads(command("costs", "--by", "role", "--json").stdout)
    assert {row["name"]: row["tokens"] for row in roles["rows"]} == {
        role: sum(each["tokens"] for each in calls if each["role"] == role)
        for role in ("slow", "coder", "critic")
    }
    # What budgets count is the same, though it is kept elsewhere.
    (budget,) = roles["budgets"]
    assert (budget["spent"], budget["set_aside"]) == (whole["tokens"], 0)
    assert roles["forecast"]["tokens"]["so_far"] == whole["tokens"]
    shown = command("costs", "--by", "person").stdout
    assert f"{whole['tokens_in']:,}" in shown
    assert "a forecast needs one whole day" in shown
    none = json.loads(command("costs", "--since", "2999-01-01", "--json").stdout)
    assert none["total"]["calls"] == 0
    assert "is no day" in command("costs", "--since", "monday", code=2).stderr
    assert "by one of model, role" in command("costs", "--by", "moon", code=2).stderr


def test_two_machines_on_one_database_share_a_budget(
    command: Command, tmp_path: Path, postgres: str
) -> None:
    url = f"{postgres}/budgets_{secrets.token_hex(4)}"
    other = Command(home=tmp_path / "other", env={})
    for each in (command, other):
        each.use_script(script(code=(RIGHT, RIGHT)))
        each.env["TWINSMITH_DATABASE_URL"] = url
    command("build", DOUBLE, "--out", str(tmp_path / "out1"))
    spent = json.loads(command("costs", "--json").stdout)["total"]["tokens"]
    # The first has spent all of it before there was any budget.
    other.env["TWINSMITH_BUDGETS_LIMITS"] = f"day {spent} tokens"
    (budget,) = json.loads(other("costs", "--json").stdout)["budgets"]
    assert budget["spent"] == spent
    said = other("build", DOUBLE, "--out", str(tmp_path / "out2"), code=6).stderr
    assert f"would pass the budget 'day {spent} tokens'" in said
    assert not (other.home / "scripted-bill.jsonl").exists()
    # Whoever sits at the first machine lets it go on there.
    (question,) = json.loads(command("questions", "--json").stdout)
    command("answer", question["id"], "go on")
    other("resume", question["run"])
    assert json.loads((tmp_path / "out2" / "report.json").read_text())["solved"] is True
