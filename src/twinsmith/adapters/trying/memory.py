"""Versions, what is in force of them, and challengers, in dictionaries: the fakes."""

from collections.abc import Sequence
from dataclasses import replace

from twinsmith.core.trying.challenger import Challenge
from twinsmith.core.trying.versions import InForce, Kind, KnownVersion, Version


class MemoryRegistry:
    """The versions of one process."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, str], KnownVersion] = {}

    def note(self, versions: Sequence[Version], at: str) -> None:
        """Keep versions that take part now; of known ones, the moment."""
        for each in versions:
            known = self._known.get(_key(each)) or KnownVersion(version=each, first=at, last=at)
            self._known[_key(each)] = replace(known, last=at)

    def get(self, kind: Kind, name: str, version: str) -> KnownVersion | None:
        """One version."""
        return self._known.get((kind, name, version))

    def listed(self, kind: Kind | None = None) -> tuple[KnownVersion, ...]:
        """Every version, or those of a kind."""
        mine = [k for k in self._known.values() if kind in (None, k.version.kind)]
        return tuple(sorted(mine, key=lambda k: (k.version.kind, k.version.name, k.first)))

    def retire(self, version: Version, by: str, at: str) -> bool:
        """Mark a version as retired, or without `by` as usable again."""
        known = self._known.get(_key(version))
        if bool(known and known.retired_by) == bool(by):
            return False
        known = known or KnownVersion(version=version, first=at, last=at)
        self._known[_key(version)] = replace(known, retired_by=by, retired_at=at if by else "")
        return True


class MemoryForces:
    """What is in force in one process."""

    def __init__(self) -> None:
        self._entries: dict[str, InForce] = {}

    def put(self, entries: Sequence[InForce], instead_of: Sequence[str] = ()) -> None:
        """Keep entries, each in the place of the one of its key, and drop those of other keys."""
        self.drop(instead_of)
        self._entries |= {each.key: each for each in entries}

    def drop(self, keys: Sequence[str]) -> tuple[InForce, ...]:
        """Drop the entries of keys; those that there were."""
        found = [self._entries.pop(key, None) for key in sorted(set(keys))]
        return tuple(each for each in found if each is not None)

    def entries(self) -> tuple[InForce, ...]:
        """All that is in force."""
        return tuple(self._entries[key] for key in sorted(self._entries))


class MemoryChallengers:
    """The challengers of one process."""

    def __init__(self) -> None:
        self._known: dict[str, Challenge] = {}

    def start(self, challenge: Challenge) -> bool:
        """Keep a challenge that runs; False where its role has one that does."""
        if any(each.role == challenge.role for each in self.running()):
            return False
        self._known[challenge.id] = challenge
        return True

    def running(self) -> tuple[Challenge, ...]:
        """The challenges that run, in the order of their roles."""
        mine = (each for each in self._known.values() if each.course == "running")
        return tuple(sorted(mine, key=lambda each: each.role))

    def end(self, ended: Challenge) -> bool:
        """Keep how a challenge ended, once; False where it had ended."""
        if all(each.id != ended.id for each in self.running()):
            return False
        self._known[ended.id] = ended
        return True

    def listed(self) -> tuple[Challenge, ...]:
        """Every challenge, newest first."""
        return tuple(sorted(self._known.values(), key=lambda k: (k.began, k.id), reverse=True))


def _key(version: Version) -> tuple[str, str, str]:
    return version.kind, version.name, version.version
