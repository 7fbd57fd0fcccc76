"""Packages pinned by version and hash: of a lock that knows more, only what a program needs."""

import re
from collections.abc import Collection
from dataclasses import dataclass

from twinsmith.core.errors import ConfigError

_PIN = re.compile(r"^([a-z0-9][\w.-]*)==(\S+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """One package of a lock: its lines with hashes, and the packages that need it."""

    name: str
    version: str
    lines: tuple[str, ...]
    needed_by: frozenset[str]


def pins_in(lock: str) -> tuple[Pin, ...]:
    """The packages of a lock file as `uv pip compile` annotates it, in its order."""
    blocks: list[list[str]] = []
    for line in lock.splitlines():
        if _PIN.match(line):
            blocks.append([])
        if blocks:
            blocks[-1].append(line)
    return tuple(map(_pin, blocks))


def needed(pins: Collection[Pin], packages: Collection[str]) -> tuple[Pin, ...]:
    """The pins of these packages and of all that they need, in the order of the lock."""
    missing = sorted(set(packages) - {pin.name for pin in pins})
    if missing:
        raise ConfigError(
            f"no version of {', '.join(missing)} is pinned; packages that are: "
            f"{', '.join(sorted(pin.name for pin in pins if not pin.needed_by))}"
        )
    found = set(packages)
    while True:
        more = {pin.name for pin in pins if pin.needed_by & found} - found
        if not more:
            return tuple(pin for pin in pins if pin.name in found)
        found |= more


def as_lock(pins: Collection[Pin]) -> str:
    """A lock file of these pins alone, for an installer that checks hashes."""
    return "".join(f"{line}\n" for pin in pins for line in pin.lines)


def _pin(block: list[str]) -> Pin:
    named = _PIN.match(block[0])
    assert named is not None
    notes = [line.strip().removeprefix("#").strip() for line in block if line.strip()[:1] == "#"]
    parents = {note.removeprefix("via").strip() for note in notes} - {""}
    return Pin(
        name=named[1],
        version=named[2],
        lines=tuple(line for line in block if not line.strip().startswith("#")),
        needed_by=frozenset(name for name in parents if not name.startswith("-r")),
    )
