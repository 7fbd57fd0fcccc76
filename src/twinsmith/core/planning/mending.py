"""From the failures of a service to the complaints that the coders of its parts are told."""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from twinsmith.core.execution import ProbeResult
from twinsmith.core.judging.pool import Pool
from twinsmith.core.planning.dialogue import called_in
from twinsmith.core.planning.standing import Standing, transcript
from twinsmith.core.probe import Probe
from twinsmith.core.replies.python_names import parsed

MOST_TOLD = 2
LONGEST_TOLD = 600
LAST_ANSWERS = 4
LONGEST_ANSWER = 160
_LINE = re.compile(r"line (\d+)")
LACKS = "the answer holds no"
_ENTERING = ("/register", "/login")


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """One fault of a program, and the functions it is about; none: no function in particular."""

    text: str
    functions: frozenset[str] = frozenset()


def complaints(
    pool: Pool, number: int, names: frozenset[str], stands: Sequence[Standing]
) -> tuple[Complaint, ...]:
    """All complaints about a candidate: reasons to refuse it, then the checks that it fails."""
    unmet = {each.requirement.number for each in stands if not each.met}
    found = [*_refusals(pool, number, names)]
    for _, probe, result in pool.failing(number):
        found.append(_failed(probe, result, names))
    for _, probe, result in pool.failing(number, given=False):
        # A critic's opinion counts where nothing else has shown what it is about.
        if probe.about in unmet or (probe.functions and not probe.about):
            found.append(_failed(probe, result, names))
    return tuple(dict.fromkeys(found))


def told_about(part: str, found: Sequence[Complaint]) -> str:
    """The complaints about one function, as its coder is told; empty where there are none."""
    return _told([each.text for each in found if part in each.functions])


def told_about_all(found: Sequence[Complaint]) -> str:
    """All complaints about a program, as its coder is told."""
    return _told([each.text for each in found])


def _told(texts: Sequence[str]) -> str:
    return "\n".join(text[:LONGEST_TOLD].rstrip() for text in texts[:MOST_TOLD])


def _refusals(pool: Pool, number: int, names: frozenset[str]) -> Iterator[Complaint]:
    """Complaints that a candidate does not start, or may not be handed over."""
    if number in pool.problems:
        yield Complaint(text=f"An earlier version does not start: {pool.problems[number]}")
    program = pool.numbered(number).program
    source = program.source if program else ""
    for finding in pool.findings.get(number, ()):
        if finding.severity == "blocking":
            where = _LINE.fullmatch(finding.where)
            own = _function_at(source, int(where[1])) if where else ""
            text = f"An earlier version was refused: {finding.what}, as in: {finding.evidence}"
            yield Complaint(text=text, functions=frozenset({own} & names))


def _function_at(source: str, line: int) -> str:
    """The name of the function that a line of a program stands in; empty where it is none."""
    tree = parsed(source)
    return next(
        (
            node.name
            for node in (tree.body if tree else ())
            if isinstance(node, ast.FunctionDef)
            and node.lineno <= line <= (node.end_lineno or node.lineno)
        ),
        "",
    )


def _failed(probe: Probe, result: ProbeResult, names: frozenset[str]) -> Complaint:
    if not called_in(probe.source, names):
        # Checks of what every service does say in words what they want, and what was sent.
        text = f"An earlier version failed: {probe.name}: {result.detail}"
        return Complaint(text=text, functions=frozenset(probe.functions))
    lines = [line.strip() for line in probe.source.splitlines()]
    reached = [line for line in lines if line.removeprefix("assert ") in result.detail]
    about = called_in(reached[-1], names) if reached else ()
    if reached and LACKS in result.detail:
        # Not who was called with it, but whoever answered without it.
        before = "\n".join(lines[: lines.index(reached[-1])])
        about = called_in(before, names) or about
    text = f"An earlier version failed this test:\n{probe.source}\n{_answered(result)}"
    functions = about or called_in(probe.source, names)
    return Complaint(text=text, functions=frozenset(functions))


def _answered(result: ProbeResult) -> str:
    """The last answers that a test got; without any, the words in which it failed."""
    entries = [entry for entry in transcript(result) if entry[1] not in _ENTERING]
    said = [
        f"{method} {path} answered {status} {text}"[:LONGEST_ANSWER]
        for method, path, status, _, text in entries[-LAST_ANSWERS:]
    ]
    return "\n".join(said) if said else result.detail
