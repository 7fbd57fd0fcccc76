"""A recorded pool as a model."""

import gzip
import json
from pathlib import Path

import pytest

from bench.solve_pool import PLAN, pool_model, without_questions
from bench.solve_suites import Problem
from twinsmith.core.effort import Effort
from twinsmith.core.model import Prompt, Role

PROBLEM = Problem(
    name="P/2", language="python", text="import math\n\n\ndef f(n):\n    '''Half.'''\n", truth=""
)
ROW = {
    "task_id": "P/2",
    "entry_point": "f",
    "greedy": "def f(n): return 0",
    "solutions": [f"def f(n): return {n}" for n in range(1, 9)],
    "tests": ["assert f(1) == 1", "assert f(2) == 2"],
}


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    path = tmp_path / "pool.jsonl.gz"
    with gzip.open(path, "wt") as file:
        file.write(json.dumps(ROW) + "\n")
    return path


async def said(pool: Path, role: Role, nth: int, seed: int = 0) -> str:
    model, _ = pool_model(pool, [PROBLEM], seed)
    prompt = Prompt(
        key="k", role=role, nth=nth, text="t" * 33, task=PROBLEM.text, seed=0, max_tokens=1
    )
    reply = await model.ask(prompt)
    assert reply.tokens_in == 10
    assert reply.tokens_out > 0
    return reply.text


async def test_the_greedy_answer_comes_first_and_with_what_the_task_imports(pool: Path) -> None:
    assert await said(pool, "coder", 0) == "```python\nimport math\n\n\ndef f(n): return 0\n```"


async def test_every_answer_comes_once_in_the_order_of_the_seed(pool: Path) -> None:
    told = [[await said(pool, "coder", n, seed) for n in range(9)] for seed in (1, 1, 2)]
    assert told[0] == told[1] != told[2]
    assert {*told[0]} == {*told[2]}
    assert len({*told[0]}) == 9
    assert await said(pool, "coder", 9) == await said(pool, "coder", 0)


async def test_critics_have_asserts_and_slow_thinkers_no_idea(pool: Path) -> None:
    heard = {await said(pool, "critic", n) for n in range(4)}
    assert heard == {f"```python\n{each}\n```" for each in ROW["tests"]}
    assert await said(pool, "slow", 0) == PLAN


def test_only_problems_with_answers_are_left(pool: Path, tmp_path: Path) -> None:
    other = Problem(name="P/3", language="python", text="", truth="")
    assert pool_model(pool, [other, PROBLEM], 0)[1] == [PROBLEM]
    with pytest.raises(SystemExit, match="answers no problem of this suite"):
        pool_model(pool, [other], 0)
    (tmp_path / "text").write_text("no pool at all")
    for name in ("none", "text"):
        with pytest.raises(SystemExit, match=rf"--pool .*/{name}: no pool \(.*\); name a"):
            pool_model(tmp_path / name, [PROBLEM], 0)


def test_what_a_pool_cannot_answer_is_not_asked() -> None:
    effort = without_questions(Effort())
    assert (effort.refinements, effort.votes, effort.retrieval) == (0, 0, False)
