"""Fixes of a deployed service: reproduced first, functions exchanged, nothing else touched."""

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest

from tests.cart import EFFORT, Cart, cart_job, unmet
from tests.service_scripts import CART, PIECES, PLAN
from twinsmith.core.model import Prompt
from twinsmith.core.operating.mend import Mend
from twinsmith.core.operating.trouble import Evidence, Trouble
from twinsmith.core.planning.contract_reply import read_contract
from twinsmith.core.planning.dialogue import service_setup
from twinsmith.core.planning.openapi import openapi_of
from twinsmith.core.planning.patch import functions_in, patched, tables_in
from twinsmith.core.planning.python_kit import assembled
from twinsmith.core.probe import Probe, Probes
from twinsmith.core.program import Program
from twinsmith.core.services.http_checks import setup_of
from twinsmith.core.task import Job
from twinsmith.flow.build.pieces import FLASK_KIT
from twinsmith.kits import kit

CONTRACT = read_contract(PLAN, CART, login="user")
TRAP = PIECES["see_total"].replace(
    "return 200", "1 / len(store.all('items', user=user))\n    return 200", 1
)
CRASHES = "def test_nothing():\n    assert see_total('zoe')['total'] == 0\n"
WORKS = Probe(
    name="adds up",
    origin="plan",
    source="add_item('ann', 'apple', 2, 1.5)\nassert see_total('ann')['total'] == 3.0",
    fresh=True,
)


def deployed(pieces: Mapping[str, str]) -> Program:
    return assembled(CONTRACT, pieces, kit(FLASK_KIT))


def mending(program: Program, tests: str = CRASHES, **more: object) -> Job:
    job = cart_job(effort=EFFORT)
    spec = json.dumps(openapi_of(CONTRACT))
    setup = f"{setup_of(CONTRACT)}\n{service_setup(CONTRACT)}"
    mend = Mend(program=program, checks=Probes(checks=(WORKS,), setup=setup), **more)  # type: ignore[arg-type]
    return replace(job, task=replace(job.task, tests=tests, spec=spec), mend=mend)


BROKEN = deployed({**PIECES, "see_total": TRAP})


async def test_the_function_at_fault_is_exchanged_and_nothing_else() -> None:
    world, job = Cart(), mending(BROKEN)
    outcome = await world.build(job)
    assert outcome.solved, outcome.reason
    assert world.stages() == ["reproduce", "mend 1", "accept"]
    # Both ensembles write it anew, and mend it; nobody is asked for anything else.
    assert world.pieces() == ["see_total"] * 4
    mends = [prompt.text for prompt in world.prompts("coder") if "runs today" in prompt.text]
    assert len(mends) == 2
    assert "GET /cart/total answered 500" in mends[0]
    files = world.files(job)
    changed = functions_in(files["solution.py"], ["see_total"])
    assert "1 / len" not in changed["see_total"]
    assert files["solution.py"] == patched(BROKEN.source, changed)
    kept = [each["source"] for each in json.loads(files["checks.json"])["checks"]]
    assert [WORKS.source in kept, any("test_nothing" in each for each in kept)] == [True, True]
    assert json.loads(files["openapi.json"])["paths"] == openapi_of(CONTRACT)["paths"]


async def test_an_incident_is_hunted_diagnosed_and_mended() -> None:
    seen = Evidence(requests=("GET /cart/total",), said=("ZeroDivisionError",))
    trouble = Trouble(incident="i-1", kind="errors", told="60% of requests fail", evidence=seen)
    world, job = Cart(), mending(BROKEN, "", trouble=trouble)
    outcome = await world.build(job)
    assert outcome.solved, outcome.reason
    assert world.stages() == ["hunt", "reproduce", "diagnose", "mend 1", "accept"]
    asked = [prompt.text for prompt in world.prompts("slow")]
    assert all("60% of requests fail" in text and "ZeroDivisionError" in text for text in asked)
    told = [prompt.text for prompt in world.prompts("coder") if "runs today" in prompt.text]
    assert "an empty cart is not thought of" in told[0]


async def test_an_incident_that_nothing_shows_is_not_mended() -> None:
    seen = Evidence(requests=("GET /cart/total",))
    trouble = Trouble(incident="i-1", kind="errors", told="60% of requests fail", evidence=seen)
    world = Cart()
    outcome = await world.build(mending(deployed(PIECES), "", trouble=trouble))
    assert unmet(outcome).startswith("it cannot be reproduced")
    assert world.pieces() == []


async def test_what_passes_already_cannot_be_reproduced() -> None:
    world, job = Cart(), mending(deployed(PIECES))
    outcome = await world.build(job)
    assert "it cannot be reproduced" in unmet(outcome)
    assert world.pieces() == []


async def test_a_check_that_is_wrong_by_itself_shows_nothing() -> None:
    world = Cart()
    outcome = await world.build(mending(BROKEN, "def test_1():\n    assert no_such_word() == 0\n"))
    assert "cannot be run: NameError" in unmet(outcome)
    assert world.pieces() == []


async def test_a_service_that_fails_what_it_was_accepted_by_is_left_to_a_person() -> None:
    forgets = TRAP.replace('row["quantity"] * ', "")
    outcome = await Cart().build(mending(deployed({**PIECES, "see_total": forgets})))
    assert "fails a check that it was accepted by: adds up" in unmet(outcome)


async def test_a_version_that_breaks_another_check_is_no_fix() -> None:
    wrong = 'def see_total(user: str):\n    return 200, {"total": 0}\n'
    world, job = Cart({**PIECES, "see_total": wrong}), mending(BROKEN)
    outcome = await world.build(job)
    assert "no version passes the check that fails" in unmet(outcome)
    assert world.stages() == ["reproduce", "mend 1", "mend 2", "mend 3", "accept"]
    # The same answer is not tried twice.
    assert world.runs == 2


async def test_later_rounds_tell_what_went_wrong() -> None:
    world = Cart()
    right = world.say

    def say(prompt: Prompt) -> str:
        return right(prompt) if prompt.nth >= 4 else f"```python\n{TRAP}```"

    world.say = say
    outcome = await world.build(mending(BROKEN, told="people saw 500"))
    assert outcome.solved
    fresh = [p.text for p in world.prompts("coder") if "runs today" not in p.text]
    assert ["people saw 500" in text for text in fresh] == [False, False, True, True]


@pytest.mark.parametrize("text", ["", "def f(:"])
def test_what_is_no_python_has_no_functions_and_no_tables(text: str) -> None:
    assert (functions_in(text, ["f"]), tables_in(text)) == ({}, ())
    assert patched(text, {"f": "def f(): pass"}) == text


def test_functions_are_exchanged_where_they_stand() -> None:
    source = "A = 1\n\ndef f(x):\n    return 1\n\n\ndef g():\n    return f(2)\n"
    new = "def f(x):\n    y = x\n    return y\n"
    after = patched(source, {"f": new, "h": "def h(): pass"})
    assert after == source.replace("def f(x):\n    return 1", new.strip())
    assert list(functions_in(after, ["f", "g", "h"])) == ["f", "g"]


def test_tables_are_those_of_the_deployed_source() -> None:
    assert [table.text() for table in tables_in(BROKEN.source)] == [
        table.text() for table in CONTRACT.tables
    ]
    assert tables_in("TABLES = nothing()") == ()
