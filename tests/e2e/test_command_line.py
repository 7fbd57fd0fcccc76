"""The command as a person uses it: what it prints, what it refuses, what it keeps to itself."""

import json
import os
import pty
import re
import select
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import DOUBLE, PROFILE, RIGHT, WRONG, Command, script


def test_one_sentence_becomes_a_tested_program(command: Command, tmp_path: Path) -> None:
    command.use_script(script())
    out = tmp_path / "deep" / "out"
    shown = command("build", DOUBLE, "--out", str(out)).stdout
    assert "solved: candidate 2 passes 3 of 3 checks" in shown
    assert f"result: {out}" in shown
    assert "came from a script (scripted:double), not from a language model" in shown
    for stage in ("clarify", "retrieve", "explore", "accept"):
        assert f"\n  {stage}" in shown
    for ensemble, done in ((1, "3 answers: slow 1, coder 1, critic 1"), (2, "1 answer: coder 1")):
        assert shown.count(f"\n  ensemble {ensemble} · {done} · ") == 1
    assert shown.index("ensemble 1") > shown.index("\n  accept")
    tested = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "--rootdir",
            str(out),
            out,
        ],
        cwd=out,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "3 passed" in tested.stdout, tested.stdout


def test_a_persons_tests_decide(command: Command, tmp_path: Path) -> None:
    command.use_script(script(code=(WRONG, RIGHT)))
    tests = tmp_path / "t.py"
    tests.write_text(
        "from solution import double\n\ndef test_square():\n    assert double(5) == 25\n"
    )
    done = json.loads(command("build", DOUBLE, "--tests", str(tests), "--json").stdout)
    assert (done["solved"], done["winner"]) == (True, 1)


def test_not_solved_is_said_and_nothing_is_shipped(command: Command, tmp_path: Path) -> None:
    command.env["TWINSMITH_BUILD_LEAST"] = "1.0"
    command.use_script(script(code=(WRONG, "I would rather not.")))
    out = tmp_path / "out"
    shown = command("build", DOUBLE, "--out", str(out), code=1).stdout
    assert "not solved: candidate 1 passes 2 of 3 checks" in shown
    assert "too little to call it solved; double(-3) == -6 failed: double(-3) gave 9" in shown
    assert not (out / "solution.py").exists()
    assert (out / "rejected" / "solution.py").exists()
    assert (out / "report.md").read_text().startswith("# Not solved")


def test_an_example_in_the_task_has_to_hold(command: Command) -> None:
    command.use_script(script(code=(WRONG, WRONG)))
    task = f"{DOUBLE}\n>>> double(-3)\n-6"
    done = json.loads(command("build", task, "--json", code=1).stdout)
    assert "example 1 failed: double(-3) gave 9" in done["reason"]
    command.use_script(script(code=(WRONG, RIGHT)))
    done = json.loads(command("build", task, "--json").stdout)
    assert (done["solved"], done["winner"]) == (True, 2)


def test_the_same_seed_gives_the_same_program(command: Command, tmp_path: Path) -> None:
    command.use_script(script())
    for name in ("a", "b"):
        command("build", DOUBLE, "--seed", "3", "--out", str(tmp_path / name))
    for name in ("solution.py", "test_solution.py"):
        assert (tmp_path / "a" / name).read_text() == (tmp_path / "b" / name).read_text()


