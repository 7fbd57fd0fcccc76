"""Published rules choose as their authors' code does, on pools small enough to count by hand."""

from collections.abc import Sequence

import pytest

from bench.selection_rules import RULES, leaders, view
from twinsmith.core.execution import ProbeResult
from twinsmith.core.judging.selection import Check, Entrant, Evidence
from twinsmith.core.probe import Call

B4 = ["b4_1e4", "b4_1e5", "b4_1e6", "b4_10"]
SEEN = {
    "x": ProbeResult(name="", outcome="passed", value="1"),
    ".": ProbeResult(name="", outcome="passed", value="0"),
    "!": ProbeResult(name="", outcome="raised"),
}


def programs(*rows: str, times: Sequence[int] = ()) -> Evidence:
    """Rows are programs, columns are tests: x passes, . does not, ! fails to run."""
    width = len(rows[0])
    return Evidence(
        calls=tuple(Call(function="f", args=(str(n),)) for n in range(width)),
        entrants=tuple(
            Entrant(candidate=n, results=tuple(SEEN[each] for each in row))
            for n, row in enumerate(rows)
        ),
        checks=tuple(
            Check(probe=n, expected="1", times=often)
            for n, often in enumerate(times or (1,) * width)
        ),
    )


@pytest.mark.parametrize("rule", ["codet", "codet_root"])
def test_codet_counts_a_test_as_often_as_it_was_proposed(rule: str) -> None:
    rows = ("x..", "x..", ".xx", ".xx")
    assert leaders(RULES[rule](view(programs(*rows)))) == [2, 3]
    assert leaders(RULES[rule](view(programs(*rows, times=(3, 1, 1))))) == [0, 1]


def test_codet_counts_what_two_ensembles_proposed_together() -> None:
    known = programs("x..", ".xx")
    more = tuple(Check(probe=0, expected="1", ensemble=1) for _ in range(2))
    seen = view(Evidence(calls=known.calls, entrants=known.entrants, checks=known.checks + more))
    assert list(seen.times) == [3, 1, 1]
    assert RULES["codet"](seen) == {0: 3.0, 1: 2.0}


def test_the_root_counts_tests_more_than_candidates() -> None:
    seen = view(programs("x..", "x..", "x..", "x..", "xxx"))
    assert RULES["codet"](seen) == {0: 4.0, 1: 4.0, 2: 4.0, 3: 4.0, 4: 3.0}
    assert RULES["codet_root"](seen) == {0: 2.0, 1: 2.0, 2: 2.0, 3: 2.0, 4: 3.0}


@pytest.mark.parametrize("rule", B4)
def test_b4_does_not_believe_that_wrong_programs_pass_wrong_tests(rule: str) -> None:
    """Only if the last is right nobody does; with the prior on right tests, the first two win."""
    assert leaders(RULES[rule](view(programs("x.", "x.", ".x", "xx")))) == [3]


@pytest.mark.parametrize("rule", B4)
def test_b4_counts_a_text_once_and_a_test_once(rule: str) -> None:
    known = programs("x.", "x.", "x.", ".x", ".x", times=(9, 1))
    assert leaders(RULES[rule](view(known))) == [0, 1, 2]
    assert leaders(RULES[rule](view(known, texts=(0, 0, 0, 1, 2)))) == [3, 4]


def test_b4_is_also_shown_with_tests_as_often_as_they_were_proposed() -> None:
    known = programs("x.", ".x", times=(9, 1))
    assert leaders(RULES["b4_1e4"](view(known))) == [0, 1]
    assert leaders(RULES["b4_often"](view(known))) == [0]


@pytest.mark.parametrize("rule", B4)
def test_b4_leaves_out_programs_that_only_fail(rule: str) -> None:
    assert set(RULES[rule](view(programs("x.", "!!", "..")))) == {0, 2}
    assert leaders(RULES[rule](view(programs("!!", "!!")))) == [0, 1]
