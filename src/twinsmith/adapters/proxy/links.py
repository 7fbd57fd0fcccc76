"""The slots of an app as links on disk: a switch is one rename, and no proxy has to load anything.

Caddy 2.6 opens every port anew when it loads a change, and closes the old one with whoever waits
there: one request in two switches was lost under load. It looks a socket's path up anew for
every request, though; so that path leads through a link, and the link is what is switched.
"""

import secrets
import shutil
from collections.abc import Sequence
from pathlib import Path

from twinsmith.adapters.proxy.slots import SLOTS

NOW = "now"
_GENERATION = "to-"
_ROW = 10
"""Slots in a folder. Rows that are alike are one: a switch makes 20 to 40 links, not a hundred."""


def slot_path(place: Path, slot: int) -> Path:
    """The path by which a proxy reaches the upstream that has a slot now."""
    return place / NOW / str(slot // _ROW) / str(slot % _ROW)


def switch(place: Path, addresses: Sequence[str]) -> None:
    """From here on these are the addresses behind the slots, all of them at once."""
    made = place / f"{_GENERATION}{secrets.token_hex(4)}"
    made.mkdir(mode=0o700)
    rows = [tuple(addresses[at : at + _ROW]) for at in range(0, len(addresses), _ROW)]
    for row in dict.fromkeys(rows):
        folder = made / f"row-{rows.index(row)}"
        folder.mkdir(mode=0o700)
        for slot, address in enumerate(row):
            (folder / str(slot)).symlink_to(address)
    for number, row in enumerate(rows):
        (made / str(number)).symlink_to(f"row-{rows.index(row)}")
    aside = place / f"{NOW}.part"
    aside.unlink(missing_ok=True)
    aside.symlink_to(made.name)
    before = _generation(place)
    aside.rename(place / NOW)
    for old in place.glob(f"{_GENERATION}*"):
        # Who looks a path up this very moment may be in the one before.
        if old.name not in (made.name, before):
            shutil.rmtree(old, ignore_errors=True)


def linked(place: Path) -> tuple[str, ...]:
    """The addresses behind the slots; none where there are no links, or not all of them."""
    try:
        return tuple(str(slot_path(place, slot).readlink()) for slot in range(SLOTS))
    except OSError:
        return ()


def forget(place: Path) -> None:
    """Lead nowhere any more."""
    (place / NOW).unlink(missing_ok=True)
    for old in place.glob(f"{_GENERATION}*"):
        shutil.rmtree(old, ignore_errors=True)


def _generation(place: Path) -> str:
    try:
        return str((place / NOW).readlink())
    except OSError:
        return ""
