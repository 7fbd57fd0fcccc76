"""Do known programs get their known verdicts: HumanEval-X, in the sandbox and beside it.

    python -m bench.verdicts --data DIR [--language python|cpp|go|rust] [--limit N]

DIR holds humaneval_<language>.jsonl.gz of HumanEval-X. Every canonical solution and one mutant of
each is run twice, in the sandbox and with the bare tools: both have to say the same. For C++, Go
and Rust the Python checks are then put through the drivers: which of them a driver can ask.
"""

import argparse
import ast
import asyncio
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Self

from tests.sandboxes import LAYERS
from twinsmith.adapters.sandbox.bubblewrap import Bubblewrap
from twinsmith.adapters.sandbox.languages import LANGUAGES
from twinsmith.adapters.sandbox.languages.python import INTERPRETER
from twinsmith.adapters.sandbox.runner import IsolatedSandbox, found
from twinsmith.core.execution import Execution, Limits
from twinsmith.core.probe import Command, Probe, Probes, read_check
from twinsmith.core.program import Program

CORES = os.cpu_count() or 1
LIMITS = Limits(probe_seconds=10.0, cpu_seconds=10.0)
BARE_BYTES = 2 << 30
AGAIN = 40
LANGUAGE_NAMES = ("python", "cpp", "go", "rust")
Verdict = Literal["passes", "fails", "does not build"]
Row = dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What came of a bare run."""

    verdict: Verdict
    output: str = ""
    reason: str = ""


class BareTools:
    """The same tools without any walls, in a folder of their own."""

    def __init__(self) -> None:
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._home = self._stack.enter_context(tempfile.TemporaryDirectory())
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def run(self, program: Program, *, seconds: float = LIMITS.probe_seconds) -> Seen:
        """Compile it and run it, as a person would."""
        language = LANGUAGES[program.language]
        toolchain = found(language)
        recipe = language.recipe(program, toolchain)
        build = recipe.build
        if program.language == "go":
            # With its cache, which is warm after the first time.
            build = ((toolchain.commands["go"], "build", "-o", "solution", "solution.go"),)
        environment = {"PATH": "/usr/bin:/bin", "HOME": self._home, "PYTHONHASHSEED": "0"}
        environment |= {"GO111MODULE": "off", "GOTOOLCHAIN": "local", "CGO_ENABLED": "0"}
        with tempfile.TemporaryDirectory(dir=self._home) as folder:
            for name, text in recipe.files.items():
                Path(folder, name).write_text(text)
            for command in build:
                done = subprocess.run(
                    command, cwd=folder, env=environment, capture_output=True, check=False
                )
                if done.returncode:
                    said = done.stderr.decode(errors="replace")
                    return Seen(verdict="does not build", reason=complaint(said))
            line = [f"{folder}/solution"] if build else list(recipe.run)
            if program.language == "python":
                line = [INTERPRETER, *recipe.files]
            return ran(line, folder, environment, seconds)


def ran(line: Sequence[str], folder: str, environment: dict[str, str], seconds: float) -> Seen:
    limited = ["prlimit", f"--as={BARE_BYTES}", "--core=0", *line]
    try:
        done = subprocess.run(
            limited,
            check=False,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        return Seen(verdict="fails", reason="timed out")
    said = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
    verdict: Verdict = "fails" if done.returncode else "passes"
    return Seen(verdict=verdict, output=done.stdout.decode(errors="replace"), reason=said[:100])


def complaint(said: str) -> str:
    """The first error of a compiler, without the place."""
    lines = said.splitlines()
    errors = [line for line in lines if "error" in line] or lines[1:] or lines or ["?"]
    return re.sub(r"^\S*:\d+:\d+: ", "", errors[0].strip())[:100]


PAIRS = ("== !=", "<= >", ">= <", "+ -", "% *", "and or", "&& ||", "True False", "true false")
SWAPS = dict(pair.split() for pair in PAIRS) | dict(pair.split()[::-1] for pair in PAIRS)
PATTERNS = (
    r"(?<=[\w\])'\" ])(==|!=|<=|>=)(?=[\w('\" -])",
    r"(?<= )([<>+*%-]|and|or|&&|[|]{2})(?= )",
    r"(?<=[\w\])])[+%-](?=[\w(])",
    r"(?<=\b[a-z])([<>])(?=\w)",
    r"(?<=return )(True|False|true|false|\d+)\b",
)


def mutant(solution: str) -> str | None:
    """The solution with its first operator turned around, or the first constant it returns."""
    for pattern in PATTERNS:
        hit = re.search(pattern, solution)
        if hit:
            swapped = SWAPS.get(hit[0]) or str(int(hit[0]) + 1)
            return solution[: hit.start()] + swapped + solution[hit.end() :]
    return None


GO_PACKAGES = (
    *("bytes", "crypto/md5", "fmt", "math", "math/rand", "os", "reflect", "regexp", "sort"),
    *("strconv", "strings", "time", "unicode"),
)
GO_SHIM = """
type shimT struct{}
type shimAssert struct{}
var assert shimAssert
func (shimAssert) New(*shimT) shimAssert { return assert }
func (shimAssert) Equal(want, got any, _ ...any) bool {
	if !reflect.DeepEqual(want, got) {
		fmt.Fprintf(os.Stderr, "want %v, got %v", want, got)
		os.Exit(1)
	}
	return true
}
func (a shimAssert) True(got bool, _ ...any) bool { return a.Equal(true, got) }
func (a shimAssert) False(got bool, _ ...any) bool { return a.Equal(false, got) }
"""
CRATES = {"rand": r"\brand::|_rng\b|\.gen", "regex": r"\bRegex\b", "md5": r"\bmd5::"}


def go_file(text: str) -> str:
    """With the imports that it uses: Go allows no others, and those in the data are not always."""
    body = re.sub(r"import \(.*?\)", "", text, flags=re.DOTALL)
    code = re.sub(r"//.*", "", body)
    used = [path for path in GO_PACKAGES if re.search(rf"\b{path.rpartition('/')[2]}\.", code)]
    return "\n".join(["package main", *(f'import "{path}"' for path in used), body])


def definition(language: str, row: Row, solution: str) -> str:
    """The solution alone, as a file that compiles."""
    match language:
        case "python":
            return row["prompt"] + solution
        case "go":
            return go_file(row["prompt"] + solution)
        case "rust":
            text = row["declaration"] + solution
            for crate, use in CRATES.items():
                line = rf"^use {crate}\b.*;\n"
                rest = re.sub(line, "", text + row["test"], flags=re.MULTILINE)
                if not re.search(use, rest):
                    text = re.sub(line, "", text, flags=re.MULTILINE)
            return text
    return row["declaration"] + solution


def command_line(language: str, row: Row, solution: str) -> str:
    """The solution with its tests, as a program that ends with 0 when they pass."""
    match language:
        case "go":
            test = row["test"].replace("testing.T", "shimT")
            calls = "".join(f"\t{each}(nil)\n" for each in re.findall(r"func (Test\w+)", test))
            return go_file(f"{row['prompt']}{solution}{test}{GO_SHIM}\nfunc main() {{\n{calls}}}\n")
        case "rust":
            test = re.sub(r"#\[cfg\(test\)\]|#\[test\]", "", row["test"])
            test = re.sub(r"\bfn (test\w*)", r"pub fn \1", test)
            calls = "".join(f"    tests::{each}();\n" for each in re.findall(r"fn (test\w*)", test))
            return f"{definition(language, row, solution)}{test}\nfn main() {{\n{calls}}}\n"
    return f"{definition(language, row, solution)}\n{row['test']}"


def call_probes(row: Row) -> list[Probe]:
    """The asserts of a Python test that are plain calls; what they say on failing is dropped."""
    tree = ast.parse(row["test"])
    body = [one for node in tree.body if isinstance(node, ast.FunctionDef) for one in node.body]
    asserts = [ast.Assert(test=node.test) for node in body if isinstance(node, ast.Assert)]
    read = (read_check(ast.unparse(node), number=n) for n, node in enumerate(asserts))
    return [probe for probe in read if probe is not None and probe.call is not None]


def whole(row: Row) -> Probe:
    return Probe(name="check", origin="plan", source=row["test"])


def verdict(execution: Execution) -> Seen:
    if execution.problem:
        return Seen(verdict="does not build", reason=complaint(execution.problem))
    wrong = [each for each in execution.results if each.outcome != "passed"]
    if not wrong:
        return Seen(verdict="passes")
    return Seen(verdict="fails", reason=f"{wrong[0].outcome}: {wrong[0].detail}")


class Court:
    """Runs each program on both sides and remembers where they differ."""

    def __init__(self, language: str, tools: BareTools) -> None:
        self.language = language
        self.counts: Counter[str] = Counter()
        self.notes: list[str] = []
        self.reasons: dict[str, list[str]] = {}
        self._tools = tools
        self._box = IsolatedSandbox(Bubblewrap(), LAYERS)

    async def both(self, row: Row) -> None:
        """The canonical solution and its mutant, as programs."""
        solution = row["canonical_solution"]
        await self._compare(row, "canonical", solution)
        changed = mutant(solution)
        if changed is None:
            self.counts["no mutant"] += 1
            return
        await self._compare(row, "mutant", changed)

    async def _compare(self, row: Row, what: str, solution: str) -> None:
        text = command_line(self.language, row, solution)
        program = Program(source=text, language=self.language, kind="cli")
        bare = await asyncio.to_thread(self._tools.run, program)
        here = await self._here(row, solution, text)
        self.counts[f"{what}: bare {bare.verdict}"] += 1
        agree = here.verdict == bare.verdict
        for _ in range(0 if agree else AGAIN):
            again = await asyncio.to_thread(self._tools.run, program)
            if again.verdict != bare.verdict:
                # Go's maps have another order in every run: nothing is known about this one.
                self.counts[f"{what}: left to chance, bare too"] += 1
                return
        self.counts[f"{what}: {'same' if agree else 'OTHER'} verdict"] += 1
        name = f"{row['task_id']} {what}"
        if not agree:
            bare_said = f"bare {bare.verdict} ({bare.reason})"
            self.notes.append(f"{name}: {bare_said}, sandbox {here.verdict} ({here.reason[:200]})")
        elif what == "canonical" and bare.verdict != "passes":
            self.notes.append(f"{name}: {bare.verdict} on both sides: {bare.reason}")

    async def _here(self, row: Row, solution: str, text: str) -> Seen:
        if self.language == "python":
            program = Program(source=definition("python", row, solution))
            return verdict(await self._box.run(program, Probes(checks=(whole(row),)), LIMITS))
        run = Probe(name="run", origin="plan", command=Command())
        program = Program(source=text, language=self.language, kind="cli")
        return verdict(await self._box.run(program, Probes(checks=(run,)), LIMITS))

    async def calls(self, row: Row) -> None:
        """The single asserts of a Python test, as data: all of a canonical solution pass."""
        probes = tuple(call_probes(row))
        if not probes:
            self.counts["calls: none in the test"] += 1
            return
        program = Program(source=definition("python", row, row["canonical_solution"]))
        seen = verdict(await self._box.run(program, Probes(checks=probes), LIMITS))
        self.counts[f"calls: {seen.verdict}"] += 1
        self.counts["calls: single asserts"] += len(probes)
        if seen.verdict != "passes":
            self.notes.append(f"{row['task_id']} calls: {seen.verdict} ({seen.reason[:200]})")

    async def driven(self, row: Row, python: Row) -> None:
        """The Python checks of the same task, through the language's driver."""
        text = definition(self.language, row, row["canonical_solution"])
        name = re.findall(r"^check\((\w+)\)", python["test"], re.MULTILINE)[-1]
        same = [each for each in re.findall(r"(\w+)\s*\(", text) if plain(each) == plain(name)]
        last = re.findall(r"(\w+)\s*\([^()]*\)[^()]*\{\s*$", row["declaration"])
        entry = [*same, *last, name][0]
        calls = [(each, each.call) for each in call_probes(python)]
        probes = [replace(e, call=replace(c, function=entry)) for e, c in calls if c is not None]
        checks = Probes(checks=(*probes, whole(python)), setup=f"{name} = {entry}")
        program = Program(source=text, language=self.language)
        seen = verdict(await self._box.run(program, checks, LIMITS))
        self.counts[f"driver: {seen.verdict}"] += 1
        if seen.verdict != "passes":
            detail = f"{row['task_id']}: {seen.reason}"
            self.reasons.setdefault(kind_of(seen.reason), []).append(detail)


