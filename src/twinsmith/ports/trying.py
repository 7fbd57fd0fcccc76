"""What has to last of versions: which took part in results, and what is in force of them."""

from collections.abc import Sequence
from typing import Protocol

from twinsmith.core.trying.challenger import Challenge
from twinsmith.core.trying.versions import InForce, Kind, KnownVersion, Version


class Registry(Protocol):
    """Keeps every version that took part in a result, and which of them are retired."""

    def note(self, versions: Sequence[Version], at: str) -> None:
        """Keep versions that take part now; of known ones, the moment. A text is never replaced."""
        ...

    def get(self, kind: Kind, name: str, version: str) -> KnownVersion | None:
        """One version."""
        ...

    def listed(self, kind: Kind | None = None) -> tuple[KnownVersion, ...]:
        """Every version, or those of a kind, in the order of kind, name and first use."""
        ...

    def retire(self, version: Version, by: str, at: str) -> bool:
        """Mark a version as retired, or without `by` as usable again; False where it is so already.

        One that nobody noted is kept with that mark.
        """
        ...


class Forces(Protocol):
    """Keeps what differs from the settings until a person takes it back."""

    def put(self, entries: Sequence[InForce], instead_of: Sequence[str] = ()) -> None:
        """Keep entries, each in the place of the one of its key, and drop those of other keys."""
        ...

    def drop(self, keys: Sequence[str]) -> tuple[InForce, ...]:
        """Drop the entries of keys; those that there were."""
        ...

    def entries(self) -> tuple[InForce, ...]:
        """All that is in force, in the order of the keys."""
        ...


class Challengers(Protocol):
    """Keeps the challengers of roles, those of old too."""

    def start(self, challenge: Challenge) -> bool:
        """Keep a challenge that runs; False where its role has one that does."""
        ...

    def running(self) -> tuple[Challenge, ...]:
        """The challenges that run, in the order of their roles."""
        ...

    def end(self, ended: Challenge) -> bool:
        """Keep how a challenge ended, once; False where it had ended."""
        ...

    def listed(self) -> tuple[Challenge, ...]:
        """Every challenge, newest first."""
        ...
