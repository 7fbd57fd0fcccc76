"""What a person sees of a run."""

from rich.console import Console

from twinsmith.cli.live import headline, stage_line, tree
from twinsmith.core.progress import Progress, Stage

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


def drawn(progress: Progress, arriving: int = 0) -> str:
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


def test_an_answer_that_is_coming_in_is_counted_beside_what_runs() -> None:
    lines = drawn(PROGRESS, arriving=17).splitlines()
    assert "17 tokens arriving" in lines[2]
    assert "arriving" not in lines[1]
    assert "arriving" not in drawn(PROGRESS)


def test_a_run_that_stopped_stops_its_clock() -> None:
    parked = Progress(run="r", state="parked", started=AT.format(0), updated=AT.format(5))
    assert "parked" in headline(parked, AT.format(30))
    assert "5.0 s" in headline(parked, AT.format(30))


def test_a_stage_is_one_line_in_a_log() -> None:
    assert stage_line(PROGRESS.stages[0]) == "  clarify                 2.0 s  f, [3] checks"
