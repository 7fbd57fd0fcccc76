"""The checks that a program passed, as a file that a person can run."""

import json

from twinsmith.core.checks.command_tests import as_command_tests
from twinsmith.core.checks.inputs import input_text, observed
from twinsmith.core.judging.pool import Pool
from twinsmith.core.probe import Probe
from twinsmith.core.program import MODULE, Program

FEW = 10
"""With fewer checks than this, inputs on which all candidates agreed are added."""


def tests_of(program: Program, pool: Pool, winner: int, names: tuple[str, ...]) -> tuple[str, str]:
    """The name and text of a file with the checks that the program passes.

    Where those are few, inputs follow on which all candidates agreed. Of a command, and in Python,
    they are tests; of functions in another language a table.
    """
    seen = pool.seen.get(winner, ())
    held = sorted({check.probe for check in pool.held(winner)})
    more = sorted(pool.agreed(winner), key=lambda place: len(repr(pool.probes[place].asks)))
    places = [*held, *more[: max(0, FEW - len(held))]]
    rows = [(pool.probes[place], seen[place]) for place in places]
    if program.kind == "cli":
        runs = [(p.command, observed(p.command, seen)) for p, seen in rows if p.command]
        return f"test_{MODULE}.py", as_command_tests(program, runs)
    if program.language != "python":
        table = [{"call": input_text(p.call), "result": seen.value} for p, seen in rows if p.call]
        return "checks.json", json.dumps(table, indent=1, ensure_ascii=False) + "\n"
    lines = [f'"""What {MODULE}.py was checked with."""', ""]
    lines.append(f"from {MODULE} import {', '.join(names) or program.entry}")
    lines += ["", pool.setup] if pool.setup else []
    for number, (probe, seen_of) in enumerate(rows, start=1):
        lines += ["", "", *_test(number, probe, seen_of.value)]
    return f"test_{MODULE}.py", "\n".join(lines) + "\n"


def _test(number: int, probe: Probe, value: str) -> list[str]:
    if probe.call is not None:
        return [f"def test_{number}():", f"    assert {input_text(probe.call)} == {value}"]
    if probe.origin == "person" and probe.source.startswith("def "):
        # A person's function: the call that makes it a probe is pytest's business here.
        return probe.source.splitlines()[:-1]
    return [f"def test_{number}():", *(f"    {line}" for line in probe.source.splitlines())]
