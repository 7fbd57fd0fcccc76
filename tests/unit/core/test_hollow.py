"""Programs that answer to the same names and do nothing."""

import ast
from dataclasses import replace

from twinsmith.core.planning.hollow import hollowed
from twinsmith.core.program import Program, SourceFile

SOURCE = '''import functools

LIMIT = 3


class Stack:
    """Things on things."""

    def __init__(self, items=()):
        self.items = list(items)

    @property
    def top(self):
        return self.items[-1]

    @functools.lru_cache(maxsize=8)
    def depth(self):
        def count():
            return len(self.items)
        return count()


async def load(path: str, *, most: int = LIMIT) -> list:
    return open(path).read()
'''
LIBRARY = Program(source=SOURCE, kind="library")


def test_names_and_parameters_stay_and_nothing_is_done() -> None:
    empty = hollowed(LIBRARY)
    assert empty is not None
    found: dict[str, object] = {}
    exec(compile(empty.source, "x", "exec"), found)
    stack = found["Stack"]
    assert isinstance(stack, type)
    made = stack(items=(1,))
    assert (made.top, made.depth(), vars(made)) == (None, None, {})
    load = next(n for n in ast.parse(empty.source).body if isinstance(n, ast.AsyncFunctionDef))
    assert [each.arg for each in (*load.args.args, *load.args.kwonlyargs)] == ["path", "most"]
    assert found["LIMIT"] == 3


def test_the_files_beside_it_are_empty_too() -> None:
    # Without them it would not even start, and every check would seem to notice.
    more = replace(LIBRARY, files=(SourceFile(name="more.py", text="def one():\n    return 1\n"),))
    empty = hollowed(more)
    assert empty is not None
    assert (more.source, empty.kind) == (SOURCE, "library")
    (file,) = empty.files
    assert (file.name, file.text) == ("more.py", "def one():\n    pass\n")


def test_what_is_no_python_and_commands_have_no_empty_twin() -> None:
    assert hollowed(replace(LIBRARY, language="go", source="package x\n")) is None
    assert hollowed(replace(LIBRARY, source="def broken(:\n")) is None
    assert hollowed(replace(LIBRARY, kind="cli")) is None
    broken = (SourceFile(name="more.py", text="def broken(:\n"),)
    assert hollowed(replace(LIBRARY, files=broken)) is None
