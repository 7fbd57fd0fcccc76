"""Experiments: who gets which arm, what counts as a result, what decides, what is refused."""

from collections.abc import Iterable
from dataclasses import replace
from math import log

import pytest

from twinsmith.core.errors import ConfigError
from twinsmith.core.events import Event, Json, seal
from twinsmith.core.trying.arrangement import AS_SET, Arrangement
from twinsmith.core.trying.experiment import (
    Arm,
    Assigned,
    Experiment,
    Guard,
    Metric,
    Mode,
    Recorded,
    arm_of,
    assigned_in,
    checked,
    clash,
    guard_in,
    metric_in,
    name_in,
    shared_key,
    unit_of,
)
from twinsmith.core.trying.experiment_power import in_words as power_in_words
from twinsmith.core.trying.experiment_power import power_of
from twinsmith.core.trying.experiment_results import Result, pairs_of, result_in
from twinsmith.core.trying.experiment_verdict import judged

FEW = Arrangement(settings=(("build.votes", "2"),))
CODER = Arrangement(models=(("coder", ("openai:x",)),))
FIRST = Arrangement(models=(("1.coder", ("openai:y",)),))
CRITIC = Arrangement(models=(("critic", ("openai:x",)),))
PROMPT = Arrangement(prompts=(("code", "abc"),))


def trial(
    metric: Metric = "solved",
    *,
    b: Arrangement = FEW,
    name: str = "few",
    least: float = 0.1,
    share: float = 0.5,
    mode: Mode = "live",
    guards: tuple[Guard, ...] = (),
) -> Experiment:
    return Experiment(
        name=name,
        a=AS_SET,
        b=b,
        metric=metric,
        least=least,
        share=share,
        mode=mode,
        guards=guards,
        begun="2026-11-19T10:00:00+00:00",
        by="user:ann",
    )


def results(
    arm: Arm,
    solved: Iterable[bool],
    *,
    tokens: float = 1000.0,
    broken: bool = False,
    tested: bool = False,
) -> list[Result]:
    return [
        Result(
            run=f"{arm}{number}",
            unit=f"u{number}",
            arm=arm,
            at=f"2026-11-19T{number // 60 % 24:02}:{number % 60:02}:00+00:00",
            final=not broken,
            solved=each,
            broken=broken,
            tested=tested,
            # Not all the same, as no two runs are.
            tokens=tokens * (1 + number % 7 / 10),
        )
        for number, each in enumerate(solved)
    ]


def test_the_same_task_has_the_same_arm_however_it_is_spaced() -> None:
    tried = trial()
    assert unit_of("double  a\nnumber ") == unit_of("double a number")
    assert arm_of(tried, unit_of("double a number")) == arm_of(tried, unit_of(" double a number"))
    assert unit_of("double a number") != unit_of("double another number")


@pytest.mark.parametrize("share", [0.1, 0.2, 0.5])
def test_b_gets_its_share_of_the_tasks(share: float) -> None:
    tried = trial(share=share)
    arms = [arm_of(tried, unit_of(f"task {number}")) for number in range(10_000)]
    assert abs(arms.count("b") / 10_000 - share) < 0.02


def test_two_experiments_divide_tasks_independently_of_each_other() -> None:
    first, second = trial(name="one"), trial(name="two")
    units = [unit_of(f"task {number}") for number in range(10_000)]
    both = [(arm_of(first, each), arm_of(second, each)) for each in units]
    for pair in (("a", "a"), ("a", "b"), ("b", "a"), ("b", "b")):
        assert abs(both.count(pair) / 10_000 - 0.25) < 0.02


