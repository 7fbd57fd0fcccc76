"""How a run ended, whatever it was about: a build has an outcome, and so has an action."""

from typing import assert_never

from twinsmith.core.events import Json
from twinsmith.core.operating.action import Action, ActionOutcome
from twinsmith.core.outcome import RunOutcome
from twinsmith.core.run_record import Given
from twinsmith.core.task import Job

Outcome = RunOutcome | ActionOutcome


def outcome_in(job: Given, ended: Json) -> Outcome:
    """The outcome of a run from its recorded end."""
    from twinsmith.adapters.codec import from_json

    match job:
        case Job():
            return from_json(ended, RunOutcome)
        case Action():
            return from_json(ended, ActionOutcome)
        case _:
            assert_never(job)
