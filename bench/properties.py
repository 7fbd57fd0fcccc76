"""Properties read off public problems: do right programs keep them, and do wrong ones break them.

    python -m bench.properties [--data DIR] [--pool FILE…] [--most N] [--show]

Inputs are those of a HumanEval problem's own examples and those of an MBPP problem's asserts,
without what they give. Wrong programs are recorded candidates of a model that fail the truth, and
canonical solutions with one operator turned around. Everything runs in the sandbox.
"""

import argparse
import asyncio
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.selection import lines
from bench.solve_suites import SHARED, Problem, problems
from bench.verdicts import mutant, rows
from twinsmith.core.checks.examples import read_examples
from twinsmith.core.checks.properties import properties
from twinsmith.core.checks.proposed import proposed
from twinsmith.core.execution import Limits, ProbeResult
from twinsmith.core.probe import Call, Probe, Probes
from twinsmith.core.program import Program
from twinsmith.core.wording import entry_in
from twinsmith.ports import Sandbox
from twinsmith.settings import load
from twinsmith.wiring.sandbox import sandbox_of

POOLS = SHARED.parent / "pools"
LIMITS = Limits(probe_seconds=2.0, cpu_seconds=2.0)
MOST_WRONG = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A problem with a program that is right, and what can be known of it beforehand."""

    problem: Problem
    entry: str
    canonical: str
    examples: tuple[Call, ...]
    inputs: tuple[Call, ...]

    @property
    def asserts(self) -> tuple[str, ...]:
        """Its properties."""
        text = self.problem.text
        names = re.findall(r"^def (\w+)", text, re.MULTILINE)
        return properties(text, self.entry, names, [*self.examples, *self.inputs])


def humaneval(data: Path) -> Iterator[Case]:
    """Every problem of HumanEval, with the examples in its docstring."""
    solved = rows(data / "humaneval-x", "python")
    for problem, row in zip(problems("humaneval", data, "python"), solved, strict=True):
        entry = entry_in(problem.text)
        yield Case(
            problem=problem,
            entry=entry,
            canonical=row["prompt"] + row["canonical_solution"],
            examples=read_examples(problem.text, function=entry).calls,
            inputs=(),
        )


def mbpp(data: Path) -> Iterator[Case]:
    """Every problem of MBPP, with the inputs of its asserts."""
    solved = json.loads((data / "mbpp" / "sanitized-mbpp.json").read_text())
    for problem, row in zip(problems("mbpp", data, "python"), solved, strict=True):
        entry = problem.text.rpartition(" ")[2].removesuffix(".")
        yield Case(
            problem=problem,
            entry=entry,
            canonical=row["code"],
            examples=(),
            inputs=inputs("\n".join(row["test_list"]), entry),
        )


def inputs(asserts: str, entry: str) -> tuple[Call, ...]:
    """The calls in asserts, without what they should give."""
    calls = [probe.call for probe in proposed(asserts, entry) if probe.call]
    return tuple(dict.fromkeys(replace(call, expected="") for call in calls))


class Court:
    """Runs programs against properties, examples and truth."""

    def __init__(self, box: Sandbox) -> None:
        self._box = box

    async def breaks(self, source: str, asserts: Sequence[str]) -> list[ProbeResult]:
        """What was seen of the asserts that a program does not pass."""
        checks = [Probe(name=each, origin="task", source=each) for each in asserts]
        seen = await self._box.run(Program(source=source), Probes(checks=tuple(checks)), LIMITS)
        if seen.problem:
            return [ProbeResult(name="", outcome="raised", detail=seen.problem)]
        return [each for each in seen.results if each.outcome != "passed"]

    async def is_right(self, problem: Problem, source: str) -> bool:
        """What the truth says."""
        seen = await self._box.run(*problem.trial(source), LIMITS)
        return bool(seen.results) and all(each.outcome == "passed" for each in seen.results)


async def kept(court: Court, name: str, cases: Sequence[Case]) -> list[Case]:
    """Tells how many problems have properties, and which right programs break one."""
    told = [case for case in cases if case.asserts]
    broken = {}
    for case in told:
        wrong = await court.breaks(case.canonical, case.asserts)
        if wrong:
            broken[case.problem.name] = wrong
    print(
        f"{name}: {len(cases)} problems, {len(told)} with properties, "
        f"{sum(len(case.asserts) for case in told)} asserts; "
        f"the canonical solution keeps all of them in {len(told) - len(broken)}"
    )
    for problem, wrong in broken.items():
        print(f"  {problem}: {wrong[0].name}: {wrong[0].outcome}: {wrong[0].detail[:200]}")
    return told


async def told_apart(
    court: Court, name: str, candidates: Sequence[tuple[Case, str]], most: int
) -> None:
    """Tells how many wrong programs break a property, by value or at all, and how many right ones.

    What raises needs no property to be told: it is counted apart.
    """
    counts: Counter[str] = Counter()
    for case, source in candidates:
        if counts["wrong"] >= most:
            break
        broken = await court.breaks(source, case.asserts)
        by_value = any(each.outcome == "failed" for each in broken)
        if await court.is_right(case.problem, source):
            counts.update({"right": 1, "right, broken": bool(broken)})
            continue
        passes = bool(case.examples) and not await court.breaks(source, examples(case))
        counts.update({"wrong": 1, "broken": bool(broken), "by value": by_value})
        counts.update({"passes": passes, "passes, broken": passes and bool(broken)})
    print(
        f"{name}: {counts['wrong']} wrong, {counts['broken']} break a property, "
        f"{counts['by value']} of them by what they give; {counts['passes']} wrong ones pass the "
        f"task's examples, {counts['passes, broken']} of these break one; "
        f"{counts['right']} right, {counts['right, broken']} break one",
        flush=True,
    )


def examples(case: Case) -> list[str]:
    """The task's own examples as asserts."""
    return [f"assert {c.function}({', '.join(c.args)}) == {c.expected}" for c in case.examples]


