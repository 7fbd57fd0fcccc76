"""The command on a server from another machine: the same words, the same exit codes."""

import asyncio
import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess, Popen

import pytest

from tests.conftest import DOUBLE, PROFILE, RIGHT, WRONG, Command, script, until
from tests.delivered import Yard, asked, result, yard
from tests.served import Served, key_for, serving
from twinsmith.client import Client
from twinsmith.core.people.actor import Actor
from twinsmith.core.progress import Progress
from twinsmith.runs.book import Book
from twinsmith.settings import load

# Each starts several processes that all want the two cores.
pytestmark = pytest.mark.xdist_group("workers")

ALL = ("read", "build", "deploy", "decide", "operate", "override", "audit")


@dataclass(kw_only=True)
class Afar:
    """A server, its own command, and the same command on a machine that has nothing but a key."""

    server: Served
    there: Command
    here: Command

    def __call__(self, *args: str, code: int | None = 0) -> CompletedProcess[str]:
        return self.here("--server", self.server.address, *args, code=code)

    def start(self, *args: str) -> "Popen[str]":
        return self.here.start("--server", self.server.address, *args)

    def data(self, *args: str, code: int | None = 0) -> object:
        return json.loads(self(*args, "--json", code=code).stdout)

    def client(self) -> Client:
        return Client(self.server.address, self.here.env["TWINSMITH_KEY"])

    def state(self, run: str) -> str:
        with self.client() as client:
            return client.runs.get(run).state

    @property
    def hint(self) -> str:
        return f"twinsmith --server {self.server.address}"


@contextmanager
def afar(there: Command, here: Path, *args: str) -> Iterator[Afar]:
    """A server of a command's data folder with a worker that takes runs, and a key to it."""
    # Where nobody answers which of two programs is right, the assumption holds at once.
    there.env.setdefault("TWINSMITH_BUILD_ANSWER_SECONDS", "0")
    with serving(there, "--no-monitor", *args) as server:
        near = Command(home=here, env={"TWINSMITH_KEY": key_for(there, *ALL)})
        made = Afar(server=server, there=there, here=near)
        if "--no-worker" not in args:
            with made.client() as client:
                until(lambda: client.ready().workers)
        yield made


def test_a_build_is_followed_to_its_end_and_its_program_lies_here(
    command: Command, tmp_path: Path
) -> None:
    command.use_script(script(delay=0.3))
    with afar(command, tmp_path / "near") as twin:
        done = twin("build", DOUBLE, "--out", str(tmp_path / "out"))
        lines = done.stdout.splitlines()
        assert lines[0].startswith("run 20")
        assert any(line.startswith("  explore") for line in lines)
        assert any(line.startswith("  ensemble 1") for line in lines)
        assert f"result: {tmp_path}/out" in lines
        assert "n * 2" in (tmp_path / "out" / "solution.py").read_text()
        run = lines[0].removeprefix("run ")
        ended = twin.data("build", DOUBLE)
        assert isinstance(ended, dict)
        assert ended["solved"]
        assert Path(ended["out"]).is_relative_to(tmp_path / "near")
        assert "n * 2" in (Path(ended["out"]) / "solution.py").read_text()
        again = twin.data("resume", run)
        assert isinstance(again, dict)
        assert (again["run"], again["solved"]) == (run, True)
        # The same words as there.
        for words in (("status",), ("status", run), ("log", run), ("questions",), ("queue",)):
            for form in ((), ("--json",)):
                near, far = twin(*words, *form).stdout, command(*words, *form).stdout
                place = f"result: {command.home}/runs/{run}/result"
                assert near == far.replace(place, f"result: {twin.hint} fetch {run} --out DIR")
        watched = [json.loads(each) for each in twin("watch", run, "--json").stdout.splitlines()]
        assert watched == command.events(run)
        assert "every hash holds" in twin("log", "--verify").stdout
        assert twin.data("fetch", run, "--out", str(tmp_path / "once more")) == {
            "run": run,
            "out": str(tmp_path / "once more"),
        }
        insights = command("insights", "--json").stdout
        assert json.loads(insights)
        assert twin("insights", "--json").stdout == insights
    # Nothing of it was driven here.
    assert not (tmp_path / "near" / "journal").exists()


