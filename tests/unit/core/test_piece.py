import ast

import pytest

from tests.service_scripts import CART, PIECES, PLAN
from twinsmith.core.errors import BadReply
from twinsmith.core.planning.contract import Contract, Field, Operation
from twinsmith.core.planning.contract_reply import read_contract
from twinsmith.core.planning.piece import (
    asked,
    example_call,
    hollow,
    read_piece,
    refusing,
    stub,
)

CONTRACT = read_contract(PLAN, CART, login="with user accounts")
ADD, REMOVE, TOTAL = (CONTRACT.called(name) for name in ("add_item", "remove_item", "see_total"))


def fenced(source: str) -> str:
    return f"Here it is:\n```python\n{source}```\n"


HEAD = PIECES["add_item"].partition("\n")[0]


def given(source: str, operation: Operation, *args: object, **names: object) -> object:
    """What a function gives; nothing but Python's own names is there."""
    names = dict(names)
    exec(source, names)
    function = names[operation.function]
    assert callable(function)
    return function(*args)


class TestAsking:
    def test_a_coder_sees_the_rows_and_one_function_with_its_meaning(self) -> None:
        text = asked(REMOVE, CONTRACT)
        assert "items(id: int, user: str, product: str, quantity: int, unit_price: float)" in text
        assert "def remove(self, table: str, id) -> None" in text
        assert text.endswith(stub(REMOVE, CONTRACT))
        assert "see_total" not in text

    def test_the_stub_is_python_and_says_when_something_is_refused(self) -> None:
        text = stub(REMOVE, CONTRACT)
        assert text.startswith("def remove_item(user: str, id: int):\n")
        documented = ast.get_docstring(ast.parse(text).body[0])  # type: ignore[arg-type]
        assert documented is not None
        assert documented.startswith("remove them\n")
        assert "`user` is the name of who asks." in documented
        assert 'Returns 404, {"error": "…"} when there is no such item.' in documented

    def test_a_call_with_the_contracts_own_examples(self) -> None:
        assert example_call(REMOVE, CONTRACT) == 'remove_item("ann", id=1)'
        assert example_call(ADD, CONTRACT) == (
            "add_item(\"ann\", product='apple', quantity=2, unit_price=1.5)"
        )


