"""The selection bench on a pool that was made up: it runs, and truth stays outside."""

import gzip
import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

from bench import selection
from bench.rounds import Seen, mended, play, told
from bench.selection import read_pools, recorded
from bench.selection_pool import Recorded, evidence
from bench.selection_rules import RULES, View, leaders, view
from bench.selection_simulations import SIMULATIONS, stopping_early
from tests.sandboxes import sandbox
from twinsmith.core.effort import Effort
from twinsmith.core.judging.selection import select

PROMPT = '''def double(n: int) -> int:
    """Twice a number.
    >>> double(2)
    4
    """
'''
TRUTH = "def check(candidate):\n    assert candidate(3) == 6\n    assert candidate(-1) == -2\n"
RIGHT = "def double(n):\n    return n + n\n"
SQUARE = "def double(n):\n    return n * n\n"
CRASH = "def double(n):\n    raise ValueError(n)\n"
BROKEN = "def double(n:\n"
TESTS = [
    "assert double(3) == 6, 'three'\nassert not double(0)\nassert double(5) ==",
    "assert 6 == double(3)\nassert double(4) == 16",
]


def packed(path: Path, *rows: object) -> Path:
    with gzip.open(path, "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return path


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    problem = {"task_id": "made/1", "prompt": PROMPT, "test": TRUTH, "entry_point": "double"}
    row = {
        "task_id": "made/1",
        "entry_point": "double",
        "greedy": SQUARE,
        "solutions": [SQUARE, SQUARE, RIGHT, CRASH, BROKEN, RIGHT],
        "tests": TESTS,
    }
    return packed(tmp_path / "pool.gz", row), packed(tmp_path / "problems.gz", problem)


@pytest.fixture
async def pool(files: tuple[Path, Path], tmp_path: Path) -> list[Recorded]:
    sandbox()
    entries = read_pools([files[0]], files[1], "all")
    return await recorded(entries, tmp_path / "cache")


async def test_a_pool_is_recorded_once(
    pool: list[Recorded],
    files: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (problem,) = pool
    assert problem.right == (False, False, True, False, False, True)
    assert problem.greedy_right is False
    assert [call.args for call in problem.examples.calls] == [("2",)]
    assert len(problem.fuzz) > 10
    monkeypatch.setattr(selection, "IsolatedSandbox", lambda *_: None)
    again = await recorded(read_pools([files[0]], files[1], "all"), tmp_path / "cache")
    assert again == pool


async def test_truth_reaches_no_rule(pool: list[Recorded]) -> None:
    (problem,) = pool
    lied_to = replace(problem, right=tuple(not right for right in problem.right))
    for examples in (True, False):
        assert evidence(problem, examples=examples) == evidence(lied_to, examples=examples)
    assert "candidate(" not in repr(evidence(problem))


async def test_our_choice_is_right_here(pool: list[Recorded]) -> None:
    (problem,) = pool
    chosen = select(evidence(problem))
    assert chosen.winner == 2
    assert chosen.separating is not None
    assert set(view(evidence(problem)).allowed) == {0, 1, 2, 5}


async def test_every_simulation_tells_something(pool: list[Recorded]) -> None:
    for simulation in SIMULATIONS:
        assert simulation(pool).strip()
    never = stopping_early(pool).splitlines()[-1].split()
    assert never == ["never", "100.00", "6.0"]


def test_the_summary_has_the_promised_shape(
    files: tuple[Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    sandbox()
    given = ["--pool", str(files[0]), "--problems", str(files[1]), "--cache", str(tmp_path)]
    monkeypatch.setattr("sys.argv", ["selection", *given, "--json"])
    selection.main()
    told = json.loads(capsys.readouterr().out)
    assert (told["n"], told["greedy"], told["oracle"]) == (1, 0.0, 100.0)
    assert set(told["rules"]) == {*RULES, "ours"}
    assert told["rules"]["ours"] == {"plain": 100.0, "examples": 100.0}
    assert told["rules"]["random"] == {"plain": 33.33, "examples": 50.0}
    monkeypatch.setattr("sys.argv", ["selection", *given])
    selection.main()
    assert "largest_cluster" in capsys.readouterr().out


def test_a_kind_of_solutions_that_is_not_there_is_named(files: tuple[Path, Path]) -> None:
    with pytest.raises(SystemExit, match="not there"):
        read_pools([files[0].with_name("no.gz")], files[1], "all")
    extra = packed(
        files[0], {"task_id": "made/1", "entry_point": "double", "solutions_planned": [RIGHT]}
    )
    assert len(read_pools([extra], files[1], "planned")[0].solutions) == 1
    with pytest.raises(SystemExit, match=r"t1\.0: the pool has planned"):
        read_pools([extra], files[1], "t1.0")


def test_published_rules_on_a_view() -> None:
    rows = [(True, True, False)] * 2 + [(True, False, False)] * 3 + [(True, True, True)]
    values = [("a",)] * 2 + [("b",)] * 3 + [("c",)]
    seen = View(
        values=values,
        passed=rows,
        times=(1, 1, 1),
        texts=range(6),
        ran=[True] * 6,
        allowed=range(6),
    )
    best = {name: leaders(rule(seen)) for name, rule in RULES.items()}
    assert best == {
        "random": [0, 1, 2, 3, 4, 5],
        "most_tests": [5],
        "largest_cluster": [2, 3, 4],
        "codet": [0, 1],
        "codet_root": [5],
        "mbr_exec": [2, 3, 4],
        "b4_1e4": [5],
        "b4_1e5": [5],
        "b4_1e6": [5],
        "b4_10": [0, 1],
        "b4_often": [5],
    }
    assert leaders(RULES["codet"](replace(seen, allowed=[2, 5]))) == [5]


async def test_rounds_are_played_until_they_are_sure(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    sandbox()
    (entry,) = read_pools([files[0]], files[1], "all")
    both = [mended(entry, critics=critics) for critics in (True, False)]
    whole, alone = await recorded(both, tmp_path / "cache")
    assert whole.right[0] is whole.greedy_right is False
    assert alone.completions == ()
    seen, rng = Seen(whole=whole, alone=alone), random.Random(0)
    effort = Effort(candidates=6, enough=0.9)
    played = [play(seen, effort, rng) for _ in range(20)]
    # Square comes first and passes the example, as what is right does: only more can tell.
    assert {each.last for each in played} == {"explore", "again", "widen"}
    assert all(each.cost == pytest.approx(2 * 1.1) for each in played if each.last == "explore")
    assert all(not each.right for each in played if each.last == "explore")
    assert any(each.right for each in played)
    assert "ends after explore" in told(played, effort)
