"""Workers take runs from a queue; a run survives its worker, and is driven by one at a time."""

import json
import os
import pty
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import psycopg
import pytest

from tests.conftest import DOUBLE, PROFILE, RIGHT, Command, script, until

# Each starts several processes that all want the two cores.
pytestmark = pytest.mark.xdist_group("workers")


class Team:
    """Commands and workers on one database; every worker that was started is ended."""

    def __init__(self, command: Command) -> None:
        self.command = command
        self.started: list[subprocess.Popen[str]] = []

    def hire(self, *args: str, command: Command | None = None) -> "subprocess.Popen[str]":
        """A worker that takes runs."""
        before = len(self.serving())
        process = (command or self.command).start("worker", *args)
        self.started.append(process)
        until(lambda: len(self.serving()) > before or process.poll() is not None)
        assert process.poll() is None, process.communicate()
        return process

    def serving(self) -> list[str]:
        rows = json.loads(self.command("workers", "--json").stdout)
        return [str(row["worker"]) for row in rows if row["takes"]]

    def detached(self, *args: str) -> str:
        return self.command("build", DOUBLE, "--detach", *args).stdout.strip()

    def state(self, run: str) -> str:
        return str(json.loads(self.command("status", run, "--json").stdout)["state"])

    def kinds(self, run: str) -> list[str]:
        return [str(event["kind"]) for event in self.command.events(run)]

    def end(self) -> None:
        for process in self.started:
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGCONT)
                process.kill()
            process.communicate()


@pytest.fixture(params=["sqlite", "postgresql"])
def team(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Team]:
    command = Command(home=tmp_path / "home")
    if request.param == "postgresql":
        server = request.getfixturevalue("postgres")
        command.env["TWINSMITH_DATABASE_URL"] = f"{server}/workers_{time.time_ns()}"
    command.use_script(script())
    made = Team(command)
    yield made
    made.end()


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Team]:
    """What does not depend on the database."""
    command = Command(home=tmp_path / "home")
    command.use_script(script())
    made = Team(command)
    yield made
    made.end()


def assert_driven_once(team: Team, run: str) -> None:
    """A run that several workers had is whole: each event, each answer and its end came once."""
    keys = Counter(str(event["key"]) for event in team.command.events(run) if event["key"])
    assert [key for key, count in keys.items() if count > 1] == []
    kinds = Counter(team.kinds(run))
    assert (kinds["run.ended"], kinds["result.published"]) == (1, 1)
    assert kinds["model.replied"] == 4
    assert "every hash holds" in team.command("log", "--verify").stdout


def test_a_detached_run_waits_for_a_worker_and_is_fetched_by_name(team: Team) -> None:
    command = team.command
    done = command("build", DOUBLE, "--detach")
    run = done.stdout.strip()
    assert "no worker takes runs yet; start one with: twinsmith worker" in done.stderr
    assert team.state(run) == "queued"
    assert "as soon as a worker takes it" in command("status", run).stdout
    worker = team.hire()
    watched = command("watch", run).stdout
    assert "result: " in watched
    outcome = json.loads(command("resume", run, "--json").stdout)
    assert outcome["solved"]
    assert "n * 2" in (Path(outcome["out"]) / "solution.py").read_text()
    assert_driven_once(team, run)
    worker.send_signal(signal.SIGTERM)
    out, err = worker.communicate(timeout=30)
    assert (worker.returncode, err) == (0, "")
    assert [line[10:] for line in out.splitlines()][-1] == "worker leaves"
    assert "no workers; start one" in command("workers").stdout


def test_a_build_beside_a_worker_follows_it(alone: Team) -> None:
    alone.hire()
    outcome = json.loads(alone.command("build", DOUBLE, "--json").stdout)
    assert outcome["solved"]
    taken = [e for e in alone.command.events(outcome["run"]) if e["kind"] == "run.taken"]
    assert [e["data"]["worker"] for e in taken] == alone.serving()  # type: ignore[index]


