import pytest

from twinsmith.core.judging.pool import Pool
from twinsmith.core.judging.raising import named_exceptions, never_raised


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("raises ValueError where it is none, else KeyError; ValueError again", 2),
        ("raise a ZeroDivisionError", 1),
        ("stops with StopIteration", 1),
        ("raises MyError, an Exceptional ErrorReport or TypeErrors", 0),
        ("counts lines that hold ERROR or error", 0),
        ("", 0),
    ],
)
def test_only_names_of_built_in_exceptions_count(text: str, names: int) -> None:
    assert len(named_exceptions(text)) == names


def test_where_nothing_was_tried_nothing_was_seen() -> None:
    assert never_raised(("ValueError",), Pool(), 1) == ("ValueError",)
