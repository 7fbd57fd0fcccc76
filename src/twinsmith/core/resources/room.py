"""Whether a machine has room for one more: what it lacks, in one line, before anything begins."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """The memory and the disk of a machine that are free now, in megabytes."""

    memory_mb: int
    disk_mb: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """What has to stay free on a machine, in megabytes."""

    memory_mb: int
    disk_mb: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Slots:
    """The slots of apps on a machine: how many are taken, and how many there are; 0: any."""

    taken: int
    most: int = 0


def lack(machine: Machine, floor: Floor, *, needs_mb: int = 0) -> str:
    """What a machine lacks for something that needs so much memory; empty where it has room."""
    if machine.memory_mb < needs_mb + floor.memory_mb:
        wanted = f"{needs_mb} MB and " if needs_mb else ""
        return (
            f"{machine.memory_mb} MB of memory are free, and {wanted}{floor.memory_mb} MB to spare "
            "(resources.free_memory_mb) are needed"
        )
    if machine.disk_mb < floor.disk_mb:
        return (
            f"{machine.disk_mb} MB of disk are free, and {floor.disk_mb} MB (resources."
            "free_disk_mb) have to stay free; make room: twinsmith resources clean"
        )
    return ""


def lack_of_slots(slots: Slots, *, each_mb: int, all_mb: int) -> str:
    """Why one more app has no slot, or no part of the memory for all; empty where it has."""
    if slots.most and slots.taken >= slots.most:
        return f"{slots.taken} apps run, and resources.apps = {slots.most}; stop one first"
    if all_mb and (slots.taken + 1) * each_mb > all_mb:
        return (
            f"{slots.taken} apps and this one may take {each_mb} MB each (deploy.memory_mb), more "
            f"than resources.memory_mb = {all_mb} for all; stop one first"
        )
    return ""
