"""Programs that miss the task's examples in, small edits of them that keep all of these out."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from twinsmith.core.checks.inputs import observed
from twinsmith.core.execution import Limits
from twinsmith.core.judging.pool import Pool
from twinsmith.core.probe import Probes
from twinsmith.core.program import Candidate
from twinsmith.core.variants import Variant, Varied, variants
from twinsmith.ports import Sandbox

MOST_PROGRAMS = 8
MOST_KEPT = 6
"""The most edits kept in a whole run: they are much alike, and each has a vote."""
AT_ONCE = 4
SECONDS = 1.0
"""The seconds for one call: an edit of a loop may never end."""
LONGEST = 60.0
"""The seconds for all edits of one round."""


def near_misses(pool: Pool, after: int = 0) -> tuple[Candidate, ...]:
    """The candidates after the `after`th that may be one edit from right; the nearest first.

    Only functions of one file in Python: edits of other languages would take a build each.
    """
    known = {each.program.source for each in pool.candidates[:after] if each.program}
    seen: dict[str, Candidate] = {}
    for each in pool.candidates[after:]:
        program = each.program
        if program is None or program.language != "python" or program.files:
            continue
        if program.source in known:
            continue
        if program.kind == "function" and each.number in pool.seen and pool.failing(each.number):
            seen.setdefault(program.source, each)
    ranked = sorted(seen.values(), key=lambda each: len(pool.failing(each.number)))
    return tuple(ranked[:MOST_PROGRAMS])


async def varied(
    pool: Pool, parents: Sequence[Candidate], most: int, limits: Limits, sandbox: Sandbox
) -> Varied:
    """The edits of near misses that keep all examples; of those that do the same, one each."""
    limits = replace(limits, probe_seconds=SECONDS, cpu_seconds=SECONDS)
    until = asyncio.get_running_loop().time() + LONGEST
    edited: dict[str, Candidate] = {}
    for parent in parents:
        assert parent.program is not None
        for source in variants(parent.program.source, most // len(parents)):
            edited.setdefault(source, parent)
    kept: dict[tuple[int, tuple[str, ...]], Variant] = {}
    waiting = list(edited.items())
    tried = 0
    while waiting and asyncio.get_running_loop().time() < until:
        some, waiting = waiting[:AT_ONCE], waiting[AT_ONCE:]
        tried += len(some)
        tests = [_tried(pool, parent, source, limits, sandbox) for source, parent in some]
        for (source, parent), did in zip(some, await asyncio.gather(*tests), strict=True):
            if did:
                kept.setdefault((parent.number, did), Variant(of=parent.number, source=source))
    there = sum(each.way == "varied" for each in pool.candidates)
    return Varied(kept=_in_turn(tuple(kept.values()))[: MOST_KEPT - there], tried=tried)


async def _tried(
    pool: Pool, parent: Candidate, source: str, limits: Limits, sandbox: Sandbox
) -> tuple[str, ...]:
    """The results of an edited program in all probes; empty where it breaks what was given."""
    assert parent.program is not None
    program = replace(parent.program, source=source)
    check, probe, _ = pool.failing(parent.number)[0]
    # Most edits fail where their parent does: the rest is only tried where that is mended.
    one = replace(pool, probes=(probe,), checks=(replace(check, probe=0),))
    first = await sandbox.run(program, Probes(checks=one.probes, setup=pool.setup), limits)
    if not first.results or replace(one, seen={0: first.results}).failing(0):
        return ()
    whole = await sandbox.run(program, Probes(checks=pool.probes, setup=pool.setup), limits)
    if len(whole.results) < len(pool.probes) or replace(pool, seen={0: whole.results}).failing(0):
        return ()
    return tuple(
        (observed(probe.asks, result) if probe.asks else "") or result.outcome
        for probe, result in zip(pool.probes, whole.results, strict=True)
    )


def as_candidates(kept: Sequence[Variant], pool: Pool) -> list[Candidate]:
    """The edited programs as candidates of the ensembles whose programs they were."""
    made: list[Candidate] = []
    for number, variant in enumerate(kept, len(pool.candidates) + 1):
        parent = pool.numbered(variant.of)
        assert parent.program is not None
        made.append(
            Candidate(
                number=number,
                program=replace(parent.program, source=variant.source),
                ensemble=parent.ensemble,
                way="varied",
                repairs=(f"one edit of candidate {parent.number}",),
                of=(parent.number,),
            )
        )
    return made


def _in_turn(found: Sequence[Variant]) -> tuple[Variant, ...]:
    """The edits in turn: the first of every program, then the second of every one, and so on."""
    nth: dict[int, int] = {}
    ranks: list[int] = []
    for each in found:
        ranks.append(nth.get(each.of, 0))
        nth[each.of] = ranks[-1] + 1
    return tuple(each for _, each in sorted(zip(ranks, found, strict=True), key=lambda row: row[0]))
