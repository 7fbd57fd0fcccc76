"""How hard these settings want a task to be worked on, and what is good enough."""

from dataclasses import fields

from twinsmith.core.effort import Effort
from twinsmith.core.judging.quality import Thresholds
from twinsmith.settings import Settings

FRONTIER = ("openai", "google", "anthropic")


def effort_of(settings: Settings) -> Effort:
    """How hard a task is worked on.

    A small model's opinion costs tokens and settles nothing; a large one's is asked for.
    """
    given = settings.values.build
    large = any(provider in settings.keys for provider in FRONTIER)

    def wanted(choice: str) -> bool:
        return choice == "on" or (choice == "auto" and large)

    plain = {field.name for field in fields(Effort)} - {"votes", "mending", "practice"}
    return Effort(
        **given.model_dump(include=plain),
        votes=given.votes if wanted(given.voting) else 0,
        mending=wanted(given.mending),
        practice=wanted(given.practice),
    )


def quality_of(settings: Settings) -> Thresholds:
    """What a program has to be besides right."""
    wanted = {field.name for field in fields(Thresholds)}
    return Thresholds(**settings.values.quality.model_dump(include=wanted))
