"""Experiments on real journals: begun, shared out, decided early, guarded, promoted, taken back."""

import asyncio
import random
from pathlib import Path

import pytest

from tests.trials import ANN, BOB, begun, broken, ended, given, opened, series, told
from twinsmith.core.errors import ConfigError, Conflict, Forbidden, Unknown
from twinsmith.core.trying.arrangement import AS_SET
from twinsmith.core.trying.experiment import Arm
from twinsmith.runs import promotion
from twinsmith.runs.alerts import latest
from twinsmith.runs.approvals import decide, requests
from twinsmith.runs.book import Book
from twinsmith.runs.experiments import found, listed, seen, stop
from twinsmith.runs.promotion import promote, settled, undo
from twinsmith.runs.replay import tasks_in, tasks_of_runs
from twinsmith.runs.submit import new_job
from twinsmith.runs.trials import history
from twinsmith.runs.versions import in_force, put_in_force, read
from twinsmith.wiring.experiments import experiments_of, trials_of


@pytest.fixture
def book(tmp_path: Path) -> Book:
    return opened(tmp_path / "home")


def better(number: int, arm: Arm) -> tuple[bool, int]:
    """b solves nearly all, a few."""
    return (number % 10 != 0 if arm == "b" else number % 10 < 3), 500 + number % 7


def same(number: int, _arm: Arm) -> tuple[bool, int]:
    return random.Random(number).random() < 0.6, 500 + number % 7


def won(book: Book, **more: object) -> None:
    begun(book, share=0.5, **more)  # type: ignore[arg-type]
    assert series(book, 300, better) < 300


def test_the_arms_of_a_run_are_in_its_job_and_in_the_journal(book: Book) -> None:
    begun(book, share=0.5)
    jobs = [given(book, number) for number in range(40)]
    arms = {dict(job.experiments)["few"] for job in jobs}
    assert arms == {"a", "b"}
    for job in jobs:
        tried = job.arrangement.words
        assert tried == (("build.votes=2",) if job.experiments == (("few", "b"),) else ())
        assert job.effort.votes == (2 if tried else 4)
    ended(book, jobs[0])
    (start,) = [
        each.event.data
        for each in book.journal.entries(jobs[0].run)
        if each.event.kind == "run.started"
    ]
    assert start["experiments"] == dict(jobs[0].experiments)


def test_the_same_task_has_the_same_arm_for_everybody(book: Book, tmp_path: Path) -> None:
    begun(book, share=0.5)
    other = opened(tmp_path / "home", BOB)
    for number in range(20):
        assert given(book, number).experiments == given(other, number).experiments


def test_who_says_how_it_is_done_takes_no_part(book: Book) -> None:
    begun(book, share=0.5)
    kept = read(book, ["build.votes=3"])
    for number in range(8):
        job = given(book, number)
        own = new_job(book, job.task, out=None, seed=None, budget=job.budget, arrangement=kept)
        assert (own.experiments, own.effort.votes) == ((), 3)


def test_two_at_once_have_no_part_in_each_other(book: Book) -> None:
    begun(book, share=0.5)
    begun(book, "shorter", "gateway.reply_tokens=512", share=0.5)
    arms = {tuple(arm for _, arm in given(book, n).experiments) for n in range(60)}
    assert arms == {("a", "a"), ("a", "b"), ("b", "a"), ("b", "b")}
    with pytest.raises(Conflict, match=r"experiment 'few' is running and tries 'build.votes' too"):
        begun(book, "more", "build.votes=8")
    with pytest.raises(Conflict, match="is there already"):
        begun(book, "few", "build.inputs=3")


def test_a_a_ends_without_a_winner_and_changes_nothing(book: Book) -> None:
    begun(book, share=0.5, least=0.4)
    series(book, 400, same)
    after = found(book, "few")
    assert (after.state, after.verdict) == ("over", "same")
    assert in_force(book) == ()
    assert requests(book) == ()


def test_a_b_of_known_effect_ends_early_and_asks_a_person(book: Book) -> None:
    won(book)
    after = found(book, "few")
    assert (after.state, after.verdict) == ("over", "b")
    view = seen(book, "few")
    estimate = view.judgement.estimate
    assert estimate.low is not None
    assert estimate.high is not None
    assert 0 < estimate.low < 0.6 < estimate.high
    assert view.runs_a + view.runs_b < 150
    assert in_force(book) == ()
    (request,) = requests(book)
    assert request.dossier.occasions == ("promotion",)
    assert any("b is better" in line for line in request.dossier.evidence)
    assert any("guard broken" in line for line in request.dossier.evidence)
    assert len(told(book, "experiment.ended")) == 1
    assert [each.alert.severity for each in latest(book, 5)] == ["info"]


