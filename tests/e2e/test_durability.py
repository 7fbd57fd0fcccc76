"""Pull the plug on the real command, then resume: nothing lost, nothing done or paid twice.

Here at random moments, in the middle of whatever is done; at every write in `test_windows.py`.
"""

import json
import random
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.conftest import DOUBLE, RIGHT, Command, script, until

STAGES = ["clarify", "retrieve", "explore", "accept"]
QUESTIONS = ["ask slow 0", "ask coder 0", "ask coder 1", "ask critic 0"]
STEPS = [
    *["ask slow 0", "recall", "remember", "ask coder 0", "ask coder 1", "ask critic 0"],
    *["execute 1, 1", "execute 2, 2", "inspect 2", "ask a person 1", "publish", "share"],
]


@pytest.fixture(params=["sqlite", "postgresql"])
def command(request: pytest.FixtureRequest, tmp_path: Path) -> Command:
    """The command on each database; one reply takes 0.2 s, so that there is something to hit."""
    made = Command(home=tmp_path / "home")
    if request.param == "postgresql":
        server = request.getfixturevalue("postgres")
        made.env["TWINSMITH_DATABASE_URL"] = f"{server}/e2e_{time.time_ns()}"
    made.use_script(script(delay=0.2))
    return made


def finished_stages(command: Command, run: str) -> list[str]:
    return [
        str(event["data"]["stage"])  # type: ignore[index]
        for event in command.events(run)
        if event["kind"] == "stage.finished"
    ]


def killed_when(command: Command, process: "subprocess.Popen[str]", stage: str) -> str:
    """Kill the process with SIGKILL as soon as its run has finished a stage."""
    until(lambda: command.runs() != [] or process.poll() is not None)
    (run,) = command.runs()
    until(lambda: stage in finished_stages(command, run) or process.poll() is not None)
    process.kill()
    process.communicate()
    return run


def recorded_steps(command: Command, run: str) -> list[str]:
    from dbos import DBOSClient

    from twinsmith.adapters.durable.dbos_database import JsonSerializer

    url = command.env.get("TWINSMITH_DATABASE_URL", f"sqlite:///{command.home}/state.db")
    client = DBOSClient(system_database_url=url, serializer=JsonSerializer())
    try:
        return [step["function_name"] for step in client.list_workflow_steps(run)]
    finally:
        client.destroy()


def assert_whole(command: Command, run: str) -> None:
    """The outcome is the one of an undisturbed run, and every step and payment happened once."""
    out = command.home / "runs" / run / "result"
    report = json.loads((out / "report.json").read_text())
    assert (report["solved"], report["winner"]) == (True, 2)
    assert "n * 2" in (out / "solution.py").read_text()
    assert sorted(path.name for path in out.iterdir()) == [
        *["report.json", "report.md", "solution.py", "test_solution.py"]
    ]
    assert recorded_steps(command, run) == STEPS
    paid = [key for key in command.bill() if key.startswith(run)]
    assert sorted(paid) == sorted(f"{run}/{question}" for question in QUESTIONS)
    kinds = Counter((event["kind"], event["key"]) for event in command.events(run) if event["key"])
    assert set(kinds.values()) == {1}
    assert finished_stages(command, run) == STAGES
    assert "every hash holds" in command("log", "--verify").stdout


def test_killed_at_random_moments_again_and_again(command: Command) -> None:
    chance = random.Random(command.env.get("TWINSMITH_DATABASE_URL", "sqlite"))
    process = command.start("build", DOUBLE)
    until(lambda: command.runs() != [])
    (run,) = command.runs()
    for _ in range(5):
        time.sleep(chance.uniform(0.0, 2.5))
        process.kill()
        process.communicate()
        assert json.loads(command("status", run, "--json").stdout)["run"] == run
        process = command.start("resume", run)
    assert process.wait(timeout=60) == 0, process.communicate()
    process.communicate()
    assert_whole(command, run)


def test_a_killed_run_is_left_alone_by_others(command: Command) -> None:
    command.use_script(script(delay=1.0))
    victim = command.start("build", DOUBLE)
    until(lambda: command.runs() != [])
    (first,) = command.runs()
    until(lambda: "clarify" in finished_stages(command, first))
    victim.kill()
    victim.communicate()
    events = len(command.events(first))
    other = json.loads(command("build", DOUBLE, "--json").stdout)
    assert other["solved"]
    assert len(command.events(first)) == events
    states = {row["run"]: row["state"] for row in json.loads(command("status", "--json").stdout)}
    assert states == {first: "interrupted", other["run"]: "solved"}
    command("resume", first)
    assert_whole(command, first)
    assert_whole(command, other["run"])


def test_three_first_runs_at_once_make_one_database(command: Command) -> None:
    together = [command.start("build", DOUBLE, "--json") for _ in range(3)]
    outputs = [process.communicate(timeout=60)[0] for process in together]
    runs = [json.loads(output)["run"] for output in outputs]
    assert len(set(runs)) == 3
    for run in runs:
        assert_whole(command, run)


