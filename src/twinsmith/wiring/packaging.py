"""From settings to what packages a program."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from twinsmith.core.operating.locked import Pin
    from twinsmith.ports import Inventory


def inventory() -> "Inventory":
    """Lists what programs are made of."""
    from twinsmith.adapters.packaging.cyclonedx_inventory import CyclonedxInventory

    return CyclonedxInventory()


def pinned() -> "tuple[Pin, ...]":
    """Every package that a Python program may have, by version and hash."""
    from twinsmith.adapters.sandbox.layers import LOCK
    from twinsmith.core.operating.locked import pins_in

    return pins_in(LOCK.read_text(encoding="utf-8"))
