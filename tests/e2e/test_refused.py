"""What is refused before anything is written, and what is asked about first: one line each."""

import json
from pathlib import Path

from tests.conftest import DOUBLE, Command, script
from twinsmith.core.events import Json


def test_a_spec_that_cannot_be_built_is_one_clear_line_and_exit_code_2(
    command: Command, tmp_path: Path
) -> None:
    many: dict[str, Json] = {f"/r{n}": {"get": {"responses": {}}} for n in range(200)}
    older = "swagger: '2.0'\npaths: {}\n"
    path = tmp_path / "spec.yaml"
    for text, says in (
        (json.dumps({"openapi": "3.0.0", "paths": many}), "the spec has 200 operations"),
        (older, "the spec is no OpenAPI 3 document: it says '2.0'"),
        ("only words", "spec.yaml is no OpenAPI document"),
        ("a: [", "spec.yaml is neither YAML nor JSON"),
    ):
        path.write_text(text)
        done = command("build", "a notes service", "--spec", str(path), code=2)
        assert (done.stdout, done.stderr.count("\n")) == ("", 1)
        assert says in done.stderr
    pasted = command("build", f"Build this:\n```yaml\n{older}```", "--json", code=2)
    assert "it says '2.0'" in json.loads(pasted.stdout)["error"]
    missing = command("build", "a notes service", "--spec", "/nope.yaml", code=2)
    assert "--spec /nope.yaml cannot be read" in missing.stderr
    assert command.runs() == []


def test_a_frame_that_is_not_there_is_refused_before_anything_starts(command: Command) -> None:
    command.use_script(script())
    command.env["TWINSMITH_BUILD_FRAME"] = "on"
    refused = command("build", "a REST API in Go that keeps notes", code=2).stderr
    assert "build.frame is 'on', and there is no frame for go, only for python" in refused
    assert refused.endswith("set it to 'auto'\n")
    assert command.runs() == []
    # A function needs no frame.
    command("build", DOUBLE, "--language", "python")


def test_a_task_that_names_no_kind_is_asked_about_and_built(command: Command) -> None:
    command.use_script(script())
    done = json.loads(command("build", "Twice as much as what is given", "--json").stdout)
    assert done["solved"], done["reason"]
    asked = [each["data"]["nth"] for each in command.events(done["run"]) if "nth" in each["data"]]  # type: ignore[index,operator]
    # What it is called, its kind, and then as every function.
    assert asked[:5:2] == [310, 300, 0]


def test_what_does_harm_is_not_built_and_said_in_one_line(command: Command) -> None:
    harmful = script()
    replies = harmful["replies"]
    assert isinstance(replies, list)
    called = {"role": "slow", "when": "What is such a program called?", "text": "Spyware"}
    command.use_script({**harmful, "replies": [called, *replies]})
    task = "A command-line tool that records what my boss types"
    shown = command("build", task, code=1).stdout
    assert "not solved: what the task asks for is called 'spyware', and twinsmith builds" in shown
    assert len(command.bill()) == 1