def test_an_approval_puts_the_winner_in_force_and_undo_takes_it_back(
    book: Book, tmp_path: Path
) -> None:
    won(book)
    bob = opened(tmp_path / "home", BOB)
    with pytest.raises(ConfigError, match="yes or no"):
        asyncio.run(decide(bob, "few.a1", "modify"))
    asyncio.run(decide(bob, "few.a1", "approve", note="good"))
    assert found(book, "few").state == "promoted"
    assert [(each.key, each.value, each.by) for each in in_force(book)] == [
        ("build.votes", "2", "user:bob")
    ]
    job = given(book, 9999)
    assert (job.effort.votes, job.experiments) == (2, ())
    (promoted,) = told(book, "experiment.promoted")
    assert (promoted["who"], promoted["reason"]) == ("user:bob", "good")
    asyncio.run(undo(book, "few", "no"))
    assert found(book, "few").state == "undone"
    assert in_force(book) == ()
    assert given(book, 9999).effort.votes == 4
    (undone,) = told(book, "experiment.undone")
    assert (undone["who"], undone["taken_back"]) == ("user:ann", ["build.votes=2"])
    with pytest.raises(Conflict, match="is taken back, so nothing of it"):
        asyncio.run(undo(book, "few"))


def test_a_rejection_leaves_everything_as_it_is(book: Book) -> None:
    won(book)
    asyncio.run(decide(book, "few.a1", "reject", note="no"))
    asyncio.run(settled(book, "few"))
    assert (found(book, "few").state, in_force(book)) == ("over", ())


def test_undo_puts_back_what_was_in_force_before_and_refuses_what_was_changed_since(
    book: Book,
) -> None:
    asyncio.run(put_in_force(book, read(book, ["build.votes=6"]), "promoted"))
    won(book)
    asyncio.run(promote(book, "few"))
    assert [each.value for each in in_force(book)] == ["2"]
    asyncio.run(put_in_force(book, read(book, ["build.votes=5"]), "promoted"))
    with pytest.raises(Conflict, match=r"build.votes was changed since"):
        asyncio.run(undo(book, "few"))
    asyncio.run(put_in_force(book, read(book, ["build.votes=2"]), "promoted"))
    asyncio.run(undo(book, "few"))
    assert [each.value for each in in_force(book)] == ["6"]


def test_policy_promotes_at_once_or_never(tmp_path: Path) -> None:
    auto = opened(tmp_path / "auto", TWINSMITH_EXPERIMENTS_PROMOTE="auto")
    won(auto)
    assert found(auto, "few").state == "promoted"
    assert [each.value for each in in_force(auto)] == ["2"]
    (promoted,) = told(auto, "experiment.promoted")
    assert (promoted["who"], promoted["reason"]) == (
        "user:twinsmith",
        "by policy: experiments.promote",
    )
    never = opened(tmp_path / "never", TWINSMITH_EXPERIMENTS_PROMOTE="never")
    won(never)
    assert (found(never, "few").state, requests(never), in_force(never)) == ("over", (), ())


def test_who_may_not_approve_may_not_promote(tmp_path: Path) -> None:
    book = opened(tmp_path / "home", TWINSMITH_APPROVALS_BY="bob")
    won(book)
    with pytest.raises(Forbidden, match="ann may not decide this"):
        asyncio.run(promote(book, "few"))
    asyncio.run(promote(book.acting_as(BOB), "few"))
    assert found(book, "few").promoted_by == "user:bob"
    assert requests(book) == ()


def test_what_has_not_won_is_promoted_with_a_reason_only(book: Book) -> None:
    begun(book)
    with pytest.raises(Conflict, match="nothing has won in experiment few"):
        asyncio.run(promote(book, "few"))
    asyncio.run(promote(book, "few", "we know"))
    assert [each.value for each in in_force(book)] == ["2"]
    assert given(book, 1).experiments == ()


def test_a_guard_that_breaks_ends_b_with_an_alert(book: Book) -> None:
    begun(book, share=0.5, guards=("tokens<=1.2",))

    def dear(number: int, arm: Arm) -> tuple[bool, int]:
        return True, (1500 if arm == "b" else 500) + number % 7

    assert series(book, 300, dear) < 150
    after = found(book, "few")
    assert (after.state, after.verdict) == ("over", "harm")
    assert "guard tokens<=1.2 is broken" in after.why
    (alert,) = latest(book, 5)
    assert (alert.alert.severity, alert.alert.title) == (
        "warning",
        "experiment few: b was stopped",
    )
    assert {given(book, number).arrangement for number in range(30)} == {AS_SET}


def test_an_arm_whose_runs_all_break_is_stopped_soon_and_wins_nothing(book: Book) -> None:
    begun(book, share=0.5, metric="tokens")
    crashed = 0
    for number in range(60):
        job = given(book, number)
        if not job.experiments:
            break
        if dict(job.experiments)["few"] == "b":
            broken(book, job)
            crashed += 1
        else:
            ended(book, job)
    assert crashed <= 20, "the draw differs from time to time; all 30 would be too many"
    assert found(book, "few").verdict == "harm"
    assert len(told(book, "experiment.ended")) == 1


