"""Fixes in figures: of seeded bugs in a service, how many are mended, and at which cost.

Every bug comes with a check that fails on it, which the ensembles see, and with others that nobody
sees: a version that passes the first and fails those is a wrong fix, and would have been released.

    python -m bench.fixes [--bug NAME] [--json]
"""

import argparse
import asyncio
import json
import os
import tempfile
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from tests.contract.test_packaged import CONTRACT
from tests.sandboxes import sandbox
from tests.service_scripts import CART, PIECES
from twinsmith.core.budget import Budget
from twinsmith.core.execution import Limits
from twinsmith.core.operating.mend import Mend
from twinsmith.core.people.actor import Actor
from twinsmith.core.planning.dialogue import service_setup
from twinsmith.core.planning.openapi import openapi_of
from twinsmith.core.planning.python_kit import assembled
from twinsmith.core.probe import Probe, Probes, read_tests
from twinsmith.core.program import Program
from twinsmith.core.services.http_checks import CPU_SECONDS, PROBE_SECONDS, setup_of
from twinsmith.core.task import Task
from twinsmith.flow.build.pieces import FLASK_KIT
from twinsmith.kits import kit
from twinsmith.runs.book import Book
from twinsmith.runs.drive import Driver
from twinsmith.runs.submit import new_job
from twinsmith.settings import load

