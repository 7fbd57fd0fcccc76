"""The last walls of a room, put up from inside before anything untrusted runs."""

from __future__ import annotations

# `ctypes` is a layer above this that takes two milliseconds to import.
import _ctypes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CLONE_NEWNS = 0x20000
MS_NOSUID, MS_NODEV = 2, 4
PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 4, 22, 38
SECCOMP_MODE_FILTER = 2
CAPABILITIES_V3 = 0x20080522


class LockFailed(Exception):
    """A wall of the room could not be put up, so nothing may run."""


class _Short(_ctypes._SimpleCData):  # type: ignore[type-arg]
    _type_ = "H"


class _Bytes(_ctypes._SimpleCData):  # type: ignore[type-arg]
    _type_ = "z"


class _Filter(_ctypes.Structure):
    _fields_ = (("length", _Short), ("code", _Bytes))


def must(name: str, *args: object) -> None:
    """Make a system call that has to succeed; LockFailed where it does not."""
    libc: Any = _ctypes
    if libc.call_function(libc.dlsym(libc.dlopen(None, 0), name), args) != 0:
        raise LockFailed(f"{name} {args[:2]!r} is refused")


def set_dumpable(value: int) -> None:
    """Set whether processes of the same user may look into this one: 1 or 0."""
    must("prctl", PR_SET_DUMPABLE, value, 0, 0, 0)


def lock(room: dict[str, Any]) -> None:
    """Lock the room: scratch folders with limits, no capabilities, fewer system calls."""
    if room["scratch"]:
        must("unshare", CLONE_NEWNS)
        for folder, options in room["scratch"].items():
            flags = MS_NOSUID | MS_NODEV
            must("mount", b"tmpfs", folder.encode(), b"tmpfs", flags, options.encode())
    set_dumpable(0)
    must("capset", CAPABILITIES_V3.to_bytes(4, "little") + bytes(4), bytes(24))
    must("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if room["seccomp"]:
        refuse(room["seccomp"])


def refuse(filtered: str) -> None:
    """Put up a filter of system calls, given in hexadecimal, for this process and its children."""
    code = bytes.fromhex(filtered)
    program = _ctypes.byref(_Filter(len(code) // 8, code))
    must("prctl", PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0)