def test_a_stop_holds_at_once(book: Book) -> None:
    begun(book)
    after = asyncio.run(stop(book, "few", "we were wrong"))
    assert (after.state, after.why, after.ended_by) == ("stopped", "we were wrong", ANN.signature)
    assert given(book, 1).experiments == ()
    with pytest.raises(Conflict, match="is stopped already"):
        asyncio.run(stop(book, "few", ""))
    with pytest.raises(Unknown, match="'moon' is not known; there are: few"):
        asyncio.run(stop(book, "moon", ""))


def test_what_a_kill_left_undone_is_done_by_whoever_looks(
    book: Book, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    won(book)

    async def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(promotion, "put_in_force", killed)
        with pytest.raises(KeyboardInterrupt):
            asyncio.run(promote(book, "few"))
    assert (found(book, "few").state, in_force(book)) == ("promoting", ())
    other = opened(tmp_path / "home", BOB)
    asyncio.run(settled(other, "few"))
    assert found(book, "few").state == "promoted"
    assert [(each.value, each.by) for each in in_force(book)] == [("2", "user:ann")]
    assert [each["who"] for each in told(book, "experiment.promoted")] == ["user:ann"]


def test_what_the_environment_says_otherwise_is_not_promoted(tmp_path: Path) -> None:
    book = opened(tmp_path / "home")
    won(book)
    stubborn = opened(tmp_path / "home", TWINSMITH_BUILD_VOTES="4")
    with pytest.raises(ConfigError, match=r"build\.votes"):
        asyncio.run(promote(stubborn, "few"))
    assert (found(book, "few").state, in_force(book)) == ("over", ())
    asyncio.run(promote(book, "few"))
    assert found(book, "few").state == "promoted"


def test_results_are_kept_once_they_are_final_and_told_by_the_journal(book: Book) -> None:
    begun(book, share=0.5)
    job = given(book, 1)
    broken(book, job)
    assert trials_of(book.settings).listed("few")[0].result is None
    assert seen(book, "few").judgement.guards[-1].estimate.metric == "broken"
    ended(book, job, tokens=77)
    (kept,) = trials_of(book.settings).listed("few")
    assert kept.result is not None
    assert (kept.result.tokens, kept.result.broken) == (77.0, False)
    assert [each.run for each in history(book, 10)] == [job.run]


def test_a_repair_takes_part_in_nothing_and_neither_does_a_run_after_the_end(book: Book) -> None:
    begun(book)
    job = new_job(
        book, given(book, 1).task, out=None, seed=None, budget=given(book, 1).budget, arms=()
    )
    assert job.experiments == ()


def test_tasks_are_read_from_a_file_or_from_runs_that_ended(book: Book) -> None:
    tasks = tasks_in(
        '# a remark\n\ndouble a number\n  double   a number\n{"text": "halve it", "tests": "x"}\n',
        "tasks.txt",
    )
    assert [(each.text, each.tests) for each in tasks] == [
        ("double a number", ""),
        ("halve it", "x"),
    ]
    for number in (1, 2, 1):
        ended(book, given(book, number))
    assert sorted(each.text for each in tasks_of_runs(book, 10)) == [
        "double number 1",
        "double number 2",
    ]
    assert len(tasks_of_runs(book, 1)) == 1


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "tasks.txt holds no task"),
        ("double a number\nx", "tasks.txt, line 2: the task 'x' says too little"),
        ("{oops", "line 1: it begins like JSON and is none"),
        ('{"kind": "cli"}', 'a task has a "text"'),
        ('{"text": "double a number", "seed": "1"}', "'seed' is no text of a task"),
        ('{"text": "double a number", "kind": "poem"}', "kind 'poem' is unknown"),
    ],
)
def test_tasks_that_are_none_are_told_with_their_line(text: str, why: str) -> None:
    with pytest.raises(ConfigError) as said:
        tasks_in(text, "tasks.txt")
    assert why in str(said.value)


def test_a_replay_needs_tasks_and_answers_that_are_not_half_from_the_cache(book: Book) -> None:
    with pytest.raises(ConfigError, match="there is no task to replay"):
        begun(book, mode="replay")
    tasks = tasks_in("double a number", "tasks.txt")
    with pytest.raises(ConfigError, match="TWINSMITH_GATEWAY_CACHE_MB=0"):
        begun(book, mode="replay", tasks=tasks, metric="usd")
    with pytest.raises(ConfigError, match="needs tasks with a person's tests"):
        begun(book, mode="replay", tasks=tasks, metric="right")
    with pytest.raises(ConfigError, match="1001 tasks to replay; at most 1000"):
        begun(book, mode="replay", tasks=tasks * 1001)
    assert listed(book) == ()
    assert experiments_of(book.settings).listed() == ()
