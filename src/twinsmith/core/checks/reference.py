"""Expected results that small Python programs compute, written without seeing the candidates.

A value that needs arithmetic is mostly wrong in a small model's head. So a critic proposes inputs,
references compute, and a value counts where voices of more than one origin agree on it.
"""

import builtins
import re
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

from twinsmith.core.checks.inputs import (
    REFUSES,
    expected_of,
    input_text,
    observed,
    observing,
    probe_of,
)
from twinsmith.core.execution import ProbeResult
from twinsmith.core.judging.meaning import meaning
from twinsmith.core.probe import Call, Command, Input, Probe

RAISES = "raises "
_ERRORS = frozenset(
    name
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, Exception)
)
_OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")
_NONZERO = re.compile(r"\bexit (?:code|status) (?:of )?[1-9]", re.IGNORECASE)
_CALLED = re.compile(r"\b([A-Za-z_]\w+)\(")


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """The result that one reference gives for an input, as a literal; empty where it gives none."""

    ensemble: int
    said: str


def answer_of(asked: Input, result: ProbeResult, errors: Sequence[str] = ()) -> str:
    """A reference's result, in the form that `observed` gives; empty where it failed.

    Of a function it may be one of the errors that the task names.
    """
    if isinstance(asked, Call):
        raised = result.detail.partition(":")[0] if result.outcome == "raised" else ""
        return f"{RAISES}{raised}" if raised in errors else result.value
    return observed(asked, result)


def is_right(answers: Mapping[Input, str], given: Sequence[Input], *, exact: bool) -> bool:
    """Whether a reference says what the task's own examples say."""
    return all(
        meaning(answers.get(observing(each), ""), exact=exact)
        == meaning(expected_of(each), exact=exact)
        for each in given
    )


def says_something(answers: Mapping[Input, str]) -> bool:
    """Whether a reference ever gives a result: one that refuses everything knows nothing."""
    return any(said not in ("", REFUSES) for said in answers.values())


def settled(
    probe: Probe, voices: Sequence[Voice], *, exact: bool = True
) -> tuple[Probe, int] | None:
    """The check that references agree on, and how many do; None where they do not agree.

    Two have to say it that are not of the same ensemble, or the critic and a reference; and more
    than say anything else.
    """
    asked = probe.asks
    assert asked is not None
    said = [(0, expected_of(asked)), *((voice.ensemble, voice.said) for voice in voices)]
    heard = [(who, words) for who, words in said if words]
    votes: Counter[Hashable] = Counter(meaning(words, exact=exact) for _, words in heard)
    ranked = votes.most_common(2)
    if not ranked or (len(ranked) > 1 and ranked[0][1] == ranked[1][1]):
        return None
    best, times = ranked[0]
    agreeing = [(who, words) for who, words in heard if meaning(words, exact=exact) == best]
    if len({who for who, _ in agreeing}) < 2:
        return None
    return _check(observing(asked), agreeing[-1][1], probe.about), times


def errors_in(task: str) -> tuple[str, ...]:
    """The errors that a task names as Python does."""
    return tuple(dict.fromkeys(name for name in re.findall(r"\w+", task) if name in _ERRORS))


def can_show(probe: Probe, quote: str) -> bool:
    """Whether a check has what a requirement names: its errors, options, functions, exit code."""
    errors = errors_in(quote)
    if errors and not any(error in probe.source for error in errors):
        return False
    if probe.command is not None:
        args = {arg.partition("=")[0] for arg in probe.command.args}
        options = set(_OPTION.findall(quote))
        refused = _NONZERO.search(quote) is None or expected_of(probe.command) == REFUSES
        return refused and (not options or bool(options & args))
    functions = _CALLED.findall(quote)
    told = input_text(probe.call) if probe.call else probe.source
    return not functions or any(re.search(rf"\b{name}\(", told) for name in functions)


def _check(asked: Input, expected: str, about: int) -> Probe:
    """A check that an input gives what was expected."""
    if isinstance(asked, Command):
        return replace(probe_of(asked, expected), about=about)
    call = input_text(asked)
    if expected.startswith(RAISES):
        error = expected.removeprefix(RAISES)
        lines = ["try:", f"    {call}", f"except {error}:", "    pass", "else:"]
        source = "\n".join([*lines, f"    raise AssertionError('{error} was not raised')"])
        return Probe(name=f"{call} {expected}", origin="plan", source=source, about=about)
    source = f"assert {call} == {expected}"
    wanted = replace(asked, expected=expected)
    return Probe(name=source[7:], origin="plan", source=source, call=wanted, about=about)
