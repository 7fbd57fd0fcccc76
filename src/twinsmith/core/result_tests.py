"""The checks that a program passed, as a file that a person can run."""

import json

from twinsmith.core.pool import Pool, call_text
from twinsmith.core.probe import Probe
from twinsmith.core.program import MODULE, Program


def tests_of(program: Program, pool: Pool, winner: int) -> tuple[str, str]:
    """The name and text of a file with the checks that the program passes.

    In Python they are tests; in another language a table of calls and results.
    """
    seen = pool.seen.get(winner, ())
    held = dict.fromkeys(check.probe for check in pool.held(winner))
    rows = [(pool.probes[place], seen[place].value) for place in sorted(held)]
    if program.language != "python":
        table = [{"call": call_text(p.call), "result": value} for p, value in rows if p.call]
        return "checks.json", json.dumps(table, indent=1, ensure_ascii=False) + "\n"
    lines = [f'"""What {MODULE}.py was checked with."""', ""]
    lines.append(f"from {MODULE} import {program.entry}")
    lines += ["", pool.setup] if pool.setup else []
    for number, (probe, value) in enumerate(rows, start=1):
        lines += ["", "", *_test(number, probe, value)]
    return f"test_{MODULE}.py", "\n".join(lines) + "\n"


def _test(number: int, probe: Probe, value: str) -> list[str]:
    if probe.call is not None:
        return [f"def test_{number}():", f"    assert {call_text(probe.call)} == {value}"]
    if not probe.source.startswith("assert"):
        # A person's function: the call that makes it a probe is pytest's business here.
        return probe.source.splitlines()[:-1]
    return [f"def test_{number}():", *(f"    {line}" for line in probe.source.splitlines())]
