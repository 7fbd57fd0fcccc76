"""Versions of what takes part in results: named by runs, pinned, retired, built with again."""

import json
from pathlib import Path

import pytest

from tests.conftest import DOUBLE, RIGHT, Command, script

OTHER = "```python\ndef double(n: int) -> int:\n    return n + n\n```"
THIRD = "```python\ndef double(n: int) -> int:\n    return 2 * n\n```"
MARK = "Write it as a sum."


def scripted(command: Command) -> None:
    """A model that writes another program where the template tells it to, or another one does."""
    made = script(code=(RIGHT, RIGHT, RIGHT))
    replies = list(made["replies"])  # type: ignore[call-overload]
    replies.append({"role": "coder", "when": MARK, "text": OTHER})
    replies += [{"role": "coder", "model": "server:third", "when": "a", "text": THIRD}] * 3
    command.use_script({**made, "replies": replies})


def built(command: Command, out: Path, *more: str) -> str:
    """The source that a build comes to."""
    command("build", *more, "--out", str(out))
    return (out / "solution.py").read_text()


def started(command: Command, run: str) -> dict[str, object]:
    (event,) = [each for each in command.events(run) if each["kind"] == "run.started"]
    data = event["data"]
    assert isinstance(data, dict)
    return data


def marked(tmp_path: Path) -> Path:
    from twinsmith.prompts import shipped

    file = tmp_path / "code.md"
    file.write_text(f"{shipped()['code']}\n{MARK}\n")
    return file


def test_a_run_names_all_that_took_part(command: Command, tmp_path: Path) -> None:
    scripted(command)
    built(command, tmp_path / "out", DOUBLE, "--with", "build.inputs=7")
    (run,) = command.runs()
    versions = started(command, run)["versions"]
    assert isinstance(versions, dict)
    assert versions["models"]["1.coder"] == [
        {"model": "scripted:double", "version": "by the provider"}
    ]
    assert versions["arrangement"] == ["build.inputs=7"]
    assert versions["settings"]["values"]["build.inputs"] == 7
    assert versions["prompts"]["code"]
    kinds = ((), ("--kind", "prompt"))
    listed = [
        each
        for kind in kinds
        for each in json.loads(command("models", "versions", "--json", *kind).stdout)["versions"]
    ]
    kept = {(each["kind"], each["name"], each["version"]) for each in listed}
    assert ("prompt", "code", versions["prompts"]["code"]) in kept
    assert ("settings", "settings", versions["settings"]["hash"]) in kept
    assert ("model", "scripted:double", "1") in kept
    assert ("pipeline", "pipeline", versions["pipeline"]) in kept


def test_a_result_is_built_again_after_templates_and_settings_changed(
    command: Command, tmp_path: Path
) -> None:
    scripted(command)
    first = built(command, tmp_path / "one", DOUBLE)
    (run,) = command.runs()
    command("models", "promote", "prompt.code", str(marked(tmp_path)))
    command.env["TWINSMITH_BUILD_CANDIDATES"] = "1"
    changed = built(command, tmp_path / "two", DOUBLE)
    assert (("n * 2" in first), ("n + n" in changed)) == (True, True)
    again = built(command, tmp_path / "three", "--like", run)
    assert again == first
    repeated = command.runs()[-1]
    told = started(command, repeated)
    facts = (told["repeats"], told["different"], told["seed"])
    assert facts == (run, [], 0)
    versions = told["versions"]
    assert isinstance(versions, dict)
    assert "build.candidates=2" in versions["arrangement"]
    command("models", "restore", "prompt.code")
    assert built(command, tmp_path / "four", "--like", command.runs()[1]) == changed


