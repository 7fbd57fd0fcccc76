"""System calls that no program needs here and that escapes are made of.

One list, in two forms: a filter for bubblewrap, made by libseccomp, and a profile for Docker and
Podman. Everything else is allowed: six compilers and their programs need most of the rest. A second
filter is for programs whose memory no control group counts.
"""

import ctypes
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from twinsmith.core.errors import SandboxError

INSTALL = "apt-get install -y libseccomp2"
ALLOW, REFUSE = 0x7FFF0000, 0x00050000
EPERM, ENOMEM, ENOSYS, EAFNOSUPPORT, EPROTONOSUPPORT = 1, 12, 38, 97, 93
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
# What they hold lies in no folder and outlives the processes of a probe.
LASTING = "shmget semget msgget mq_open mq_unlink"
# Unix, IPv4 and IPv6, in a network namespace of their own; no other family. Resolvers that may not
# ask netlink for addresses take it that there are some.
AF_UNIX, AF_INET, AF_INET6 = 1, 2, 10
FAMILIES = (AF_UNIX, AF_INET, AF_INET6)
HIGHEST_FAMILY = 10
SOCK_STREAM, KINDS = 1, 0xF
IPPROTO_TCP = 6
NAMESPACES = (0x80, 0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000)
TIOCSTI, TIOCLINUX = 0x5412, 0x541C
# Pages of a store that no limit on memory counts.
MAP_HUGETLB, MFD_HUGETLB = 0x40000, 4
MAP_SHARED_ANONYMOUS = 0x21
# Their first argument is a process; for setpriority what kind of them is meant.
OF_OTHERS = (
    "prlimit64 sched_setaffinity sched_setscheduler sched_setparam sched_setattr setpriority"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A refused system call, perhaps only for some arguments: (number, operation, value, mask)."""

    call: str
    error: int = EPERM
    arguments: tuple[tuple[int, int, int, int], ...] = ()


def rules() -> tuple[Rule, ...]:
    """The rules for all programs."""
    words = f"{TRACING} {RINGS_AND_KEYS} {MOUNTS} {MACHINE}".split()
    return (
        *(Rule(call=word) for word in words),
        *(Rule(call=word, error=ENOSYS) for word in LASTING.split()),
        # Its flags are in memory, out of a filter's sight; callers fall back to clone.
        Rule(call="clone3", error=ENOSYS),
        *(Rule(call="clone", arguments=((0, MASKED, flag, flag),)) for flag in NAMESPACES),
        *_sockets(),
        Rule(call="mmap", error=ENOMEM, arguments=((3, MASKED, MAP_HUGETLB, MAP_HUGETLB),)),
        Rule(call="memfd_create", error=ENOMEM, arguments=((1, MASKED, MFD_HUGETLB, MFD_HUGETLB),)),
        *(
            Rule(call="ioctl", arguments=((1, MASKED, number, 0xFFFFFFFF),))
            for number in (TIOCSTI, TIOCLINUX)
        ),
        # Limits, priorities and processors of others: the judge is one of them.
        *(Rule(call=call, arguments=((0, OTHER, 0, 0),)) for call in OF_OTHERS.split()),
        Rule(call="setpriority", arguments=((1, OTHER, 0, 0),)),
        Rule(call="ioprio_set", arguments=((1, OTHER, 0, 0),)),
    )


def uncounted() -> tuple[Rule, ...]:
    """More rules, for machines where memory is limited for each process by itself.

    Such a limit knows nothing of memory that can be shared.
    """
    shared = (3, MASKED, MAP_SHARED_ANONYMOUS, MAP_SHARED_ANONYMOUS)
    return (
        Rule(call="mmap", error=ENOMEM, arguments=(shared,)),
        Rule(call="memfd_create", error=ENOSYS),
    )


def _sockets() -> tuple[Rule, ...]:
    """Rules that leave only streams over Unix sockets and TCP: other buffers count for nobody."""
    families = [n for n in range(HIGHEST_FAMILY) if n not in FAMILIES]
    refused = [((0, EQUAL, family, 0),) for family in families]
    kinds = [kind for kind in range(KINDS + 1) if kind != SOCK_STREAM]
    protocols = [(2, EQUAL, n, 0) for n in range(1, IPPROTO_TCP)]
    protocols.append((2, GREATER, IPPROTO_TCP, 0))
    internet = [(0, EQUAL, family, 0) for family in (AF_INET, AF_INET6)]
    return (
        *(Rule(call="socket", error=EAFNOSUPPORT, arguments=family) for family in refused),
        Rule(call="socket", error=EAFNOSUPPORT, arguments=((0, GREATER, HIGHEST_FAMILY, 0),)),
        *(
            Rule(call="socket", arguments=(family, (1, MASKED, kind, KINDS)))
            for family in internet
            for kind in kinds
        ),
        *(
            Rule(call="socket", error=EPROTONOSUPPORT, arguments=(family, protocol))
            for family in internet
            for protocol in protocols
        ),
        Rule(call="socketpair", error=EAFNOSUPPORT, arguments=((0, OTHER, AF_UNIX, 0),)),
    )


def profile() -> str:
    """The rules as a profile for Docker and Podman."""
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
    """An argument of a rule as libseccomp takes it: in a masked comparison the mask comes first."""
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
def program(refused: Callable[[], tuple[Rule, ...]] = rules) -> bytes:
    """The rules as a filter for the kernel; SandboxError where libseccomp is missing."""
    try:
        library = ctypes.CDLL("libseccomp.so.2", use_errno=True)
    except OSError:
        raise SandboxError(f"libseccomp is not installed; run: {INSTALL}") from None
    library.seccomp_init.restype = ctypes.c_void_p
    context = ctypes.c_void_p(library.seccomp_init(ctypes.c_uint32(ALLOW)))
    try:
        for rule in refused():
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


def in_hex(refused: Callable[[], tuple[Rule, ...]] = rules) -> str:
    """The filter in hexadecimal, for the judge; empty where libseccomp is missing."""
    try:
        return program(refused).hex()
    except SandboxError:
        return ""


def _add(library: ctypes.CDLL, context: ctypes.c_void_p, number: int, rule: Rule) -> None:
    count = len(rule.arguments)
    comparisons = (_Comparison * count)(*(_Comparison(*_compared(a)) for a in rule.arguments))
    action = ctypes.c_uint32(REFUSE | rule.error)
    if library.seccomp_rule_add_array(context, action, number, count, comparisons) != 0:
        raise SandboxError(f"libseccomp refuses the rule for {rule.call}; run: {INSTALL}")
