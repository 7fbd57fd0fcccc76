from dataclasses import replace

import pytest

from twinsmith.core.effort import Effort, Round, rounds


def counts(what: Round) -> dict[int, int]:
    return {ensemble: len(heats) for ensemble, heats in what.temperatures.items()}


def test_two_guesses_first_then_more_then_plans() -> None:
    held = rounds(Effort(candidates=16))
    assert [each.name for each in held] == ["explore", "again", "widen", "deepen", "rethink"]
    assert [counts(each) for each in held] == [*[{1: 1, 2: 1}] * 3, {1: 3, 2: 3}, {1: 2, 2: 2}]
    assert [each.planned for each in held] == [False, False, False, False, True]
    assert [each.critics for each in held] == [(1,), (), (1, 2), (1, 2), (1, 2)]


def test_where_examples_are_given_the_first_rounds_do_without_critics() -> None:
    held = rounds(Effort(candidates=16), given=True)
    assert [each.critics for each in held] == [(), (), (1, 2), (1, 2), (1, 2)]


def test_mending_and_votes_come_after_programs_and_always_after_the_last() -> None:
    late = [each.late for each in rounds(Effort(candidates=16))]
    assert late == [False, False, False, True, True]
    for few in (1, 2, 3, 4):
        assert [each.late for each in rounds(Effort(candidates=few))][-1]


def test_one_guess_is_cold_and_the_others_are_warm() -> None:
    explore, *others = rounds(Effort())
    assert explore.temperatures == {1: (0.0,), 2: (0.8,)}
    heats = [heat for each in others for heats in each.temperatures.values() for heat in heats]
    assert set(heats) == {0.8}


@pytest.mark.parametrize("ensembles", [1, 2])
@pytest.mark.parametrize("candidates", range(1, 41))
def test_all_rounds_together_write_exactly_what_was_said(candidates: int, ensembles: int) -> None:
    planned = rounds(Effort(candidates=candidates, ensembles=ensembles))
    assert sum(sum(counts(each).values()) for each in planned) == candidates
    assert all(sum(counts(each).values()) for each in planned)
    for each in planned:
        shares = counts(each).values()
        assert max(shares) - min(shares) <= 1


def test_an_ensemble_alone_does_the_critics_work_of_both() -> None:
    explore, _, widen, *_ = rounds(replace(Effort(), ensembles=1))
    assert (explore.critics, widen.critics) == ((1,), (1,))
    assert list(explore.temperatures) == [1]


@pytest.mark.parametrize(("ensembles", "who"), [(1, 1), (2, 2)])
def test_one_ensemble_notes_the_rules_before_it_writes_once_guesses_disagree(
    ensembles: int, who: int
) -> None:
    effort = Effort(candidates=16, ensembles=ensembles)
    held = {each.name: each.noted for each in rounds(effort, noted=True)}
    assert held == {"explore": (), "again": (), "widen": (), "deepen": (who,), "rethink": ()}
    assert not any(each.noted for each in rounds(effort))
