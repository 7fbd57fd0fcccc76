"""From settings to the desk at which people are asked."""

from typing import TYPE_CHECKING

from twinsmith.adapters.clock import SystemClock
from twinsmith.ports import Desk, Questions
from twinsmith.settings import Settings
from twinsmith.wiring.shared import shared_url

if TYPE_CHECKING:
    from twinsmith.adapters.desk.terminal import Terminal


def questions_of(settings: Settings) -> Questions:
    """Questions in the configured database, else in SQLite in the data folder."""
    from twinsmith.adapters.desk.questions import QuestionTable

    return QuestionTable(shared_url(settings))


def desk_of(settings: Settings, terminal: "Terminal | None", *, attended: bool) -> Desk:
    """The desk of a run: at the terminal where there is one, else as `build.questions` says.

    A run that a person attends from elsewhere waits for the answer, too.
    """
    from twinsmith.adapters.desk.durable import DurableDesk

    given = settings.values.build
    return DurableDesk(
        questions_of(settings),
        SystemClock(),
        given.answer_seconds,
        terminal=terminal,
        parks=attended or given.questions == "park",
    )
