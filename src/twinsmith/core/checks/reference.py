"""What should come out, computed: small Python programs say it, written blind to candidates.

A value that needs arithmetic is mostly wrong in a small model's head. So a critic proposes inputs,
references compute, and a value counts where voices of more than one origin agree on it.
"""

import ast
import builtins
import re
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

from twinsmith.core.checks.inputs import (
    REFUSES,
    expected_of,
    input_text,
    observing,
    printed,
    probe_of,
)
from twinsmith.core.execution import ProbeResult
from twinsmith.core.judging.meaning import meaning
from twinsmith.core.probe import Call, Command, Input, Probe
from twinsmith.core.program import Program

EXPECTED = "expected"
"""The function that a reference of a command is."""
RAISES = "raises "
_TOLD = "told_by_reference"
_ERRORS = frozenset(
    name
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, Exception)
)
_AROUND = '''

def told_by_reference(args, stdin, files):
    """What `expected` gives, or prints, or refuses, whichever way it was written."""
    import contextlib, io, sys

    class Files(dict):
        def __missing__(self, name):
            raise FileNotFoundError(name)

    def opened(name, *more, **named):
        return io.StringIO(Files(files)[str(name)])

    globals()["open"] = opened
    sys.argv, sys.stdin = ["solution", *args], io.StringIO(stdin)
    out, err, gave = io.StringIO(), io.StringIO(), ""
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            gave = expected(list(args), stdin, Files(files))
    except (ValueError, FileNotFoundError):
        return None
    except SystemExit as error:
        if error.code not in (None, 0):
            return None
    if err.getvalue():
        return None
    if isinstance(gave, (list, tuple)):
        gave = "\\n".join(map(str, gave))
    return out.getvalue() or ("" if gave is None else str(gave))
'''


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """What one reference says about an input, as a literal; empty: nothing."""

    ensemble: int
    said: str


def around(program: Program) -> Program:
    """A reference of a command as a function that can be called with what a command is given."""
    return replace(program, source=program.source + _AROUND, entry=_TOLD)


def question_of(asked: Input) -> Call:
    """The call that asks a reference about an input."""
    seen = observing(asked)
    if isinstance(seen, Call):
        return seen
    given = (list(seen.args), seen.stdin, dict(seen.files))
    return Call(function=_TOLD, args=tuple(map(repr, given)))


def answer_of(asked: Input, result: ProbeResult, errors: Sequence[str] = ()) -> str:
    """What a reference said, as `observed` would of a program; empty where it failed.

    Of a function it may be one of the errors that the task names.
    """
    if isinstance(asked, Call):
        raised = result.detail.partition(":")[0] if result.outcome == "raised" else ""
        return f"{RAISES}{raised}" if raised in errors else result.value
    if not result.value:
        return ""
    if result.value == "None":
        return REFUSES
    try:
        text = ast.literal_eval(result.value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return ""
    return repr(printed(text)) if isinstance(text, str) else ""


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
    """The check that voices agree on, and how many do; None where they do not.

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


def _check(asked: Input, expected: str, about: int) -> Probe:
    """What has to hold, as a probe."""
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
