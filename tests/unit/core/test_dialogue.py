import ast
from types import SimpleNamespace

import pytest

from tests.service_scripts import CART, DIALOGUES, PLAN
from twinsmith.core.planning.contract import Contract, Field, Operation
from twinsmith.core.planning.contract_reply import read_contract
from twinsmith.core.planning.dialogue import (
    LONGEST_TEST,
    MOST_TESTS,
    called_in,
    described,
    first_test,
    read_tests,
    service_setup,
)

CONTRACT = read_contract(PLAN, CART, login="with user accounts")
NAMES = frozenset({"add_item", "remove_item", "see_total"})


def read(text: str) -> list[str]:
    return [probe.source for probe in read_tests(text, about=3, names=NAMES)]


class TestReading:
    def test_tests_become_checks_of_their_requirement(self) -> None:
        first, second = read_tests(
            f"Sure:\n```python\n{DIALOGUES['remove them']}```", about=3, names=NAMES
        )
        assert (first.about, first.origin) == (3, "plan")
        assert first.name == "remove_item('ann', first['id']).status == 404"
        assert first.source.startswith("first = add_item('ann', product='pear'")
        assert "def " not in second.source

    @pytest.mark.parametrize(
        "body",
        [
            "see_total('ann')",
            "assert 1 == 1",
            "import os\n    assert see_total('ann')",
            "assert open('/etc/passwd') and see_total('ann')",
            "while True:\n        assert see_total('ann')",
            "assert see_everything('ann') and see_total('ann')",
            "global x\n    assert see_total('ann')",
            f"assert see_total('{'x' * LONGEST_TEST}')",
        ],
    )
    def test_what_shows_nothing_or_calls_something_else_is_left_out(self, body: str) -> None:
        assert read(f"```python\ndef test_1():\n    {body}\n```") == []

    def test_functions_of_its_own_and_pythons_harmless_ones_may_be_called(self) -> None:
        text = (
            "def test_1():\n    def total():\n        return see_total('ann')['total']\n"
            "    assert round(total()) == sum([1, 2])\n"
        )
        assert len(read(f"```python\n{text}```")) == 1

    def test_the_example_is_not_one_of_them_nor_what_takes_arguments(self) -> None:
        one = "def {}:\n    assert see_total('ann')\n"
        names = ("test_0()", "test_1(client)", "helper()", "test_2()")
        assert len(read("".join(map(one.format, names)))) == 1

    @pytest.mark.parametrize("text", ["", "no tests today", "```python\ndef test_1(:\n```"])
    def test_no_tests_are_no_tests(self, text: str) -> None:
        assert read(text) == []

    def test_there_is_a_most(self) -> None:
        many = "".join(f"def test_{n}():\n    assert see_total('{n}')\n" for n in range(1, 20))
        assert len(read(f"```python\n{many}```")) == MOST_TESTS

    def test_what_a_test_calls_is_told_once_and_in_order(self) -> None:
        assert called_in(DIALOGUES["to their own cart"], NAMES) == ("add_item", "see_total")
        assert called_in("no python (", NAMES) == ()


class TestTelling:
    def test_a_critic_hears_of_every_piece_and_of_nothing_else(self) -> None:
        told = described(CONTRACT)
        assert "def remove_item(user: str, id: int):" in told
        assert '"""Gives 204. 404 when there is no such item."""' in told
        assert '"""Gives 200 with total."""' in told
        assert "register" not in told
        assert len(ast.parse(told).body) == len(CONTRACT.pieces)

    def test_lists_and_texts_are_described(self) -> None:
        def said(**more: str) -> str:
            operation = Operation(function="f", method="GET", path="/f", **more)  # type: ignore[arg-type]
            return described(Contract(operations=(operation,))).splitlines()[1].strip()

        assert said(gives='[{"id": 1, "a": 2}]') == '"""Gives 200 with a list of id, a."""'
        assert said(gives="[1]") == '"""Gives 200 with a list."""'
        assert said(gives='"x"', answers="text") == '"""Gives 200 with a text."""'

    def test_the_first_test_follows_from_the_contract(self) -> None:
        text = first_test(CONTRACT, (CONTRACT.called("see_total"),))
        assert text == (
            "def test_0():\n"
            "    first = add_item(\"ann\", product='apple', quantity=2, unit_price=1.5)\n"
            "    assert first.status == 201 and first[\"product\"] == 'apple'"
        )
        alone = Operation(function="f", method="GET", path="/f/{id}")
        assert first_test(Contract(operations=(alone,)), (alone,)) == ""