class TestOnSqlite:
    """The rest does not depend on the database."""

    @pytest.fixture
    def command(self, tmp_path: Path) -> Command:
        made = Command(home=tmp_path / "home")
        made.use_script(script(delay=20.0))
        return made

    def begun(self, command: Command) -> tuple["subprocess.Popen[str]", str]:
        process = command.start("build", DOUBLE)
        until(
            lambda: any(
                e["kind"] == "stage.started" for r in command.runs() for e in command.events(r)
            )
        )
        (run,) = command.runs()
        return process, run

    @pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
    def test_an_interrupted_run_is_parked_and_says_how_to_go_on(
        self, command: Command, number: signal.Signals, code: int
    ) -> None:
        process, run = self.begun(command)
        process.send_signal(number)
        _, err = process.communicate(timeout=20)
        assert process.returncode == code
        assert err == f"twinsmith: run {run} is parked; go on with: twinsmith resume {run}\n"
        status = json.loads(command("status", run, "--json").stdout)
        assert (status["state"], status["reason"]) == ("parked", "interrupted by a person")
        command.use_script(script())
        assert json.loads(command("resume", run, "--json").stdout)["solved"]
        assert_whole(command, run)

    def test_a_cancelled_run_stops_where_it_is_driven_and_stays_stopped(
        self, command: Command
    ) -> None:
        process, run = self.begun(command)
        cancelled = json.loads(command("cancel", run, "--json").stdout)
        assert cancelled["state"] == "cancelled"
        _, err = process.communicate(timeout=20)
        assert process.returncode == 5
        assert "was cancelled" in err
        assert "was cancelled; start a new build" in command("resume", run, code=5).stderr
        assert "has ended already" in command("cancel", run, code=2).stderr
        assert "every hash holds" in command("log", "--verify").stdout

    def test_an_interrupted_run_can_be_cancelled(self, command: Command) -> None:
        process, run = self.begun(command)
        process.kill()
        process.communicate()
        assert "interrupted" in command("status", run).stdout
        command("cancel", run)
        assert json.loads(command("status", run, "--json").stdout)["state"] == "cancelled"

    def test_only_one_process_drives_a_run_and_others_may_watch(self, command: Command) -> None:
        command.use_script(script(delay=1.5))
        process, run = self.begun(command)
        watcher = command.start("watch", run, "--json")
        busy = command("resume", run, code=4)
        assert f"run {run} is being driven by worker" in busy.stderr
        assert f"-{process.pid}-" in busy.stderr
        process.communicate(timeout=60)
        out, _ = watcher.communicate(timeout=20)
        kinds = [json.loads(line)["kind"] for line in out.splitlines()]
        assert (kinds[0], kinds[-1]) == ("run.started", "run.ended")
        assert kinds.count("stage.finished") == len(STAGES)
        assert watcher.returncode == 0

    def test_what_is_down_parks_the_run_until_it_is_up_again(self, command: Command) -> None:
        broken = script()
        broken["replies"][2] = {"role": "coder", "error": "503 from the provider"}  # type: ignore[index]
        command.use_script(broken)
        failed = command("build", DOUBLE, code=3)
        assert "503 from the provider" in failed.stderr
        (run,) = command.runs()
        assert failed.stderr.rstrip().endswith(
            f"resume the run to try again; then: twinsmith resume {run}"
        )
        assert command("status", run).stdout.count("parked") >= 1
        command.use_script(script())
        command("resume", run)
        assert_whole(command, run)

    @pytest.mark.parametrize("stage", ["clarify", "explore"])
    def test_a_tight_budget_refuses_the_same_after_a_kill(
        self, command: Command, stage: str
    ) -> None:
        command.use_script(script(delay=0.2, code=(RIGHT, RIGHT)))
        # All that is left is set aside for the first coder; the second is not asked.
        task = [f"{DOUBLE}\n>>> double(4)\n8", "--budget-tokens", "1500"]
        run = killed_when(command, command.start("build", *task), stage)
        done = json.loads(command("resume", run, "--json").stdout)
        undisturbed = json.loads(command("build", *task, "--json").stdout)
        for outcome in (done, undisturbed):
            assert (outcome["solved"], outcome["winner"]) == (True, 1)
            assert "1500 tokens is spent" in outcome["verdicts"][1]["findings"][0]["evidence"]
            assert outcome["spent"]["tokens"] <= 1500
        assert recorded_steps(command, run) == recorded_steps(command, undisturbed["run"])

    def test_a_finished_run_gives_its_outcome_again(self, command: Command) -> None:
        command.use_script(script())
        first = json.loads(command("build", DOUBLE, "--json").stdout)
        again = json.loads(command("resume", first["run"], "--json").stdout)
        assert again == first
        assert_whole(command, first["run"])

    def test_a_fault_of_ours_keeps_its_traceback_and_the_run(self, command: Command) -> None:
        command.use_script(script())
        # Judging breaks: nothing a user does, so an internal error.
        command.env["PYTHONPATH"] = str(command.home / "fault")
        fault = command.home / "fault" / "sitecustomize.py"
        fault.parent.mkdir(parents=True)
        fault.write_text(
            "import twinsmith.flow.build.verdicts as v\n"
            "def judge(*a): raise ZeroDivisionError('sk-abcdefghijklmnopqrstuv')\n"
            "v.judge = judge\n"
        )
        failed = command("build", DOUBLE, code=70)
        (run,) = command.runs()
        crash = command.home / "runs" / run / "crash.txt"
        assert f"ZeroDivisionError inside twinsmith; the traceback is in {crash}" in failed.stderr
        assert "ZeroDivisionError: [masked]" in crash.read_text()
        del command.env["PYTHONPATH"]
        command("resume", run)
        assert_whole(command, run)