def test_what_is_not_to_be_had_any_more_is_named(command: Command, tmp_path: Path) -> None:
    scripted(command)
    built(command, tmp_path / "one", DOUBLE)
    (run,) = command.runs()
    path = command.home / "script.json"
    path.write_text(path.read_text().replace('"name": "double"', '"name": "other"'))
    said = command("build", "--like", run, code=2).stderr
    assert said.count("\n") == 1
    assert "scripted:other answers instead of scripted:double" in said
    near = command("build", "--like", run, "--near", "--out", str(tmp_path / "two"))
    assert "different from then: scripted:other answers" in near.stderr
    assert "scripted:other" in str(started(command, command.runs()[-1])["different"])


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("build", "--like", "x"), "run 'x' is not known"),
        (("build", DOUBLE, "--like", "x"), "names the task and all that belongs to it"),
        (("build", "--near", DOUBLE), "names the task and all that belongs to it"),
        (("build",), "the task is empty"),
        (("build", DOUBLE, "--with", "build.vote=2"), "did you mean 'build.votes'"),
        (("build", DOUBLE, "--with", "build.enough=2"), "build.enough = '2' from the arrangement"),
        (("build", DOUBLE, "--with", "coder=opnai:x"), "provider 'opnai' is unknown"),
        (("build", DOUBLE, "--with", "coder=embedded:x"), "'x' is not in the catalogue"),
        (("build", DOUBLE, "--with", "prompt.code=/nowhere"), "no file that can be read"),
        (("models", "pin", "codr", "openai:x"), "role 'codr' is unknown"),
        (("models", "pin", "coder", "gpt"), "'gpt' is not a model; write provider:model"),
        (("models", "pin", "coder", "embedded:smollm2-135m"), "is not installed; first:"),
        (("models", "restore", "coder"), "coder was neither pinned nor promoted"),
        (("models", "restore", "openai:x"), "openai:x is not retired"),
        (("models", "promote", "build.seed", "3"), "'build.seed' takes no part"),
    ],
)
def test_wrong_words_are_one_line(command: Command, words: tuple[str, ...], says: str) -> None:
    scripted(command)
    said = command(*words, code=None)
    assert said.returncode in (2, 4)
    assert said.stderr.count("\n") == 1
    assert says in said.stderr


def test_pinned_promoted_retired_and_taken_back(command: Command, tmp_path: Path) -> None:
    scripted(command)
    command("models", "pin", "coder", "server:third")
    assert "2 * n" in built(command, tmp_path / "one", DOUBLE)
    assert models_of(command, "coder") == {"server:third"}
    assert models_of(command, "slow") == {"scripted:double"}
    refused = command("models", "retire", "server:third", code=2).stderr
    assert "first: twinsmith models restore coder" in refused
    command("models", "restore", "coder")
    command("models", "retire", "server:third")
    refused = command("models", "pin", "coder", "server:third", code=2).stderr
    assert "server:third was retired by" in refused
    assert "n * 2" in built(command, tmp_path / "two", DOUBLE)
    command("models", "restore", "server:third")
    command("models", "pin", "coder", "server:third")
    told = [(each["kind"], each["data"]["key"]) for each in system(command)]  # type: ignore[index]
    assert told == [
        ("version.pinned", "coder"),
        ("version.restored", "coder"),
        ("version.retired", "server:third"),
        ("version.restored", "server:third"),
        ("version.pinned", "coder"),
    ]


def models_of(command: Command, role: str) -> set[object]:
    """Who answered as a role in the latest run."""
    events = command.events(command.runs()[-1])
    replied = [each["data"] for each in events if each["kind"] == "model.replied"]
    return {each["model"] for each in replied if each["role"] == role}  # type: ignore[index]


def system(command: Command) -> list[dict[str, object]]:
    """What the system's chain tells of versions."""
    told = [json.loads(line) for line in command("log", "--json").stdout.splitlines()]
    return [each for each in told if str(each["kind"]).startswith("version.")]


def test_a_model_that_is_retired_is_not_asked(command: Command, tmp_path: Path) -> None:
    scripted(command)
    unknown = command("models", "retire", "scripted:double", code=2).stderr
    assert "provider 'scripted' is unknown" in unknown, "it has not taken part in anything yet"
    command("build", DOUBLE)
    command("models", "retire", "scripted:double")
    other = "a function that doubles a whole number"
    said = command("build", other, "--out", str(tmp_path / "out"), code=None).stderr
    assert "scripted:double: it is retired; see 'twinsmith models versions'" in said
