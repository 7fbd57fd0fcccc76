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


async def judged(*checks: str, source: str = SOURCE) -> list[ProbeResult]:
    probes = Probes(
        checks=tuple(
            Probe(name=str(n), origin="plan", source=check) for n, check in enumerate(checks)
        )
    )
    program = Program(source=source, kind="library")
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


CACHE = '''
from dataclasses import dataclass

class Full(ValueError, KeyError):
    """There is no room."""

class Overfull(Full): ...

@dataclass(frozen=True)
class Point:
    x: int
    y: int = 0

    def __neg__(self): return Point(-self.x, -self.y)
    def __mul__(self, by): return Point(self.x * by, self.y * by)
    def __rmul__(self, by): return self * by
    def __format__(self, how): return f"{self.x:{how}}"

class Broken:
    def __repr__(self): raise RuntimeError("no")
    def state(self): return "fine"

class Cache:
    created = 0

    def __init__(self, capacity, *, ttl=None):
        self.capacity, self.ttl, self.left_by, self._kept = capacity, ttl, None, {}

    @classmethod
    def sized(cls, *, capacity): return cls(capacity)

    @staticmethod
    def key(*, of): return of.lower()

    def put(self, key, value=None, /, ttl=0, **more):
        if len(self._kept) == self.capacity: raise Overfull("no room")
        self._kept[key] = (value, ttl, more)

    def get(self, key, default=None): return self._kept.get(key, default)
    def fill(self, *, into, request=1): into.extend(self._kept)
    def __call__(self, *, self_=0, request=1): return (self_, request)
    def __contains__(self, key): return key in self._kept
    def __getitem__(self, key): return self._kept[key]
    def __setitem__(self, key, value): self._kept[key] = value
    def __delitem__(self, key): del self._kept[key]
    def __len__(self): return len(self._kept)
    def __reversed__(self): return reversed(list(self._kept))
    def __repr__(self): return f"Cache({self.capacity})"
    def __enter__(self): return self
    def __exit__(self, kind, error, trace):
        self.left_by = None if kind is None else f"{kind.__name__}: {error}"
        return kind is KeyError

class Large(Cache): ...

def made(capacity): return Cache(capacity)
'''


async def test_keyword_arguments_reach_everything_that_is_called() -> None:
    results = await judged(
        "c = Cache(capacity=2, ttl=5)\nassert (c.capacity, c.ttl) == (2, 5)",
        "c = Cache(1)\nc.put(1, 10, ttl=3, request=4)\nassert c.get(1) == (10, 3, {'request': 4})",
        "assert Cache(1).get(1, default=[2]) == [2]",
        "assert Cache.sized(capacity=3).capacity == 3\nassert Cache.key(of='A') == 'a'",
        "assert Cache(1)(self_=2, request=3) == (2, 3)",
        "put = Cache(1).put\nput(1, ttl=2)",
        "c = Cache(3)\nc.put('a')\nkeys = []\nc.fill(into=keys)\nassert keys == ['a']",
        "assert Point(x=1) == Point(1, y=0)",
        "assert made(capacity=2).capacity == 2",
        source=CACHE,
    )
    assert [(r.outcome, r.detail) for r in results] == [("passed", "")] * len(results)


async def test_the_languages_own_words_work_on_objects() -> None:
    results = await judged(
        "c = Cache(2)\nc['a'] = 1\nassert c['a'] == 1 and len(c) == 1\ndel c['a']\nassert not c",
        "c = Cache(2)\nc.put('a')\nassert 'a' in c and 'b' not in c",
        "c = Cache.sized(capacity=2)\nc.put('a')\nassert 'a' in c",
        "c = Cache(2)\nc.put('a')\nc.put('b')\nassert list(reversed(c)) == ['b', 'a']",
        "assert repr(Cache(2)) == 'Cache(2)' == str(Cache(2)) == f'{Cache(2)}'",
        "assert repr([Point(1)]) == '[Point(x=1, y=0)]'\nassert f'{Point(3):03}' == '003'",
        "assert {Point(1), Point(1)} == {Point(1)}\nassert {Point(1): 2}[Point(1)] == 2",
        "assert -Point(1) == Point(-1)\nassert Point(2) * 2 == 2 * Point(2) == Point(4)",
        "assert isinstance(Large(1), Cache) and not isinstance(Cache(1), (Large, Point))",
        "assert not isinstance(3, Cache)\nassert issubclass(Large, Cache)",
        "c = Cache(1)\nwith c as x:\n    assert x is c\nassert c.left_by is None",
        "c = Cache(1)\nwith c:\n    raise KeyError('k')\nassert 'KeyError' in c.left_by",
        "c = Cache(1)\ntry:\n    with c:\n        raise Full('own')\nexcept Full:\n    pass\n"
        "else:\n    assert False\nassert c.left_by.startswith('Full:')",
        "c = Cache(1)\nc.note = 1\ndel c.note\nassert not hasattr(c, 'note')",
        "try:\n    1 + Cache(1)\nexcept TypeError:\n    pass\nelse:\n    assert False",
        "assert Broken().state() == 'fine'",
        source=CACHE,
    )
    assert [(r.outcome, r.detail) for r in results] == [("passed", "")] * len(results)


@pytest.mark.parametrize("kind", ["Overfull", "Full", "ValueError", "KeyError", "Exception"])
async def test_an_exception_is_caught_by_its_bases(kind: str) -> None:
    check = f"try:\n    Cache(0).put(1)\nexcept {kind} as e:\n    assert 'no room' in str(e)\n"
    (result,) = await judged(f"{check}else:\n    assert False", source=CACHE)
    assert (result.outcome, result.detail) == ("passed", "")


@pytest.mark.parametrize(
    "raised", ["ValueError('no')", "KeyError('k')", "Own('no')", "Own()", "OSError(2, 'no file')"]
)
async def test_an_exception_says_what_it_says_in_the_program(raised: str) -> None:
    source = f"class Own(Exception): ...\ndef f():\n    raise {raised}\n"
    kind = raised.partition("(")[0]
    kind = "FileNotFoundError" if kind == "OSError" else kind
    said = str(eval(raised, {"Own": Exception}))
    check = f"try:\n    f()\nexcept {kind} as e:\n    assert str(e) == {said!r}, str(e)"
    passed, told = await judged(f"{check}\nelse:\n    assert False", "f()", source=source)
    assert (passed.outcome, passed.detail) == ("passed", "")
    words = f"{kind}: {said} (line 3)"
    assert told.detail == f"{words}; f() raised {words}"


async def test_several_threads_of_a_check_do_not_mix_their_answers() -> None:
    check = (
        "import threading\nc, wrong = Cache(1000), []\n"
        "def use(n):\n"
        "    for k in range(20):\n"
        "        c.put((n, k), n)\n"
        "        if c.get((n, k))[0] != n: wrong.append((n, k))\n"
        "threads = [threading.Thread(target=use, args=(n,)) for n in range(8)]\n"
        "for t in threads: t.start()\n"
        "for t in threads: t.join()\n"
        "assert not wrong and len(c) == 160"
    )
    (result,) = await judged(check, source=CACHE)
    assert (result.outcome, result.detail) == ("passed", "")


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
