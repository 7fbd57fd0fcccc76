"""System calls that no program needs here and that escapes are made of.

One list, in two forms: a filter for bubblewrap, made by libseccomp, and a profile for Docker and
Podman. Everything else is allowed: six compilers and their programs need most of the rest.
"""

import ctypes
import json
import os
from dataclasses import dataclass
from functools import cache

from twinsmith.core.errors import SandboxError

INSTALL = "apt-get install -y libseccomp2"
ALLOW, REFUSE = 0x7FFF0000, 0x00050000
EPERM, ENOSYS, EAFNOSUPPORT = 1, 38, 97
EQUAL, GREATER, MASKED = 4, 6, 7
_OPERATIONS = {EQUAL: "SCMP_CMP_EQ", GREATER: "SCMP_CMP_GT", MASKED: "SCMP_CMP_MASKED_EQ"}

TRACING = (
    "ptrace process_vm_readv process_vm_writev process_madvise kcmp pidfd_getfd perf_event_open "
    "bpf userfaultfd lookup_dcookie fanotify_init"
)
RINGS_AND_KEYS = "io_uring_setup io_uring_enter io_uring_register keyctl add_key request_key"
MOUNTS = (
    "mount umount2 pivot_root chroot move_mount mount_setattr open_tree fsopen fsconfig fsmount "
    "fspick unshare setns open_by_handle_at name_to_handle_at"
)
MACHINE = (
    "reboot kexec_load kexec_file_load init_module finit_module delete_module swapon swapoff acct "
    "quotactl quotactl_fd syslog iopl ioperm vhangup uselib ustat sysfs nfsservctl settimeofday "
    "clock_settime clock_adjtime adjtimex modify_ldt memfd_secret"
)
# Unix, IPv4, IPv6 and netlink, in a network namespace of their own; no other family.
FAMILIES = (1, 2, 10, 16)
HIGHEST_FAMILY = 16
NAMESPACES = (0x80, 0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000)
TIOCSTI, TIOCLINUX = 0x5412, 0x541C


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One refused call, perhaps only with a certain argument: (number, operation, value, mask)."""

    call: str
    error: int = EPERM
    argument: tuple[int, int, int, int] | None = None


def rules() -> tuple[Rule, ...]:
    """Everything that is refused."""
    words = f"{TRACING} {RINGS_AND_KEYS} {MOUNTS} {MACHINE}".split()
    families = [n for n in range(HIGHEST_FAMILY) if n not in FAMILIES]
    return (
        *(Rule(call=word) for word in words),
        # Its flags are in memory, out of a filter's sight; callers fall back to clone.
        Rule(call="clone3", error=ENOSYS),
        *(Rule(call="clone", argument=(0, MASKED, flag, flag)) for flag in NAMESPACES),
        *(Rule(call="socket", error=EAFNOSUPPORT, argument=(0, EQUAL, n, 0)) for n in families),
        Rule(call="socket", error=EAFNOSUPPORT, argument=(0, GREATER, HIGHEST_FAMILY, 0)),
        *(
            Rule(call="ioctl", argument=(1, MASKED, number, 0xFFFFFFFF))
            for number in (TIOCSTI, TIOCLINUX)
        ),
    )


def profile() -> str:
    """The rules as Docker and Podman read them."""
    return json.dumps(
        {
            "defaultAction": "SCMP_ACT_ALLOW",
            "syscalls": [
                {
                    "names": [rule.call],
                    "action": "SCMP_ACT_ERRNO",
                    "errnoRet": rule.error,
                    "args": _profile_arguments(rule),
                }
                for rule in rules()
            ],
        }
    )


def _profile_arguments(rule: Rule) -> list[dict[str, int | str]]:
    if rule.argument is None:
        return []
    index, operation, value, mask = rule.argument
    # For a masked comparison the profile's first value is the mask and the second what is left.
    first, second = (mask, value) if operation == MASKED else (value, 0)
    return [{"index": index, "op": _OPERATIONS[operation], "value": first, "valueTwo": second}]


class _Comparison(ctypes.Structure):
    _fields_ = (
        ("argument", ctypes.c_uint),
        ("operation", ctypes.c_int),
        ("a", ctypes.c_uint64),
        ("b", ctypes.c_uint64),
    )


@cache
def program() -> bytes:
    """The rules as the kernel reads them; SandboxError where libseccomp is missing."""
    try:
        library = ctypes.CDLL("libseccomp.so.2", use_errno=True)
    except OSError:
        raise SandboxError(f"libseccomp is not installed; run: {INSTALL}") from None
    library.seccomp_init.restype = ctypes.c_void_p
    context = ctypes.c_void_p(library.seccomp_init(ctypes.c_uint32(ALLOW)))
    try:
        for rule in rules():
            number = library.seccomp_syscall_resolve_name(rule.call.encode())
            if number >= 0:
                _add(library, context, number, rule)
        file = os.memfd_create("seccomp")
        with os.fdopen(file, "rb") as written:
            if library.seccomp_export_bpf(context, file) != 0:
                raise SandboxError(f"libseccomp cannot write a filter; run: {INSTALL}")
            written.seek(0)
            return written.read()
    finally:
        library.seccomp_release(context)


def _add(library: ctypes.CDLL, context: ctypes.c_void_p, number: int, rule: Rule) -> None:
    comparisons = None
    if rule.argument is not None:
        index, operation, value, mask = rule.argument
        first, second = (mask, value) if operation == MASKED else (value, 0)
        comparisons = (_Comparison * 1)(_Comparison(index, operation, first, second))
    count = 0 if comparisons is None else 1
    action = ctypes.c_uint32(REFUSE | rule.error)
    if library.seccomp_rule_add_array(context, action, number, count, comparisons) != 0:
        raise SandboxError(f"libseccomp refuses the rule for {rule.call}; run: {INSTALL}")
