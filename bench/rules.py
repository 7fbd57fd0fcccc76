"""Rules that read and mend, each switched off once, on problems that they were not written on.

    python -m bench.rules [--data DIR] [--pool FILE] [--full FILE] [--leetcode FILE] [--sample N]
                          [--only WORD]

Repairs: every recorded reply of --pool (MBPP) and --leetcode is read with a rule and without it; of
those that differ at most --sample are judged by the problem's own tests. Checks: what is read off
the words of tasks with a rule and without it is right where the canonical solution keeps it. The
words of properties were written with the sanitized part of MBPP in sight, not the 547 others
(--full), CoSQA or LeetCodeDataset. All programs run in the sandbox. Not measured, because nothing
is recorded: other languages, replies without a fence, commands, libraries and services.
"""

# ruff: noqa: SLF001 (a switch is inside what it switches off)

import argparse
import ast
import asyncio
import gzip
import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

from bench.properties import LIMITS, Court, inputs
from bench.selection import lines
from bench.solve_suites import SHARED, Problem, _function, problems
from bench.verdicts import rows
from twinsmith.core.checks import examples, foreign, properties, property_words
from twinsmith.core.errors import BadReply
from twinsmith.core.probe import Call, Probe, Probes
from twinsmith.core.program import Program
from twinsmith.core.replies import python_names, python_text, repair_python, reply_code
from twinsmith.core.wording import entry_in
from twinsmith.settings import load
from twinsmith.wiring.sandbox import sandbox_of

POOL = SHARED.parent / "pools" / "mbpp-qwen2.5-coder-1.5b-q4-even.jsonl.gz"
SAMPLE = 60
NEVER = re.compile(r"(?!)()")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule, and what stands in its place when it is switched off."""

    name: str
    module: ModuleType
    attribute: str
    instead: object

    def off(self) -> AbstractContextManager[object]:
        """The product without this rule, until the block ends."""
        return patch.object(self.module, self.attribute, self.instead)


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """The words of a task, with a program that is right."""

    suite: str
    text: str
    entry: str
    canonical: str
    """A right program, in Python."""
    called: str
    """The name of the function in the canonical solution."""
    language: str = "python"
    parameters: tuple[str, ...] = ()
    seen: tuple[Call, ...] = ()


def nothing(*_args: object, **_named: object) -> None:
    """A repair that does not happen."""


def none(*_args: object, **_named: object) -> Iterator[object]:
    """No example at all."""
    return iter(())


def same(first: object, *_args: object) -> object:
    """What was given, as it was."""
    return first


def repairs() -> Iterator[Rule]:
    """The rules between a reply and a program in Python."""
    steps: dict[str, tuple[ModuleType, str, object]] = {
        "prose removed": (python_text, "_without_prose", same),
        "an unfinished end removed": (python_text, "_without_end", same),
        "an entry by another name or in a class": (repair_python, "_with_entry", nothing),
        "an entry in a class": (repair_python, "_method", nothing),
        "demonstrations removed": (repair_python, "_without_demonstrations", nothing),
        "demonstrations: what shows or checks": (repair_python, "_is_idle", lambda _: False),
        "demonstrations: names like test_": (repair_python, "_DEMO", NEVER),
        "demonstrations: unittest and others": (repair_python, "_RUNNERS", frozenset()),
        "demonstrations: set-up stays": (repair_python, "_sets_up", lambda *_: False),
        "useless imports removed": (repair_python, "useless_imports", lambda *_: []),
        "imports added": (repair_python, "import_lines", lambda *_: []),
        "imports: names of modules": (python_names, "_HOME", {}),
        "imports: modules": (python_names, "_MODULES", frozenset()),
        "imports: datetime, class or module": (python_names, "_DATETIME", frozenset()),
        "imports: friends of a package": (python_names, "_FRIENDS", {}),
        "thoughts dropped": (reply_code, "_THOUGHT", NEVER),
        "margin and HTML's marks": (reply_code, "tidy", same),
    }
    for words, (module, attribute, instead) in steps.items():
        yield Rule(name=words, module=module, attribute=attribute, instead=instead)


def example_rules() -> Iterator[Rule]:
    """The rules that read examples off a task's words."""
    found = {
        "_assignments": none,
        "_inputs": none,
        "_arrows": none,
        "_doctests": none,
        "_after_heading": same,
        "_clash": lambda *_: False,
        "_UNSURE": NEVER,
        "_ONE_MORE": NEVER,
        "_RELATION": re.compile(rf"\s*(?:{examples._ARROWS}|={{1,3}}(?!=))\s*"),
        "_about": lambda every, function, _: [one for one in every if one.name == function],
        "_own_words": lambda text, _: (text, ()),
        "WITHOUT_NOTHING": (),
    }
    for name, instead in found.items():
        yield Rule(name=f"examples {name}", module=examples, attribute=name, instead=instead)
    for name in ("_MARK", "_OWNED", "_MADE", "_TYPE", "_BORROWED"):
        yield Rule(name=f"foreign {name}", module=foreign, attribute=name, instead=NEVER)
    yield Rule(name="foreign lists", module=foreign, attribute="_with_brackets", instead=same)


