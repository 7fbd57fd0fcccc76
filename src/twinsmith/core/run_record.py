"""A run as it is kept for every process: its job or action, who gave it, and when."""

from dataclasses import dataclass

from twinsmith.core.operating.action import Action
from twinsmith.core.task import Job

Given = Job | Action
"""What a run is about: a program to build, or something to do with an app."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """Everything that is needed to begin a run or to go on with it, on any machine."""

    job: Given
    by: str
    """The signature of the actor who submitted it."""
    at: str
    """The moment it was submitted, ISO 8601 in UTC."""
