"""Hunts in the real sandbox: a good service withstands them, trouble is found and told apart."""

from dataclasses import replace

import pytest

from tests.sandboxes import sandbox
from tests.service_scripts import CART, PIECES, PLAN
from twinsmith.core.execution import Limits
from twinsmith.core.operating.alarm import AlarmKind
from twinsmith.core.operating.hunt import hunts, shows_trouble
from twinsmith.core.operating.trouble import Evidence, Trouble
from twinsmith.core.planning.contract_reply import read_contract
from twinsmith.core.planning.python_kit import assembled
from twinsmith.core.services.http_checks import CPU_SECONDS, PROBE_SECONDS
from twinsmith.flow.build.pieces import FLASK_KIT
from twinsmith.kits import kit

CONTRACT = read_contract(PLAN, CART, login="with user accounts")
LIMITS = Limits(probe_seconds=PROBE_SECONDS, cpu_seconds=CPU_SECONDS)
TOTAL = "GET /cart/total"
DIVIDES = "1 / len(store.all('items', user=user))"
ODDLY = "sum(1 / row['quantity'] for row in store.all('items', user=user))"
ENDS = "__import__('os')._exit(3) if not store.all('items', user=user) else None"
KEEPS = "KEPT.append(b'x' * 300_000)"
OPENS = "KEPT.append(open('/dev/null'))"


def trouble(kind: AlarmKind, **evidence: object) -> Trouble:
    return Trouble(
        incident="i-1",
        kind=kind,
        told="seen",
        evidence=Evidence(**evidence),  # type: ignore[arg-type]
    )


async def found(line: str, seen: Trouble) -> dict[str, str]:
    """What hunts find in a cart whose function for the total begins with a line of its own."""
    total = PIECES["see_total"].replace("return 200", f"{line}\n    return 200", 1)
    program = assembled(CONTRACT, {**PIECES, "see_total": total}, kit(FLASK_KIT))
    wanted = hunts(CONTRACT, seen)
    source = program.source.replace("\ndef ", "\nKEPT = []\n\n\ndef ", 1)
    execution = await sandbox().run(replace(program, source=source), wanted, LIMITS)
    assert len(execution.results) == len(wanted.checks), execution.problem
    wrong = [each for each in execution.results if each.outcome != "passed"]
    assert [each.detail for each in wrong if not shows_trouble(each)] == []
    return {each.name: each.detail for each in wrong}


@pytest.mark.parametrize("kind", ["errors", "memory leak", "descriptor leak"])
async def test_a_good_service_withstands_every_hunt(kind: AlarmKind) -> None:
    assert await found("pass", trouble(kind)) == {}


@pytest.mark.parametrize("line", [DIVIDES, ODDLY, ENDS])
async def test_an_input_that_breaks_a_route_is_found(line: str) -> None:
    seen = await found(line, trouble("errors"))
    assert f"{TOTAL} answers whatever is asked" in seen
    told = seen[f"{TOTAL} answers whatever is asked"]
    assert ("nothing at all" if line == ENDS else f"it answered 500 to {TOTAL}") in told


@pytest.mark.parametrize(
    ("kind", "line", "name"),
    [
        ("memory leak", KEEPS, f"{TOTAL} keeps no memory"),
        ("descriptor leak", OPENS, f"{TOTAL} keeps no files open"),
    ],
)
async def test_what_grows_is_told_of_the_route_that_keeps_it(
    kind: AlarmKind, line: str, name: str
) -> None:
    assert list(await found(line, trouble(kind))) == [name]


def test_only_routes_in_question_are_hunted() -> None:
    every = [each.name for each in hunts(CONTRACT, trouble("errors")).checks]
    assert len(every) == len(CONTRACT.pieces)
    failed = trouble("errors", requests=("GET /cart/total", "GET /no-such-path"))
    assert [each.functions for each in hunts(CONTRACT, failed).checks] == [("see_total",)]
    told = trouble("hang", said=('  File "/app/solution.py", line 7, in remove_item',))
    assert [each.functions for each in hunts(CONTRACT, told).checks] == [("remove_item",)]


@pytest.mark.parametrize("kind", ["latency", "disk growth", "log flood", "certificate"])
def test_what_no_check_could_show_is_not_hunted(kind: AlarmKind) -> None:
    assert hunts(CONTRACT, trouble(kind)).checks == ()