def property_rules() -> Iterator[Rule]:
    """The rules that read properties off a task's words, every sentence by itself."""
    known = property_words._RULES
    for kinds, words in property_words._WORDS.items():
        for one in words:
            left = "|".join(each for each in words if each != one) or "(?!)"
            rest = [(k, re.compile(left) if k == kinds else rule) for k, rule in known]
            name = f"{kinds[0]}: {one}"
            yield Rule(name=name, module=property_words, attribute="_RULES", instead=rest)
    for name in ("_WHOLE", "_SORTED", "_OTHERWISE_SORTED", "_NOT_THE_RESULT", "_LEAD"):
        yield Rule(name=f"words {name}", module=property_words, attribute=name, instead=NEVER)
    said = property_words._ONE_SIDED
    rest = [(kinds, re.compile(rule.pattern.replace(said, ""))) for kinds, rule in known]
    yield Rule(name="words _ONE_SIDED", module=property_words, attribute="_RULES", instead=rest)


def program_of(reply: str, entry: str) -> str:
    """The program that the product reads off a recorded reply; empty where there is none."""
    try:
        return reply_code.read_program(reply, entry=entry).source
    except BadReply:
        return ""


class Judge:
    """Runs programs and asserts in the sandbox, each once."""

    def __init__(self) -> None:
        self._box = sandbox_of(load())
        self._court = Court(self._box)
        self._known: dict[tuple[str, str], bool] = {}

    async def passes(self, problem: Problem, source: str) -> bool:
        """Whether a program passes the problem's own tests."""
        key = (problem.name, source)
        if source and key not in self._known:
            self._known[key] = await self._court.is_right(problem, source)
        return bool(source) and self._known[key]

    async def right(self, canonical: str, asserts: Sequence[str]) -> int:
        """How many asserts the canonical solution keeps."""
        new = [each for each in asserts if (canonical, each) not in self._known]
        if new:
            checks = tuple(Probe(name=each, origin="task", source=each) for each in new)
            seen = await self._box.run(Program(source=canonical), Probes(checks=checks), LIMITS)
            passed = {each.name for each in seen.results if each.outcome == "passed"}
            self._known |= {(canonical, each): each in passed for each in new}
        return sum(self._known[canonical, each] for each in asserts)


Reply = tuple[Problem, str, str]
"""A problem, the function that it asks for, and a recorded reply."""


def replies_of(pool: Path, data: Path) -> list[Reply]:
    """The replies of a pool of MBPP, in the fence in which they were written."""
    known = {each.name: each for each in problems("mbpp", data, "python")}
    return [
        (known[row["task_id"]], row["entry_point"], f"```python\n{text}\n```")
        for row in lines(pool)
        for text in (row["greedy"], *row["solutions"])
    ]


