"""What the loop's rounds reach and cost on a recorded pool, without asking a model.

    python -m bench.rounds --pool FILE [--candidates N] [--enough X] [--draws N] [--cache DIR]

The rounds are those of the product (`core/effort.py`), selection and confidence as well. Candidates
are the pool's answers after the product's repairs, the greedy one first, the others drawn at
random; critics are its completions of tests. Plans, refinement and votes are not played: planned
candidates are drawn like the others. What it costs is counted in greedy answers, as measured live.
It measures selection and stopping, not generation.
"""

import argparse
import asyncio
import random
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.selection import CACHE, Entry, fetched, read_pools, recorded
from bench.selection_pool import Recorded, Sample, evidence, is_right, percent
from twinsmith.core.effort import Effort, rounds
from twinsmith.core.errors import BadReply
from twinsmith.core.judging.selection import select
from twinsmith.core.replies.reply_code import read_program

CANDIDATE = 1.1
CRITIC = 1.5
"""What an answer of each costs in greedy answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mended(Entry):
    """A problem whose answers are whole programs."""

    def source(self, solution: str) -> str:
        """As it is."""
        return solution


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One problem: with what critics thought of, and with the task's own examples alone."""

    whole: Recorded
    alone: Recorded


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """How one draw ended."""

    last: str
    right: bool
    cost: float


def mended(entry: Entry, *, critics: bool) -> Mended:
    """Its answers after the product's repairs, the greedy one first, for two ensembles in turn."""
    answers = [entry.greedy, *(text for _, text in entry.solutions)]
    programs = [_program(entry, text) for text in answers]
    tests = [text for _, text in entry.completions] if critics else []
    return Mended(
        name=entry.name,
        function=entry.function,
        prompt=entry.prompt,
        truth=entry.truth,
        greedy=programs[0],
        solutions=tuple((n % 2, program) for n, program in enumerate(programs)),
        completions=tuple((n % 2, text) for n, text in enumerate(tests)),
    )


def _program(entry: Entry, answer: str) -> str:
    source = entry.source(answer)
    try:
        return read_program(f"```python\n{source}\n```", entry=entry.function).source
    except BadReply:
        return source


def play(seen: Seen, effort: Effort, rng: random.Random) -> Played:
    """Round after round, until it is sure enough or there is nothing left."""
    others = range(1, len(seen.whole.results))
    order = (0, *_in_turn(rng, [n for n in others if n % 2], [n for n in others if n % 2 == 0]))
    tests = range(len(seen.whole.completions))
    heard = (*_in_turn(rng, [n for n in tests if n % 2 == 0], [n for n in tests if n % 2]),)
    made = asked = 0
    held = rounds(effort, given=bool(seen.whole.examples.calls))
    for each in held:
        made += sum(map(len, each.temperatures.values()))
        asked += len(each.critics)
        known = seen.whole if asked else seen.alone
        sample = Sample(solutions=order[:made], completions=heard[:asked])
        chosen = select(evidence(known, sample))
        passes = chosen.winner is not None and chosen.scores[0].given == 1.0
        if each is held[-1] or (passes and chosen.confidence >= effort.enough):
            break
    cost = CANDIDATE * made + CRITIC * asked
    return Played(last=each.name, right=is_right(known, chosen.winner), cost=cost)


def _in_turn(rng: random.Random, one: list[int], other: list[int]) -> Iterator[int]:
    """Both shuffled, one of each after the other."""
    rng.shuffle(one)
    rng.shuffle(other)
    for pair in zip(one, other, strict=False):
        yield from pair


def told(played: Sequence[Played], effort: Effort) -> str:
    """What was reached, what it cost, and where it ended."""
    costs = [each.cost for each in played]
    right = percent([each.right for each in played])
    mean, median = statistics.mean(costs), statistics.median(costs)
    lines = [f"{effort.candidates} candidates at most, stop at {effort.enough}: {right} right"]
    lines.append(f"cost in greedy answers: mean {mean:.1f}, median {median:.1f}")
    ends = Counter(each.last for each in played)
    for each in rounds(effort):
        these = [one.right for one in played if one.last == each.name]
        share = 100 * ends[each.name] / len(played)
        lines.append(f"  ends after {each.name:8}{share:5.1f} %, {percent(these):6.2f} right")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pool", type=Path, required=True)
    parser.add_argument("--problems", type=Path, help="HumanEval.jsonl.gz")
    parser.add_argument("--candidates", type=int, default=Effort().candidates)
    parser.add_argument("--enough", type=float, default=Effort().enough)
    parser.add_argument("--draws", type=int, default=12, help="of each problem")
    parser.add_argument("--cache", type=Path, default=CACHE)
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    entries = read_pools([options.pool], options.problems or fetched(options.cache), "all")
    both = [
        asyncio.run(recorded([mended(e, critics=critics) for e in entries], options.cache))
        for critics in (True, False)
    ]
    pool = [Seen(whole=whole, alone=alone) for whole, alone in zip(*both, strict=True)]
    effort = replace(Effort(), candidates=options.candidates, enough=options.enough)
    rng = random.Random(0)
    played = [play(seen, effort, rng) for seen in pool for _ in range(options.draws)]
    print(f"{len(pool)} problems, {options.draws} draws of each; greedy, mended: ", end="")
    print(percent([bool(seen.whole.greedy_right) for seen in pool]))
    print(told(played, effort))


if __name__ == "__main__":
    main()
