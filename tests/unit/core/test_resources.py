"""What has room on a machine, and what is cleaned away."""

import pytest

from twinsmith.core.resources.cleaning import Item, ItemKind, Policy, chosen, several_bytes
from twinsmith.core.resources.room import Floor, Machine, Slots, lack, lack_of_slots

FLOOR = Floor(memory_mb=256, disk_mb=512)


@pytest.mark.parametrize(
    ("memory", "disk", "needs", "said"),
    [
        (256, 512, 0, ""),
        (255, 512, 0, "255 MB of memory are free, and 256 MB to spare"),
        (767, 512, 512, "767 MB of memory are free, and 512 MB and 256 MB to spare"),
        (768, 512, 512, ""),
        (9999, 511, 0, "511 MB of disk are free"),
    ],
)
def test_what_a_machine_lacks(memory: int, disk: int, needs: int, said: str) -> None:
    found = lack(Machine(memory_mb=memory, disk_mb=disk), FLOOR, needs_mb=needs)
    assert found.startswith(said)
    assert bool(found) == bool(said)
    assert "\n" not in found


@pytest.mark.parametrize(
    ("taken", "most", "all_mb", "said"),
    [
        (5, 0, 0, ""),
        (1, 2, 0, ""),
        (2, 2, 0, "2 apps run, and resources.apps = 2"),
        (1, 0, 1024, ""),
        (2, 0, 1024, "2 apps and this one may take 512 MB each"),
    ],
)
def test_which_app_has_a_slot(taken: int, most: int, all_mb: int, said: str) -> None:
    found = lack_of_slots(Slots(taken=taken, most=most), each_mb=512, all_mb=all_mb)
    assert found.startswith(said)
    assert bool(found) == bool(said)


def item(name: str, days: float, size: int = 10, *, kind: ItemKind = "run", kept: str = "") -> Item:
    return Item(kind=kind, name=name, bytes=size, days=days, kept=kept)


def names(items: list[Item], **policy: float) -> list[str]:
    made = Policy(days=policy.get("days", 0), most_bytes=int(policy.get("most", 0)))
    return [each.item.name for each in chosen(items, made)]


ITEMS = [
    item("new", 2),
    item("older", 40),
    item("oldest", 100),
    item("needed", 200, kept="it serves"),
    item("today", 0.5),
]


def test_what_is_old_goes_unless_it_is_needed() -> None:
    assert names(ITEMS, days=90) == ["oldest"]
    assert names(ITEMS, days=30) == ["oldest", "older"]
    assert names(ITEMS) == []


def test_what_is_too_much_goes_the_oldest_first() -> None:
    # Five of ten bytes each; what is needed counts, and stays.
    assert names(ITEMS, most=50) == []
    assert names(ITEMS, most=49) == ["oldest"]
    assert names(ITEMS, most=35) == ["oldest", "older"]
    # Nobody knows whether today's is about to be used.
    assert names(ITEMS, most=1) == ["oldest", "older", "new"]
    assert names(ITEMS, days=90, most=39) == ["oldest", "older"]


def test_sizes_as_people_read_them() -> None:
    assert [several_bytes(n) for n in (0, 1023, 1536, 3 << 20, 5 << 29)] == [
        "0 B",
        "1023 B",
        "1.5 KB",
        "3.0 MB",
        "2.5 GB",
    ]
