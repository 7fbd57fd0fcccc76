"""What programs are given and do, in words that can be compared."""

import pytest

from twinsmith.core.checks.inputs import (
    REFUSES,
    expected_of,
    input_text,
    observed,
    observing,
    printed,
    probe_of,
)
from twinsmith.core.execution import ProbeResult
from twinsmith.core.probe import Call, Command

RUN = Command(args=("-n", "two words"), stdin="a\nb\n", stdout="2 \n", exit_code=0)
CALL = Call(function="f", args=("1", "'a'"), expected="3")


def ran(output: str = "", code: int | None = 0, errors: str = "") -> ProbeResult:
    return ProbeResult(name="", outcome="passed", output=output, exit_code=code, errors=errors)


def test_a_person_can_read_what_was_asked() -> None:
    assert input_text(CALL) == "f(1, 'a')"
    assert input_text(RUN) == "printf 'a\\nb\\n' | solution -n 'two words'"
    assert input_text(Command()) == "solution"


def test_what_is_expected_is_a_literal_and_blanks_at_the_end_mean_nothing() -> None:
    assert expected_of(CALL) == "3"
    assert expected_of(RUN) == "'2'"
    assert expected_of(Command(stdout=None)) == ""
    assert expected_of(Command(stdout="x", exit_code=2)) == REFUSES
    assert printed("a \n\tb\t\n\n\n") == "a\n\tb"


def test_what_is_only_looked_at_expects_nothing() -> None:
    assert expected_of(observing(CALL)) == expected_of(observing(RUN)) == ""
    assert observing(RUN) == Command(args=RUN.args, stdin=RUN.stdin, stdout=None, exit_code=None)


@pytest.mark.parametrize(
    ("seen", "gave"),
    [
        (ran("2\n"), "'2'"),
        (ran("", 2, "usage: …"), REFUSES),
        (ran("", 1, "Traceback (most recent call last):\n …"), ""),
        (ran("", 101, "thread 'main' panicked at src/main.rs"), ""),
        (ran("", 2, "goroutine 1 [running]:\npanic: x"), ""),
        (ran("", 255, "Global symbol …\nExecution of x aborted due to compilation errors."), ""),
        (ran("", 255, 'Can\'t use string as a HASH ref while "strict refs" in use at x'), ""),
        (ran("", 2, "Cannot open a.txt: No such file at solution.pl line 3."), REFUSES),
        (ProbeResult(name="", outcome="timed out", output="2\n"), ""),
    ],
)
def test_a_command_prints_refuses_or_fails(seen: ProbeResult, gave: str) -> None:
    assert observed(RUN, seen) == gave


def test_a_vote_becomes_a_check() -> None:
    assert probe_of(CALL, "4").call == Call(function="f", args=CALL.args, expected="4")
    for expected in ("'2\\n3'", REFUSES):
        command = probe_of(observing(RUN), expected).command
        assert command is not None
        assert expected_of(command) == expected
