"""`twinsmith cases` through the real command: what is not solved stays until it is."""

import json

from tests.conftest import DOUBLE, RIGHT, WRONG, Command, script


def test_a_case_is_kept_replayed_and_leaves_when_it_is_solved(command: Command) -> None:
    assert command("cases").stdout == "no open cases\n"
    assert command("cases", "replay").stdout == "no open cases\n"
    command.env["TWINSMITH_BUILD_LEAST"] = "1.0"
    command.use_script(script(code=(WRONG, WRONG)))
    command("build", DOUBLE, "--seed", "7", code=1)
    (case,) = json.loads(command("cases", "--json").stdout)
    assert (case["task"], case["tries"], case["kind"]) == (DOUBLE, 1, "function")
    assert case["reason"]
    again = command("cases", "replay", case["run"][-4:], code=1)
    assert "0 of 1 cases solved" in again.stdout
    (case,) = json.loads(command("cases", "--json").stdout)
    assert case["tries"] == 2
    first, second = command("cases").stdout.splitlines()
    assert first == f"{case['run']}  2 tries  {DOUBLE}"
    assert second.strip() == case["reason"]
    command.env["TWINSMITH_BUILD_LEAST"] = "0.0"
    command.use_script(script(code=(WRONG, RIGHT)))
    (row,) = json.loads(command("cases", "replay", "--json").stdout)
    assert row["solved"] is True
    # Solved, but not for sure: the two programs contradict each other.
    (case,) = json.loads(command("cases", "--json").stdout)
    assert (case["run"], case["tries"]) == (row["run"], 3)
    command.use_script(script(code=(RIGHT, RIGHT)))
    command("cases", "replay")
    assert command("cases").stdout == "no open cases\n"
    line = command("cases", "replay", "zzzz", code=2).stderr
    assert "case 'zzzz' is not open; open are: none" in line