@pytest.mark.parametrize(
    ("one", "other", "key"),
    [
        (FEW, FEW, "build.votes"),
        (CODER, CODER, "coder"),
        (CODER, FIRST, "coder"),
        (FIRST, CODER, "1.coder"),
        (PROMPT, PROMPT, "prompt.code"),
        (CODER, CRITIC, ""),
        (FEW, CODER, ""),
        (FIRST, Arrangement(models=(("2.coder", ("openai:y",)),)), ""),
        (PROMPT, CODER, ""),
    ],
)
def test_two_that_change_the_same_are_told(one: Arrangement, other: Arrangement, key: str) -> None:
    assert shared_key((AS_SET, one), (AS_SET, other)) == key
    why = clash(trial(b=one, name="new"), [trial(b=other, name="old")])
    assert ("experiment 'old' is running" in why) == bool(key)
    assert clash(trial(b=one, mode="replay"), [trial(b=other)]) == ""
    assert clash(trial(b=one), [trial(b=other, mode="replay")]) == ""


def entries(*told: tuple[str, dict[str, Json]]) -> list[object]:
    made, prev = [], "0" * 64
    for number, (kind, data) in enumerate(told, 1):
        event = Event(run="r1", kind=kind, who="w", data=data)
        entry = seal(event, seq=number, at=f"2026-11-19T10:00:0{number}+00:00", prev=prev)
        made.append(entry)
        prev = entry.hash
    return list(made)


STARTED: tuple[str, dict[str, Json]] = ("run.started", {"tested": True})
SOLVED: tuple[str, dict[str, Json]] = (
    "run.ended",
    {"state": "solved", "tokens": 500, "seconds": 3.5},
)


@pytest.mark.parametrize(
    ("told", "found"),
    [
        ([STARTED], None),
        ([STARTED, ("run.waiting", {})], None),
        ([STARTED, ("run.parked", {"reason": "interrupted by a person"})], None),
        ([STARTED, ("run.ended", {"state": "cancelled"})], None),
        ([STARTED, ("run.parked", {"reason": "502"})], (False, True, False)),
        ([STARTED, ("run.parked", {"reason": "502"}), ("run.resumed", {})], None),
        ([STARTED, ("run.parked", {"reason": "502"}), SOLVED], (True, False, True)),
        ([STARTED, ("run.ended", {"state": "not solved"})], (False, False, True)),
    ],
)
def test_the_journal_alone_says_what_became_of_a_run(
    told: list[tuple[str, dict[str, Json]]], found: tuple[bool, bool, bool] | None
) -> None:
    (assigned,) = assigned_in("r1", "double", [("few", "b"), ("odd", "c")])
    result = result_in(assigned, entries(*told))  # type: ignore[arg-type]
    seen = result and (result.solved, result.broken, result.final)
    assert seen == found


def test_money_is_what_all_replies_cost_and_what_a_model_says_of_itself_is_nothing() -> None:
    assigned = Assigned(experiment="few", run="r1", unit="u", arm="b")
    reply: dict[str, Json] = {"usd": 0.25, "solved": True, "tokens_in": 200, "tokens_out": 50}
    again: dict[str, Json] = {**reply, "cached": True, "usd": 0.0, "tokens": 0}
    replies = [("model.replied", each) for each in (reply, reply, again)]
    told = entries(STARTED, *replies, SOLVED)
    result = result_in(assigned, told)  # type: ignore[arg-type]
    assert result is not None
    # The cache answered the third, which makes this arm no cheaper.
    assert (result.usd, result.tokens, result.seconds) == (0.5, 750.0, 3.5)
    assert result.value("usd") == log(0.5)
    assert result.value("right") == 1.0
    assert replace(result, tested=False).value("right") is None
    assert replace(result, broken=True).value("tokens") is None


def test_a_better_arm_wins_and_a_worse_one_loses() -> None:
    good, bad = [True] * 90 + [False] * 10, [True] * 40 + [False] * 60
    won = judged(trial(), results("a", bad) + results("b", good))
    assert (won.verdict, won.estimate.n_a) == ("b", 100)
    assert "b is better: solved +50.0 points" in won.why
    lost = judged(trial(), results("a", good) + results("b", bad))
    assert lost.verdict == "a"


def test_arms_that_are_the_same_are_found_to_be_so_in_time() -> None:
    few = judged(trial(), results("a", [True, False] * 20) + results("b", [True, False] * 20))
    assert few.verdict == ""
    half = [True, False] * 2000
    many = judged(trial(), results("a", half) + results("b", half))
    assert many.verdict == "same"


