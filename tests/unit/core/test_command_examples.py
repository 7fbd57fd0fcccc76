"""Runs that stand in a task's words."""

import pytest

from twinsmith.core.checks.command_examples import MOST_EXAMPLES, read_command_examples
from twinsmith.core.probe import Command


def run(*args: str, stdin: str = "", prints: str) -> Command:
    return Command(args=args, stdin=stdin, stdout=prints)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A tool that adds.\n\n$ add 2 3\n5\n", run("2", "3", prints="5")),
        (
            "Adds:\n    $ python add.py 2 3\n    5\n    done\n\nNice.",
            run("2", "3", prints="5\ndone"),
        ),
        ("```\n$ echo 'a b' | count\n2\n```", run(stdin="a b\n", prints="2")),
        ('$ printf "1\\n2\\n" | ./total --all\n3', run("--all", stdin="1\n2\n", prints="3")),
        ("`add 2 3` prints `5`.", run("2", "3", prints="5")),
        (
            'Running `greet "Ada L"` should print "Hello, Ada L!"',
            run("Ada L", prints="Hello, Ada L!"),
        ),
        ("For the input `a b` it prints `2`.", run(stdin="a b\n", prints="2")),
        ("given input 'x\\ny', the program prints '2'", run(stdin="x\ny\n", prints="2")),
    ],
)
def test_an_example_is_read(text: str, expected: Command) -> None:
    assert read_command_examples(text).commands == (expected,)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a tool that adds two numbers",
        "$ add 2 3",
        "$ add < numbers.txt\n5",
        "$ cat file.txt | add\n5",
        "$ add 2 3\n5...\n",
        "$ add 'unclosed\n5",
        "`add 2 3` prints `5` if it feels like it",
        "`total` prints `0`",
        "costs $ 5\nor more",
        "$ add 1 && add 2\n3",
    ],
)
def test_what_is_not_surely_an_example_is_left_out(text: str) -> None:
    assert read_command_examples(text).commands == ()


def test_examples_that_contradict_each_other_are_told_and_left_out() -> None:
    found = read_command_examples("$ add 2 3\n5\n\n$ add 2 3\n6\n\n$ add 1 1\n2\n")
    assert found.commands == (run("1", "1", prints="2"),)
    assert found.contradictions == ((run("2", "3", prints="5"), run("2", "3", prints="6")),)


def test_there_is_an_end_to_it() -> None:
    text = "\n\n".join(f"$ add {n} 1\n{n + 1}" for n in range(500))
    assert len(read_command_examples(text).commands) == MOST_EXAMPLES
    assert read_command_examples("$ " * 100_000).commands == ()
    assert len(read_command_examples("`a b` prints " * 5_000).commands) <= 1
