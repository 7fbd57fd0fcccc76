"""What a person sees of a run."""

from collections.abc import Mapping
from dataclasses import replace

from rich.console import Console

from twinsmith.cli.live import NOTHING, ensemble_line, headline, stage_line, tree
from twinsmith.core.progress import Ensemble, Progress, Stage

AT = "2026-01-01T00:00:{:02}+00:00"
PROGRESS = Progress(
    run="r1",
    task="t",
    started=AT.format(0),
    updated=AT.format(9),
    tokens=42,
    best="candidate [1], 2/3 checks",
    stages=(
        Stage(name="clarify", started=AT.format(0), finished=AT.format(2), note="f, [3] checks"),
        Stage(name="explore", started=AT.format(2)),
    ),
)


BOTH = (
    Ensemble(
        number=1,
        answers={"critic": 1, "coder": 2, "slow": 1},
        tokens=2314,
        candidates=(1, 3),
    ),
    Ensemble(number=2, answers={"coder": 1}, tokens=1, candidates=(2,)),
)


def drawn(progress: Progress, arriving: Mapping[str, int] = NOTHING) -> str:
    console = Console(width=100, force_terminal=False)
    with console.capture() as capture:
        console.print(tree(progress, AT.format(12), arriving))
    return capture.get()


def test_the_tree_shows_what_ran_what_runs_and_how_long() -> None:
    text = drawn(PROGRESS)
    assert "r1 · running · 12.0 s · 42 tokens · best so far: candidate [1], 2/3 checks" in text
    lines = text.splitlines()
    assert "✓ clarify" in lines[1]
    assert "2.0 s f, [3] checks" in lines[1]
    assert "explore" in lines[2]
    assert "10.0 s" in lines[2]
    assert len(lines) == 3


def test_the_tree_shows_what_each_ensemble_has_done() -> None:
    lines = drawn(replace(PROGRESS, ensembles=BOTH, leader=3)).splitlines()
    first = "ensemble 1 · 4 answers: slow 1, coder 2, critic 1 · 2,314 tokens · candidates 1, 3"
    assert lines[1] == f"├── {first} (leads)"
    assert lines[2] == "├── ensemble 2 · 1 answer: coder 1 · 1 token · candidate 2"
    assert "clarify" in lines[3]
    assert len(lines) == 5


def test_who_led_was_chosen_in_the_end() -> None:
    solved = replace(PROGRESS, state="solved", leader=3)
    assert "candidates 1, 3 (chosen)" in ensemble_line(BOTH[0], solved)
    assert "1, 3 (leads)" in ensemble_line(BOTH[0], replace(solved, state="parked"))
    assert "(" not in ensemble_line(BOTH[1], solved)
    assert "(" not in ensemble_line(BOTH[0], replace(solved, state="not solved", leader=None))


def test_an_ensemble_waits_on_whom_it_asked() -> None:
    asks = Ensemble(number=2, waiting={"k1": "critic", "k2": "coder", "k3": "coder"})
    assert ensemble_line(asks, PROGRESS) == "ensemble 2 · waiting for coder, critic"
    some = ensemble_line(asks, PROGRESS, {"k1": 3, "k3": 4, "of the other": 9})
    assert some == "ensemble 2 · waiting for coder, critic, 7 tokens in"
    assert ensemble_line(asks, replace(PROGRESS, state="parked")) == "ensemble 2"


def test_the_best_of_an_ensemble_is_told_with_its_checks() -> None:
    best = replace(BOTH[1], best="2, 2/3 checks")
    assert ensemble_line(best, PROGRESS).endswith("candidate 2 · best 2, 2/3 checks")


def test_an_ensemble_that_has_only_thought_has_no_candidates() -> None:
    line = ensemble_line(Ensemble(number=1, answers={"slow": 1}, tokens=9), PROGRESS)
    assert line == "ensemble 1 · 1 answer: slow 1 · 9 tokens"


def test_an_answer_that_is_coming_in_is_counted_beside_what_runs() -> None:
    lines = drawn(PROGRESS, arriving={"k": 10, "l": 7}).splitlines()
    assert "17 tokens arriving" in lines[2]
    assert "arriving" not in lines[1]
    assert "arriving" not in drawn(PROGRESS)


def test_a_run_that_stopped_stops_its_clock() -> None:
    parked = Progress(run="r", state="parked", started=AT.format(0), updated=AT.format(5))
    assert "parked" in headline(parked, AT.format(30))
    assert "5.0 s" in headline(parked, AT.format(30))


def test_a_stage_is_one_line_in_a_log() -> None:
    assert stage_line(PROGRESS.stages[0]) == "  clarify                 2.0 s  f, [3] checks"