def test_a_cheaper_arm_that_solves_no_less_wins() -> None:
    half = [True, False] * 100
    tried = trial("tokens", least=0.2)
    found = judged(tried, results("a", half) + results("b", half, tokens=600.0))
    assert found.verdict == "b"
    assert found.estimate.effect == pytest.approx(0.6)
    assert found.estimate.low is not None
    assert found.estimate.low < 0.6


def test_a_cheaper_arm_that_solves_less_does_not_win() -> None:
    often, seldom = [True] * 60 + [False] * 40, [True] * 45 + [False] * 55
    found = judged(trial("tokens"), results("a", often) + results("b", seldom, tokens=500.0))
    assert found.verdict == ""
    assert "guard solved>=-0.05 is still open" in found.why
    never = judged(
        trial("tokens"), results("a", often * 3) + results("b", [False] * 300, tokens=500.0)
    )
    assert never.verdict == "harm"


def test_a_guard_that_is_broken_ends_b_whatever_the_metric_says() -> None:
    guards = (guard_in("tokens<=1.3"),)
    good, bad = [True] * 95 + [False] * 5, [True] * 40 + [False] * 60
    found = judged(trial(guards=guards), results("a", bad) + results("b", good, tokens=2500.0))
    assert found.verdict == "harm"
    assert found.why.startswith("guard tokens<=1.3 is broken: tokens of b are 2.50 of a's")
    kept = judged(trial(guards=guards), results("a", bad) + results("b", good, tokens=900.0))
    assert (kept.verdict, kept.guards[0].state) == ("b", "kept")


def test_an_arm_that_crashes_always_is_stopped_after_a_few_runs_and_never_cheap() -> None:
    well, crashed = results("a", [True] * 10), results("b", [False] * 4, broken=True)
    for metric in ("solved", "tokens"):
        found = judged(trial(metric), well + crashed)
        assert found.verdict == "harm"
        assert "guard broken<=0.05" in found.why
    both = judged(trial(), results("a", [False] * 10, broken=True) + crashed)
    assert both.verdict == ""


def test_the_same_task_again_is_counted_once() -> None:
    again = [
        replace(each, run=f"{each.run}-{number}")
        for each in results("b", [True])
        for number in range(100)
    ]
    found = judged(trial(), results("a", [False] * 100) + again)
    assert (found.estimate.n_b, found.verdict) == (1, "")


def test_a_replay_compares_pairs() -> None:
    easy = [True] * 30 + [False] * 30
    better = [True] * 42 + [False] * 18
    together = [*results("a", easy), *results("b", better)]
    assert len(pairs_of(together)) == 60
    pair = pairs_of(together)[35]
    assert (pair[0].arm, pair[1].arm, pair[0].unit) == ("a", "b", pair[1].unit)
    assert judged(trial(mode="replay"), together).verdict == "b"
    assert judged(trial(), together).verdict == ""


def test_power_is_of_the_past_where_there_is_enough_of_it() -> None:
    guess = power_of(trial(), results("a", [True] * 19))
    assert guess.from_history == 0
    assert "a guessed spread" in power_in_words(guess, trial())[0]
    past = results("a", [True] * 95 + [False] * 5)
    known = power_of(trial(), past, a_day=10.0)
    assert (known.from_history, known.runs < guess.runs) == (100, True)
    assert "days" in power_in_words(known, trial())[1]
    assert power_of(trial("tokens", least=0.5), past).runs < power_of(trial("tokens"), past).runs
    tasks = tuple(Recorded(text=f"task {number}") for number in range(9))
    replay = replace(trial(mode="replay"), tasks=tasks)
    assert "9 tasks are 18 runs; a smaller effect may stay unseen" in power_in_words(guess, replay)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("tokens", "'tokens' is none"),
        ("tokens>=2", "tokens is guarded by <="),
        ("solved<=0.1", "solved is guarded by >="),
        ("solved>=0.5", "a difference, from -1 to 0"),
        ("tokens<=0", "a ratio of b to a, above 0"),
        ("tokens<=nan", "a ratio of b to a, above 0"),
        ("tokens<=two", "'two' is no number"),
        ("luck<=2", "'luck' is no metric"),
        ("", "'' is none"),
    ],
)
def test_a_guard_that_is_none_is_told_in_a_line(text: str, why: str) -> None:
    with pytest.raises(ConfigError) as told:
        guard_in(text)
    assert why in str(told.value)