def test_a_run_that_is_left_alone_is_watched_stopped_and_interrupted_by_nobody(
    command: Command, tmp_path: Path
) -> None:
    command.use_script(script(delay=4.0))
    with afar(command, tmp_path / "near") as twin:
        first = twin("build", DOUBLE, "--detach", "--key", "k 1").stdout.strip()
        until(lambda: twin.state(first) == "running")
        assert twin("build", DOUBLE, "--detach", "--key", "k 1").stdout.strip() == first
        assert "being driven" in command("resume", first, code=4).stderr
        assert "is being worked on" in twin("resume", first, code=4).stderr
        watching = twin.start("watch", first[-4:], "--json")
        assert watching.stdout is not None
        assert json.loads(watching.stdout.readline())["kind"] == "run.started"
        watching.send_signal(signal.SIGINT)
        out, _ = watching.communicate(timeout=30)
        assert watching.returncode == 130
        told = json.loads(out.splitlines()[-1])
        assert told == {"error": f"run {first} goes on", "exit_code": 130}
        following = twin.start("resume", first)
        assert following.wait(timeout=30) == 4
        following.communicate()
        stopped = twin.data("cancel", first)
        assert isinstance(stopped, dict)
        assert stopped["state"] == "cancelled"
        assert "there is nothing to cancel" in twin("cancel", first, code=2).stderr
        assert "was cancelled; start a new build" in twin("resume", first, code=5).stderr
        building = twin.start("build", DOUBLE)
        assert building.stdout is not None
        run = building.stdout.readline().strip().removeprefix("run ")
        building.send_signal(signal.SIGINT)
        _, err = building.communicate(timeout=30)
        assert building.returncode == 130
        assert err == f"twinsmith: run {run} goes on; follow it with: {twin.hint} watch {run}\n"
        assert "solved: " in twin("watch", run).stdout


def test_an_honest_no_has_the_exit_code_of_one(command: Command, tmp_path: Path) -> None:
    command.env["TWINSMITH_BUILD_LEAST"] = "1.0"
    command.use_script(script(code=(WRONG, WRONG)))
    with afar(command, tmp_path / "near") as twin:
        shown = twin("build", DOUBLE, code=1).stdout
        assert any(line.startswith("not solved: ") for line in shown.splitlines()), shown


def test_a_question_is_answered_from_afar(command: Command, tmp_path: Path) -> None:
    asks = {**PROFILE, "question": "Of text, too?", "assumed": "only numbers"}
    command.use_script(script(profile=json.dumps(asks), code=(RIGHT, RIGHT)))
    command.env["TWINSMITH_BUILD_ANSWER_SECONDS"] = "172800"
    with afar(command, tmp_path / "near") as twin:
        building = twin.start("build", DOUBLE, "--json")
        until(lambda: twin.data("questions"))
        (question,) = json.loads(twin("questions", "--json").stdout)
        assert "then: only numbers" in twin("questions").stdout
        said = twin("answer", question["id"][-6:], "text as well").stdout.splitlines()
        assert said[0] == f"{question['id']}: text as well"
        twice = twin("answer", question["id"], "no", code=2).stderr
        assert "is answered already: 'text as well' by user:admin" in twice
        out, err = building.communicate(timeout=120)
        assert (building.returncode, err) == (0, "")
        report = Path(json.loads(out)["out"]) / "report.json"
        assert json.loads(report.read_text())["assumed"] == "text as well"


def test_secrets_of_this_machine_stay_here(command: Command, tmp_path: Path) -> None:
    command.use_script(script())
    with afar(command, tmp_path / "near", "--no-worker") as twin:
        twin.here.env["SHOP_TOKEN"] = "swordfish-4711-swordfish"
        task = f"{DOUBLE} for swordfish-4711-swordfish"
        done = twin("build", task, "--detach")
        assert "masked before anything was written or asked: 1 place in the task" in done.stderr
        assert "no worker takes runs yet" in done.stderr
        key = twin.here.env["TWINSMITH_KEY"]
        failed = twin("build", f"{DOUBLE} for {key}", code=3)
        assert "is queued and no worker is left" in failed.stderr
    for folder in (command.home, tmp_path / "near"):
        kept = b"".join(each.read_bytes() for each in folder.rglob("*") if each.is_file())
        assert b"swordfish-4711" not in kept
        assert key.split("_")[2].encode() not in kept


def test_what_cannot_be_is_one_line(command: Command, tmp_path: Path) -> None:
    command.use_script(script())
    with afar(command, tmp_path / "near", "--no-worker") as twin:
        address = twin.server.address
        for words in (("doctor",), ("worker",), ("serve",), ("verify", "x"), ("alerts",)):
            refused = twin(*words, code=2).stderr
            assert refused.endswith(
                f"'twinsmith {words[0]}' works on this machine only; without --server\n"
            )
        unknown = twin("status", "nope", code=2).stderr
        assert "twinsmith: run 'nope' is not known; there is none yet" in unknown
        assert "work on this machine only" in twin("log", "--anchor", code=2).stderr
        refused = twin("deploy", str(tmp_path), code=2).stderr
        assert "a server deploys what its own runs have built" in refused
        assert "is not known; there is none yet" in twin("stop", "shop", code=2).stderr
        assert (
            "override 'stop' is not known"
            in twin("override", "stop", "all", "--reason", "x", code=2).stderr
        )
        held = twin.data("override", "pause", "all", "--reason", "maintenance")
        assert held == {
            "command": "pause",
            "scope": "all",
            "done": ["everything is held: nothing automatic goes on"],
        }
        limited = Command(home=tmp_path / "limited")
        assert "TWINSMITH_KEY is not set" in limited("--server", address, "status", code=2).stderr
        limited.env["TWINSMITH_KEY"] = key_for(command, "read")
        assert limited("--server", address, "status").stdout.startswith("no runs yet")
        refused = limited("--server", address, "build", DOUBLE, "--json", code=2).stdout
        assert "admin may not build" in json.loads(refused)["error"]
        limited.env["TWINSMITH_KEY"] = "tws_nope_nope"
        assert "'twinsmith keys add" in limited("--server", address, "status", code=2).stderr
        plain = limited("--server", "http://twin.example", "status", code=2).stderr
        assert "is plain HTTP to another machine" in plain
    away = twin("status", code=3).stderr
    assert f"{address} cannot be reached" in away
    assert away.count("\n") == 1


