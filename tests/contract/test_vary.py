"""Edits of near misses in the real sandbox."""

from dataclasses import replace

from tests.sandboxes import sandbox
from twinsmith.core.execution import Limits, ProbeResult
from twinsmith.core.judging.pool import Pool
from twinsmith.core.probe import Call, Probe, Probes
from twinsmith.core.program import Candidate, Program
from twinsmith.flow.build.vary import as_candidates, near_misses, varied

BINARY = "def binary(n):\n    return bin(n)[2:]\n"
ENDLESS = "def binary(n):\n    while n < 1:\n        n += 1\n    return format(n, 'b')\n"


def pool_of(*sources: str) -> Pool:
    """Candidates that were run and give something else than the two examples want."""
    given = [Call(function="binary", args=(n,), expected=repr(bin(int(n)))) for n in ("3", "8")]
    probes = [
        Probe(
            name=f"example {n}", origin="task", source=f"assert binary({call.args[0]})", call=call
        )
        for n, call in enumerate(given, 1)
    ]
    pool = Pool().with_given(Probes(checks=tuple(probes)))
    pool = pool.with_candidates(
        Candidate(number=n, program=Program(source=source), ensemble=2)
        for n, source in enumerate(sources, 1)
    )
    results = tuple(ProbeResult(name="", outcome="passed", value="'0'") for _ in given)
    return replace(pool, seen=dict.fromkeys(range(1, len(sources) + 1), results))


async def test_an_edit_that_keeps_all_examples_is_kept_once_and_endless_ones_end() -> None:
    pool = pool_of(BINARY, ENDLESS)
    found = await varied(pool, near_misses(pool), 80, Limits(), sandbox())
    assert 20 < found.tried <= 80
    # A slice less, and the same with a slice from the start: one of those that do the same.
    assert [variant.of for variant in found.kept] == [1]
    (made,) = as_candidates(found.kept, pool)
    assert made.program is not None
    assert made.program.source == "def binary(n):\n    return bin(n)\n"
    assert (made.number, made.ensemble, made.way) == (3, 2, "varied")


async def test_where_no_edit_helps_nothing_is_kept() -> None:
    pool = pool_of("def binary(n):\n    return None\n")
    found = await varied(pool, near_misses(pool), 80, Limits(), sandbox())
    assert found.kept == ()
    assert found.tried
