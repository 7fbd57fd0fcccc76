"""What was typed of a build: whether it is anything, and what it may spend."""

from pathlib import Path

import pytest

from twinsmith.cli.wish import Wish
from twinsmith.settings.values import Build

SETTINGS = Build(budget_tokens=500, budget_seconds=60.0, budget_usd=2.0)


@pytest.mark.parametrize(
    "wish",
    [
        Wish(text="a function"),
        Wish(tests=Path("checks.py")),
        Wish(seed=0),
        Wish(usd=0.0),
        Wish(other=("build.votes=2",)),
    ],
    ids=repr,
)
def test_whatever_is_typed_is_something(wish: Wish) -> None:
    assert not wish.nothing
    assert Wish().nothing


def test_what_is_typed_wins_over_the_settings() -> None:
    usual = Wish().budget(SETTINGS)
    assert (usual.tokens, usual.seconds, usual.usd) == (500, 60.0, 2.0)
    other = Wish(tokens=7, seconds=3.0, usd=0.0).budget(SETTINGS)
    assert (other.tokens, other.seconds) == (7, 3.0)
    assert other.usd is None, "nothing limits it"