def test_a_killed_workers_run_is_rescued_by_another(team: Team) -> None:
    team.command.use_script(script(delay=2.0))
    first = team.hire()
    run = team.detached()
    until(lambda: "model.asked" in team.kinds(run))
    team.hire()
    first.kill()
    began = time.monotonic()
    until(lambda: "run.resumed" in team.kinds(run))
    assert time.monotonic() - began < 15
    assert "solved" in team.command("watch", run).stdout
    assert_driven_once(team, run)


def test_a_suspended_worker_loses_its_run_and_lets_go_when_it_wakes(team: Team) -> None:
    team.command.use_script(script(delay=3.0))
    sleeper = team.hire()
    run = team.detached()
    until(lambda: "model.asked" in team.kinds(run))
    team.hire()
    sleeper.send_signal(signal.SIGSTOP)
    began = time.monotonic()
    until(lambda: "run.resumed" in team.kinds(run))
    assert time.monotonic() - began < 15
    sleeper.send_signal(signal.SIGCONT)
    assert "solved" in team.command("watch", run).stdout
    sleeper.send_signal(signal.SIGTERM)
    out, _ = sleeper.communicate(timeout=30)
    assert f"run {run} was taken over by another worker" in out
    assert_driven_once(team, run)


def test_an_answer_lets_a_run_go_on_that_costs_no_process(team: Team) -> None:
    asks = {**PROFILE, "question": "Of text, too?", "assumed": "only numbers"}
    command = team.command
    command.use_script(script(profile=json.dumps(asks), code=(RIGHT, RIGHT)))
    command.env["TWINSMITH_BUILD_QUESTIONS"] = "park"
    command.env["TWINSMITH_BUILD_ANSWER_SECONDS"] = "172800"
    worker = team.hire()
    run = team.detached()
    until(lambda: team.state(run) == "waiting")
    assert [row["runs"] for row in json.loads(command("workers", "--json").stdout)] == [[]]
    # Nobody is there while it is answered; whoever comes later goes on with it.
    worker.kill()
    worker.communicate()
    (question,) = json.loads(command("questions", "--json").stdout)
    assert "go on with: twinsmith resume" in command("answer", question["id"], "text, too").stdout
    team.hire()
    until(lambda: team.state(run) == "solved")
    outcome = json.loads(command("resume", run, "--json").stdout)
    assert json.loads((Path(outcome["out"]) / "report.json").read_text())["assumed"] == "text, too"
    assert_driven_once(team, run)


def test_a_question_nobody_answers_is_assumed_when_its_time_is_over(alone: Team) -> None:
    asks = {**PROFILE, "question": "Of text, too?", "assumed": "only numbers"}
    alone.command.use_script(script(profile=json.dumps(asks), code=(RIGHT, RIGHT)))
    alone.command.env["TWINSMITH_BUILD_QUESTIONS"] = "park"
    alone.command.env["TWINSMITH_BUILD_ANSWER_SECONDS"] = "3"
    alone.hire()
    run = alone.detached()
    until(lambda: alone.state(run) == "solved")
    told = [e["data"] for e in alone.command.events(run) if e["kind"] == "run.queued"]
    assert "nobody answered in time" in json.dumps(told)


def test_another_machine_sees_cancels_and_fetches(tmp_path: Path, postgres: str) -> None:
    here, there = Command(home=tmp_path / "here"), Command(home=tmp_path / "there")
    for command in (here, there):
        command.use_script(script(delay=1.0))
        command.env["TWINSMITH_DATABASE_URL"] = f"{postgres}/machines_{time.time_ns() // 10**10}"
    team = Team(here)
    try:
        worker = team.hire(command=there)
        outcome = json.loads(here("build", DOUBLE, "--out", str(tmp_path / "out"), "--json").stdout)
        assert outcome["solved"]
        assert (tmp_path / "out" / "solution.py").exists()
        # What the other machine's disk holds is its own: nothing was written to our path there.
        assert not list((tmp_path / "there" / "runs").glob("*/result"))
        worker.terminate()
        worker.communicate(timeout=30)
        there.use_script(script(delay=30.0))
        team.hire(command=there)
        run = here("build", DOUBLE, "--detach").stdout.strip()
        until(lambda: "model.asked" in team.kinds(run))
        assert team.state(run) == "running"
        assert json.loads(there("status", run, "--json").stdout)["state"] == "running"
        assert "being driven by worker" in here("resume", run, code=4).stderr
        assert json.loads(here("cancel", run, "--json").stdout)["state"] == "cancelled"
        assert team.kinds(run).count("run.ended") == 1
    finally:
        team.end()