def plain(name: str) -> str:
    """HasCloseElements and has_close_elements are the same."""
    return name.replace("_", "").lower()


def kind_of(reason: str) -> str:
    """A reason without names and values, so that alike ones meet."""
    what, _, detail = reason.partition(": ")
    match what:
        case "failed":
            return "gives another value than the Python check wants"
        case "raised":
            return f"raises {detail.partition(':')[0]}"
    return re.sub(r"[`'\u2018].*?[`'\u2019]", "…", reason)[:70]


def rows(folder: Path, language: str) -> list[Row]:
    path = folder / f"humaneval_{language}.jsonl.gz"
    if not path.exists():
        print(f"{path} is not there: --data needs the files of HumanEval-X", file=sys.stderr)
        raise SystemExit(2)
    with gzip.open(path, "rt") as lines:
        return [json.loads(line) for line in lines]


async def judged(folder: Path, language: str, limit: int) -> None:
    if LANGUAGES[language].locate() is None:
        print(f"{language}: skipped; run: {LANGUAGES[language].install}")
        return
    began = time.perf_counter()
    tasks = list(zip(rows(folder, language), rows(folder, "python"), strict=True))[:limit]
    with BareTools() as tools:
        court = Court(language, tools)
        left = iter(tasks)

        async def worker() -> None:
            for row, python in left:
                await court.both(row)
                await (court.calls(row) if language == "python" else court.driven(row, python))

        await asyncio.gather(*(worker() for _ in range(CORES)))
    print(f"{language}: {len(tasks)} tasks in {time.perf_counter() - began:.0f} s")
    for what, count in sorted(court.counts.items()):
        print(f"  {count:5}  {what}")
    for note in sorted(court.notes):
        print(f"  {note}")
    for reason, details in sorted(court.reasons.items(), key=lambda each: -len(each[1])):
        print(f"  {len(details):5}  driver: {reason}")
        for detail in sorted(details):
            print(f"         {' '.join(detail.split())[:180]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="the folder of HumanEval-X")
    parser.add_argument("--language", choices=LANGUAGE_NAMES)
    parser.add_argument("--limit", type=int, default=1000, help="so many tasks only")
    options = parser.parse_args()
    if options.data is None:
        print(
            "--data DIR is needed: a folder with humaneval_python.jsonl.gz and so on",
            file=sys.stderr,
        )
        raise SystemExit(2)
    for language in [options.language] if options.language else LANGUAGE_NAMES:
        asyncio.run(judged(options.data, language, options.limit))


if __name__ == "__main__":
    main()