class TestReading:
    @pytest.mark.parametrize("name", PIECES)
    def test_what_is_right_stays_what_it_is(self, name: str) -> None:
        source = read_piece(fenced(PIECES[name]), CONTRACT.called(name), CONTRACT)
        tree = ast.parse(source)
        assert [node.name for node in tree.body if isinstance(node, ast.FunctionDef)] == [name]
        body = ast.unparse(ast.parse(PIECES[name])).partition("\n")[2]
        assert ast.unparse(tree).endswith(body)

    def test_what_it_brings_along_lies_inside_it(self) -> None:
        source = read_piece(
            fenced(
                "import math\nfrom decimal import Decimal\n\nRATE = 2\n\n"
                "def rounded(n):\n    return math.floor(n) * RATE\n\n"
                "class Pair:\n    first = RATE\n\n"
                'def see_total(user):\n    """The total."""\n'
                '    return 200, {"total": rounded(1.5) + Pair.first}\n\n'
                "print(see_total('x'))\n"
            ),
            TOTAL,
            CONTRACT,
        )
        tree = ast.parse(source)
        assert [type(node) for node in tree.body] == [ast.FunctionDef]
        assert given(source, TOTAL, "ann") == (200, {"total": 4})
        assert ast.get_docstring(tree.body[0]) == "The total."  # type: ignore[arg-type]

    def test_what_everybody_forgets_is_imported_and_what_is_not_there_is_no_import(self) -> None:
        text = (
            "from store import store\nfrom flask import jsonify\n\n"
            "def see_total(user):\n"
            "    return 200, {'on': datetime(2030, 5, 1).year, 'd': math.floor(2.5)}\n"
        )
        source = read_piece(fenced(text), TOTAL, CONTRACT)
        assert "flask" not in source
        assert "from store" not in source
        assert given(source, TOTAL, "ann") == (200, {"on": 2030, "d": 2})

    def test_everything_of_a_module_is_imported_name_by_name(self) -> None:
        star = "from functools import *\nfrom typing import *\n"
        source = read_piece(fenced(star + PIECES["see_total"]), TOTAL, CONTRACT)
        assert "import *" not in source
        compile(source, "piece", "exec")

    @pytest.mark.parametrize("line", ["from os import *", "nonlocal rows", "return await rows"])
    def test_what_has_a_tree_and_is_no_program_is_no_piece(self, line: str) -> None:
        text = PIECES["see_total"].replace("    return", f"    {line}\n    return", 1)
        with pytest.raises(BadReply, match="see_total is no Python"):
            read_piece(fenced(text), TOTAL, CONTRACT)

    def test_a_store_of_its_own_is_left_out(self) -> None:
        text = f"class Store:\n    pass\n\nstore = Store()\n\n{PIECES['see_total']}"
        source = read_piece(fenced(text), TOTAL, CONTRACT)
        assert "Store" not in source
        assert "store = " not in source

    @pytest.mark.parametrize(
        "parameters",
        [
            "user, id",
            "id, user",
            "*, id, user",
            "username, item_id",
            "item_id, user",
            "user: User, id: 'ItemId' = 7",
        ],
    )
    def test_other_names_are_renamed_and_an_odd_order_is_no_harm(self, parameters: str) -> None:
        names = {"username": "user", "item_id": "id"}
        who, which = (other if other in parameters else name for other, name in names.items())
        text = f"def remove_item({parameters}):\n    return 204, [{who}, {which}]\n"
        source = read_piece(fenced(text), REMOVE, CONTRACT)
        assert source.startswith("def remove_item(user: str, id: int):")
        assert given(source, REMOVE, "ann", 3) == (204, ["ann", 3])

    @pytest.mark.parametrize(
        ("text", "why"),
        [
            ("I would rather not.", "add_item"),
            (fenced("def other():\n    return 1\n"), "add_item"),
            (fenced("def add_item(user, product:\n"), "add_item"),
            (fenced(f"{HEAD}\n    pass\n"), "has no body"),
            (fenced(stub(ADD, CONTRACT)), "has no body"),
            (
                fenced("def add_item(user, product):\n    return 201, {}\n"),
                r"takes \['user', 'product'\], not",
            ),
            (
                fenced("def add_item(store, user, product, quantity):\n    return 201, {}\n"),
                r"takes \['store', ",
            ),
            (
                fenced(
                    f"{PIECES['add_item'].partition(chr(10))[0]}\n    return 201, request.json\n"
                ),
                "uses request, which is not there",
            ),
            (fenced(f"{HEAD}\n    return 201, store.save(product)\n"), "uses store.save, which"),
            (fenced(f"{HEAD}\n    return 201, store[product]\n"), "store as something that holds"),
            (
                fenced(f"{HEAD}\n    return 201, product in store\n"),
                "store as something that holds",
            ),
            (fenced(f"{HEAD}\n    return 201, store.add('carts')\n"), "uses a table carts, which"),
        ],
    )
    def test_what_cannot_be_used_is_said_in_one_line(self, text: str, why: str) -> None:
        with pytest.raises(BadReply, match=why) as caught:
            read_piece(text, ADD, CONTRACT)
        assert "\n" not in str(caught.value)

    def test_whatever_it_returns_it_is_not_said_in_its_first_line(self) -> None:
        text = "def see_total(user: str) -> Answer:\n    return 200, {}\n"
        assert "Answer" not in read_piece(fenced(text), TOTAL, CONTRACT)


class TestWithoutThought:
    @pytest.mark.parametrize(
        ("gives", "said"),
        [
            ('{"total": 3.0, "of": "x", "all": [1], "more": {"a": 1}, "is": true, "no": null}',
             {"total": 0, "of": "", "all": [], "more": {}, "is": False, "no": None}),
            ("[1, 2]", []),
            ("", {}),
        ],
    )  # fmt: skip
    def test_a_hollow_function_gives_nothing_of_its_own(self, gives: str, said: object) -> None:
        operation = Operation(function="f", method="GET", path="/f", gives=gives, status=201)
        contract = Contract(operations=(operation,))
        assert given(hollow(operation, contract), operation) == (201, said)

    def test_a_text_is_empty(self) -> None:
        operation = Operation(
            function="f", method="GET", path="/f", gives='"hello"', answers="text"
        )
        assert given(hollow(operation, Contract(operations=(operation,))), operation) == (200, "")

    @pytest.mark.parametrize("name", PIECES)
    def test_it_takes_what_the_real_one_takes(self, name: str) -> None:
        operation = CONTRACT.called(name)
        for make in (hollow, refusing):
            source = make(operation, CONTRACT)
            assert read_piece(fenced(source), operation, CONTRACT)
        assert given(refusing(TOTAL, CONTRACT), TOTAL, "ann") == (400, {"error": "no"})

    def test_optional_values_may_be_left_out(self) -> None:
        takes = (Field(name="a"), Field(name="b", kind="integer", required=False))
        operation = Operation(function="f", method="POST", path="/f", takes=takes)
        assert given(hollow(operation, Contract(operations=(operation,))), operation, "x") == (
            200,
            {},
        )