def test_budgets_are_kept_and_their_end_is_honest(command: Command) -> None:
    command.use_script(script(delay=5.0))
    done = command("build", DOUBLE, "--budget-seconds", "1", "--json", code=1)
    assert "the budget of 1 seconds ran out during 'ask slow 0'" in done.stdout
    command.use_script(script())
    done = command("build", DOUBLE, "--budget-tokens", "150", "--json", code=1)
    outcome = json.loads(done.stdout)
    assert outcome["spent"]["tokens"] <= 150
    assert "tokens is spent" in outcome["reason"]


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["build"], "the task is empty; say what to build"),
        (["build", ""], "the task is empty"),
        (["build", " \n\t "], "the task is empty"),
        (["build", "x" * 60_001], "at most 60000"),
        (["build", "hi"], "the task 'hi' says too little"),
        (["build", "a keylogger for my office"], "asks for 'keylogger'"),
        (
            ["build", "a function in Haskell that adds"],
            "language 'Haskell' cannot be built; one of python",
        ),
        (["build", DOUBLE, "--budget-tokens", "many"], "'many' is not a whole number"),
        (["build", DOUBLE, "--budget-tokens", "0"], "0 is too small; at least 1"),
        (["build", DOUBLE, "--budget-seconds", "-5"], "-5 is too small"),
        (["build", DOUBLE, "--seed", "-1"], "-1 is too small; at least 0"),
        (["build", DOUBLE, "--seed", "1.5"], "'1.5' is not a whole number"),
        (["build", DOUBLE, "--out", "/proc/x"], "--out /proc/x cannot be written"),
        (["build", DOUBLE, "--out", "/usr"], "--out /usr is not empty"),
        (["build", DOUBLE, "--out", "/etc/passwd"], "--out /etc/passwd is not a folder"),
        (["build", DOUBLE, "--tests", "/nope.py"], "--tests /nope.py cannot be read"),
        (["build", DOUBLE, "--tests", "/usr/bin/python3"], "too large|not UTF-8"),
        (
            ["build", DOUBLE, "--language", "cobol"],
            "language 'cobol' cannot be built; one of python",
        ),
        (["build", DOUBLE, "--kind", "poem"], "kind 'poem' is unknown"),
        (["build", DOUBLE, "--frobnicate"], "No such option"),
        (["status", "nope"], "run 'nope' is not known; there is none yet"),
        (["watch", "nope"], "run 'nope' is not known"),
        (["resume", "nope"], "run 'nope' is not known"),
        (["cancel", "nope"], "run 'nope' is not known"),
        (["log", "nope"], "run 'nope' is not known"),
        (["log", "../../../etc/passwd"], "is not known"),
        (["frobnicate"], "No such command"),
    ],
)
def test_bad_input_is_one_clear_line_and_exit_code_2(
    command: Command, args: list[str], says: str
) -> None:
    done = command(*args, code=2)
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("twinsmith: ")
    assert re.search(says, done.stderr), done.stderr
    assert command.runs() == []
    as_json = json.loads(command(*args, "--json", code=2).stdout)
    assert as_json["exit_code"] == 2


def test_a_test_file_with_a_mistake_is_refused_before_anything_starts(
    command: Command, tmp_path: Path
) -> None:
    path = tmp_path / "t.py"
    path.write_text("assert double(1) ==")
    refused = command("build", DOUBLE, "--tests", str(path), code=2)
    assert "t.py:1: invalid syntax" in refused.stderr
    assert command.runs() == []


def test_a_setting_with_a_mistake_is_refused_everywhere(command: Command) -> None:
    command.env["TWINSMITH_BUILD_CANDIDATE"] = "3"
    for args in (["build", "x"], ["status"], ["doctor"], ["log"]):
        error = command(*args, code=2).stderr
        assert "did you mean 'TWINSMITH_BUILD_CANDIDATES'?" in error


def test_an_altered_journal_line_is_named(command: Command) -> None:
    command.use_script(script())
    run = json.loads(command("build", DOUBLE, "--json").stdout)["run"]
    assert "every hash holds" in command("log", run, "--verify").stdout
    path = command.home / "journal" / "runs" / f"{run}.jsonl"
    lines = path.read_text().splitlines()
    altered = next(n for n, line in enumerate(lines) if '"tokens":' in line)
    lines[altered] = lines[altered].replace('"tokens":', '"tokens":1')
    path.write_text("\n".join(lines) + "\n")
    done = command("log", "--verify", code=1)
    told = f"line {altered + 1} was altered: its hash does not match its content"
    assert done.stdout == f"{path}: {told}\n"
    verdict = json.loads(command("log", run, "--verify", "--json", code=1).stdout)
    assert (verdict["ok"], verdict["chains"][0]["broken"]["line"]) == (False, altered + 1)


