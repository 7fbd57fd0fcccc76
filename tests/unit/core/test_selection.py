"""Choosing one candidate by what all of them did."""

import random
from dataclasses import replace

import pytest

from twinsmith.core.execution import Outcome, ProbeResult
from twinsmith.core.judging.meaning import meaning
from twinsmith.core.judging.selection import (
    BY_THE_WORDS,
    Check,
    Entrant,
    Evidence,
    Selection,
    select,
)
from twinsmith.core.probe import Call, Command


def gave(value: object) -> ProbeResult:
    return ProbeResult(name="", outcome="passed", value=repr(value))


def failed(outcome: Outcome = "raised") -> ProbeResult:
    return ProbeResult(name="", outcome=outcome)


def calls(*inputs: object) -> tuple[Call, ...]:
    return tuple(Call(function="f", args=(repr(each),)) for each in inputs)


def entrants(*rows: list[object], ensemble: int = 0, first: int = 1) -> tuple[Entrant, ...]:
    """One candidate a row; an exception's word stands for a failure."""
    return tuple(
        Entrant(
            candidate=number,
            ensemble=ensemble,
            results=tuple(failed() if each is ValueError else gave(each) for each in row),
        )
        for number, row in enumerate(rows, first)
    )


SQUARES: list[object] = [1, 4, 9]
DOUBLES: list[object] = [2, 4, 6]
CRASHES: list[object] = [ValueError, ValueError, ValueError]


def evidence(*rows: list[object], checks: tuple[Check, ...] = ()) -> Evidence:
    return Evidence(calls=calls(1, 2, 3), entrants=entrants(*rows), checks=checks)


def test_nobody_wins_an_empty_pool() -> None:
    chosen = select(Evidence(calls=(), entrants=()))
    assert chosen.winner is None
    assert chosen.confidence == 0.0
    assert chosen.separating is None


def test_who_could_not_be_run_or_always_fails_never_wins() -> None:
    assert select(evidence(CRASHES, CRASHES)).winner is None
    not_built = Entrant(candidate=9, results=())
    pool = evidence(CRASHES, SQUARES)
    assert select(replace(pool, entrants=(not_built, *pool.entrants))).winner == 2


def test_what_was_not_run_is_no_agreement() -> None:
    pool = evidence(SQUARES, DOUBLES, SQUARES, checks=(Check(probe=2, expected="9", given=True),))
    short = tuple(
        replace(each, results=each.results[:2]) if each.candidate == 1 else each
        for each in pool.entrants
    )
    assert select(replace(pool, entrants=short)).winner == 3
    found = select(replace(pool, entrants=short, checks=())).separating
    assert found is not None
    assert "not run" not in (found.winner, found.runner_up)
    only_half = select(Evidence(calls=calls(1, 2, 3), entrants=(short[0], short[2]))).separating
    assert only_half is not None
    assert only_half.runner_up == "not run"


def test_those_that_agree_win() -> None:
    chosen = select(evidence(DOUBLES, SQUARES, SQUARES, CRASHES))
    assert chosen.winner == 2
    assert chosen.clusters == ((2, 3), (1,))
    assert chosen.runner_up == 1
    assert [score.candidate for score in chosen.scores] == [2, 3, 1]


def test_failing_alike_is_no_agreement() -> None:
    fails_once: list[object] = [1, 4, ValueError]
    assert select(evidence(fails_once, fails_once, SQUARES, SQUARES)).winner == 3


def test_a_tie_goes_to_the_first_candidate() -> None:
    assert select(evidence(DOUBLES, SQUARES)).winner == 1
    assert select(evidence(SQUARES, DOUBLES)).winner == 1


def test_proposed_checks_outweigh_a_larger_cluster() -> None:
    checks = tuple(
        Check(probe=n, expected=str(value), times=3) for n, value in enumerate((2, 4, 6))
    )
    assert select(evidence(SQUARES, SQUARES, DOUBLES)).winner == 1
    assert select(evidence(SQUARES, SQUARES, DOUBLES, checks=checks)).winner == 3


def test_a_check_that_nobody_passes_changes_nothing() -> None:
    lies = (Check(probe=0, expected="77", times=9), Check(probe=1, expected="'x'"))
    with_lies = select(evidence(DOUBLES, SQUARES, SQUARES, checks=lies))
    assert with_lies.winner == 2
    assert all(score.checks == 0.0 for score in with_lies.scores)


