"""Mixing a library: which candidate is best at which function, and a program of the best ones."""

import re
from collections.abc import Sequence
from dataclasses import replace

from twinsmith.core.judging.pool import Pool
from twinsmith.core.judging.selection import Evidence, Selection, select
from twinsmith.core.probe import Probe
from twinsmith.core.program import Candidate
from twinsmith.core.replies.python_mix import mixed


def mix(pool: Pool, best: int, names: Sequence[str]) -> Candidate | None:
    """The best candidate with better functions of others in it; None where there are none.

    Of four functions that are right in two of three answers each, one answer in five has all of
    them right. Only Python, only functions: what objects keep inside belongs together.
    """
    base = pool.numbered(best)
    if base.program is None or base.program.language != "python" or base.program.files:
        return None
    donors: dict[str, Candidate] = {}
    for name in names:
        chosen = _best_at(name, names, pool, best)
        if chosen is not None and chosen.winner is not None and best not in chosen.clusters[0]:
            donors[name] = pool.numbered(chosen.winner)
    sources = {name: each.program.source for name, each in donors.items() if each.program}
    source = mixed(base.program.source, sources)
    if any(each.program and each.program.source == source for each in pool.candidates):
        return None
    told = ", ".join(f"{name} of candidate {each.number}" for name, each in donors.items())
    return Candidate(
        number=len(pool.candidates) + 1,
        program=replace(base.program, source=source),
        ensemble=base.ensemble,
        way="varied",
        repairs=(f"candidate {best} with {told}",),
        of=tuple(dict.fromkeys((best, *(each.number for each in donors.values())))),
    )


def _best_at(name: str, names: Sequence[str], pool: Pool, best: int) -> Selection | None:
    """The choice of a candidate by the probes of one function; None where no probe tries it."""
    places = [n for n, probe in enumerate(pool.probes) if _is_about(probe, name, names)]
    if not places:
        return None
    whole = pool.evidence()
    edited = {each.number for each in pool.candidates if each.way == "varied"} - {best}
    entrants = [
        replace(each, results=tuple(each.results[n] for n in places))
        for each in whole.entrants
        if each.candidate not in edited and len(each.results) == len(pool.probes)
    ]
    checks = [
        replace(check, probe=places.index(check.probe))
        for check in whole.checks
        if check.probe in places
    ]
    calls = tuple(whole.calls[n] for n in places)
    return select(
        Evidence(calls=calls, entrants=tuple(entrants), checks=tuple(checks), exact=whole.exact)
    )


def _is_about(probe: Probe, name: str, names: Sequence[str]) -> bool:
    """Whether a probe tries this function and no other."""
    if probe.call is not None:
        return probe.call.function == name
    return [each for each in names if re.search(rf"\b{each}\(", probe.source)] == [name]
