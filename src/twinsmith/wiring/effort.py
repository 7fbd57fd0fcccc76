"""How hard these settings want a task to be worked on, and what is good enough."""

from dataclasses import fields

from twinsmith.core.effort import FRAMED, Effort
from twinsmith.core.errors import ConfigError
from twinsmith.core.judging.quality import Thresholds
from twinsmith.core.task import Task
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


def refuse_missing_frame(settings: Settings, task: Task) -> None:
    """ConfigError where a frame is wanted in a language that there is none for."""
    wanted = settings.values.build.frame == "on" and task.kind == "service"
    if wanted and task.language not in FRAMED:
        raise ConfigError(
            f"build.frame is 'on', and there is no frame for {task.language}, only for "
            f"{', '.join(FRAMED)}; set it to 'auto'"
        )
