"""The exchange of insights: what both ensembles saw in, what each slow thinker hears out."""

from collections.abc import Iterator, Sequence

from twinsmith.core.checks.inputs import input_text, observed
from twinsmith.core.judging.pool import Pool
from twinsmith.core.judging.selection import Selection
from twinsmith.core.outcome import Work

LONGEST_VALUE = 200


def exchange(work: Work, ensembles: Sequence[int], *, shared: bool) -> dict[int, str]:
    """The counterexamples that each ensemble's slow thinker plans from, by ensemble.

    Those are the inputs on which candidates failed and the input on which the two leading ones
    differ: of both ensembles where insights are shared, else of the ensemble itself.
    """
    return {each: "\n".join(_heard(work, each, shared=shared)) for each in ensembles}


def crossed(work: Work, ensembles: Sequence[int]) -> dict[tuple[int, int], tuple[str, ...]]:
    """The counterexamples that ensembles only hear of from one another, by who saw and who hears.

    A difference between the two leading candidates is news to each ensemble that wrote only one.
    """
    alone = {each: _heard(work, each, shared=False) for each in ensembles}
    leading = {work.selection.winner, work.selection.runner_up}
    writers = {c.ensemble for c in work.pool.candidates if c.number in leading}
    both = tuple(_difference(work.selection)) if len(writers) > 1 else ()
    return {
        (source, to): tuple(
            line
            for line in (*alone[source], *(both if {source, to} <= writers else ()))
            if line not in alone[to]
        )
        for source in ensembles
        for to in ensembles
        if source != to
    }


def _heard(work: Work, ensemble: int, *, shared: bool) -> tuple[str, ...]:
    """The counterexamples for one slow thinker, a line each, none of them twice."""
    pool, chosen = work.pool, work.selection
    sources = [c.number for c in pool.candidates if shared or c.ensemble == ensemble]
    lines = [line for number in sources for line in _failures(pool, number)]
    if shared or {chosen.winner, chosen.runner_up} <= set(sources):
        lines += _difference(chosen)
    return tuple(dict.fromkeys(lines))


def _failures(pool: Pool, number: int) -> Iterator[str]:
    """The smallest thing that a candidate was given and does not do, if there is one."""
    for check, probe, result in pool.failing(number)[:1]:
        asked = probe.asks
        what = input_text(asked) if asked else probe.source
        gave = observed(asked, result) if asked else ""
        saw = (gave or f"{result.outcome}: {result.detail}")[:LONGEST_VALUE]
        yield f"- {what} gave {saw}; right is {check.expected or 'that it holds'}"


def _difference(chosen: Selection) -> Iterator[str]:
    """The input on which the two leading candidates differ, with what each gives, if known."""
    between = chosen.separating
    if between is not None:
        yield (
            f"- for {input_text(between.call)} one program gives {between.winner[:LONGEST_VALUE]}, "
            f"another gives {between.runner_up[:LONGEST_VALUE]}"
        )