BUDGET = Budget(tokens=30_000, seconds=600)
WORKS = "add_item('ann', 'apple', 2, 1.5)\nassert see_total('ann')['total'] == 3.0"
TWO = (
    "add_item('ann', 'a', 1, 1.0)\nadd_item('ann', 'b', 2, 2.0)\n"
    "assert see_total('ann')['total'] == 5.0\nassert see_total('bob')['total'] == 0"
)
GOES = (
    "first = add_item('ann', 'a', 1, 1.0)\nremove_item('ann', first['id'])\n"
    "assert see_total('ann')['total'] == 0"
)
STRANGER = (
    "first = add_item('ann', 'a', 1, 1.0)\n"
    "assert remove_item('bob', first['id']).status in (403, 404)\n"
    "assert see_total('ann')['total'] == 1.0"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bug:
    """One bug: where it is put, the check that shows it, and what a right fix passes as well."""

    name: str
    function: str
    before: str
    after: str
    shown: str
    hidden: tuple[str, ...] = (WORKS, TWO, GOES, STRANGER)


SUM = 'return 200, {"total": sum(row["quantity"] * row["unit_price"] for row in rows)}'
BUGS = (
    Bug(
        name="exception: division by zero",
        function="see_total",
        before=SUM,
        after=f"average = sum(row['quantity'] for row in rows) / len(rows)\n    {SUM}",
        shown="def test_empty():\n    assert see_total('zoe')['total'] == 0\n",
    ),
    Bug(
        name="exception: first of nothing",
        function="see_total",
        before=SUM,
        after=f'newest = rows[-1]["product"]\n    {SUM}',
        shown="def test_empty():\n    assert see_total('zoe')['total'] == 0\n",
    ),
    Bug(
        name="missing guard: unknown row",
        function="remove_item",
        before='if row is None or row["user"] != user:',
        after='if row["user"] != user:',
        shown="def test_unknown():\n    assert remove_item('ann', 99).status == 404\n",
    ),
    Bug(
        name="missing guard: somebody else's row",
        function="remove_item",
        before='if row is None or row["user"] != user:',
        after="if row is None:",
        shown=f"def test_stranger():\n    {STRANGER.replace(chr(10), chr(10) + '    ')}\n",
    ),
    Bug(
        name="wrong status",
        function="remove_item",
        before="return 404,",
        after="return 400,",
        shown="def test_unknown():\n    assert remove_item('ann', 99).status == 404\n",
    ),
    Bug(
        name="wrong value",
        function="see_total",
        before='row["quantity"] * row["unit_price"]',
        after='row["unit_price"]',
        shown="def test_total():\n    add_item('ann', 'a', 3, 2.0)\n"
        "    assert see_total('ann')['total'] == 6.0\n",
    ),
    Bug(
        name="everybody's rows",
        function="see_total",
        before='store.all("items", user=user)',
        after='store.all("items")',
        shown="def test_own():\n    add_item('ann', 'a', 1, 1.0)\n"
        "    assert see_total('bob')['total'] == 0\n",
    ),
    Bug(
        name="nothing is removed",
        function="remove_item",
        before='store.remove("items", id)',
        after="pass",
        shown=f"def test_gone():\n    {GOES.replace(chr(10), chr(10) + '    ')}\n",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What became of one bug."""

    bug: str
    fixed: bool
    right: bool | None
    """Whether what nobody saw holds as well; None where nothing was fixed."""
    reason: str
    tokens: int
    seconds: float


def setup() -> str:
    """The words that checks are written with."""
    return f"{setup_of(CONTRACT)}\n{service_setup(CONTRACT)}"


def probes(*sources: str) -> Probes:
    """Checks by their sources, each on a service of its own."""
    checks = [
        Probe(name=f"check {n}", origin="plan", source=source, fresh=True)
        for n, source in enumerate(sources)
    ]
    return Probes(checks=tuple(checks), setup=setup())


async def passes(program: Program, checks: Probes) -> bool:
    """Whether a program passes all checks, in the real sandbox."""
    limits = replace(Limits(), cpu_seconds=CPU_SECONDS, probe_seconds=PROBE_SECONDS)
    execution = await sandbox().run(program, checks, limits)
    return not execution.problem and all(e.outcome == "passed" for e in execution.results)


async def accepted(program: Program, sources: tuple[str, ...]) -> tuple[str, ...]:
    """Of some checks those that a program passes: what it was accepted by once."""
    return tuple([each for each in sources if await passes(program, probes(each))])


async def mended(bug: Bug, home: Path) -> Row:
    """One bug, put in and mended by both ensembles through the whole flow."""
    assert bug.before in PIECES[bug.function], bug.name
    pieces = {**PIECES, bug.function: PIECES[bug.function].replace(bug.before, bug.after)}
    broken = assembled(CONTRACT, pieces, kit(FLASK_KIT))
    known = await accepted(broken, (WORKS,))
    book = Book(load({**os.environ, "TWINSMITH_HOME": str(home)}), Actor(name="bench"))
    task = Task(
        text=CART,
        language="python",
        kind="service",
        tests=bug.shown,
        spec=json.dumps(openapi_of(CONTRACT)),
    )
    job = new_job(book, task, out=None, seed=None, budget=BUDGET)
    job = replace(job, mend=Mend(program=broken, checks=probes(*known)))
    began = time.monotonic()
    outcome = await Driver(book).start(job)
    right = None
    solved = bool(getattr(outcome, "solved", False))
    if solved:
        fixed = replace(broken, source=(Path(job.out) / "solution.py").read_text())
        tests = read_tests(bug.shown, file="tests")
        right = await passes(fixed, probes(*bug.hidden, *(e.source for e in tests.checks)))
    return Row(
        bug=bug.name,
        fixed=solved,
        right=right,
        reason=str(getattr(outcome, "reason", ""))[:120],
        tokens=int(outcome.spent.tokens) if hasattr(outcome, "spent") else 0,
        seconds=round(time.monotonic() - began, 1),
    )


def main() -> None:
    """Mend the bugs that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bug", action="append", default=[])
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(prefix="twinsmith-fixes-") as home:
        for bug in BUGS:
            if given.bug and bug.name not in given.bug:
                continue
            rows.append(asyncio.run(mended(bug, Path(home))))
            print(json.dumps(asdict(rows[-1])), flush=True)
    fixed = [row for row in rows if row.fixed]
    print(
        f"{len(fixed)} of {len(rows)} fixed, {sum(not row.right for row in fixed)} of those wrong; "
        f"{sum(row.tokens for row in rows) / max(1, len(rows)):.0f} tokens a bug in the mean"
    )


if __name__ == "__main__":
    main()
