"""Experiments and their runs: one contract for the dictionaries, SQLite and PostgreSQL."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from tests.databases import fresh_url
from twinsmith.adapters.trying.experiments import ExperimentTable, TrialTable
from twinsmith.adapters.trying.experiments_memory import MemoryExperiments, MemoryTrials
from twinsmith.core.trying.arrangement import AS_SET, Arrangement
from twinsmith.core.trying.experiment import Assigned, Experiment, Guard, Recorded, clash
from twinsmith.core.trying.experiment_results import Result
from twinsmith.core.trying.versions import InForce
from twinsmith.ports import Experiments, Trials

FEW = Experiment(
    name="few-votes",
    a=AS_SET,
    b=Arrangement(settings=(("build.votes", "2"),), models=(("coder", ("openai:x", "server:y")),)),
    metric="tokens",
    least=0.2,
    begun="2026-11-19T10:00:00+00:00",
    by="user:ann",
    guards=(Guard(metric="solved", limit=-0.1),),
    tasks=(Recorded(text="a function that doubles a number ½"),),
)


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Experiments]:
    """Opens the same experiments, each time as another process would."""
    if request.param == "memory":
        only = MemoryExperiments()
        return lambda: only
    url = fresh_url(request, tmp_path)
    return lambda: ExperimentTable(url)


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def trials(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Trials]:
    """Opens the same runs, each time as another process would."""
    if request.param == "memory":
        only = MemoryTrials()
        return lambda: only
    url = fresh_url(request, tmp_path)
    return lambda: TrialTable(url)


@pytest.mark.parametrize("opened", ["sqlite", "postgresql"], indirect=True)
def test_of_many_that_begin_the_same_at_once_one_does(opened: Callable[[], Experiments]) -> None:
    def begin(number: int) -> str:
        return opened().begin(replace(FEW, name=f"few-{number}"), clash)

    with ThreadPoolExecutor(8) as threads:
        said = list(threads.map(begin, range(8)))
    assert said.count("") == 1
    assert sum("tries 'build.votes' too" in each for each in said) == 7
    assert len(opened().listed()) == 1


def test_what_is_kept_comes_back_whole(opened: Callable[[], Experiments]) -> None:
    assert opened().get("few-votes") is None
    assert opened().begin(FEW, clash) == ""
    assert opened().get("few-votes") == FEW
    assert opened().listed() == (FEW,)
    assert "is there already" in opened().begin(FEW, clash)


def test_of_two_changes_of_what_both_read_one_is_kept(opened: Callable[[], Experiments]) -> None:
    opened().begin(FEW, clash)
    was = InForce(
        key="build.votes", value="4", verb="promoted", by="user:ann", at="2026-11-19T09:00:00+00:00"
    )
    over = replace(FEW, state="over", verdict="b", why="b is better", before=(was,))
    assert opened().change(over)
    assert not opened().change(replace(FEW, state="stopped"))
    assert opened().get("few-votes") == replace(over, revision=1)
    assert not opened().change(replace(FEW, name="nobody"))


def test_what_is_over_stands_in_no_way(opened: Callable[[], Experiments]) -> None:
    opened().begin(FEW, clash)
    other = replace(FEW, name="other", begun="2026-11-19T11:00:00+00:00")
    assert "few-votes" in opened().begin(other, clash)
    opened().change(replace(FEW, state="stopped"))
    assert opened().begin(other, clash) == ""
    assert [each.name for each in opened().listed()] == ["few-votes", "other"]


def test_a_run_is_in_one_arm_with_what_became_of_it(trials: Callable[[], Trials]) -> None:
    first = Assigned(experiment="few-votes", run="r1", unit="u1", arm="b")
    trials().assign(first)
    trials().assign(first)
    trials().assign(Assigned(experiment="few-votes", run="r2", unit="u2", arm="a"))
    trials().assign(Assigned(experiment="other", run="r1", unit="u1", arm="a"))
    result = Result(
        run="r1",
        unit="u1",
        arm="b",
        at="2026-11-19T10:00:00+00:00",
        final=True,
        solved=True,
        tokens=1200.0,
        usd=0.0125,
    )
    trials().settle("few-votes", result)
    trials().settle("few-votes", replace(result, run="r9"))
    found = trials().listed("few-votes")
    assert [(each.assigned.run, each.assigned.arm) for each in found] == [("r1", "b"), ("r2", "a")]
    assert [each.result for each in found] == [result, None]
    assert trials().listed("other")[0].result is None
    assert trials().listed("nobody") == ()