def mutants(cases: Sequence[Case]) -> list[tuple[Case, str]]:
    """Each canonical solution with its first operator turned around, where it has one."""
    found = []
    for case in cases:
        head = case.problem.text if case.canonical.startswith(case.problem.text) else ""
        changed = mutant(case.canonical.removeprefix(head))
        if changed is not None:
            found.append((case, head + changed))
    return found


def recorded(
    pools: Sequence[Path], cases: Sequence[Case], *, asked: bool
) -> list[tuple[Case, str]]:
    """Every recorded candidate once; where asked, with the inputs of the model's asserts."""
    known = {case.problem.name: case for case in cases}
    found: dict[tuple[Case, str], None] = {}
    for row in (row for pool in pools for row in lines(pool) if row["task_id"] in known):
        case = known[row["task_id"]]
        if asked:
            texts = [text for field in row if field.startswith("tests") for text in row[field]]
            more = [call for text in texts for call in inputs(text, case.entry)]
            case = replace(case, inputs=tuple(dict.fromkeys(more)))
        preamble = case.problem.text[: case.problem.text.index(f"def {case.entry}(")]
        fields = [field for field in row if field.startswith("solutions")]
        sources = [preamble + text for field in fields for text in row[field]]
        found |= dict.fromkeys((case, source) for source in sources if case.asserts)
    return list(found)


async def run(chosen: argparse.Namespace) -> None:
    court = Court(sandbox_of(load()))
    known = list(humaneval(chosen.data))
    first = await kept(court, "HumanEval, its own examples", known)
    blind = [replace(c, inputs=tuple(replace(e, expected="") for e in c.examples)) for c in known]
    await kept(court, "HumanEval, inputs only", [replace(case, examples=()) for case in blind])
    second = await kept(court, "MBPP, inputs only", list(mbpp(chosen.data)))
    if chosen.show:
        print("\n".join(line for case in [*first, *second] for line in case.asserts))
    await told_apart(court, "mutants", mutants([*first, *second]), chosen.most)
    for asked in (False, True):
        name = "recorded, the model's inputs too" if asked else "recorded, the task's inputs"
        candidates = recorded(chosen.pool, known, asked=asked)
        await told_apart(court, name, candidates, chosen.most)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=SHARED)
    parser.add_argument("--pool", type=Path, nargs="*", default=sorted(POOLS.glob("*.jsonl.gz")))
    parser.add_argument("--most", type=int, default=MOST_WRONG, help="so many wrong programs")
    parser.add_argument("--show", action="store_true", help="every assert")
    chosen = parser.parse_args()
    if not chosen.data.is_dir():
        raise SystemExit(f"no data in {chosen.data}: skipped; name a folder with --data")
    asyncio.run(run(chosen))


if __name__ == "__main__":
    main()
