"""The workflow of actions with apps, and the outside world that all of them share in a process."""

from typing import TYPE_CHECKING, Self

from twinsmith.core.driving import Driving
from twinsmith.core.errors import Waiting
from twinsmith.core.events import SYSTEM, Json
from twinsmith.core.operating.action import Action, ActionOutcome
from twinsmith.core.progress import State
from twinsmith.runs.book import Book
from twinsmith.runs.telling import Telling
from twinsmith.wiring.resources import cap_all
from twinsmith.wiring.running import node_of

if TYPE_CHECKING:
    from twinsmith.adapters.durable.dbos_engine import DbosEngine

ELSEWHERE_SECONDS = 3.0


class Dockyard:
    """Delivers apps of a book in this process; what it needs is opened when it is needed."""

    def __init__(self, book: Book, engine: "DbosEngine", telling: Telling) -> None:
        self._book = book
        self._engine = engine
        self._telling = telling

    async def __aenter__(self) -> Self:
        """Set the limits of all apps together, where the settings have any."""
        cap_all(self._book.settings)
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def deliver(self, _run: str, given: Json) -> Json:
        """The workflow of an action: it goes in, its outcome comes out."""
        from twinsmith.adapters.codec import from_json, to_json

        action = from_json(given, Action)

        async def delivered(driving: Driving) -> ActionOutcome:
            return await self._delivered(action, driving)

        outcome = await self._telling.told(action, delivered, self._tell_ended)
        return to_json(outcome, ActionOutcome)

    async def _delivered(self, action: Action, driving: Driving) -> ActionOutcome:
        from twinsmith.adapters.journal.fenced import FencedJournal
        from twinsmith.flow.deliver.deliver import deliver
        from twinsmith.wiring.delivering import dock_of, soon

        settings = self._book.settings
        if driving.node not in ("", node_of(settings)):
            told = f"run {action.run} is for another machine, whose worker has to take it"
            raise Waiting(told, topic="machine", until=soon(ELSEWHERE_SECONDS))
        journal = FencedJournal(self._book.journal, self._engine.check)
        return await deliver(action, dock_of(settings, self._engine, journal, self._book.telemetry))

    async def _tell_ended(self, outcome: ActionOutcome) -> None:
        state: State = "done" if outcome.done else "refused"
        self._telling.say(f"run {outcome.run} {state}: {outcome.reason}")
        data: dict[str, Json] = {
            "app": outcome.app,
            "action": outcome.kind,
            "release": outcome.release,
            "reason": outcome.reason,
        }
        await self._book.tell(SYSTEM, f"app.{state}", data, key=f"app.{state}:{outcome.run}")
        await self._book.end(outcome.run, state, data)
