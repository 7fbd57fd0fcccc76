"""How the figures of whole runs are told."""

import argparse
import gzip
import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from bench.solve import PARTS, parts, places, taken
from bench.solve_rows import Row, ablations, read_rows, told
from bench.solve_suites import Problem, problems, spread

ROW = Row(
    name="P/1",
    alone=False,
    alone_tokens=200,
    alone_seconds=2.0,
    greedy=False,
    mended=True,
    greedy_tokens=100,
    greedy_seconds=1.0,
    right=True,
    solved=True,
    confidence=0.9,
    tokens=400,
    seconds=9.0,
    candidates=2,
)
ROWS = [
    ROW,
    replace(ROW, name="P/2", right=False, tokens=1000),
    replace(ROW, name="P/3", greedy=True, solved=False, tokens=500, language="go"),
    replace(ROW, name="P/4", tokens=700),
]


def test_every_share_has_its_tokens_beside_it() -> None:
    text = told(ROWS)
    lines = {line.split("  ")[0]: line.split() for line in text.split("\n\n")[0].splitlines()}
    assert lines["greedy, task alone"][-3:] == ["0.0", "200", "2.0"]
    assert lines["greedy, our words"][-3:] == ["25.0", "100", "1.0"]
    assert lines["the same, mended"][-3:] == ["100.0", "100", "1.0"]
    assert lines["the loop"][-3:] == ["75.0", "650", "9.0"]
    assert "tokens of the loop over greedy, the task alone: mean 3.2, median 3.0" in text
    assert "tokens of the loop over greedy, our words: mean 6.5, median 6.0" in text
    assert "called solved: 3, of those right: 2" in text
    assert "right but called unsolved: 1" in text


def test_there_is_a_table_for_each_language() -> None:
    assert "in go:\n1 problems" in told(ROWS)
    assert "in python:\n3 problems" in told(ROWS)
    assert "in python" not in told(ROWS[:2])


def test_an_ablation_says_what_it_won_and_lost() -> None:
    without = [replace(ROW, right=False, tokens=200), replace(ROWS[1], right=True)]
    _, whole, line = ablations(ROWS, {"votes": without}).splitlines()
    assert whole.split()[-2:] == ["0", "0"]
    assert line.startswith("without votes")
    assert line.split()[2:] == ["50.0", "600", "6.0", "6.0", "1", "1", "(2", "problems)"]


def test_rows_are_remembered(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    assert read_rows(path) == read_rows(None) == []
    path.write_text("".join(json.dumps(asdict(row)) + "\n" for row in ROWS))
    assert read_rows(path) == ROWS


@pytest.mark.parametrize(
    ("limit", "taken"), [(1, [0]), (3, [0, 3, 6]), (10, [*range(10)]), (0, [])]
)
def test_a_few_problems_are_spread_over_the_suite(limit: int, taken: list[int]) -> None:
    suite = [Problem(name=f"{n}", language="python", text="", truth="") for n in range(10)]
    assert [int(problem.name) for problem in spread(suite, limit)] == taken


def test_problems_are_taken_by_their_places_in_the_suite() -> None:
    suite = [Problem(name=str(n), language="python", text="", truth="") for n in range(9)]
    named = argparse.Namespace(only=places("7,0,3"), limit=2)
    assert [problem.name for problem in taken(suite, named)] == ["7", "0", "3"]
    assert len(taken(suite, argparse.Namespace(only=(), limit=2))) == 2
    with pytest.raises(SystemExit, match="--only 9: the suite has the places 0 to 8"):
        taken(suite, argparse.Namespace(only=(9,), limit=2))
    for wrong in ("", "3,", "a", "-1"):
        with pytest.raises(argparse.ArgumentTypeError, match="is no list of numbers"):
            places(wrong)


def test_a_problem_whose_test_needs_what_is_not_there_is_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "humaneval-x"
    folder.mkdir()
    tests = ("assert!(f(1) == 1);", "let mut rng = rand::thread_rng();")
    with gzip.open(folder / "humaneval_rust.jsonl.gz", "wt") as file:
        for n, test in enumerate(tests):
            row = {"task_id": f"Rust/{n}", "prompt": "/* */", "declaration": "fn f(", "test": test}
            file.write(json.dumps(row) + "\n")
    assert [each.name for each in problems("humaneval-x", tmp_path, "rust")] == ["HumanEval/0"]


def test_only_parts_that_there_are_can_be_left_out() -> None:
    assert [parts(text) for text in ("", "notes", ",".join(PARTS))] == [
        "",
        "notes",
        ",".join(PARTS),
    ]
    with pytest.raises(argparse.ArgumentTypeError, match="'nots' is no part; some of second, "):
        parts("notes,nots")
