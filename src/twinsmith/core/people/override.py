"""Manual override: a person's word that beats every automatic action until it is lifted."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from twinsmith.core.errors import ConfigError

OverrideKind = Literal["pause", "cancel", "rollback"]
Command = Literal["pause", "resume", "cancel", "rollback", "release"]
COMMANDS: tuple[Command, ...] = ("pause", "resume", "cancel", "rollback", "release")
ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Override:
    """An override of one app, or of all; it holds until it is lifted."""

    scope: str
    """The name of an app, or `all`."""
    kind: OverrideKind
    reason: str
    by: str
    at: str
    lifted: str = ""
    """When it was lifted, and by whom; empty while it holds."""


def command_of(text: str) -> Command:
    """The command that a person means; ConfigError where it is none."""
    for known in COMMANDS:
        if text == known:
            return known
    raise ConfigError(f"override {text!r} is not known; one of {', '.join(COMMANDS)}")


def holding(overrides: Iterable[Override], app: str) -> Override | None:
    """The override that holds an app, the newest first; None where nothing does."""
    found = [each for each in overrides if not each.lifted and each.scope in (app, ALL)]
    return max(found, key=lambda each: each.at, default=None)


def words(override: Override) -> str:
    """An override as a person reads it."""
    scope = "everything" if override.scope == ALL else override.scope
    return (
        f"{override.by.removeprefix('user:')} holds {scope} since {override.at[:16]} "
        f"({override.kind}: {override.reason}); lift it with: "
        f"twinsmith override release {override.scope} --reason TEXT"
    )