async def mended(
    judge: Judge, name: str, replies: Sequence[Reply], options: argparse.Namespace
) -> None:
    """Tells what each repair changes in recorded replies, and what that is worth."""
    usual = [program_of(text, entry) for _, entry, text in replies]
    print(f"{name}: {len(replies)} replies\n| repair | replies | judged | with | without |")
    for rule in wanted(repairs(), options.only):
        with rule.off():
            bare = [program_of(text, entry) for _, entry, text in replies]
        touched = [
            n for n, (one, other) in enumerate(zip(usual, bare, strict=True)) if one != other
        ]
        judged = touched[:: max(1, len(touched) // options.sample)][: options.sample]
        right = sum([await judge.passes(replies[n][0], usual[n]) for n in judged])
        wrong = sum([await judge.passes(replies[n][0], bare[n]) for n in judged])
        row = f"| {rule.name} | {len(touched)} | {len(judged)} | {right} | {wrong} |"
        print(row, flush=True)


def mbpp(data: Path, full: Path | None, *, shown: bool) -> Iterator[Text]:
    """Every problem of MBPP in words, or with the first assert as its example."""
    clean = json.loads((data / "mbpp" / "sanitized-mbpp.json").read_text())
    found = [("MBPP", row["prompt"], row) for row in clean]
    if full:
        names = {row["task_id"] for row in clean}
        every = [json.loads(line) for line in full.read_text().splitlines()]
        found += [("others", row["text"], row) for row in every if row["task_id"] not in names]
    for suite, prompt, row in found:
        entry = _function(row["test_list"][0])
        said = f"{prompt} The Python function is called {entry}."
        example = f'"""\n{prompt}\n{row["test_list"][0]}\n"""\n'
        yield Text(
            suite=suite,
            text=example if shown else said,
            entry=entry,
            seen=inputs("\n".join(row["test_list"]), entry),
            canonical=row["code"].replace("\r\n", "\n"),
            called=entry,
        )


def humaneval_x(data: Path) -> Iterator[Text]:
    """Every problem of HumanEval-X in other languages; canonical is the solution in Python."""
    at = data / "humaneval-x"
    solved = {row["task_id"].partition("/")[2]: row for row in rows(at, "python")}
    for language in ("cpp", "go", "rust"):
        for row in rows(at, language):
            right = solved[row["task_id"].partition("/")[2]]
            text = row["prompt"] + (row["declaration"] if language == "rust" else "")
            yield Text(
                suite=language,
                text=text,
                language=language,
                entry=entry_in(text),
                canonical=right["prompt"] + right["canonical_solution"],
                called=entry_in(right["prompt"]),
            )


def cosqa(data: Path) -> Iterator[Text]:
    """Every Python function of CoSQA that has a docstring; each is its own truth."""
    with gzip.open(data / "cosqa" / "code_idx_map.txt.gz", "rt", encoding="utf-8") as file:
        sources = list(json.load(file))
    for source in sources:
        tree = python_names.parsed(source)
        match tree.body if tree else ():
            case [ast.FunctionDef(name=name) as node, *_] if ast.get_docstring(node):
                yield Text(
                    suite="CoSQA",
                    text=source,
                    entry=name,
                    canonical=source,
                    called=name,
                )


def leetcode(path: Path) -> Iterator[tuple[Text, Problem, str]]:
    """Every problem of LeetCodeDataset, with its tests and a recorded reply of a large model."""
    for row in lines(path):
        entry = row["entry_point"].rpartition(".")[2]
        canonical = f"{row['prompt']}\n{row['completion']}\n{entry} = {row['entry_point']}\n"
        found = re.search(rf"def {entry}\(([^\n]*)\)(?: ->[^\n]*)?:", row["completion"])
        names = re.findall(r"(\w+):", found[1]) if found else []
        text = f"{row['meta']['question_title']}\nThe Python function is called {entry}."
        task = Text(
            suite="LeetCode",
            text=text,
            entry=entry,
            seen=examples.read_examples(text, function=entry, parameters=tuple(names)).calls,
            canonical=canonical,
            parameters=tuple(names),
            called=entry,
        )
        truth = f"{row['test']}\ncheck({entry})\n"
        problem = Problem(name=row["task_id"], language="python", text="", truth=truth)
        yield task, problem, row["response"]


def examples_of(task: Text) -> list[str]:
    """The examples in a task as asserts about the canonical solution."""
    found = examples.read_examples(
        task.text, function=task.entry, parameters=task.parameters, language=task.language
    )
    calls = [f"assert {task.called}({', '.join(c.args)}) == {c.expected}" for c in found.calls]
    return [*calls, *found.checks]


def properties_of(task: Text) -> list[str]:
    """The properties that a task's words tell, as asserts about the canonical solution."""
    calls = [replace(each, function=task.entry) for each in task.seen]
    found = properties.properties(task.text, task.entry, (), calls)
    return [each.replace(f"{task.entry}(", f"{task.called}(") for each in found]


async def read(
    judge: Judge, texts: Sequence[Text], rules: Sequence[Rule], of: Callable[[Text], list[str]]
) -> None:
    """Tells what each rule changes in what is read off texts, and whether that is right."""
    suites = list(dict.fromkeys(each.suite for each in texts))
    usual = [of(each) for each in texts]
    for suite in suites:
        every = sum(len(u) for t, u in zip(texts, usual, strict=True) if t.suite == suite)
        print(f"{suite}: {every} asserts read off {sum(t.suite == suite for t in texts)} texts")
    print(f"| rule ({of.__name__}) | texts of | touched | only with it, right | only without it |")
    for rule in rules:
        with rule.off():
            bare = [of(each) for each in texts]
        for suite in suites:
            counts = [0] * 5
            for task, one, other in zip(texts, usual, bare, strict=True):
                if task.suite != suite or set(one) == set(other):
                    continue
                more, less = sorted(set(one) - set(other)), sorted(set(other) - set(one))
                counts[0] += 1
                counts[1] += len(more)
                counts[2] += await judge.right(task.canonical, more)
                counts[3] += len(less)
                counts[4] += await judge.right(task.canonical, less)
            touched, found, kept, others, fine = counts
            row = f"| {rule.name} | {suite} | {touched} | {found}, {kept} | {others}, {fine} |"
            print(row, flush=True)


def wanted(rules: Iterator[Rule], word: str) -> list[Rule]:
    return [rule for rule in rules if word in rule.name]


async def run(options: argparse.Namespace) -> None:
    judge = Judge()
    for name, path in (("full", options.full), ("leetcode", options.leetcode)):
        if path is None:
            print(f"--{name} not given: its problems are skipped")
    solved = list(leetcode(options.leetcode)) if options.leetcode else []
    told = list(mbpp(options.data, options.full, shown=False))
    told += [task for task, _, _ in solved]
    await read(judge, told, wanted(property_rules(), options.only), properties_of)
    texts = [*mbpp(options.data, options.full, shown=True), *humaneval_x(options.data)]
    texts += [*cosqa(options.data), *(task for task, _, _ in solved)]
    await read(judge, texts, wanted(example_rules(), options.only), examples_of)
    if not options.pool.exists():
        raise SystemExit(f"no pool at {options.pool}: its replies skipped; name one with --pool")
    await mended(judge, "MBPP", replies_of(options.pool, options.data), options)
    if solved:
        replies = [(problem, task.entry, reply) for task, problem, reply in solved]
        await mended(judge, "LeetCode", replies, options)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=SHARED)
    parser.add_argument("--pool", type=Path, default=POOL)
    parser.add_argument("--full", type=Path, help="mbpp.jsonl with all 974 problems")
    parser.add_argument("--leetcode", type=Path, help="a .jsonl.gz of LeetCodeDataset, v0.2.0")
    parser.add_argument("--sample", type=int, default=SAMPLE, help="replies judged for each rule")
    parser.add_argument("--only", default="", help="rules with this word in their names")
    options = parser.parse_args()
    if not options.data.is_dir():
        raise SystemExit(f"no data in {options.data}: skipped; name a folder with --data")
    asyncio.run(run(options))


if __name__ == "__main__":
    main()
