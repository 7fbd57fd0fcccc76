"""Limits on each process of a program, for machines where no control group counts them together."""

from twinsmith.adapters.sandbox import seccomp
from twinsmith.core.execution import Limits


def memory_of_each(limits: Limits, *, counted: bool) -> dict[str, object]:
    """The part of a room with the memory limit of each process of a program and a build, in bytes.

    A limit of one process does not see memory that can be shared, so that is refused to programs;
    nothing of this where a group counts.
    """
    return {
        "memory_bytes": 0 if counted else limits.memory_mb << 20,
        "build_bytes": 0 if counted else limits.build_memory_mb << 20,
        "unshared": "" if counted else seccomp.in_hex(seccomp.uncounted),
    }
