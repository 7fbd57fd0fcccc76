"""What references say, and when it counts."""

import pytest

from twinsmith.core.checks.inputs import REFUSES
from twinsmith.core.checks.reference import (
    Voice,
    answer_of,
    can_show,
    errors_in,
    is_right,
    says_something,
    settled,
)
from twinsmith.core.command_line import proposal
from twinsmith.core.execution import ProbeResult
from twinsmith.core.probe import Call, Command, Probe

RUN = Command(args=("-n", "2"), stdin="a\n", stdout="1")
SEEN = Command(args=("-n", "2"), stdin="a\n", exit_code=None)


def voices(*said: str) -> list[Voice]:
    """Of the first ensemble, then of the second, and so on."""
    return [Voice(ensemble=n % 2 + 1, said=words) for n, words in enumerate(said)]


def test_answers_are_told_as_programs_are_observed() -> None:
    printed = ProbeResult(name="", outcome="passed", output="a  \nb\n\n", exit_code=0)
    assert answer_of(SEEN, printed) == r"'a\nb'"
    refused = ProbeResult(name="", outcome="passed", errors="no such file", exit_code=2)
    assert answer_of(SEEN, refused) == REFUSES
    call = Call(function="f", args=())
    raised = ProbeResult(name="", outcome="raised", detail="KeyError: 'x'")
    assert answer_of(call, raised) == ""
    assert answer_of(call, raised, ("KeyError",)) == "raises KeyError"
    assert errors_in("KeyError if unknown, ValueError else, KeyError; an Error") == (
        "KeyError",
        "ValueError",
    )


def test_a_reference_has_to_do_the_examples_and_say_something() -> None:
    assert is_right({SEEN: "'1'"}, [RUN], exact=True)
    assert not is_right({SEEN: "'2'"}, [RUN], exact=True)
    assert not is_right({}, [RUN], exact=True)
    assert says_something({SEEN: "'1'"})
    assert not says_something({SEEN: REFUSES, Command(): ""})


@pytest.mark.parametrize(
    ("said", "expected", "times"),
    [
        (("'2'", "'2'"), "2", 2),
        (("'1'", ""), "1", 2),
        (("'2'", "'3'", "'2'", "'2'"), "2", 3),
        (("'2'", "", "'2'", ""), None, 0),
        (("'2'", "'2'", "'1'", ""), None, 0),
        (("", ""), None, 0),
    ],
)
def test_voices_of_more_than_one_origin_have_to_agree(
    said: tuple[str, ...], expected: str | None, times: int
) -> None:
    found = settled(Probe(name="", origin="plan", command=RUN, about=3), voices(*said))
    if expected is None:
        assert found is None
        return
    assert found is not None
    probe, count = found
    assert probe.command is not None
    assert (probe.command.stdout, probe.about, count) == (expected, 3, times)


def test_a_refusal_and_an_error_can_be_agreed_on() -> None:
    run = settled(Probe(name="", origin="plan", command=RUN), voices(REFUSES, REFUSES))
    assert run is not None
    assert run[0].command is not None
    assert run[0].command.exit_code == 1
    call = Call(function="f", args=("'x'",), expected="0")
    probe = Probe(name="", origin="plan", call=call)
    found = settled(probe, voices("raises ValueError", "raises ValueError"))
    assert found is not None
    assert found[0].call is None
    assert found[0].source.startswith("try:\n    f('x')\nexcept ValueError:\n    pass\nelse:\n")


def test_a_call_keeps_its_form_with_the_value_that_was_computed() -> None:
    call = Call(function="f", args=("2",), expected="5")
    found = settled(Probe(name="", origin="plan", call=call), voices("4", "4"))
    assert found is not None
    assert found[0].source == "assert f(2) == 4"
    assert found[0].call == Call(function="f", args=("2",), expected="4")


def command(*args: str, refused: bool = False) -> Probe:
    return proposal(Command(args=args, stdout=None if refused else "3", exit_code=int(refused)))


def test_an_option_is_shown_by_a_run_that_has_it() -> None:
    quote = "with --workdays it counts Mondays to Fridays"
    assert not can_show(command("2024-02-27", "2024-03-01"), quote)
    assert can_show(command("--workdays", "2024-02-27", "2024-03-01"), quote)
    assert can_show(command("--width=3"), "--width WIDTH, or -w")


def test_an_exit_code_is_shown_by_a_run_that_is_refused() -> None:
    quote = "a missing file: a message on stderr, exit code 2"
    assert not can_show(command("a.txt"), quote)
    assert can_show(command("a.txt", refused=True), quote)
    assert can_show(command("a.txt"), "prints the sum, exit code 0")


def test_a_function_is_shown_by_a_check_that_calls_it() -> None:
    add = Probe(name="", origin="plan", source="assert add('99', '1') == '100'")
    assert can_show(add, "std::string add(const std::string& a)")
    assert not can_show(add, "int compare(a, b) which is -1, 0 or 1")
    assert can_show(add, "it takes O(n) steps")
    called = Probe(name="", origin="plan", call=Call(function="compare", args=("1", "2")))
    assert can_show(called, "int compare(a, b)")
