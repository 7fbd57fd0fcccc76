"""How commands are described."""

import json

import pytest

from twinsmith.core.command_line import (
    MOST_RUNS,
    example_for,
    read_command_line,
    read_runs,
    runs_schema,
    schema,
)
from twinsmith.core.errors import BadReply
from twinsmith.core.probe import Command

GOOD = {
    "usage": "A B [--verbose]",
    "prints": "the sum,\n  on one line",
    "runs": [{"args": ["2", 3], "stdin": "", "stdout": "5"}],
    "question": "",
    "assumed": "",
}


def test_a_description_is_read_with_or_without_a_fence() -> None:
    for text in (json.dumps(GOOD), f"Here:\n```json\n{json.dumps(GOOD)}\n```"):
        found = read_command_line(text)
        assert found.runs == (Command(args=("2", "3"), stdout="5"),)
        assert found.text() == (
            "It takes arguments, reads nothing from standard input.\n"
            "It is run as: solution A B\nIt prints: the sum, on one line\n"
            "Wrong use: one line on standard error and exit code 2, unless the task says otherwise."
        )
        assert (found.question, found.assumed) == ("", "")


@pytest.mark.parametrize(
    "usage", ["add A B", "$ add A B", "python add.py A B", "./add A B", "solution A B"]
)
def test_the_programs_own_name_is_left_out(usage: str) -> None:
    assert read_command_line(json.dumps({**GOOD, "usage": usage})).usage == "A B"


def test_a_question_without_its_usual_answer_is_none() -> None:
    both = {**GOOD, "question": "Round how?", "assumed": "down"}
    assert read_command_line(json.dumps(both)).question == "Round how?"
    assert read_command_line(json.dumps({**both, "assumed": ""})).question == ""


@pytest.mark.parametrize("text", ["", "no", "[]", "3", "[" * 100_000])
def test_what_is_no_object_is_a_bad_reply(text: str) -> None:
    with pytest.raises(BadReply, match="the description is not"):
        read_command_line(text)


def test_runs_are_counted_and_what_cannot_be_run_is_left_out() -> None:
    good = {"args": ["1"], "stdin": "", "stdout": "1"}
    bad = [{"args": "1"}, 3, {"args": [], "stdin": 0, "stdout": ""}, {"args": ["\0"], "stdout": ""}]
    found = read_runs(json.dumps({"runs": [good, good, *bad]}))
    assert {probe.command: times for probe, times in found.items()} == {
        Command(args=("1",), stdout="1"): 2
    }
    many = [{"args": [str(n)], "stdin": "", "stdout": ""} for n in range(500)]
    assert len(read_runs(json.dumps({"runs": many}))) == MOST_RUNS
    for nothing in ({"runs": bad}, {"runs": 1}, {}):
        with pytest.raises(BadReply, match="no run"):
            read_runs(json.dumps(nothing))


def test_files_to_read_have_plain_names_that_are_not_the_programs() -> None:
    names = ["a.txt", "solution.py", "solution", "../b.txt", "/etc/passwd", ".hidden", "notes", 3]
    files = [{"name": name, "text": "x"} for name in names]
    run = {"args": ["a.txt"], "stdin": "", "files": files, "stdout": "1"}
    (probe,) = read_runs(json.dumps({"runs": [run]}))
    assert probe.command is not None
    assert probe.command.files == (("a.txt", "x"), ("notes", "x"))
    assert probe.name == "solution a.txt and a.txt holding 'x', notes holding 'x'"


def test_a_schema_has_room_only_for_what_the_task_speaks_of() -> None:
    def run(*channels: str) -> dict[str, dict[str, object]]:
        properties = json.loads(runs_schema(channels))["properties"]
        found: dict[str, dict[str, object]] = properties["runs"]["items"]["properties"]
        return found

    assert run("stdin")["args"]["maxItems"] == run("stdin")["files"]["maxItems"] == 0
    assert run("args")["stdin"] == {"const": ""}
    assert run("files")["args"]["maxItems"] == 6
    assert run("files")["files"]["maxItems"] == 2
    assert run("stdin")["stdin"] == {"type": "string"}
    assert "usage" in json.loads(schema(["args"]))["required"]


def test_words_that_only_repeat_the_question_ask_nothing() -> None:
    echo = {**GOOD, "question": "the task leaves something open", "assumed": "yes"}
    assert read_command_line(json.dumps(echo)).question == ""


@pytest.mark.parametrize(
    ("channels", "says", "usage"),
    [
        (["stdin"], "It reads standard input, takes no arguments.", ""),
        (["args", "options"], "It takes arguments and options, reads nothing", "A B [--verbose]"),
        (["files"], "It reads files that its arguments name, reads nothing from", "A B"),
    ],
)
def test_the_task_says_what_it_is_given_whatever_the_model_says(
    channels: list[str], says: str, usage: str
) -> None:
    found = read_command_line(json.dumps(GOOD), channels)
    assert found.given.startswith(says)
    assert found.usage == usage
    _, example = example_for(channels)
    assert read_command_line(example, channels).runs


def test_a_command_line_on_standard_input_is_no_run() -> None:
    for stdin in ("python count.py --all", "$ total 1", "a --sort", "./x"):
        run: dict[str, object] = {"args": [], "stdin": stdin, "files": [], "stdout": "1"}
        assert read_command_line(json.dumps({**GOOD, "runs": [run]})).runs == ()


def test_what_was_copied_from_the_example_or_is_a_sentence_is_left_out() -> None:
    _, example = example_for(["args"])
    copied = read_command_line(example)
    assert ("It prints" in copied.text(), copied.form()) == (False, "")
    told = read_command_line(json.dumps(GOOD)).form()
    assert told.endswith("(numbers may be wrong): solution 2 3 prints '5'")
    wordy = {**GOOD, "usage": "It adds two numbers that are given on the command line and so on."}
    assert read_command_line(json.dumps(wordy)).usage == ""


def test_a_run_that_begins_with_the_program_itself_is_read_without_it() -> None:
    runs = [{"args": ["./solution", "a", "b"], "stdin": "", "stdout": "1"}]
    runs += [{"args": ["solution.py"], "stdin": "", "stdout": "2"}]
    found = read_runs(json.dumps({"runs": runs}))
    assert [probe.command and probe.command.args for probe in found] == [("a", "b"), ()]
