"""Source is parsed although another thread disturbs the parser."""

import ast
import re
from pathlib import Path

import pytest

import twinsmith
from twinsmith.core.syntax import parse, parse_expression


def test_a_parser_that_was_disturbed_reads_again(monkeypatch: pytest.MonkeyPatch) -> None:
    right, asked = ast.parse, []

    def disturbed(source: str, **how: str) -> ast.AST:
        asked.append(source)
        if len(asked) % 2:
            raise SystemError("AST constructor recursion depth mismatch (before=201, after=32)")
        return right(source, **how)  # type: ignore[call-overload, no-any-return]

    monkeypatch.setattr(ast, "parse", disturbed)
    assert ast.dump(parse("a = 1")) == ast.dump(right("a = 1"))
    assert ast.dump(parse_expression("a + 1")) == ast.dump(right("a + 1", mode="eval"))
    assert len(asked) == 4


def test_what_is_no_python_is_said_at_once() -> None:
    with pytest.raises(SyntaxError):
        parse("a b")
    with pytest.raises(SyntaxError):
        parse_expression("a = 1")


def test_nobody_parses_past_it() -> None:
    root = Path(twinsmith.__file__).parent
    found = [
        str(path.relative_to(root))
        for path in root.rglob("*.py")
        if re.search(r"\bast\.parse\(", path.read_text()) and "inside" not in path.parts
    ]
    assert found == ["core/syntax.py"]