class Wire:
    """Answers as a service would, and keeps what it was asked."""

    def __init__(self, status: int = 200, text: str = "{}", kind: str = "application/json") -> None:
        self.asked: list[tuple[str, str, dict[str, object]]] = []
        self._answer = (status, text, kind)

    def __call__(self, method: str, path: str, **sent: object) -> SimpleNamespace:
        self.asked.append((method, path, sent))
        status, text, kind = self._answer
        if path == "/login":
            status, text = 200, '{"token": "t"}'
        return SimpleNamespace(status=status, text=text, headers={"Content-Type": kind})


def words(contract: Contract, wire: Wire) -> dict[str, object]:
    names: dict[str, object] = {"http": wire}
    exec(service_setup(contract), names)
    return names


def tried(source: str, wire: Wire, contract: Contract = CONTRACT) -> None:
    exec(source, words(contract, wire))


THING = Operation(
    function="keep", method="POST", path="/a/{name}", takes=(Field(name="path"), Field(name="n"))
)
ODD = Contract(operations=(THING,))


class TestSpeaking:
    def test_a_call_is_a_request_of_a_user_who_is_registered_once(self) -> None:
        wire = Wire(201)
        tried("add_item('ann', 'pear', quantity=2, unit_price=1.5)\nremove_item('ann', 7)", wire)
        assert [asked[:2] for asked in wire.asked] == [
            ("POST", "/register"),
            ("POST", "/login"),
            ("POST", "/cart/items"),
            ("DELETE", "/cart/items/7"),
        ]
        _, _, sent = wire.asked[2]
        assert sent["json"] == {"product": "pear", "quantity": 2, "unit_price": 1.5}
        assert sent["headers"] == {"Authorization": "Bearer t"}

    def test_nobody_is_a_request_without_a_token(self) -> None:
        wire = Wire()
        tried("see_total('')", wire)
        assert wire.asked == [("GET", "/cart/total", {"headers": {}, "query": {}})]

    def test_values_may_be_called_whatever_they_are_called(self) -> None:
        wire = Wire()
        tried("keep(name='x', path='p', n=1)", wire, ODD)
        assert wire.asked == [("POST", "/a/x", {"headers": {}, "json": {"path": "p", "n": 1}})]

    @pytest.mark.parametrize("call", ["see_total('ann', 'x')", "see_total('ann', of='x')"])
    def test_what_a_function_does_not_take_is_told(self, call: str) -> None:
        with pytest.raises(TypeError, match="see_total takes"):
            tried(call, Wire())

    @pytest.mark.parametrize(
        ("text", "check"),
        [
            (
                '{"total": 3.0000001}',
                "answer['total'] == 3 and answer == 3 and answer.status == 200",
            ),
            ('{"total": 3.01}', "answer['total'] != 3 and not answer == 3"),
            ('{"a": 1, "b": [2.5]}', "answer == {'a': 1, 'b': [2.5]} and answer.get('c') is None"),
            ('[{"id": 1}]', "answer[0]['id'] == 1 and len(answer) == 1 and {'id': 1} in answer"),
            ('{"status": "open"}', "answer['status'] == 'open'"),
            ("{}", "answer['status'] == 200 and answer"),
            ('{"a": true}', "answer['a'] == True and (200, {'a': True}) == answer"),
        ],
    )
    def test_answers_are_compared_by_what_they_hold(self, text: str, check: str) -> None:
        tried(f"answer = see_total('ann')\nassert {check}", Wire(text=text))

    def test_a_text_is_a_text(self) -> None:
        source = "answer = see_total('ann')\nassert answer == 'a b' and 'a' in answer"
        tried(source, Wire(text=" a b\n", kind="text/plain"))

    @pytest.mark.parametrize("name", ["'total'", "0"])
    def test_what_an_answer_does_not_hold_fails_the_check(self, name: str) -> None:
        with pytest.raises(AssertionError, match="holds no"):
            tried(f"see_total('ann')[{name}]", Wire())
        with pytest.raises(AssertionError, match="asked of a text"):
            tried(f"see_total('ann')[{name}]", Wire(text="x", kind="text/plain"))

    def test_a_refusal_is_false(self) -> None:
        tried("assert not see_total('ann')", Wire(404))
