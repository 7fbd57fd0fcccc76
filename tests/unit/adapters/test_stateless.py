import pytest

from twinsmith.adapters.sandbox.stateless import is_stateless

HARMLESS = '''
"""Words."""
import math
from collections import Counter, defaultdict
from functools import reduce
from typing import List

LIMIT, NAMES = -10 ** 9 + 7, ("a", "b")
SIZE: int = 3


def f(xs: List[int], n: int = 2, *, key: str = "x") -> int:
    seen = {}
    seen[n] = xs
    xs[0] += 1
    for i, x in enumerate(sorted(xs, key=lambda v: -v)):
        seen.setdefault(x, []).append(i)

    def inner(k):
        nonlocal n
        n += k
        return n

    return reduce(lambda a, b: a + b, map(inner, xs), math.floor(0.5)) + len(Counter(xs))
'''


def test_functions_and_constants_keep_nothing() -> None:
    assert is_stateless(HARMLESS)


@pytest.mark.parametrize(
    "line",
    [
        "CACHE = {}",
        "SEEN: list = []",
        "def g(x, seen=[]): return seen",
        "def g(x, *, seen={}): return seen",
        "g = lambda x, seen=[]: seen",
        "def g():\n    global LIMIT\n    LIMIT = 1",
        "class K: pass",
        "async def g(): pass",
        "import functools",
        "from functools import cache",
        "from functools import *",
        "import random",
        "import os.path",
        "from .near import x",
        "def g():\n    import random\n    return random.random()",
        "def g():\n    g.count = 1",
        "def g():\n    math.pi = 3",
        "def g():\n    del math.pi",
        "def g():\n    re.table[0] = 1",
        "def g():\n    return f.__dict__",
        "def g():\n    return f._kept",
        "def g():\n    exec('x = 1')",
        "def g():\n    return globals()",
        "def g():\n    return __builtins__",
        "def g():\n    open('/tmp/x', 'a')",
        "print('hello')",
        "for i in (1, 2): pass",
        "@staticmethod\ndef g(): pass",
        "def g(:",
    ],
)
def test_whatever_could_remember_counts_as_memory(line: str) -> None:
    assert not is_stateless(f"{HARMLESS}\n{line}\n")
