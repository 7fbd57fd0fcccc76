"""Inputs of a program and its results, as text that can be shown and compared."""

import ast
import re
import shlex
from dataclasses import replace

from twinsmith.core.execution import ProbeResult
from twinsmith.core.probe import Call, Command, Input, Probe
from twinsmith.core.program import MODULE

REFUSES = "an error message and an exit code other than 0"
_CRASH = re.compile(
    r"Traceback \(most recent call last\)|panicked at|^panic: |terminate called|stack overflow"
    r"|Sanitizer: |^fatal error: |compilation (?:aborted|errors)|^Undefined subroutine "
    r"|^Can't (?:use|locate|call|modify) |^Not an? (?:ARRAY|HASH|CODE|SCALAR) reference",
    re.MULTILINE,
)


def input_text(asked: Input) -> str:
    """A call or a run of a command as a person writes it."""
    if isinstance(asked, Call):
        return f"{asked.function}({', '.join(asked.args)})"
    line = shlex.join((MODULE, *asked.args))
    if asked.stdin:
        line = f"printf {asked.stdin!r} | {line}"
    held = ", ".join(f"{name} holding {text!r}" for name, text in asked.files)
    return f"{line} and {held}" if held else line


def expected_of(asked: Input) -> str:
    """The expected result of an input, as a literal; empty where nobody said."""
    if isinstance(asked, Call):
        return asked.expected
    if asked.exit_code:
        return REFUSES
    return "" if asked.stdout is None else repr(printed(asked.stdout))


def observing(asked: Input) -> Input:
    """The input without an expected result, so that the result is only looked at."""
    if isinstance(asked, Call):
        return replace(asked, expected="")
    return replace(asked, stdout=None, exit_code=None)


def observed(asked: Input, result: ProbeResult) -> str:
    """The result that a program gave, as a literal; empty where it gave none."""
    if isinstance(asked, Call):
        return result.value
    if result.outcome not in ("passed", "failed"):
        return ""
    if result.exit_code == 0:
        return repr(printed(result.output))
    return "" if _CRASH.search(result.errors) else REFUSES


def printed(text: str) -> str:
    """Printed text without blanks at the ends of lines and without empty lines at the end."""
    return "\n".join(line.rstrip() for line in text.splitlines()).rstrip("\n")


def probe_of(asked: Input, expected: str) -> Probe:
    """A check that an input gives the expected result, in the form that `observed` gives."""
    name = input_text(asked)
    if isinstance(asked, Call):
        return Probe(name=name, origin="plan", call=replace(asked, expected=expected))
    return Probe(name=name, origin="plan", command=expecting(asked, expected))


def expecting(asked: Command, expected: str) -> Command:
    """A command with its expected result, in the form that `observed` gives."""
    if expected == REFUSES:
        return replace(asked, stdout=None, exit_code=1)
    # Of a literal that `observed` made: a string.
    return replace(asked, stdout=_text(expected), exit_code=0)


def _text(literal: str) -> str:
    value = ast.literal_eval(literal)
    return value if isinstance(value, str) else literal
