"""An action with an app, seen to its end here or left to workers."""

import asyncio
from typing import TYPE_CHECKING

from twinsmith.cli.outcome import finish

if TYPE_CHECKING:
    from twinsmith.core.operating.action import Action
    from twinsmith.runs.book import Book
    from twinsmith.runs.drive import Driver
    from twinsmith.runs.ended import Outcome


def act(book: "Book", action: "Action", *, detach: bool, as_json: bool) -> None:
    """Do an action and show it; the command ends with its exit code, unless it is left alone."""
    from twinsmith.cli.build import drive, queued
    from twinsmith.runs.drive import Driver

    if detach or book.workers(serving=True):
        ended = queued(book, action, key=None, priority="high", detach=detach, as_json=as_json)
        if ended is None:
            return
    else:
        driver = Driver(book)
        ended = drive(driver, action.run, lambda: _patiently(driver, action), as_json=as_json)
    finish(ended, as_json=as_json)


def go_on(book: "Book", run: str, *, as_json: bool) -> None:
    """Go on with an action that a person was asked about; workers do it where there are any."""
    from twinsmith.cli.build import drive
    from twinsmith.cli.follow import Here, follow_to_the_end
    from twinsmith.runs.drive import Driver

    if book.workers(serving=True):
        followed = follow_to_the_end(Here(book, run), book.settings, as_json=as_json)
        finish(followed, as_json=as_json)
    driver = Driver(book)
    finish(drive(driver, run, lambda: _in_turn(driver, run), as_json=as_json), as_json=as_json)


async def _in_turn(driver: "Driver", run: str) -> "Outcome":
    """The outcome of an action that this process goes on with, or whoever has it just now.

    A monitor sees that a person has spoken as soon as they have.
    """
    from twinsmith.core.errors import RunBusy

    while True:
        try:
            return await driver.resume(run)
        except RunBusy:
            await asyncio.sleep(1.0)


async def _patiently(driver: "Driver", action: "Action") -> "Outcome":
    """The outcome of an action that waits for its turn as long as it takes."""
    from twinsmith.core.errors import Waiting

    try:
        return await driver.start(action)
    except Waiting as waiting:
        last = waiting
    while last.topic == "turn":
        _refuse_abandoned(driver.book, action.run)
        await asyncio.sleep(1.0)
        try:
            return await driver.resume(action.run)
        except Waiting as waiting:
            last = waiting
    raise last


def _refuse_abandoned(book: "Book", run: str) -> None:
    """RunBusy where whatever comes first was interrupted, and nobody would go on with it."""
    from twinsmith.core.errors import RunBusy
    from twinsmith.runs.apps import in_front

    first = in_front(book, run)
    if first is not None and not book.is_driven(first.run) and not book.workers(serving=True):
        raise RunBusy(
            f"{first.kind} ({first.run}) comes first and nobody drives it: twinsmith resume "
            f"{first.run}, or cancel it; then: twinsmith resume {run}"
        )
