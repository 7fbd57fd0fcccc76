"""Checks of classes: objects stay with the program, and what is done to them travels."""

import pytest

from tests.sandboxes import sandbox
from twinsmith.core.execution import Limits, ProbeResult
from twinsmith.core.probe import Probe, Probes
from twinsmith.core.program import Program

SOURCE = '''
class Empty(Exception):
    """Nothing is left."""


class Stack:
    kind = "last in, first out"

    def __init__(self, items=()):
        self._items = list(items)

    @classmethod
    def of(cls, *items):
        return cls(items)

    @property
    def top(self):
        return self._items[-1]

    def push(self, item):
        self._items.append(item)
        return self

    def pop(self):
        if not self._items:
            raise Empty("nothing is left")
        return self._items.pop()

    def __len__(self):
        return len(self._items)

    def __iter__(self):
        return iter(self._items)

    def __contains__(self, item):
        return item in self._items

    def __eq__(self, other):
        return isinstance(other, Stack) and self._items == other._items

    def __add__(self, other):
        return Stack(self._items + other._items)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._items.clear()


class Plain:
    pass


def total(stack):
    return sum(stack)


def pair():
    one = Stack([1])
    return [one, one]


class Liar:
    """Says yes to everything."""

    def __eq__(self, other):
        return True

    def __len__(self):
        return 10**30

    def __contains__(self, item):
        return True

    def __gt__(self, other):
        return True


def forged():
    return Liar()
'''


async def judged(*checks: str) -> list[ProbeResult]:
    probes = Probes(
        checks=tuple(
            Probe(name=str(n), origin="plan", source=check) for n, check in enumerate(checks)
        )
    )
    program = Program(source=SOURCE, kind="library")
    return list((await sandbox().run(program, probes, Limits())).results)


async def test_a_check_uses_objects_as_if_they_were_its_own() -> None:
    results = await judged(
        "s = Stack()\ns.push(1).push(2)\nassert s.pop() == 2\nassert (len(s), s.top) == (1, 1)",
        "assert list(Stack([1, 2])) == [1, 2]\nassert 1 in Stack([1]) and 5 not in Stack([1])",
        "assert Stack.of(1, 2) == Stack([1, 2])\nassert Stack.of(1) != Stack.of(2)",
        "assert Stack.kind == 'last in, first out'",
        "assert total(Stack([1, 2]) + Stack([3])) == 6",
        "with Stack([1]) as s:\n    assert len(s) == 1\nassert not s",
        "a, b = pair()\na.push(2)\nassert b.pop() == 2",
        "p = Plain()\np.x = [1]\nassert p.x == [1]\nassert not hasattr(p, 'y')",
        "push = Stack().push\nassert len(push(3)) == 1",
        "s = Stack()\ns.push(Plain())\nassert len(s) == 1",
        "from solution import Stack\nassert Stack([1]).pop() == 1",
    )
    assert [(r.outcome, r.detail) for r in results] == [("passed", "")] * len(results)


async def test_the_programs_own_exceptions_can_be_caught_by_name() -> None:
    caught = "try:\n    Stack().pop()\nexcept Empty as e:\n    assert 'nothing' in str(e)\n"
    missing = "try:\n    len(Plain())\nexcept TypeError:\n    pass\nelse:\n    raise AssertionError"
    results = await judged(f"{caught}else:\n    raise AssertionError", missing)
    assert [r.outcome for r in results] == ["passed", "passed"]


@pytest.mark.parametrize(
    ("check", "outcome", "says"),
    [
        ("assert Stack([1]).pop() == 2", "failed", "returned 1"),
        ("Stack().pop()", "raised", "Empty: nothing is left"),
        ("Stack().push(lambda: 1)", "raised", "a check cannot hand over"),
        ("Stack().absent()", "raised", "no attribute 'absent'"),
    ],
)
async def test_what_goes_wrong_is_told(check: str, outcome: str, says: str) -> None:
    (result,) = await judged(check)
    assert result.outcome == outcome
    assert says in result.detail


async def test_an_object_cannot_say_yes_to_what_a_check_expects() -> None:
    results = await judged(
        "assert forged() == 3",
        "assert forged() in [1, 2]",
        "assert 3 in forged()",
        "assert forged() > 3",
        "assert type(forged()) is int",
        "assert len(forged()) == 3",
        "assert forged() == Liar()",
        "assert total(Stack([1])) == 1",
    )
    wrong = ["failed", "failed", "raised", "raised", "failed", "raised"]
    assert [r.outcome for r in results] == [*wrong, "passed", "passed"]


async def test_of_a_function_nothing_but_values_is_looked_at() -> None:
    program = Program(source=SOURCE, entry="forged", kind="function")
    sources = ("assert forged() == 3", "assert len(forged()) == 3", "forged().x")
    checks = tuple(Probe(name=s, origin="plan", source=s) for s in sources)
    execution = await sandbox().run(program, Probes(checks=checks), Limits())
    assert [r.outcome for r in execution.results] == ["failed", "raised", "raised"]
