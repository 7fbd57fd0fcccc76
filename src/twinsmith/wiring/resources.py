"""From settings to what resources need: limits of all, what is free, what may be cleaned away."""

from pathlib import Path
from typing import TYPE_CHECKING

from twinsmith.settings import Settings

if TYPE_CHECKING:
    from twinsmith.core.resources.cleaning import ItemKind, Policy
    from twinsmith.core.resources.room import Floor, Machine

IMAGES = "apps/images"
MODEL_THREADS = 1024


def cap_all(settings: Settings) -> None:
    """Set the limits of all sandboxes and apps on this machine together, where there are any."""
    from twinsmith.adapters.sandbox import cgroup
    from twinsmith.core.errors import SandboxError

    given = settings.values.resources
    if not given.memory_mb and not given.processors:
        return
    groups = cgroup.here()
    if groups is None:
        raise SandboxError(
            "resources.memory_mb and resources.processors need control groups, and none can be "
            "made here; run as root with /sys/fs/cgroup writable, or unset them"
        )
    try:
        cgroup.cap(groups, memory_mb=given.memory_mb, processors=given.processors)
    except OSError as error:
        raise SandboxError(
            f"the kernel does not take resources.memory_mb = {given.memory_mb} and "
            f"resources.processors = {given.processors:g}: {error.strerror}; more may be in use"
        ) from error


def hold_model(settings: Settings, process: int) -> None:
    """Put the process of an embedded model into a control group, where it has a limit."""
    import os

    from twinsmith.adapters.sandbox import cgroup
    from twinsmith.core.errors import ModelUnavailable

    most = settings.values.resources.models_memory_mb
    if not most:
        return
    groups = cgroup.here()
    if groups is None:
        raise ModelUnavailable(
            "resources.models_memory_mb needs control groups, and none can be made here; run as "
            "root with /sys/fs/cgroup writable, or unset it"
        )
    # After this process, so that the next one sweeps it away when both are gone.
    name = f"{os.getpid()}-model{process}"
    try:
        cgroup.add(cgroup.make(groups, name, memory_mb=most, processes=MODEL_THREADS), process)
    except OSError as error:
        raise ModelUnavailable(
            f"resources.models_memory_mb = {most} cannot be kept: {error.strerror}"
        ) from error


def used_by_groups() -> tuple[int, int | None] | None:
    """How many control groups there are, and what all hold; None where none can be made."""
    from twinsmith.adapters.sandbox import cgroup

    groups = cgroup.here()
    return None if groups is None else cgroup.used(groups)


def used_by_models() -> tuple[int, int]:
    """How many processes of embedded models there are, and the memory they hold in bytes."""
    from twinsmith.adapters.resources.machine import memory_of_processes

    return memory_of_processes("twinsmith.adapters.models.embedded_child")


def machine_of(settings: Settings) -> "Machine":
    """What is free on this machine."""
    from twinsmith.adapters.resources.machine import machine_now

    return machine_now(settings.home)


def floor_of(settings: Settings) -> "Floor":
    """What has to stay free."""
    from twinsmith.core.resources.room import Floor

    given = settings.values.resources
    return Floor(memory_mb=given.free_memory_mb, disk_mb=given.free_disk_mb)


def policy_of(settings: Settings) -> "Policy":
    """How long things stay, and how much of them."""
    from twinsmith.core.resources.cleaning import Policy

    given = settings.values.resources
    return Policy(days=given.keep_days, most_bytes=given.keep_mb << 20)


def place_of(settings: Settings, kind: "ItemKind") -> Path:
    """The folder in which things of a kind lie, each in a folder of its own."""
    match kind:
        case "run":
            return settings.home / "runs"
        case "image":
            return settings.home / IMAGES
        case "layer":
            return settings.sandbox_folder / "layers"
        case "index":
            return settings.home / "knowledge" / "index"
