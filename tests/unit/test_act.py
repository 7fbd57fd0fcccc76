"""An action that a person spoke about: whoever drives it, the command sees its end."""

import asyncio
from typing import cast

import pytest

from twinsmith.cli import act
from twinsmith.core.errors import HostError, RunBusy
from twinsmith.runs.drive import Driver
from twinsmith.runs.ended import Outcome


class Held:
    """A run that somebody else drives for a while."""

    def __init__(self, *said: Exception | str) -> None:
        self.left = list(said)

    async def resume(self, run: str) -> str:
        said = self.left.pop(0)
        if isinstance(said, Exception):
            raise said
        return f"{run} {said}"


def end_of(held: Held) -> Outcome:
    return asyncio.run(act._in_turn(cast("Driver", held), "r-1"))


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    async def at_once(_seconds: float) -> None:
        return None

    monkeypatch.setattr("twinsmith.cli.act.asyncio.sleep", at_once)


def test_what_a_monitor_has_begun_is_waited_for() -> None:
    held = Held(RunBusy("a monitor has it"), RunBusy("still"), "done")
    assert cast("str", end_of(held)) == "r-1 done"
    assert held.left == []


def test_any_other_trouble_is_told() -> None:
    with pytest.raises(HostError, match="no room"):
        end_of(Held(RunBusy("a monitor has it"), HostError("no room"), "done"))