def test_people_and_their_keys_are_looked_after_from_afar(command: Command, tmp_path: Path) -> None:
    command.use_script(script())
    with afar(command, tmp_path / "near", "--no-worker") as twin:
        assert "may not administer" in twin("users", "list", code=2).stderr
        twin.here.env["TWINSMITH_KEY"] = key_for(command, "read", "administer")
        added = twin.data("users", "add", "ann", "--role", "viewer")
        assert isinstance(added, dict)
        assert added["link"].startswith(f"{twin.server.address}/welcome?token=")
        assert "once: http" in twin("users", "invite", "ann").stdout
        assert "'boss' is no role" in twin("users", "add", "bob", "--role", "boss", code=2).stderr
        changed = twin("users", "change", "ann", "--role", "developer", "--disable").stdout
        assert changed == "ann: developer (shut)\n"
        made = twin.data("keys", "add", "admin", "ci", "--scope", "read")
        assert isinstance(made, dict)
        other = twin("keys", "add", "ann", "ci", "--scope", "read", code=2).stderr
        assert "OWNER has to be admin" in other
        assert twin("keys", "revoke", made["id"]).stdout == "revoked\n"
        for words in (("users", "list"), ("keys", "list")):
            for form in ((), ("--json",)):
                assert twin(*words, *form).stdout == command(*words, *form).stdout
        twin.here.env["TWINSMITH_KEY"] = made["secret"]
        assert "tws" not in twin("status", code=2).stderr


def solved(made: Yard, folder: Path) -> str:
    """A run of a data folder whose result lies in a folder."""
    book, run = Book(load(made.command.environment), Actor(name="test")), "20261118-101500-a3f9"
    told = {"task": "a shop", "out": str(folder)}

    async def tell() -> Progress:
        await book.tell(run, "run.started", {**told})
        await book.tell("system", "run.started", {**told, "run": run})
        await book.end(run, "solved", {"out": str(folder), "reason": "all checks pass"})
        return book.progress(run)

    assert asyncio.run(tell()).state == "solved"
    return run


@pytest.mark.xdist_group("deploy workers")
def test_an_app_is_released_approved_and_looked_after_from_afar(tmp_path: Path) -> None:
    env = {"TWINSMITH_APPROVALS_NEEDED": "first_deploy"}
    with yard(tmp_path / "home", env) as made:
        made.command.use_script(script())
        run = solved(made, result(tmp_path / "v1"))
        with afar(made.command, tmp_path / "near") as twin:
            deploying = twin.start("deploy", run, "--name", "shop", "--json")
            until(lambda: twin.data("approvals"))
            (request,) = json.loads(twin("approvals", "--json").stdout)
            assert f"all of it: {twin.hint} approvals {request['id']}" in twin("approvals").stdout
            assert "because of: first_deploy" in twin("approvals", request["id"][-7:]).stdout
            assert (
                "is no term of a release"
                in twin("modify", request["id"], "--set", "speed=9", code=2).stderr
            )
            queued = twin.data("queue")
            assert isinstance(queued, list)
            assert [each["app"] for each in queued] == ["shop"]
            approved = twin("approve", request["id"], "--note", "seen").stdout
            assert approved.splitlines()[0] == f"{request['id']}: approve"
            assert "done: " in approved
            out, err = deploying.communicate(timeout=120)
            assert (deploying.returncode, json.loads(out)["release"], err) == (0, 1, "")
            assert asked(made.port) == 200
            both = (
                ("apps",),
                ("releases", "shop"),
                ("queue", "--all"),
                ("incidents",),
                ("health",),
            )
            for words in both:
                for form in ((), ("--json",)):
                    assert twin(*words, *form).stdout == made.command(*words, *form).stdout
            assert twin("logs", "shop", "-n", "5").stdout
            assert "done: " in twin("restart", "shop").stdout
            assert twin("rollback", "shop", code=2).stderr.startswith("twinsmith: app shop has")
            left = twin.data("stop", "shop", "--detach")
            assert isinstance(left, dict)
            until(lambda: twin.state(left["run"]) == "done")
            assert "done: " in twin("resume", left["run"]).stdout
            assert twin("apps").stdout.splitlines()[1].split()[1] == "stopped"
            assert "done: " in twin("remove", "shop", "--data").stdout
            assert "no apps yet" in twin("apps").stdout
