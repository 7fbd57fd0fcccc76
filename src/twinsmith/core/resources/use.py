"""Who uses what of a machine, against the limits of the settings."""

from dataclasses import dataclass

from twinsmith.core.resources.room import Machine


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """One user of a machine; None where nobody can tell, or there is no limit."""

    who: str
    slots: int | None = None
    """How many of it are there now."""
    slots_limit: int | None = None
    memory: int | None = None
    """Bytes."""
    memory_limit: int | None = None
    processors: float | None = None
    """The most processors that it may use."""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of the data folder, and its size in bytes."""

    name: str
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """The resources of this machine."""

    machine: Machine
    uses: tuple[Use, ...]
    parts: tuple[Part, ...]
    lacks: str
    """Why no further run is taken; empty where there is room."""
