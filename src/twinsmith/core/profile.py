"""A task as the flow works on it: its words, read."""

from dataclasses import dataclass

from twinsmith.core.probe import Call


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What a task asks for, and what was assumed where it leaves something open."""

    entry: str = ""
    """The function to write; empty for commands and services."""
    signature: str = ""
    examples: tuple[Call, ...] = ()
    """What the task itself says that calls have to give."""
    example_checks: tuple[str, ...] = ()
    """The same as asserts, where more than the plain result is compared."""
    contradictions: tuple[str, ...] = ()
    sensitive: bool = False
    """Whether mistakes would open a door: passwords, tokens, money, other people's data."""
    question: str = ""
    assumed: str = ""
    answer: str = ""
