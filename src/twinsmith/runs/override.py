"""A person's override: it holds at once, whether workers are busy, hang or are gone."""

from collections.abc import Awaitable

from twinsmith.adapters.clock import SystemClock
from twinsmith.core.errors import ConfigError, EngineError, TwinsmithError
from twinsmith.core.events import SYSTEM, Json
from twinsmith.core.operating.action import Action
from twinsmith.core.operating.app import App, rollback_target, served
from twinsmith.core.people.override import ALL, Command, Override
from twinsmith.runs.apps import found
from twinsmith.runs.book import Book
from twinsmith.runs.standing import keep_cancelled, serve, settle

PATIENCE_SECONDS = 4.0
"""Whoever works on an app looks three times a second whether it is held, and settles it then."""


def overrides(book: Book) -> tuple[Override, ...]:
    """Every override, oldest first."""
    from twinsmith.wiring.delivering import overrides_of

    return overrides_of(book.settings).listed()


async def override(book: Book, command: Command, scope: str, reason: str) -> tuple[str, ...]:
    """Do what a person commands over the head of everything automatic; what was done, in lines."""
    from twinsmith.wiring.delivering import apps_of, overrides_of

    apps = apps_of(book.settings).listed() if scope == ALL else (found(book, scope),)
    said = book.settings.masking.text(" ".join(reason.split()))
    if not said:
        raise ConfigError("an override needs a reason; give one with --reason TEXT")
    if command == "rollback":
        for app in apps:
            _target(book, app)
    now, who = SystemClock().now(), book.actor.signature
    table = overrides_of(book.settings)
    data: dict[str, Json] = {"command": command, "scope": scope, "reason": said}
    await book.tell(SYSTEM, "override.commanded", data)
    if command == "resume" or command == "release":
        held = {each.scope for each in table.listed()} if scope == ALL else {scope}
        count = sum(table.lift(each, f"{now} by {who}: {said}") for each in sorted(held))
        return (f"{count} overrides of {scope} lifted",)
    table.put(Override(scope=scope, kind=command, reason=said, by=who, at=now))
    lines = [f"{'everything' if scope == ALL else scope} is held: nothing automatic goes on"]
    for app in apps:
        lines += await _overridden(book, command, app)
    return tuple(lines)


async def _overridden(book: Book, command: Command, app: App) -> list[str]:
    """Shut out whoever works on an app, then do with it what was commanded."""
    from twinsmith.wiring.delivering import terms_of

    terms, lines = terms_of(book.settings), []
    try:
        target = _target(book, app) if command == "rollback" else app.serving
        if command == "rollback":
            _serve_from_now_on(book, app, target)
        # At once, whoever is at work: they look at the record, too, when they let go.
        await serve(book, found(book, app.name), terms)
        if target:
            lines.append(f"{app.name}: release {target} serves")
        # What a rollback undoes must not go on afterwards.
        lines += await _shut_out(book, app, cancels=command in ("cancel", "rollback"))
        if command == "rollback":
            _serve_from_now_on(book, app, target)
        if command != "pause":
            await settle(book, found(book, app.name), terms)
    except TwinsmithError as error:
        lines.append(f"{app.name}: {error}")
    return lines


async def _shut_out(book: Book, app: App, *, cancels: bool) -> list[str]:
    """Let whoever works on an app let go of it, or shut them out."""
    from twinsmith.wiring.delivering import queue_of_actions

    lines = []
    actions = [each for each in queue_of_actions(book.settings).listed() if each.app == app.name]
    for each in actions:
        if each.state == "running" and book.is_driven(each.run):
            await book.until_left(each.run, PATIENCE_SECONDS)
            if book.is_driven(each.run):
                book.driving.seize(each.run, "parked")
                lines.append(f"{each.kind} ({each.run}) did not let go in time and is shut out")
                told: dict[str, Json] = {"reason": "a person's override holds it"}
                lines += await _noted(book.tell(each.run, "run.parked", told))
        if cancels:
            await book.queue.cancel(each.run)
            book.driving.seize(each.run, "ended")
            given = book.given(each.run)
            assert isinstance(given, Action)
            keep_cancelled(book, given)
            lines.append(f"{each.kind} ({each.run}) cancelled")
            lines += await _noted(
                book.end(each.run, "cancelled", {"reason": "a person's override"})
            )
    return lines


async def _noted(work: Awaitable[None]) -> list[str]:
    """Tell the journal of a run; where whoever hangs holds it, a line that says so.

    What was commanded stands in the system's own journal, and is done all the same.
    """
    try:
        await work
    except EngineError as error:
        return [str(error)]
    return []


def _target(book: Book, app: App) -> int:
    from twinsmith.wiring.delivering import releases_of

    return rollback_target(app, releases_of(book.settings).listed(app.name), 0).number


def _serve_from_now_on(book: Book, app: App, number: int) -> None:
    """Keep that an earlier release serves; settling the app makes it so."""
    from twinsmith.wiring.delivering import apps_of, releases_of

    records = releases_of(book.settings)
    now = found(book, app.name)
    changed, releases = served(now, records.listed(app.name), number, left="rolled back")
    records.save(*releases)
    apps_of(book.settings).save(changed)
