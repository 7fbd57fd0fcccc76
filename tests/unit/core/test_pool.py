from dataclasses import replace

from tests.proposals import proposals
from twinsmith.core.checks.inputs import input_text
from twinsmith.core.execution import Execution, ProbeResult
from twinsmith.core.judging.pool import Pool
from twinsmith.core.judging.selection import select
from twinsmith.core.probe import Call, Probe, Probes, read_check
from twinsmith.core.program import Candidate, Program


def candidate(number: int, ensemble: int = 1) -> Candidate:
    program = Program(source=f"def f(n): return {number}", entry="f")
    return Candidate(number=number, program=program, ensemble=ensemble)


def check(source: str, name: str = "") -> Probe:
    probe = read_check(source, number=1)
    assert probe is not None
    return Probe(name=name or probe.name, origin="task", source=probe.source, call=probe.call)


def ran(number: int, *values: str) -> Execution:
    results = (
        ProbeResult(name="p", outcome="passed", value=v)
        if v
        else ProbeResult(name="p", outcome="raised", detail="ValueError()")
        for v in values
    )
    return Execution(candidate=number, results=tuple(results))


GIVEN = Probes(checks=(check("assert f(10) == 10"), check("assert f(2) == 2")), setup="import x")


def test_a_call_is_asked_once_however_many_want_to_know_it() -> None:
    pool = Pool().with_given(GIVEN)
    pool = pool.with_proposed(proposals({"assert f(2) == 2": 3, "assert f(2) == 5": 1}), 1)
    pool = pool.with_inputs([Call(function="f", args=("10",)), Call(function="f", args=("7",))])
    assert [input_text(call) for call in pool.calls()] == ["f(10)", "f(2)", "f(7)"]
    assert [probe.call.expected for probe in pool.probes if probe.call] == ["", "", ""]
    assert [(c.probe, c.expected, c.times, c.given) for c in pool.checks] == [
        (0, "10", 1, True),
        (1, "2", 1, True),
        (1, "2", 3, False),
        (1, "5", 1, False),
    ]
    assert pool.setup == "import x"


def test_what_is_proposed_again_counts_more_for_the_same_ensemble() -> None:
    pool = (
        Pool()
        .with_proposed(proposals({"assert f(2) == 2": 2}), 1)
        .with_proposed(proposals({"assert f(2) == 2": 1}), 1)
    )
    pool = pool.with_proposed(proposals({"assert f(2) == 2": 1}), 2)
    assert [(c.ensemble, c.times) for c in pool.checks] == [(1, 3), (2, 1)]


def test_checks_that_judge_by_themselves_are_told_apart_by_their_words() -> None:
    pool = Pool().with_proposed(proposals({"assert f(2) > 1": 1, "assert f(2) > 0": 1}), 1)
    pool = pool.with_proposed(proposals({"assert f(2) > 1": 1, "not an assert": 1}), 2)
    assert len(pool.probes) == 2
    assert [(c.probe, c.ensemble) for c in pool.checks] == [(0, 1), (1, 1), (0, 2)]


def test_a_candidate_is_only_tried_with_what_is_new_to_it() -> None:
    pool = Pool().with_given(GIVEN).with_candidates([candidate(1)])
    assert len(pool.unseen_by(1).checks) == 2
    pool = pool.with_execution(ran(1, "10", "2")).with_inputs([Call(function="f", args=("7",))])
    assert [probe.name for probe in pool.unseen_by(1).checks] == ["f(7)"]
    assert pool.unseen_by(1).setup == "import x"
    pool = pool.with_execution(ran(1, "7"))
    assert pool.unseen_by(1).checks == ()
    assert [result.value for result in pool.seen[1]] == ["10", "2", "7"]


def test_what_is_failing_is_told_the_shortest_first() -> None:
    pool = Pool().with_given(GIVEN).with_candidates([candidate(1)])
    pool = pool.with_proposed(proposals({"assert f(7) == 7": 1}), 1).with_execution(
        ran(1, "11", "", "8")
    )
    assert [(c.expected, r.value) for c, _, r in pool.failing(1)] == [("2", ""), ("10", "11")]
    assert [(c.expected, r.value) for c, _, r in pool.failing(1, given=False)] == [("7", "8")]
    assert pool.failing(2) == ()


