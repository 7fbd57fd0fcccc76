"""Workers release apps: they die, take turns, wait for a person's word, and stand still at one."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import script, until
from tests.delivered import Traffic, Yard, asked, result, yard
from tests.e2e.test_deploy_kills import one_serves, reached
from tests.e2e.test_workers import Team
from twinsmith.core.people.approval import ApprovalRequest
from twinsmith.settings import load
from twinsmith.wiring.delivering import approvals_of, queue_of_actions

pytestmark = pytest.mark.xdist_group("deploy workers")


@contextmanager
def crew(home: Path, env: dict[str, str] | None = None) -> Iterator[tuple[Yard, Team]]:
    """A yard and those who work in it; they have gone before it is cleared."""
    with yard(home, env) as made:
        made.command.use_script(script())
        team = Team(made.command)
        try:
            yield made, team
        finally:
            team.end()


def detached(made: Yard, folder: Path, name: str = "shop") -> str:
    """A deployment that is left to workers; the name of its run."""
    return made.command("deploy", str(folder), "--name", name, "--detach").stdout.strip()


def queue(made: Yard) -> dict[str, str]:
    """The states of all actions that are not over, by their runs, in their order."""
    found = queue_of_actions(load(made.command.environment)).listed()
    return {each.run: each.state for each in found}


def ended(team: Team, run: str) -> str:
    """How a run ended, once it has."""
    team.command("watch", run)
    return team.state(run)


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_a_worker_is_killed_in_the_canary_and_another_ends_the_release(
    database: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    env = {"TWINSMITH_DEPLOY_CANARY_SECONDS": "3"}
    if database == "postgresql":
        server = request.getfixturevalue("postgres")
        env["TWINSMITH_DATABASE_URL"] = f"{server}/deploys_{time.time_ns()}"
    with crew(tmp_path / "home", env) as (made, team):
        first = team.hire()
        done = made.deploy(result(tmp_path / "v1"))
        assert (done["done"], done["release"]) == (True, 1)
        taken = [e for e in made.command.events(str(done["run"])) if e["kind"] == "run.taken"]
        assert [e["data"]["worker"] for e in taken] == team.serving()  # type: ignore[index]
        with Traffic(made.port) as traffic:
            run = detached(made, result(tmp_path / "v2", mark="2"))
            until(lambda: reached(made, run, "canary"))
            first.kill()
            first.communicate()
            team.hire()
            assert ended(team, run) == "done"
            one_serves(made, 2)
        assert set(traffic.statuses) == {200}
        kinds = team.kinds(run)
        assert (kinds.count("run.resumed"), kinds.count("run.ended")) == (1, 1)


def test_apps_are_released_at_once_and_one_app_in_the_order_of_its_queue(tmp_path: Path) -> None:
    with crew(tmp_path / "home", {"TWINSMITH_DEPLOY_SOAK_SECONDS": "5"}) as (made, team):
        team.hire("--concurrency", "2")
        folders = [result(tmp_path / f"v{n}", mark=str(n)) for n in range(5)]
        both = [detached(made, folders[0]), detached(made, folders[1], "other")]
        until(lambda: queue(made) == dict.fromkeys(both, "running"))
        assert [ended(team, run) for run in both] == ["done", "done"]
        assert asked(made.port) == asked(int(str(made.app("other")["port"]))) == 200

        first = detached(made, folders[2])
        until(lambda: queue(made).get(first) == "running")
        second = detached(made, folders[3])
        until(lambda: queue(made).get(second) == "queued")
        assert list(queue(made)) == [first, second]
        shown = made.command("queue").stdout.splitlines()
        assert [line.split()[1] for line in shown[:2]] == ["running", "queued"]
        made.command("cancel", second)
        assert second not in queue(made)
        third = detached(made, folders[4])
        assert [ended(team, run) for run in (first, second, third)] == [
            *("done", "cancelled", "done")
        ]
        assert made.states() == ["replaced", "replaced", "serving"]
        assert made.instances() == ["other-1", "shop-3"]
        began = {run: _at(made, run, "stage.started:image") for run in (first, third)}
        assert _at(made, first, "stage.finished:soak") < began[third]
        assert not [e for e in made.command.events(second) if e["key"] == "stage.started:image"]


def _at(made: Yard, run: str, key: str) -> str:
    (found,) = [str(e["at"]) for e in made.command.events(run) if e["key"] == key]
    return found


def test_a_worker_goes_on_with_what_a_person_approved(tmp_path: Path) -> None:
    env = {"TWINSMITH_APPROVALS_NEEDED": "first_deploy"}
    with crew(tmp_path / "home", env) as (made, team):
        team.hire()
        folder = result(tmp_path / "v1")
        follower = made.command.start("deploy", str(folder), "--name", "shop", "--json")
        until(lambda: _requests(made))
        (request,) = _requests(made)
        until(lambda: "run.waiting" in team.kinds(request.run))
        assert made.app() == {}
        assert follower.poll() is None
        assert made.act("approve", request.id, "--note", "seen")["release"] == 1
        out, _ = follower.communicate(timeout=60)
        assert (follower.returncode, json.loads(out)["release"]) == (0, 1)
        one_serves(made, 1)


def _requests(made: Yard) -> tuple[ApprovalRequest, ...]:
    return approvals_of(load(made.command.environment)).listed()


def test_everything_stands_still_at_a_persons_word_although_a_worker_is_busy(
    tmp_path: Path,
) -> None:
    with crew(tmp_path / "home") as (made, team):
        team.hire("--concurrency", "2")
        made.deploy(result(tmp_path / "v1"))
        made.command.env["TWINSMITH_DEPLOY_CANARY_SECONDS"] = "8"
        with Traffic(made.port) as traffic:
            run = detached(made, result(tmp_path / "v2", mark="2"))
            until(lambda: reached(made, run, "canary"))
            said = made.act("override", "pause", "all", "--reason", "let me look")
            held = "everything is held: nothing automatic goes on"
            assert said["done"] == [held, "shop: release 1 serves"]
            until(lambda: "run.waiting" in team.kinds(run))
            one_serves(made, 1)
            other = detached(made, result(tmp_path / "other"), "other")
            until(lambda: "run.waiting" in team.kinds(other))
            assert made.app("other") == {}
            made.command("override", "release", "all", "--reason", "seen")
            assert [ended(team, each) for each in (run, other)] == ["done", "done"]
        assert set(traffic.statuses) == {200}
        assert (made.app()["serving"], made.instances()) == (2, ["other-1", "shop-2"])