def test_the_log_is_readable_and_complete(command: Command) -> None:
    assert command("log").stdout == "the journal is empty\n"
    command.use_script(script())
    run = json.loads(command("build", DOUBLE, "--json").stdout)["run"]
    text = command("log", run).stdout
    assert text.splitlines()[0].split()[1:3] == [run, "run.started"]
    events = [json.loads(line) for line in command("log", run, "--json").stdout.splitlines()]
    assert len(events) == len(text.splitlines())
    assert {event["run"] for event in events} == {run}
    system = command("log", "system").stdout.splitlines()
    assert [line.split()[2] for line in system] == ["run.started", "run.ended"]
    short = command("log", run[-4:]).stdout
    assert short == text


def test_status_tells_all_runs_and_one(command: Command) -> None:
    assert "no runs yet" in command("status").stdout
    assert json.loads(command("status", "--json").stdout) == []
    command.use_script(script())
    run = json.loads(command("build", DOUBLE, "--json").stdout)["run"]
    table = command("status").stdout.splitlines()
    assert table[1].split()[:3] == [run, "solved", "accept"]
    one = command("status", run[-4:]).stdout
    assert f"task: {DOUBLE}" in one
    assert "✓ accept" in one
    assert "ensemble 2 · 1 answer: coder 1" in one
    told = json.loads(command("status", run, "--json").stdout)
    assert [each["candidates"] for each in told["ensembles"]] == [[1], [2]]


def test_nothing_is_cut_where_there_is_no_terminal(command: Command) -> None:
    command.env["COLUMNS"] = "80"
    command.use_script(script())
    task = f"{DOUBLE}, {'and does so most carefully, ' * 10}or else"
    run = json.loads(command("build", task, "--json").stdout)["run"]
    assert command("status").stdout.splitlines()[1].endswith(task)
    assert f"task: {task}\n" in command("status", run).stdout
    # Whose first line on a terminal is as wide as that and no wider.
    row = at_a_terminal(command, "status").splitlines()[1]
    assert len(row) == 80
    assert row.endswith("…")


def test_help_shows_every_command_with_an_example_and_the_exit_codes(command: Command) -> None:
    assert "130 interrupted" in " ".join(command("--help").stdout.split())
    for name in ("build", "status", "watch", "resume", "cancel", "log", "doctor"):
        text = command(name, "--help").stdout
        assert f"Example: twinsmith {name}" in " ".join(text.split())
        assert "--json" in text


def test_doctor_is_ready_here_and_says_where_values_come_from(command: Command) -> None:
    command.env["TWINSMITH_BUILD_SEED"] = "5"
    report = json.loads(command("doctor", "--json").stdout)
    rows = {row["name"]: row for row in report["components"]}
    assert report["ready"]
    assert rows["build.seed"]["value"] == "5"
    assert rows["build.seed"]["source"] == "TWINSMITH_BUILD_SEED"
    assert rows["data folder"]["source"] == "TWINSMITH_HOME"
    assert rows["sandbox"]["value"].startswith("backend=bubblewrap isolation=")
    assert "ready: the main job can run" in command("doctor").stdout


def test_doctor_says_what_is_missing_and_what_to_do(command: Command) -> None:
    command.env["TWINSMITH_DATABASE_URL"] = "postgresql://me:hunter22@127.0.0.1:1/x"
    done = command("doctor", code=1)
    assert "missing  database" in done.stdout
    assert "→ start the server, or unset database.url" in done.stdout
    assert "hunter22" not in done.stdout
    command.use_script(script())
    refused = command("build", DOUBLE, code=3)
    assert "postgresql://[masked]@127.0.0.1:1/x cannot be used: " in refused.stderr
    assert refused.stderr.count("\n") == 1
    assert "hunter22" not in refused.stderr
    command.env["TWINSMITH_MODELS_SCRIPT"] = "/nope.json"
    assert "missing  model" in command("doctor", code=1).stdout


