"""The last walls, put up from inside before anything untrusted runs."""

from __future__ import annotations

import ctypes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CLONE_NEWNS = 0x20000
MS_NOSUID, MS_NODEV = 2, 4
PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 4, 22, 38
SECCOMP_MODE_FILTER = 2
CAPABILITIES_V3 = 0x20080522


class LockFailed(Exception):
    """A wall could not be put up; nothing may run."""


def lock(room: dict[str, Any]) -> None:
    """Scratch folders with limits on bytes and files, no capabilities, fewer system calls."""
    libc = ctypes.CDLL(None, use_errno=True)

    def must(what: str, result: int) -> None:
        if result != 0:
            raise LockFailed(f"{what}: error {ctypes.get_errno()}")

    if room["scratch"]:
        must("unshare", libc.unshare(CLONE_NEWNS))
        for folder, options in room["scratch"].items():
            flags = ctypes.c_ulong(MS_NOSUID | MS_NODEV)
            words = b"tmpfs", folder.encode(), b"tmpfs", flags, options.encode()
            must(f"mount {folder}", libc.mount(*words))
    must("dumpable", libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
    header = (ctypes.c_uint32 * 2)(CAPABILITIES_V3, 0)
    must("capset", libc.capset(header, (ctypes.c_uint32 * 6)()))
    must("no new privileges", libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    if room["seccomp"]:
        _filter(libc, bytes.fromhex(room["seccomp"]), must)


def _filter(libc: Any, program: bytes, must: Any) -> None:
    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_char_p))

    code = Program(len(program) // 8, program)
    must("seccomp", libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(code), 0, 0))