def test_a_check_proposed_often_beats_several_proposed_once() -> None:
    often = Check(probe=0, expected="2", times=4)
    once = (Check(probe=0, expected="1"), Check(probe=2, expected="9"))
    assert select(evidence(SQUARES, DOUBLES, checks=(often, *once))).winner == 2
    assert select(evidence(DOUBLES, SQUARES, checks=(replace(often, times=1), *once))).winner == 2


def test_the_same_check_in_other_words_is_the_same() -> None:
    def won(*expected: str) -> float:
        checks = (
            *(Check(probe=0, expected=each) for each in expected),
            Check(probe=2, expected="6"),
        )
        return next(s.checks for s in select(evidence(SQUARES, DOUBLES, checks=checks)).scores)

    pair = Check(probe=0, expected="1", times=2), Check(probe=2, expected="6")
    together = select(evidence(SQUARES, DOUBLES, checks=pair)).scores[0].checks
    assert won("1", "1.0") == pytest.approx(together)
    assert won("1") < together


def test_given_examples_are_a_hard_filter() -> None:
    given = (Check(probe=2, expected="6", given=True),)
    chosen = select(evidence(SQUARES, SQUARES, SQUARES, DOUBLES, checks=given))
    assert chosen.winner == 4
    assert [score.candidate for score in chosen.scores] == [4]
    assert chosen.scores[0].given == 1.0


def test_when_nobody_passes_all_examples_those_count_that_pass_most() -> None:
    given = tuple(
        Check(probe=n, expected=word, given=True) for n, word in enumerate(("2", "4", "7"))
    )
    chosen = select(evidence(SQUARES, SQUARES, DOUBLES, checks=given))
    assert chosen.winner == 3
    assert chosen.scores[0].given == pytest.approx(2 / 3)
    assert chosen.confidence < 0.2


def test_those_that_fail_an_example_still_have_a_vote() -> None:
    off_by_one: list[object] = [0, 4, 9]
    given = (Check(probe=0, expected="1", given=True),)
    wild: list[object] = [1, 5, 7]
    chosen = select(evidence(wild, SQUARES, off_by_one, off_by_one, checks=given))
    assert chosen.winner == 2


def test_who_is_barred_never_wins_and_has_a_vote() -> None:
    pool = evidence(SQUARES, SQUARES, DOUBLES, SQUARES)
    barred = tuple(replace(each, barred=each.candidate < 3) for each in pool.entrants)
    assert select(replace(pool, entrants=barred)).winner == 4
    everyone = tuple(replace(each, barred=True) for each in pool.entrants)
    assert select(replace(pool, entrants=everyone)).winner is None


def test_each_ensemble_has_one_voice() -> None:
    many = entrants(*[DOUBLES] * 6, SQUARES)
    few = entrants(SQUARES, SQUARES, ensemble=1, first=10)
    apart = Evidence(calls=calls(1, 2, 3), entrants=(*many, *few))
    assert select(apart).winner == 7
    as_one = tuple(replace(each, ensemble=0) for each in apart.entrants)
    assert select(replace(apart, entrants=as_one)).winner == 1


def test_what_one_ensemble_proposes_counts_as_much_as_what_the_other_does() -> None:
    loud = tuple(Check(probe=n, expected=str(v), times=9) for n, v in enumerate((2, 4, 6)))
    quiet = tuple(Check(probe=n, expected=str(v), ensemble=1) for n, v in enumerate((1, 4, 9)))
    first = entrants(DOUBLES, SQUARES)
    second = entrants(SQUARES, ensemble=1, first=3)
    pool = Evidence(calls=calls(1, 2, 3), entrants=(*first, *second), checks=(*loud, *quiet))
    assert select(pool).winner == 2
    alone = tuple(replace(check, ensemble=0) for check in pool.checks)
    assert select(replace(pool, checks=alone)).winner == 1


def test_a_probe_that_judges_by_itself_is_a_check() -> None:
    def judged(number: int, *outcomes: Outcome) -> Entrant:
        results = tuple(ProbeResult(name="", outcome=outcome) for outcome in outcomes)
        return Entrant(candidate=number, results=results)

    pool = Evidence(
        calls=(None, None),
        entrants=(
            judged(1, "passed", "failed"),
            judged(2, "passed", "passed"),
            judged(3, "failed", "raised"),
        ),
        checks=(Check(probe=0), Check(probe=1)),
    )
    chosen = select(pool)
    assert chosen.winner == 2
    assert {score.candidate for score in chosen.scores} == {1, 2}
    assert chosen.separating is None


