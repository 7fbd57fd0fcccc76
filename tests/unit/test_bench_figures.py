"""Confidence on problems left out, and constants chosen on other problems, on pools made up."""

from dataclasses import replace

import numpy as np
import pytest

from bench.selection_confidence import (
    Told,
    brier,
    calibration,
    expected,
    fitted,
    left_out,
    selections,
)
from bench.selection_halves import (
    AGREEMENTS,
    GRID,
    OURS,
    Constants,
    counted,
    halves,
    on_other_halves,
    right_by_choice,
)
from bench.selection_pool import MODES, Recorded, evidence
from twinsmith.core.checks.examples import Examples
from twinsmith.core.execution import ProbeResult
from twinsmith.core.judging import selection
from twinsmith.core.judging.selection import select
from twinsmith.core.probe import Call, Probe


def asked(number: int, wanted: str = "") -> Probe:
    call = Call(function="f", args=(str(number),), expected=wanted)
    return Probe(name="", origin="plan", call=call)


def problem(name: str, *, often: int = 3) -> Recorded:
    """One right program passes the test that came often; two alike pass two that came once."""
    rows = ("100", "011", "011")
    tests = [asked(0, "1")] * often + [asked(1, "1"), asked(2, "1")]
    return Recorded(
        name=name,
        probes=tuple(asked(n) for n in range(3)),
        fuzz=frozenset(),
        examples=Examples(),
        completions=((0, tuple(tests)),),
        ensembles=(0, 0, 0),
        texts=(0, 1, 2),
        results=tuple(
            tuple(ProbeResult(name="", outcome="passed", value=value) for value in row)
            for row in rows
        ),
        right=(True, False, False),
        greedy_right=None,
    )


POOL = [problem(f"made/{n}") for n in range(6)]


def test_every_choice_of_constants_is_tried_on_every_problem() -> None:
    table = right_by_choice(POOL[:2])
    assert table.shape == (len(GRID), 2, len(MODES))
    often = GRID.index(Constants(agreement=0.0, doubt=1.0, power=3.0))
    once = GRID.index(Constants(agreement=0.0, doubt=1.0, power=0.0))
    alike = GRID.index(Constants(agreement=1.0, doubt=1.0, power=3.0))
    assert [table[n].mean() for n in (often, once, alike)] == [1.0, 0.0, 0.0]
    assert OURS.doubt == selection.DOUBT


def test_the_products_constants_choose_as_the_product() -> None:
    ours = right_by_choice(POOL[:1])[GRID.index(OURS)]
    known = evidence(POOL[0])
    assert ours[0].tolist() == [float(select(known).winner == 0)] * len(MODES)
    plain, again = select(known).scores, select(counted(known, OURS.power)).scores
    assert [each.total for each in again] == pytest.approx([each.total for each in plain])
    assert counted(known, 0.0).checks[0].times == counted(known, 0.0).checks[1].times


def test_what_was_chosen_is_scored_where_it_was_not_chosen() -> None:
    """Choices that only know one problem by heart are worth nothing on the other half."""
    table = np.zeros((len(GRID), 6, len(MODES)))
    for choice in range(len(GRID)):
        table[choice, choice % 6] = 1.0
    assert on_other_halves(table).right == {"plain": 0.0, "examples": 0.0}
    table[GRID.index(OURS), :, 0] = 1.0
    seen = on_other_halves(table)
    assert (seen.right["plain"], seen.ours_among) == (100.0, 100.0)


def test_halves_are_told_with_the_constants_as_they_are() -> None:
    best = max(right_by_choice(POOL).mean(axis=(1, 2)))
    assert best == 1.0
    assert len(AGREEMENTS) * 16 == len(GRID)
    assert "plain 100.00" in halves(POOL)
    assert "one problem" in halves(POOL[:1])


def told(number: int, sign: float, *, right: bool) -> Told:
    return Told(
        problem=number, examples=bool(number % 2), signs=(1.0, sign), confidence=0.5, right=right
    )


def test_a_regression_finds_what_made_the_truth() -> None:
    rng = np.random.default_rng(0)
    rows = np.column_stack([np.ones(20_000), rng.normal(size=20_000)])
    right = (rng.random(20_000) < expected(rows, np.array([-1.0, 2.0]))).astype(np.float64)
    assert fitted(rows, right) == pytest.approx([-1.0, 2.0], abs=0.1)


def test_no_problem_is_judged_by_its_own_truth() -> None:
    rng = np.random.default_rng(1)
    seen = [told(n % 20, rng.normal(), right=rng.random() < 0.7) for n in range(400)]
    lied = [replace(each, right=not each.right) if each.problem == 3 else each for each in seen]
    own = np.array([each.problem == 3 for each in seen])
    for honest, lying in zip(left_out(seen), left_out(lied), strict=True):
        assert (honest[own] == lying[own]).all()
        assert (honest[~own] != lying[~own]).any()


def test_the_brier_score_is_the_mean_square() -> None:
    assert brier(np.array([1.0, 0.5]), np.array([0.0, 1.0])) == pytest.approx(0.625)


def test_a_confidence_is_told_in_both_modes() -> None:
    seen = selections(POOL)
    assert len(seen) == 5 * 5 * len(MODES) * len(POOL)
    assert {each.examples for each in seen} == {False, True}
    said = calibration(POOL)
    assert f"{len(seen)} selections" in said
    counts = [int(line.split()[-1]) for line in said.splitlines() if line.startswith("from")]
    assert sum(counts) == len(seen)
