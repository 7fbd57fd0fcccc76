"""A service in trouble in, checks that fail on it out: a person's own, or those of a hunt."""

from dataclasses import replace
from functools import partial

from twinsmith.core.execution import Limits
from twinsmith.core.operating.hunt import hunts, shows_trouble
from twinsmith.core.operating.mend import Mend
from twinsmith.core.operating.trouble import Trouble
from twinsmith.core.planning.contract import Contract
from twinsmith.core.planning.dialogue import service_setup
from twinsmith.core.probe import Probe, Probes, read_tests
from twinsmith.core.program import Candidate
from twinsmith.core.progress import several
from twinsmith.core.services.http_checks import (
    account_checks,
    basic_checks,
    setup_of,
    usual_checks,
)
from twinsmith.core.task import Task
from twinsmith.flow.build.execute import execute
from twinsmith.flow.recorder import Recorder


async def failing_checks(
    task: Task, mend: Mend, contract: Contract, limits: Limits, recorder: Recorder
) -> Probes:
    """The checks that have to fail on the service as it is deployed, each on a fresh service."""
    if mend.trouble is None:
        tests = read_tests(task.tests, file="tests")
        fresh = tuple(replace(each, fresh=True) for each in tests.checks)
        return replace(tests, checks=fresh)
    return await _hunted(mend, mend.trouble, contract, limits, recorder)


async def _hunted(
    mend: Mend, trouble: Trouble, contract: Contract, limits: Limits, recorder: Recorder
) -> Probes:
    """The hunts that found something on the deployed service."""
    async with recorder.stage("hunt") as stage:
        wanted = hunts(contract, trouble)
        if not wanted.checks:
            stage.text = f"nothing can be tried that would show: {trouble.kind}"
            return wanted
        deployed = Candidate(number=1, program=mend.program)
        seen = await recorder.execute(1, partial(execute, deployed, wanted, limits))
        found = [
            check
            for check, result in zip(wanted.checks, seen.results, strict=False)
            if shows_trouble(result)
        ]
        stage.text = f"{len(wanted.checks)} tried, {several(len(found), 'check')} show it"
    return replace(wanted, checks=tuple(found))


def whole(mend: Mend, contract: Contract, failing: Probes) -> Probes:
    """What fails first, then everything that the service was accepted by, and what is usual."""
    kept = mend.checks
    own = f"{setup_of(contract)}\n{service_setup(contract)}"
    setup = kept.setup if own in kept.setup else f"{kept.setup}\n{own}"
    known = {each.source for each in kept.checks}
    more = tuple(each for each in promises(contract) if each.source not in known)
    return Probes(checks=(*failing.checks, *kept.checks, *more), setup=f"{setup}\n{failing.setup}")


def promises(contract: Contract) -> tuple[Probe, ...]:
    """What services of such a contract mostly promise; none minds what others left behind."""
    checks = (*basic_checks(contract), *usual_checks(contract), *account_checks(contract))
    return tuple(dict.fromkeys(checks))
