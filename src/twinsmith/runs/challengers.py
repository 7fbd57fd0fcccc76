"""Challengers of roles: begun, watched, stopped; they fall back by themselves when a guard breaks.

What they come to is counted from the journal. Runs that are over are read once.
"""

import asyncio
import secrets
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from twinsmith.adapters.clock import SystemClock
from twinsmith.core.errors import ConfigError, Conflict
from twinsmith.core.events import SYSTEM, Json
from twinsmith.core.model import ROLES, Role
from twinsmith.core.operating.alert import Alert
from twinsmith.core.progress import ENDED
from twinsmith.core.trying.challenger import (
    Challenge,
    Score,
    Tally,
    added,
    read_guard,
    scored,
    tallied,
)
from twinsmith.runs.alerts import raise_alert
from twinsmith.runs.book import Book
from twinsmith.runs.versions import end_challenge, in_force, refuse_model

LARGEST_SHARE = 0.5
MOST_SHOWN = 20


class ChallengerBook:
    """How the challengers of one home stand."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self._known: dict[tuple[str, str], Tally] = {}
        """What runs that are over add to challenges."""
        self._lock = threading.Lock()

    def scores(self) -> tuple[Score, ...]:
        """How all challenges stand, newest first."""
        from twinsmith.wiring.trying import challengers_of

        listed = challengers_of(self._book.settings).listed()
        return tuple(map(self.score, listed[:MOST_SHOWN]))

    def score(self, challenge: Challenge) -> Score:
        """How a challenge stands by the runs that began while it went on."""
        began, ended = _stamp(challenge.began), _stamp(challenge.ended) if challenge.ended else "~"
        tally = Tally()
        with self._lock:
            for run in self._book.journal.runs():
                if began <= run <= ended:
                    tally = added(tally, self._of(challenge, run))
        return scored(challenge, tally)

    async def look(self) -> tuple[Score, ...]:
        """Let challengers fall back whose guards are broken; those that did."""
        from twinsmith.wiring.trying import challengers_of

        running = await asyncio.to_thread(challengers_of(self._book.settings).running)
        guarded = [each for each in running if each.guards]
        scores = [await asyncio.to_thread(self.score, each) for each in guarded]
        fallen = [each for each in scores if each.broken]
        return tuple([each for each in fallen if await self._fell(each)])

    async def _fell(self, score: Score) -> bool:
        challenge, book = score.challenge, self._book
        ended = replace(
            challenge,
            course="fallen",
            ended=SystemClock().now(),
            ended_by="twinsmith",
            why=score.broken,
        )
        if not await end_challenge(book, ended):
            return False
        alert = Alert(
            id=f"challenger-{challenge.id}",
            app="",
            severity="warning",
            title=f"{challenge.model} challenges {challenge.role} no more: a guard is broken",
            text=f"{score.broken}. The role asks what it asked before.",
            key=f"challenger {challenge.id}",
            at=time.time(),
        )
        await raise_alert(book, alert)
        return True

    def _of(self, challenge: Challenge, run: str) -> Tally:
        known = self._known.get((challenge.id, run))
        if known is not None:
            return known
        entries = self._book.journal.entries(run)
        tally = tallied(challenge, run, entries)
        last = next((e.event for e in reversed(entries) if e.event.kind == "run.ended"), None)
        if last is not None and last.data.get("state") in ENDED:
            self._known[challenge.id, run] = tally
        return tally


async def challenge(
    book: Book, role: str, model: str, share: float, guards: Sequence[str]
) -> Challenge:
    """Let a model challenge a role; ConfigError where it cannot, Conflict where one does."""
    from twinsmith.wiring.trying import challengers_of
    from twinsmith.wiring.trying import in_force as arranged_in_force

    if not 0 < share <= LARGEST_SHARE:
        raise ConfigError(f"share {share:g} is none that a challenger may have; above 0, up to 0.5")
    chosen = _role(role)
    await asyncio.to_thread(refuse_model, book, chosen, model)
    whole = await asyncio.to_thread(arranged_in_force, book.settings)
    first, second = whole.asks(chosen, 1), whole.asks(chosen, 2)
    pinned = [e for e in await asyncio.to_thread(in_force, book) if e.key.endswith(chosen)]
    if first != second or any(each.verb == "pinned" for each in pinned):
        told = ", ".join(f"{each.key} is {each.verb} to {each.value}" for each in pinned)
        raise ConfigError(f"{chosen} cannot be challenged: {told}; first: models restore")
    if model in first:
        raise ConfigError(f"{model} is the champion of {chosen} already")
    wanted = Challenge(
        id=secrets.token_hex(4),
        role=chosen,
        model=model,
        share=share,
        guards=tuple(map(read_guard, guards)),
        champion=first,
        by=book.actor.signature,
        began=SystemClock().now(),
    )
    if not await asyncio.to_thread(challengers_of(book.settings).start, wanted):
        raise Conflict(f"{chosen} has a challenger; first: models challenge --stop {chosen}")
    data: dict[str, Json] = {
        "id": wanted.id,
        "role": chosen,
        "model": model,
        "share": share,
        "guards": [each.words for each in wanted.guards],
        "champion": list(first),
    }
    await book.tell(SYSTEM, "challenger.began", data)
    return wanted


async def stop(book: Book, role: str) -> Challenge:
    """Give the challenger of a role no more calls."""
    from twinsmith.wiring.trying import challengers_of

    chosen = _role(role)
    running = await asyncio.to_thread(challengers_of(book.settings).running)
    for each in running:
        ended = replace(
            each,
            course="stopped",
            ended=SystemClock().now(),
            ended_by=book.actor.signature,
            why="a person stopped it",
        )
        if each.role == chosen and await end_challenge(book, ended):
            return ended
    raise ConfigError(f"{chosen} has no challenger; see: twinsmith models challengers")


def _role(role: str) -> Role:
    found = next((each for each in ROLES if each == role), None)
    if found is None:
        raise ConfigError(f"role {role!r} is unknown; one of {', '.join(ROLES)}")
    return found


def _stamp(at: str) -> str:
    """A moment as the names of runs begin."""
    return f"{datetime.fromisoformat(at):%Y%m%d-%H%M%S}"
