"""Where lines come from: the frame, what it says to a coder, what was retrieved, and models."""

from tests.service_scripts import CART, PIECES, PLAN
from twinsmith.core.origins import Origin, origins, shares
from twinsmith.core.planning.completing import HEALTH, LOGIN, REGISTER
from twinsmith.core.planning.contract import Contract
from twinsmith.core.planning.contract_reply import read_contract
from twinsmith.core.planning.python_kit import assembled
from twinsmith.core.planning.requirement import NOTHING_REQUIRED
from twinsmith.core.planning.standing import Asked
from twinsmith.core.program import Program, SourceFile

CONTRACT = read_contract(PLAN, CART, login="with user accounts")
KIT = "import flask\n\napp = flask.Flask('x')\n"
CARTS = assembled(CONTRACT, PIECES, KIT)


def asked(contract: Contract | None = CONTRACT) -> Asked:
    return Asked(requirements=NOTHING_REQUIRED, contract=contract)


def by_line(program: Program, told: Asked | None, *retrieved: str) -> dict[str, Origin]:
    """Of each line of the main file that is not empty: where it comes from."""
    runs = origins(program, told, retrieved)["solution.py"]
    each = [origin for origin, lines in runs for _ in range(lines)]
    lines = program.source.splitlines()
    assert len(each) == len(lines)
    return {line: origin for line, origin in zip(lines, each, strict=True) if line.strip()}


def test_a_plain_program_is_the_models_but_for_what_was_retrieved() -> None:
    program = Program(source="def double(n):\n    total = n + n\n    return total\n")
    found = by_line(program, None, "x = 1\n  total = n + n\nreturn total")
    assert found == {
        "def double(n):": "model",
        "    total = n + n": "retrieved",
        # Twelve characters and more are no accident.
        "    return total": "retrieved",
    }
    assert set(by_line(program, None, "n + n\n").values()) == {"model"}


def test_of_a_framed_service_models_wrote_the_functions_alone() -> None:
    found = by_line(CARTS, asked(), PIECES["see_total"].splitlines()[1])
    assert found['    row = store.get("items", id)'] == "model"
    assert found['    rows = store.all("items", user=user)'] == "retrieved"
    assert found["def see_total(user: str):"] == "skeleton"
    assert found["from contract import OPENAPI"] == "frame"
    assert found["def route_see_total():"] == "frame"
    files = origins(CARTS, asked(), [])
    assert files["kit.py"] == [("frame", 3)]
    assert [origin for origin, _ in files["contract.py"]] == ["frame"]


def test_a_service_that_the_kit_brings_is_no_models_work() -> None:
    contract = Contract(operations=(HEALTH, REGISTER, LOGIN))
    found = origins(assembled(contract, {}, KIT), asked(contract), [])
    assert shares(found) == {"frame": 1.0}


def test_a_service_without_a_frame_is_the_models_in_all_of_its_files() -> None:
    more = (SourceFile(name="words.go", text="package main\n"),)
    program = Program(source="package main\n", language="go", kind="service", files=more)
    found = origins(program, asked(), [])
    assert found == {"solution.go": [("model", 1)], "words.go": [("model", 1)]}


def test_shares_are_of_all_lines_of_all_files() -> None:
    found: dict[str, list[tuple[Origin, int]]] = {
        "a.py": [("frame", 2), ("model", 1)],
        "b.py": [("model", 3)],
    }
    assert shares(found) == {"frame": 0.333, "model": 0.667}
    assert shares({}) == {}