def test_commands_agree_by_what_they_print() -> None:
    def printed(number: int, text: str, code: int = 0, errors: str = "") -> Entrant:
        seen = ProbeResult(name="", outcome="passed", output=text, exit_code=code, errors=errors)
        return Entrant(candidate=number, results=(seen,))

    pool = Evidence(
        calls=(Command(args=("3",)),),
        entrants=(
            printed(1, "a", 1),
            printed(2, "b"),
            printed(3, "a \n"),
            printed(4, "a"),
            printed(5, "", 1, "Traceback (most recent call last):"),
            printed(6, "", 1, "Traceback (most recent call last):"),
            printed(7, "", 1, "Traceback (most recent call last):"),
        ),
    )
    chosen = select(pool)
    assert chosen.winner == 3
    assert chosen.clusters[0] == (3, 4)
    assert chosen.separating is not None
    assert (chosen.separating.winner, chosen.separating.call) == ("'a'", Command(args=("3",)))


def test_the_separating_input_is_the_simplest_on_which_the_leaders_differ() -> None:
    inputs = ("a long one", "ab", "abc", [1])
    rows: list[list[object]] = [[1, 5, 3, 4], [1, 5, 3, 4], [2, 5, 7, ValueError]]
    pool = Evidence(calls=calls(*inputs), entrants=entrants(*rows))
    found = select(pool).separating
    assert found is not None
    assert found.call == calls("abc")[0]
    assert (found.winner, found.runner_up) == ("3", "7")


def test_inputs_in_the_style_of_the_examples_separate_first() -> None:
    rows: list[list[object]] = [[0, 1, 5], [0, 1, 5], [0, 2, 6]]
    given = (Check(probe=0, expected="0", given=True),)
    pool = Evidence(calls=calls([1, 2], "x", [3, 4, 5]), entrants=entrants(*rows), checks=given)
    found = select(pool).separating
    assert found is not None
    assert found.call == calls([3, 4, 5])[0]


def test_a_failure_separates_when_nothing_else_does() -> None:
    rows: list[list[object]] = [[1, 1], [1, 1], [1, ValueError]]
    found = select(Evidence(calls=calls(1, 2), entrants=entrants(*rows))).separating
    assert found is not None
    assert (found.winner, found.runner_up) == ("1", "raised")


def test_confidence_grows_with_company_and_with_examples() -> None:
    given = (Check(probe=0, expected="1", given=True),)
    alone = select(evidence(SQUARES)).confidence
    together = select(evidence(SQUARES, SQUARES, SQUARES)).confidence
    with_examples = select(evidence(SQUARES, SQUARES, SQUARES, checks=given)).confidence
    divided = select(evidence(SQUARES, DOUBLES, [7, 8, 9])).confidence
    assert 0 < divided < alone < together < with_examples < 1


