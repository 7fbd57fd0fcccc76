"""Public problems as tasks, and what judges a program that claims to solve one."""

import ast
import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.verdicts import GO_SHIM, go_file
from twinsmith.core.probe import Command, Probe, Probes
from twinsmith.core.program import Program

SUITES = ("humaneval", "mbpp", "humaneval-x")
LANGUAGES = ("python", "cpp", "go", "rust")
SHARED = Path(__file__).parents[2] / "shared" / "data"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One task; its truth is never shown to anything that works on it."""

    name: str
    language: str
    text: str
    truth: str

    def trial(self, source: str) -> tuple[Program, Probes]:
        """A program with the truth, for the sandbox."""
        if self.language == "python":
            check = Probe(name="truth", origin="person", source=self.truth)
            return Program(source=source), Probes(checks=(check,))
        whole = _with_tests(self.language, source, self.truth)
        program = Program(source=whole, language=self.language, kind="cli")
        check = Probe(name="truth", origin="person", command=Command())
        return program, Probes(checks=(check,))


def problems(suite: str, data: Path, language: str) -> list[Problem]:
    """All problems of a suite that can be judged here, in their order."""
    if suite == "mbpp":
        return list(_mbpp(data / "mbpp" / "sanitized-mbpp.json"))
    chosen = "python" if suite == "humaneval" else language
    rows = _rows(data / "humaneval-x" / f"humaneval_{chosen}.jsonl.gz")
    # Four tests in Rust need a crate that is not there: they would call every program wrong.
    return [_humaneval(row, chosen) for row in rows if "rand::" not in row["test"]]


def spread(all_of_them: list[Problem], limit: int) -> list[Problem]:
    """So many, at even distances: the last ones of a suite are harder than the first."""
    return all_of_them[:: max(1, len(all_of_them) // max(1, limit))][:limit]


def _humaneval(row: dict[str, str], language: str) -> Problem:
    text = row["prompt"]
    if language == "rust":
        # The declaration names crates that are not there and that hardly any solution needs.
        lines = [line for line in row["declaration"].splitlines() if not line.startswith("use ")]
        text += "\n".join(lines)
    truth = row["test"]
    if language == "python":
        entry = re.findall(r"^def (\w+)\(", row["prompt"], re.MULTILINE)[-1]
        truth = truth if f"check({entry})" in truth else f"{truth}\ncheck({entry})\n"
    name = "HumanEval/" + row["task_id"].partition("/")[2]
    return Problem(name=name, language=language, text=text, truth=truth)


def _mbpp(path: Path) -> Iterator[Problem]:
    for row in json.loads(path.read_text()):
        entry = _function(row["test_list"][0])
        yield Problem(
            name=f"MBPP/{row['task_id']}",
            language="python",
            text=f"{row['prompt']} The Python function is called {entry}.",
            truth="\n".join([*row["test_imports"], *row["test_list"]]),
        )


def _function(check: str) -> str:
    """The function that an assert is about: the innermost call of no built-in."""
    known = {"set", "sorted", "len", "math", "isclose", "round", "tuple", "list", "abs", "str"}
    calls = [node.func for node in ast.walk(ast.parse(check)) if isinstance(node, ast.Call)]
    names = [func.id for func in calls if isinstance(func, ast.Name) and func.id not in known]
    return names[-1]


def _with_tests(language: str, source: str, truth: str) -> str:
    match language:
        case "go":
            test = truth.replace("testing.T", "shimT")
            calls = "".join(f"\t{each}(nil)\n" for each in re.findall(r"func (Test\w+)", test))
            alone = r"^\s*(?:package \w+|import \"[^\"]+\")\s*$"
            body = re.sub(alone, "", source, flags=re.MULTILINE)
            return go_file(f"{body}{test}{GO_SHIM}\nfunc main() {{\n{calls}}}\n")
        case "rust":
            test = re.sub(r"#\[cfg\(test\)\]|#\[test\]", "", truth)
            test = re.sub(r"\bfn (test\w*)", r"pub fn \1", test)
            calls = "".join(f"    tests::{each}();\n" for each in re.findall(r"fn (test\w*)", test))
            return f"{source}\n{test}\nfn main() {{\n{calls}}}\n"
    return f"{source}\n{truth}"


def _rows(path: Path) -> list[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