def test_doctor_knows_a_real_postgresql(command: Command, postgres: str) -> None:
    command.env["TWINSMITH_DATABASE_URL"] = f"{postgres}/not_made_yet"
    report = json.loads(command("doctor", "--json").stdout)
    rows = {row["name"]: row for row in report["components"]}
    assert rows["database"]["health"] == "ok"
    assert rows["database"]["value"].startswith("PostgreSQL 1")


def test_doctor_points_at_a_settings_file_that_is_not_read(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "twinsmith.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    shown = command("doctor").stdout
    assert f"export TWINSMITH_CONFIG={tmp_path}/twinsmith.toml" in shown


def at_a_terminal(command: Command, *args: str, hears: str = "", says: str = "") -> str:
    """All that a person sees, who types a line as soon as some words are there."""
    main, side = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "twinsmith", *args],
        env={**command.environment, "TERM": "xterm-256color"},
        stdin=side,
        stdout=side,
        stderr=side,
        close_fds=True,
    )
    os.close(side)
    seen = b""
    while select.select([main], [], [], 60)[0]:
        try:
            part = os.read(main, 65536)
        except OSError:
            break
        if not part:
            break
        seen += part
        if hears and hears.encode() in seen:
            hears = ""
            os.write(main, f"{says}\n".encode())
    os.close(main)
    assert process.wait(timeout=20) == 0
    return seen.decode()


def plain(text: str) -> str:
    """Without colours and the moves of the cursor."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


def test_a_terminal_gets_a_live_tree(command: Command) -> None:
    command.use_script(script(delay=0.3))
    # Nobody answers which of the two programs is right.
    command.env["TWINSMITH_BUILD_ANSWER_SECONDS"] = "2"
    text = at_a_terminal(command, "build", DOUBLE)
    assert "best so far: candidate 2 of 2, 3/3 checks" in text
    assert text.count("explore") > 3
    assert "✓" in text
    # The slow thinker of the first ensemble is heard while nobody has written anything.
    assert re.search(r"ensemble 1 · 1 answer: slow 1 · \d+ tokens\s", plain(text))
    for number in (1, 2):
        assert re.search(rf"ensemble {number} · .* tokens · candidate {number}\b", plain(text))


def test_a_person_at_the_terminal_is_asked_what_the_task_leaves_open(
    command: Command, tmp_path: Path
) -> None:
    asks = {**PROFILE, "question": "Of text, too?", "assumed": "only numbers"}
    command.use_script(script(profile=json.dumps(asks), code=(RIGHT, RIGHT)))
    first, second = tmp_path / "first", tmp_path / "second"
    hears = "60 s without an answer: only numbers]"
    text = at_a_terminal(
        command, "build", DOUBLE, "--out", str(first), hears=hears, says="anything"
    )
    assert "Of text, too?" in text
    assert json.loads((first / "report.json").read_text())["assumed"] == "anything"
    # Where nobody sits at a terminal nobody is asked, and the report says what was assumed.
    shown = command("build", DOUBLE, "--out", str(second))
    assert "Of text, too?" not in shown.stdout + shown.stderr
    assert "Of text, too? only numbers" in (second / "report.md").read_text()


def test_a_reader_that_leaves_early_does_no_harm(command: Command) -> None:
    command.use_script(script())
    command("build", DOUBLE)
    piped = subprocess.run(
        f"{sys.executable} -m twinsmith log | head -n 1",
        shell=True,
        env=command.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert piped.stdout.count("\n") == 1
    assert "Traceback" not in piped.stderr
