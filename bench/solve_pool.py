"""A model that answers from a recorded pool: the whole loop is played without asking one.

What is played is everything that follows from answers: reading, mending, examples, made-up inputs,
selection, small edits, doubts, stopping. What is not: plans say nothing, so that candidates after
them are drawn like the others; nobody votes and nobody refines. Tokens are estimated by length.
"""

import gzip
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.solve_suites import Problem
from twinsmith.core.effort import Effort
from twinsmith.core.model import Prompt, Reply

CHARACTERS = 3.3
"""Of a token, on average, in programs and their prompts."""
PLAN = "Keep to the examples."


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """Whole programs, the greedy one first, and completions of asserts."""

    programs: tuple[str, ...]
    checks: tuple[str, ...]


class PoolModel:
    """Every coder and every critic has its own answer, in an order that the seed decides."""

    def __init__(self, known: Mapping[str, Answers]) -> None:
        self._known = known

    async def ask(self, prompt: Prompt) -> Reply:
        """The recorded answer; one that is beyond the last begins anew."""
        found = self._known[prompt.task]
        said = {"coder": found.programs, "critic": found.checks}.get(prompt.role, (PLAN,))
        text = said[prompt.nth % len(said)]
        used, made = (round(len(each) / CHARACTERS) for each in (prompt.text, text))
        return Reply(text=text, model="pool", tokens_in=used, tokens_out=made)


def pool_model(pool: Path, suite: Sequence[Problem], seed: int) -> tuple[PoolModel, list[Problem]]:
    """The model, and the problems that it has answers to."""
    try:
        with gzip.open(pool, "rt", encoding="utf-8") as lines:
            rows = {row["task_id"]: row for row in map(json.loads, lines)}
    except (OSError, EOFError, ValueError, TypeError, KeyError) as error:
        raise SystemExit(f"--pool {pool}: no pool ({error}); name a .jsonl.gz file") from None
    wanted = [each for each in suite if each.name in rows and each.language == "python"]
    if not wanted:
        raise SystemExit(f"--pool {pool}: it answers no problem of this suite; leave it out")
    known = {each.text: _answers(each, rows[each.name], seed) for each in wanted}
    return PoolModel(known), wanted


def without_questions(effort: Effort) -> Effort:
    """What a pool cannot answer is not asked."""
    return replace(effort, refinements=0, votes=0, retrieval=False)


def _answers(problem: Problem, row: Mapping[str, str | list[str]], seed: int) -> Answers:
    rng = random.Random(f"{seed} {problem.name}")
    others, checks = list(row["solutions"]), list(row["tests"])
    rng.shuffle(others)
    rng.shuffle(checks)
    before = problem.text.rpartition(f"def {row['entry_point']}(")[0]
    programs = (f"```python\n{before}{each}\n```" for each in (str(row["greedy"]), *others))
    return Answers(programs=tuple(programs), checks=tuple(f"```python\n{c}\n```" for c in checks))