def test_guards_are_read_as_they_are_written() -> None:
    assert str(guard_in("tokens<=1.3")) == "tokens<=1.3"
    assert str(guard_in("cost<=2")) == "usd<=2"
    assert guard_in("solved>=-0.05") == Guard(metric="solved", limit=-0.05)
    assert metric_in("cost") == "usd"


@pytest.mark.parametrize("name", ["", "a b", "../x", "é", "x" * 61, "-", "a/b", "a.b"])
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="is no name of an experiment"):
        name_in(name)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"share": 0.0}, "--share 0 is no part"),
        ({"share": float("nan")}, "--share nan is no part"),
        ({"least": 0.0}, "--least 0 is no effect"),
        ({"least": 1.5}, "--least 1.5 is no effect"),
        ({"b": AS_SET}, "both arms are the same"),
    ],
)
def test_what_cannot_be_tried_is_refused(given: dict[str, object], why: str) -> None:
    whole: dict[str, object] = {
        "metric": "solved",
        "least": None,
        "share": 0.2,
        "a": AS_SET,
        "b": FEW,
        **given,
    }
    with pytest.raises(ConfigError) as told:
        checked(**whole)  # type: ignore[arg-type]
    assert why in str(told.value)


def test_what_nobody_tells_is_a_tenth_more_solved_or_a_fifth_cheaper() -> None:
    assert checked(metric="solved", least=None, share=0.2, a=AS_SET, b=FEW) == 0.1
    assert checked(metric="usd", least=None, share=0.2, a=AS_SET, b=FEW) == 0.2
    with pytest.raises(ConfigError, match="--metric 'fun' is unknown; one of solved, right"):
        metric_in("fun")


def paid(arm: Arm, paid_runs: int, runs: int = 100) -> list[Result]:
    return [
        replace(each, usd=0.01 * (1 + number % 7) if number < paid_runs else 0.0)
        for number, each in enumerate(results(arm, [True] * runs))
    ]


@pytest.mark.parametrize(("of_a", "of_b"), [(5, 0), (0, 5), (95, 100), (100, 95)])
def test_what_costs_something_and_what_does_not_has_to_be_seen_often_enough(
    of_a: int, of_b: int
) -> None:
    """The spread of an arm with five paid runs is that of those five."""
    found = judged(trial("usd", least=0.2), [*paid("a", of_a), *paid("b", of_b)])
    assert found.verdict == ""
    assert found.estimate.low is None
    assert "of 20 at least in each that cost nothing, and that cost something" in found.why


def test_an_arm_that_costs_nothing_at_all_is_cheaper_than_one_that_costs_something() -> None:
    found = judged(trial("usd", least=0.2), [*paid("a", 100), *paid("b", 0)])
    assert found.verdict == "b"


def test_a_guard_is_kept_only_by_runs_that_kept_it() -> None:
    few = [*results("a", [True] * 5), *results("b", [True] * 5)]
    many = [*results("a", [True] * 30), *results("b", [True] * 30)]
    for runs, state in (([], "open"), (few, "open"), (many, "kept")):
        (broken,) = (each for each in judged(trial(), runs).guards if each.guard.metric == "broken")
        assert broken.state == state


def test_twenty_free_runs_say_nothing_where_one_of_ten_is_paid() -> None:
    """If b were like a, three of its thirty runs would be paid: that none is may be chance."""
    found = judged(trial("usd", least=0.2), [*paid("a", 40, 400), *paid("b", 0, 30)])
    assert (found.verdict, found.estimate.low) == ("", None)
    more = judged(trial("usd", least=0.2), [*paid("a", 40, 400), *paid("b", 0, 200)])
    assert more.estimate.low is not None
