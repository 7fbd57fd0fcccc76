"""A journal whose end was cut, a line that tells, and a kill between an end and its anchor."""

import json
from pathlib import Path

import pytest

from tests.conftest import DOUBLE, Command, script


@pytest.fixture
def built(command: Command) -> tuple[Command, str]:
    """One run that ended."""
    command.use_script(script())
    run = json.loads(command("build", DOUBLE, "--json").stdout)["run"]
    return command, run


def cut(path: Path, count: int) -> None:
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-count]))


def test_a_run_and_its_anchor_cut_together_are_missed(built: tuple[Command, str]) -> None:
    command, run = built
    system = command.home / "journal" / "system.jsonl"
    chain = command.home / "journal" / "runs" / f"{run}.jsonl"
    cut(system, 1)
    cut(chain, 1)
    shown = command("log", "--verify", code=1).stdout
    assert f"{system}: line 2 is missing; the database knows of 2 lines\n" in shown
    assert f"{chain}: line " in shown


def test_an_anchor_stored_elsewhere_shows_what_a_rewritten_folder_hides(
    built: tuple[Command, str], tmp_path: Path
) -> None:
    command, run = built
    line = command("log", "--anchor").stdout
    assert json.loads(command("log", "--anchor", "--json").stdout)["anchor"].startswith(
        "twinsmith-anchor "
    )
    stored = tmp_path / "anchors"
    stored.write_text(line + command("log", "--anchor").stdout)
    for against in (line.strip(), str(stored)):
        done = command("log", "--verify", "--against", against)
        assert "every hash holds" in done.stdout
    for name in ("journal-heads.db", "journal-heads.db-wal", "journal-heads.db-shm"):
        (command.home / name).unlink(missing_ok=True)
    (command.home / "journal" / "runs" / f"{run}.jsonl").unlink()
    cut(command.home / "journal" / "system.jsonl", 5)
    assert "every hash holds" in command("log", "--verify").stdout
    shown = command("log", "--verify", "--against", str(stored), code=1).stdout
    assert "the anchor that was stored knows of 3 lines" in shown


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--verify", "--against", "twinsmith-anchor hello"), "is no anchor"),
        (("--verify", "--against", "/nowhere/at/all"), "cannot be read"),
        (("--against", "x"), "--against goes with --verify"),
        (("--anchor", "--verify"), "goes alone"),
    ],
)
def test_what_makes_no_sense_is_told_in_a_line(
    command: Command, words: tuple[str, ...], says: str
) -> None:
    done = command("log", *words, code=2)
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_end_without_its_anchor_is_mentioned_and_mended(built: tuple[Command, str]) -> None:
    """As a kill between the two lines leaves it; the head was not moved then either."""
    command, run = built
    system = command.home / "journal" / "system.jsonl"
    cut(system, 1)
    for name in ("journal-heads.db", "journal-heads.db-wal", "journal-heads.db-shm"):
        (command.home / name).unlink(missing_ok=True)
    shown = command("log", "--verify").stdout
    assert f"{run}.jsonl: ended, but the system's chain does not say so" in shown
    another = json.loads(command("build", DOUBLE, "--json").stdout)["run"]
    assert "does not say so" not in command("log", "--verify").stdout
    told = [json.loads(line) for line in system.read_text().splitlines()]
    assert [(line["kind"], line["data"]["run"]) for line in told] == [
        ("run.started", run),
        ("run.ended", run),
        ("run.started", another),
        ("run.ended", another),
    ]