def test_a_worker_outlives_its_connections_to_the_database(alone: Team, postgres: str) -> None:
    team, url = alone, f"{postgres}/workers_{time.time_ns()}"
    team.command.env["TWINSMITH_DATABASE_URL"] = url
    team.command.use_script(script(delay=1.0))
    team.hire()
    runs = [team.detached() for _ in range(2)]
    until(lambda: "model.asked" in team.kinds(runs[0]))
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    for run in runs:
        until(lambda run=run: team.state(run) == "solved", seconds=60)
        assert_driven_once(team, run)


def test_one_key_is_one_run_and_priorities_come_first(alone: Team) -> None:
    low, normal = alone.detached("--priority", "low"), alone.detached("--key", "k 1")
    high = alone.detached("--priority", "high")
    assert alone.detached("--key", "k 1") == normal
    wrong = alone.command("build", DOUBLE, "--detach", "--priority", "urgent", code=2)
    assert wrong.stderr == ("twinsmith: priority 'urgent' is not known; one of high, normal, low\n")
    alone.hire()
    until(lambda: all(alone.state(run) == "solved" for run in (low, normal, high)))
    began = {
        run: next(str(e["at"]) for e in alone.command.events(run) if e["kind"] == "run.taken")
        for run in (low, normal, high)
    }
    assert sorted(began, key=lambda run: began[run]) == [high, normal, low]


def change(database: Path, statement: str) -> None:
    with closing(sqlite3.connect(database)) as file, file:
        file.execute(statement)


def test_a_run_of_an_older_pipeline_is_parked_and_says_so(alone: Team) -> None:
    run, home = alone.detached(), alone.command.home
    change(home / "state.db", "UPDATE workflow_status SET application_version = '1'")
    change(home / "runs.db", "UPDATE twinsmith_driving SET pipeline = '1', fence = 3")
    alone.hire()
    until(lambda: alone.state(run) == "parked")
    reason = json.loads(alone.command("status", run, "--json").stdout)["reason"]
    assert "pipeline 1 began it and no worker of that version is there" in reason
    assert "was begun by pipeline 1" in alone.command("resume", run, code=3).stderr
    # Never begun, it is any pipeline's.
    change(home / "runs.db", "UPDATE twinsmith_driving SET fence = 0, state = 'queued'")
    until(lambda: alone.state(run) == "solved")


def test_more_at_once_than_all_may_is_one_line(alone: Team) -> None:
    alone.command.env["TWINSMITH_WORKERS_AT_ONCE"] = "2"
    said = alone.command("worker", "--concurrency", "3", code=2).stderr
    assert said == (
        "twinsmith: 3 runs at once are more than workers.at_once = 2 allows for all workers; "
        "take fewer\n"
    )
    assert "0 is too small" in alone.command("worker", "--concurrency", "0", code=2).stderr


def test_whoever_follows_a_run_at_a_terminal_is_asked(alone: Team) -> None:
    asks = {**PROFILE, "question": "Of text, too?", "assumed": "only numbers"}
    command = alone.command
    command.use_script(script(profile=json.dumps(asks), code=(RIGHT, RIGHT)))
    alone.hire()
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "r+b", buffering=0) as terminal:
        follower = subprocess.Popen(
            [sys.executable, "-m", "twinsmith", "build", DOUBLE],
            env={**command.environment, "TERM": "xterm"},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        seen = b""
        while b"Of text, too?" not in seen or b"only numbers]" not in seen:
            seen += terminal.read(4096)
        terminal.write(b"text as well\n")
        with suppress(OSError):  # the other side has gone
            while part := terminal.read(4096):
                seen += part
        assert follower.wait(timeout=60) == 0, seen
    (run,) = command.runs()
    (answered,) = [e["data"] for e in command.events(run) if e["kind"] == "person.answered"]
    assert answered["answer"] == "text as well"  # type: ignore[index]
