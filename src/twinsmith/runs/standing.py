"""Apps brought to what their records say, from outside of any action."""

from dataclasses import replace

from twinsmith.core.operating.action import Action, Terms
from twinsmith.core.operating.app import App
from twinsmith.runs.book import Book


async def settle_cancelled(book: Book, action: Action) -> None:
    """Take an action out of the queue, and bring its app to what its record says."""
    from twinsmith.wiring.delivering import apps_of

    keep_cancelled(book, action)
    app = apps_of(book.settings).get(action.app)
    if app is not None:
        await settle(book, app, action.terms)


def keep_cancelled(book: Book, action: Action) -> None:
    """Keep that an action is cancelled, and the release that it had begun."""
    from twinsmith.wiring.delivering import queue_of_actions, releases_of

    queue_of_actions(book.settings).change(action.run, "cancelled")
    releases = releases_of(book.settings)
    begun = [each for each in releases.listed(action.app) if each.run == action.run]
    releases.save(*(replace(each, state="cancelled") for each in begun if each.state == "trying"))


async def serve(book: Book, app: App, terms: Terms) -> str:
    """The address at which an app serves once requests go where its record says."""
    from twinsmith.adapters.clock import SystemClock
    from twinsmith.adapters.durable.memory import MemoryDurable
    from twinsmith.flow.deliver.settle import routed
    from twinsmith.wiring.delivering import dock_of

    dock = dock_of(book.settings, MemoryDurable(SystemClock()), book.journal)
    return await routed(dock, app, terms)


async def settle(book: Book, app: App, terms: Terms) -> str:
    """The address at which an app serves once it is as its record says; empty: it does not."""
    from twinsmith.adapters.clock import SystemClock
    from twinsmith.adapters.durable.memory import MemoryDurable
    from twinsmith.flow.deliver.settle import settled
    from twinsmith.wiring.delivering import dock_of

    # Nothing of it is recorded: it can be done again at any time.
    dock = dock_of(book.settings, MemoryDurable(SystemClock()), book.journal)
    return await settled(dock, app, terms)