@pytest.mark.parametrize("seed", range(20))
def test_the_order_of_entrants_probes_and_checks_does_not_matter(seed: int) -> None:
    rng = random.Random(seed)
    width = 6
    rows: list[list[object]] = [
        [rng.choice([0, 1, 2, ValueError]) for _ in range(width)] for _ in range(8)
    ]
    checks = [
        Check(
            probe=rng.randrange(width),
            expected=str(rng.randrange(3)),
            times=rng.randint(1, 4),
            ensemble=rng.randrange(2),
            given=rng.random() < 0.1,
        )
        for _ in range(10)
    ]
    pool = Evidence(
        calls=calls(*range(width)),
        entrants=tuple(replace(e, ensemble=e.candidate % 2) for e in entrants(*rows)),
        checks=tuple(checks),
    )
    order = rng.sample(range(width), width)
    mixed = Evidence(
        calls=tuple(pool.calls[n] for n in order),
        entrants=tuple(
            replace(each, results=tuple(each.results[n] for n in order))
            for each in rng.sample(pool.entrants, len(rows))
        ),
        checks=tuple(
            replace(check, probe=order.index(check.probe)) for check in rng.sample(checks, 10)
        ),
    )
    one, other = select(pool), select(mixed)
    assert (one.winner, one.runner_up, one.separating) == (
        other.winner,
        other.runner_up,
        other.separating,
    )
    assert one.clusters == other.clusters
    assert one.confidence == pytest.approx(other.confidence)
    given = {score.given for score in one.scores}
    assert len(given) <= 1
    assert one.winner is None or one.winner == one.scores[0].candidate


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1", "1.0"),
        ("1", "True"),
        ("0.30000000000000004", "0.3"),
        ("12345678900.999999", "12345678901"),
        ("{'a': 1, 'b': 2}", "{'b': 2, 'a': 1}"),
        ("{1, 2}", "{2, 1}"),
        ("[1, (2, 3)]", "[1.0, (2, 3)]"),
        ("<object>", "<object>"),
        (str(10**400), str(10**400)),
    ],
)
def test_values_that_mean_the_same(one: str, other: str) -> None:
    assert meaning(one) == meaning(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("1", "2"), ("[1]", "(1,)"), ("'1'", "1"), ("None", "False"), ("{1}", "[1]"), ("''", "[]")],
)
def test_values_that_differ(one: str, other: str) -> None:
    assert meaning(one) != meaning(other)


def test_where_a_language_has_no_tuples_lists_stand_for_them() -> None:
    assert meaning("[1, [2]]", exact=False) == meaning("(1, (2,))", exact=False)
    assert meaning("{1: 2}", exact=False) == meaning("{'1': 2}", exact=False)
    assert meaning("{}", exact=False) == meaning("[]", exact=False)
    assert meaning("2.200000047683716", exact=False) == meaning("2.2", exact=False)
    assert meaning("1234567.0", exact=False) == meaning("1234567", exact=False)
    assert meaning("2.200000047683716") != meaning("2.2")
    pool = Evidence(
        calls=calls(1),
        entrants=entrants([[1, 2]], [[1, 3]]),
        checks=(Check(probe=0, expected="(1, 3)", given=True),),
        exact=False,
    )
    assert select(pool).winner == 2


def test_where_there_are_only_checks_agreement_is_on_what_somebody_passes() -> None:
    def passing(number: int, *outcomes: Outcome) -> Entrant:
        results = tuple(ProbeResult(name="", outcome=outcome) for outcome in outcomes)
        return Entrant(candidate=number, results=results, ensemble=number % 2)

    def chosen(*rows: tuple[Outcome, ...]) -> Selection:
        entrants = tuple(passing(number, *row) for number, row in enumerate(rows, 1))
        checks = tuple(Check(probe=n, ensemble=1) for n in range(3))
        return select(Evidence(calls=(None,) * 3, entrants=entrants, checks=checks))

    right: tuple[Outcome, ...] = ("passed", "passed", "failed")
    half: tuple[Outcome, ...] = ("failed", "passed", "failed")
    agreed = chosen(*[right] * 4)
    assert agreed.scores[0].agreement == 1.0
    assert agreed.confidence > chosen(right, right, half, half).confidence


def unheard(*rows: list[object], words: str = "") -> float:
    """The confidence in candidates that pass the only example, before any critic has spoken."""
    checks: tuple[Check, ...] = (Check(probe=0, expected="0", given=True),)
    if words:
        checks = (*checks, Check(probe=1, expected=words, ensemble=BY_THE_WORDS))
    return select(
        Evidence(calls=calls(0, 1, 2, 3), entrants=entrants(*rows), checks=checks)
    ).confidence


def test_before_critics_speak_agreement_decides_and_another_value_is_a_contradiction() -> None:
    same: list[object] = [0, 1, 2, 3]
    assert unheard(same, same) > 0.9
    assert unheard(same) < 0.9
    assert unheard(same, same, [0, 1, 2, 9]) < 0.9
    # That one of them fails for an input is no other value.
    assert unheard(same, same, same, [0, 1, 2, ValueError]) > 0.9
    # Where both fail for most inputs, nothing is known.
    assert (
        unheard([0, ValueError, ValueError, ValueError], [0, ValueError, ValueError, ValueError])
        < 0.9
    )
    # The words of the task are no critic.
    assert unheard(same, same, words="1") > 0.9 > unheard(same, same, words="7")
    assert unheard(same, same, [0, 1, 2, 9], words="1") < 0.9
