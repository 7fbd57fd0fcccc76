"""Runs of commands that nobody had to think of."""

from twinsmith.core.checks.command_fuzz import fuzz_commands
from twinsmith.core.probe import Command

SEEN = (
    Command(args=("2", "3"), stdout="5"),
    Command(args=("-1", "10"), stdout="9"),
    Command(args=("--words", "a b"), stdout="2"),
    Command(args=("--words", "one"), stdout="1"),
    Command(stdin="1\n2\n", stdout="3"),
)


def test_there_are_others_of_every_shape_and_none_that_was_seen() -> None:
    made = fuzz_commands(SEEN, seed=1, most=60)
    assert 20 <= len(made) <= 60
    assert not {(c.args, c.stdin) for c in made} & {(c.args, c.stdin) for c in SEEN}
    words = [c for c in made if c.args[:1] == ("--words",)]
    numbers = [c for c in made if len(c.args) == 2 and c.args[0] != "--words"]
    read = [c for c in made if c.stdin or not c.args]
    assert words
    assert numbers
    assert read
    assert all(arg.lstrip("-").isdigit() for c in numbers for arg in c.args)
    assert all(len(c.args) == 2 for c in words)
    assert all(line.lstrip("-").isdigit() for c in read for line in c.stdin.splitlines())


def test_nothing_is_expected_and_the_same_seed_makes_the_same() -> None:
    made = fuzz_commands(SEEN, seed=1, most=20)
    assert made == fuzz_commands(SEEN, seed=1, most=20)
    assert made != fuzz_commands(SEEN, seed=2, most=20)
    assert all((c.stdout, c.exit_code) == (None, None) for c in made)


def test_of_nothing_comes_nothing() -> None:
    assert fuzz_commands((), seed=1, most=20) == ()
    assert fuzz_commands(SEEN, seed=1, most=0) == ()
    assert fuzz_commands((Command(),), seed=1, most=20) == ()


def test_files_keep_their_names_and_change_what_they_hold() -> None:
    seen = [
        Command(args=("-n", "a.txt"), files=(("a.txt", "1\n2\n"),), stdout="2"),
        Command(args=("-n", "a.txt"), files=(("a.txt", "7\n"),), stdout="1"),
    ]
    made = fuzz_commands(seen, seed=1, most=20)
    assert made
    assert {command.args for command in made} == {("-n", "a.txt")}
    assert {name for command in made for name, _ in command.files} == {"a.txt"}
    assert len({command.files for command in made}) == len(made)
