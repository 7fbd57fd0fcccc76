"""What is cleaned away: what is old, then what is too much, the oldest first; nothing in use."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

ItemKind = Literal["run", "image", "layer", "index"]
KINDS: tuple[ItemKind, ...] = get_args(ItemKind)
YOUNG_DAYS = 1.0
"""Nothing younger is touched: somebody may be about to use it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """Something on the disk that could be made again, or that nobody may need any more."""

    kind: ItemKind
    name: str
    bytes: int
    days: float
    """Days since it was last used, as far as anybody can tell."""
    kept: str = ""
    """Why it stays, whatever its age; empty where nothing needs it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How long things stay, and how much of them; 0: for ever, and any amount."""

    days: float = 0.0
    most_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleaned:
    """Something that goes, and why."""

    item: Item
    why: str


def chosen(items: Iterable[Item], policy: Policy) -> tuple[Cleaned, ...]:
    """What goes by a policy, oldest first."""
    everything = sorted(items, key=lambda each: (-each.days, each.kind, each.name))
    free = [each for each in everything if not each.kept and each.days >= YOUNG_DAYS]
    old = [each for each in free if policy.days and each.days > policy.days]
    left = sum(each.bytes for each in everything) - sum(each.bytes for each in old)
    found = [Cleaned(item=each, why=f"unused for {each.days:.0f} days") for each in old]
    for each in free:
        if each in old or not policy.most_bytes or left <= policy.most_bytes:
            continue
        found.append(Cleaned(item=each, why="all together are too large"))
        left -= each.bytes
    return tuple(found)


def several_bytes(count: int) -> str:
    """A number of bytes as people read it: `1.5 GB`."""
    for size, unit in ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB")):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} B"
