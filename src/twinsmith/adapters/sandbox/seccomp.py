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
OTHER, EQUAL, GREATER, MASKED = 1, 4, 6, 7
_OPERATIONS = {
    OTHER: "SCMP_CMP_NE",
    EQUAL: "SCMP_CMP_EQ",
    GREATER: "SCMP_CMP_GT",
    MASKED: "SCMP_CMP_MASKED_EQ",
}

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
AF_INET, AF_INET6, SOCK_DGRAM, SOCK_RAW = 2, 10, 2, 3
# Their first argument is a process; for setpriority what kind of them is meant.
OF_OTHERS = (
    "prlimit64 sched_setaffinity sched_setscheduler sched_setparam sched_setattr setpriority"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One refused call, perhaps only with certain arguments: (number, operation, value, mask)."""

    call: str
    error: int = EPERM
    arguments: tuple[tuple[int, int, int, int], ...] = ()


def rules() -> tuple[Rule, ...]:
    """Everything that is refused."""
    words = f"{TRACING} {RINGS_AND_KEYS} {MOUNTS} {MACHINE}".split()
    families = [n for n in range(HIGHEST_FAMILY) if n not in FAMILIES]
    return (
        *(Rule(call=word) for word in words),
        # Its flags are in memory, out of a filter's sight; callers fall back to clone.
        Rule(call="clone3", error=ENOSYS),
        *(Rule(call="clone", arguments=((0, MASKED, flag, flag),)) for flag in NAMESPACES),
        *(Rule(call="socket", error=EAFNOSUPPORT, arguments=((0, EQUAL, n, 0),)) for n in families),
        Rule(call="socket", error=EAFNOSUPPORT, arguments=((0, GREATER, HIGHEST_FAMILY, 0),)),
        # Nobody is there to send datagrams to, and their buffers count as nobody's memory.
        *(
            Rule(call="socket", arguments=((0, EQUAL, family, 0), (1, MASKED, kind, 0xF)))
            for family in (AF_INET, AF_INET6)
            for kind in (SOCK_DGRAM, SOCK_RAW)
        ),
        *(
            Rule(call="ioctl", arguments=((1, MASKED, number, 0xFFFFFFFF),))
            for number in (TIOCSTI, TIOCLINUX)
        ),
        # Limits, priorities and processors of others: the judge is one of them.
        *(Rule(call=call, arguments=((0, OTHER, 0, 0),)) for call in OF_OTHERS.split()),
        Rule(call="setpriority", arguments=((1, OTHER, 0, 0),)),
        Rule(call="ioprio_set", arguments=((1, OTHER, 0, 0),)),
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
    return [
        {"index": index, "op": _OPERATIONS[operation], "value": first, "valueTwo": second}
        for index, operation, first, second in map(_compared, rule.arguments)
    ]


def _compared(argument: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    """In a masked comparison the first value is the mask and the second what has to be left."""
    index, operation, value, mask = argument
    return (index, operation, mask, value) if operation == MASKED else (index, operation, value, 0)


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


def in_hex() -> str:
    """The program as the judge is told it; nothing where there is no library to make it."""
    try:
        return program().hex()
    except SandboxError:
        return ""


def _add(library: ctypes.CDLL, context: ctypes.c_void_p, number: int, rule: Rule) -> None:
    count = len(rule.arguments)
    comparisons = (_Comparison * count)(*(_Comparison(*_compared(a)) for a in rule.arguments))
    action = ctypes.c_uint32(REFUSE | rule.error)
    if library.seccomp_rule_add_array(context, action, number, count, comparisons) != 0:
        raise SandboxError(f"libseccomp refuses the rule for {rule.call}; run: {INSTALL}")
