"""How a program is going to be written, and how it will be checked."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The slow thinker's guidance for the coder."""

    approach: str
    entry: str
    signature: str
    checks: tuple[str, ...]
