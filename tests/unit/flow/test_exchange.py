"""What the slow thinker of one ensemble hears of what the other one saw."""

from collections.abc import Iterable
from dataclasses import replace

from twinsmith.core.execution import Execution, ProbeResult
from twinsmith.core.judging.pool import Pool
from twinsmith.core.judging.selection import Selection, Separation
from twinsmith.core.outcome import Work
from twinsmith.core.probe import Call, Probe, Probes
from twinsmith.core.program import Candidate, Program
from twinsmith.flow.build.exchange import LONGEST_VALUE, crossed, exchange

CALL = Call(function="double", args=("4",), expected="8")
GIVEN = Probe(name="example 1", origin="task", source="assert double(4) == 8", call=CALL)
SIXTEEN, FOUR = "- double(4) gave 16; right is 8", "- double(4) gave 4; right is 8"
DIFFERENCE = "- for double(5) one program gives 10, another gives 25"


def work_of(values: Iterable[str]) -> Work:
    """Candidates of the ensembles in turn, each of which gives one of these values."""
    pool = Pool().with_given(Probes(checks=(GIVEN,)))
    for number, value in enumerate(values, 1):
        program = Program(language="python", source=f"# {number}")
        made = Candidate(number=number, program=program, ensemble=2 - number % 2)
        result = ProbeResult(name="", outcome="failed", value=value)
        pool = pool.with_candidates([made])
        pool = pool.with_execution(Execution(candidate=number, results=(result,)))
    call = Call(function="double", args=("5",))
    between = Separation(call=call, winner="10", runner_up="25")
    chosen = Selection(winner=1, confidence=0.5, runner_up=2, separating=between)
    return Work(pool=pool, selection=chosen)


def test_each_slow_thinker_hears_what_both_ensembles_saw() -> None:
    heard = exchange(work_of(["16", "4"]), (1, 2), shared=True)
    assert heard == dict.fromkeys((1, 2), f"{SIXTEEN}\n{FOUR}\n{DIFFERENCE}")


def test_kept_apart_each_hears_of_its_own_and_nothing_of_a_difference_with_the_other() -> None:
    assert exchange(work_of(["16", "4"]), (1, 2), shared=False) == {1: SIXTEEN, 2: FOUR}


def test_what_both_saw_is_told_once_and_not_at_length() -> None:
    heard = exchange(work_of(["'" + "a" * 999 + "'"] * 2), (1,), shared=True)[1]
    first, second = heard.splitlines()
    assert len(first) < LONGEST_VALUE + 50
    assert second == DIFFERENCE


def test_who_saw_nothing_hears_nothing() -> None:
    assert exchange(Work(), (1, 2), shared=True) == {1: "", 2: ""}


def test_what_only_the_other_ensemble_saw_crosses_over() -> None:
    news = crossed(work_of(["16", "4"]), (1, 2))
    assert news == {(1, 2): (SIXTEEN, DIFFERENCE), (2, 1): (FOUR, DIFFERENCE)}


def test_what_both_saw_is_no_news_and_one_ensemble_alone_hears_none() -> None:
    same = work_of(["16", "16"])
    apart = replace(same, selection=replace(same.selection, separating=None))
    assert crossed(apart, (1, 2)) == {(1, 2): (), (2, 1): ()}
    assert crossed(same, (1,)) == {}