def test_what_two_critics_proposed_is_one_check_for_a_person() -> None:
    pool = Pool().with_candidates([candidate(1)])
    for ensemble in (1, 2):
        pool = pool.with_proposed(
            proposals({"assert f(2) == 2": 1, "assert f(3) == 4": 1}), ensemble
        )
    pool = pool.with_execution(ran(1, "2", "3"))
    assert pool.passed(1) == (1, 2)
    assert len(pool.failing(1, given=False)) == 1
    assert pool.passed(9) == (0, 2)


def test_values_are_compared_by_what_they_mean() -> None:
    pairs = {"assert f(1) == [1, 2]": 1, "assert f(2) == 2": 1}
    exact = Pool().with_candidates([candidate(1)]).with_proposed(proposals(pairs), 1)
    assert exact.with_execution(ran(1, "(1, 2)", "2.0")).passed(1) == (1, 2)
    # Where a language has no tuples, a list may stand for one.
    loose = Pool(exact=False).with_candidates([candidate(1)]).with_proposed(proposals(pairs), 1)
    assert loose.with_execution(ran(1, "(1, 2)", "2.0")).passed(1) == (2, 2)
    assert (exact.evidence().exact, loose.evidence().exact) == (True, False)


def test_what_does_not_run_later_keeps_what_was_seen_and_can_be_compared() -> None:
    pool = Pool().with_given(GIVEN).with_candidates([candidate(1), candidate(2, ensemble=2)])
    pool = pool.with_execution(ran(1, "10", "2")).with_execution(ran(2, "10", "3"))
    pool = pool.with_inputs([Call(function="f", args=("7",))]).with_execution(ran(2, "7"))
    pool = pool.with_execution(Execution(candidate=1, results=(), problem="out of disk"))
    assert pool.problems == {1: "out of disk"}
    assert select(pool.evidence()).winner == 1


def test_who_is_barred_never_wins() -> None:
    pool = Pool().with_given(GIVEN).with_candidates([candidate(1), candidate(2, ensemble=2)])
    pool = pool.with_execution(ran(1, "10", "2")).with_execution(ran(2, "10", "2"))
    assert select(pool.evidence()).winner == 1
    assert select(pool.with_findings(1, (), barred=True).evidence()).winner == 2


def test_what_all_that_do_what_was_given_have_in_common_is_agreed() -> None:
    pool = Pool().with_given(GIVEN)
    pool = pool.with_inputs([Call(function="f", args=(arg,)) for arg in ("3", "4", "5", "6")])
    pool = pool.with_candidates([candidate(n) for n in (1, 2, 3, 4)])
    alone = pool.with_execution(ran(1, "10", "2", "3", "4.0", "", "6"))
    assert alone.agreed(1) == ()
    # The third fails an example, the fourth was stopped early: it says nothing of what follows.
    both = alone.with_execution(ran(2, "10", "2", "3", "4", "5", "7"))
    both = both.with_execution(ran(3, "10", "99", "1", "1", "1", "1"))
    assert both.agreed(1) == (2, 3)
    assert both.with_execution(ran(4, "10", "2", "3")).agreed(1) == (2,)
    assert both.agreed(9) == ()


def test_edits_that_agree_end_a_search_and_are_not_believed_like_answers() -> None:
    pool = Pool().with_given(GIVEN).with_proposed(proposals({"assert f(3) == 3": 1}), 1)
    edits = [replace(candidate(number), way="varied") for number in (3, 4, 5)]
    pool = pool.with_candidates([candidate(1), candidate(2), *edits])
    for number in (1, 2):
        pool = pool.with_execution(ran(number, "10", "0", "3"))
    alone = pool.with_execution(ran(3, "10", "2", "3"))
    several = alone.with_execution(ran(4, "10", "2", "3")).with_execution(ran(5, "10", "2", "3"))
    one, three = (select(each.evidence()) for each in (alone, several))
    assert (one.winner, three.winner, three.clusters[0]) == (3, 3, (3, 4, 5))
    # Agreement grows with every voice; that three are alike counts for stopping only.
    assert three.settled > three.confidence
    assert one.settled == one.confidence
    written = replace(several, candidates=tuple(candidate(n) for n in range(1, 6)))
    answers = select(written.evidence())
    assert answers.confidence == answers.settled == three.settled


def test_a_check_may_be_about_several_requirements() -> None:
    probe = check("assert f(2) == 2")
    pool = Pool().with_check(probe)
    assert pool.about == {}
    for number in (2, 1, 2):
        pool = pool.with_check(replace(probe, about=number), ensemble=1)
    pool = pool.with_check(replace(check("assert f(3) == 3"), about=2))
    assert pool.about == {0: {1, 2}, 1: {2}}
    assert [each.about for each in pool.probes] == [2, 2]
