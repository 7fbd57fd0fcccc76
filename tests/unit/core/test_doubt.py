"""Examples that every program breaks in the same way."""

from dataclasses import replace

import pytest

from twinsmith.core.execution import ProbeResult
from twinsmith.core.judging.doubt import MANY, doubted
from twinsmith.core.judging.pool import Pool
from twinsmith.core.probe import Call, Probe, Probes
from twinsmith.core.program import Candidate


def pool_of(*rows: tuple[str, ...], wanted: tuple[str, ...] = ("4", "9")) -> Pool:
    """What so many programs gave for double(2) and double(5)."""
    calls = [
        Call(function="double", args=(arg,), expected=value)
        for arg, value in zip(("2", "5"), wanted, strict=False)
    ]
    probes = tuple(
        Probe(name=f"example {n}", origin="task", call=call) for n, call in enumerate(calls, 1)
    )
    pool = Pool().with_given(Probes(checks=probes))
    pool = pool.with_candidates(Candidate(number=n, program=None) for n in range(1, len(rows) + 1))
    seen = {
        number: tuple(ProbeResult(name="", outcome="passed", value=value) for value in row)
        for number, row in enumerate(rows, 1)
    }
    return replace(pool, seen=seen)


def test_the_example_is_told_with_what_programs_give_instead() -> None:
    found = doubted(pool_of(*[("4", "10")] * MANY))
    assert found is not None
    assert (found.call.args, found.expected, found.gave) == (("5",), "9", "10")
    assert found.programs == MANY


@pytest.mark.parametrize(
    "rows",
    [
        [("4", "10")] * (MANY - 1),
        [("4", "10")] * (MANY - 1) + [("4", "11")],
        [("4", "10")] * (MANY - 1) + [("5", "9")],
        [("4", "10")] * 6 + [("6", "15")] * 6,
        [("5", "10")] * MANY,
        [("4", "")] * MANY,
    ],
)
def test_it_is_not_doubted_where_programs_are_few_differ_or_fail(
    rows: list[tuple[str, ...]],
) -> None:
    assert doubted(pool_of(*rows)) is None


def test_one_example_alone_is_never_doubted() -> None:
    assert doubted(pool_of(*[("5",)] * MANY, wanted=("4",))) is None


def test_programs_that_were_not_tried_with_it_say_nothing() -> None:
    assert doubted(pool_of(*[("4",)] * MANY)) is None
    found = doubted(pool_of(*[("4", "10")] * MANY, ("4",)))
    assert found is not None
    assert found.programs == MANY
