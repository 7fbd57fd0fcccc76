"""Runs of a command that are made up by chance, in the style of runs that were seen.

Options stay as they are; arguments and the lines of the input are changed as values of functions
are, and have no expected output.
"""

import ast
from collections import defaultdict
from collections.abc import Sequence

from twinsmith.core.checks.fuzz import fuzz_calls
from twinsmith.core.probe import Call, Command

MOST_SHAPES = 4
Shape = tuple[tuple[str, ...], bool, tuple[str, ...]]


def fuzz_commands(seen: Sequence[Command], *, seed: int = 0, most: int = 40) -> tuple[Command, ...]:
    """Up to `most` made-up runs of a command, none of them among those seen."""
    shapes: dict[Shape, list[Command]] = defaultdict(list)
    for command in seen:
        shapes[_shape(command)].append(command)
    common = sorted(shapes.items(), key=lambda item: -len(item[1]))[:MOST_SHAPES]
    known = {(command.args, command.stdin, command.files) for command in seen}
    made: dict[Command, None] = {}
    for shape, commands in common:
        calls = [_as_call(shape, command) for command in commands]
        share = most // len(common)
        for call in fuzz_calls("", calls, seed=seed, most=share):
            command = _as_command(shape, call)
            if (command.args, command.stdin, command.files) not in known:
                made[command] = None
    return tuple(made)


def _shape(command: Command) -> Shape:
    """The form of a run: options and file names, gaps for values, and whether it reads input."""
    names = tuple(name for name, _ in command.files)
    gaps = tuple(arg if _is_option(arg) or arg in names else "" for arg in command.args)
    return gaps, bool(command.stdin), names


def _is_option(arg: str) -> bool:
    return arg.startswith("-") and not isinstance(_value(arg), int | float)


def _as_call(shape: Shape, command: Command) -> Call:
    gaps, reads, _ = shape
    values: list[object] = [
        _value(arg) for gap, arg in zip(gaps, command.args, strict=True) if not gap
    ]
    texts = [command.stdin] if reads else []
    texts += [text for _, text in command.files]
    values += [[_value(line) for line in text.splitlines()] for text in texts]
    return Call(function="", args=tuple(map(repr, values)))


def _as_command(shape: Shape, call: Call) -> Command:
    gaps, reads, names = shape
    values = [ast.literal_eval(arg) for arg in call.args]
    single = gaps.count("")
    texts = ["".join(f"{line}\n" for line in lines) for lines in values[single:]]
    stdin = texts.pop(0) if reads else ""
    words = iter([str(value).replace("\0", "") for value in values[:single]])
    return Command(
        args=tuple(gap or next(words) for gap in gaps),
        stdin=stdin,
        exit_code=None,
        files=tuple(zip(names, texts, strict=True)),
    )


def _value(text: str) -> object:
    """The number that a text spells, else the text itself."""
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        if str(value) == text:
            return value
    return text
