"""System calls that no program may get through, as lines that the programs in CALLS read."""

from errno import EACCES, EAFNOSUPPORT, EBADF, EINVAL, ENOSYS, EPERM, EPROTONOSUPPORT
from itertools import count

USER, MOUNTS, NETWORK, PROCESSES = 0x10000000, 0x20000, 0x40000000, 0x20000000
NAMES, MESSAGES, GROUPS, CLOCKS = 0x4000000, 0x8000000, 0x2000000, 0x80
SIGCHLD, HERE = 17, -100
REFUSED = {EPERM, ENOSYS}
_numbers = count()


class Attempt:
    """One call, by its number on x86-64, and the errors it may end with; none: it is allowed."""

    def __init__(
        self, name: str, number: int, *args: int | str, errors: set[int] | None = None
    ) -> None:
        self.name = f"{next(_numbers)}-{name}"
        self.line = "\t".join([self.name, str(number), *map(str, args)])
        self.errors = REFUSED if errors is None else errors


ATTEMPTS = (
    # Allowed, and the proof that the others were tried.
    Attempt("getpid", 39, errors=set()),
    Attempt("personality", 135, 0xFFFFFFFF, errors=set()),
    Attempt("socket-unix", 41, 1, 1, 0, errors=set()),
    Attempt("socket-tcp", 41, 2, 1, 6, errors=set()),
    # The judge and its memory.
    Attempt("ptrace-attach", 101, 16, 1, 0, 0),
    Attempt("ptrace-seize", 101, 0x4206, 1, 0, 0),
    Attempt("ptrace-me", 101, 0, 0, 0, 0),
    Attempt("process-vm-readv", 310, 1, "b:16", 1, "b:16", 1, 0),
    Attempt("process-vm-writev", 311, 1, "b:16", 1, "b:16", 1, 0),
    Attempt("process-madvise", 440, 0, "b:16", 1, 4, 0),
    Attempt("kcmp", 312, 1, 1, 0, 0, 0),
    Attempt("pidfd-getfd", 438, 0, 0, 0),
    Attempt("perf-event-open", 298, "b:128", 1, -1, -1, 0),
    # Parts of the kernel that escapes are made of.
    Attempt("io-uring-setup", 425, 8, "b:120"),
    Attempt("io-uring-enter", 426, 0, 1, 0, 0, 0),
    Attempt("io-uring-register", 427, 0, 0, 0, 0),
    Attempt("bpf", 321, 0, "b:120", 72),
    Attempt("userfaultfd", 323, 0),
    Attempt("keyctl", 250, 0, -3, 1),
    Attempt("add-key", 248, "s:user", "s:hostile", "s:x", 1, -3),
    Attempt("request-key", 249, "s:user", "s:hostile", "s:x", -3),
    Attempt("memfd-secret", 447, 0),
    Attempt("modify-ldt", 154, 0, "b:64", 16),
    Attempt("fanotify-init", 300, 0, 0),
    Attempt("lookup-dcookie", 212, 0, "b:64", 64),
    # Namespaces.
    *(
        Attempt(f"unshare-{flag:x}", 272, flag)
        for flag in (USER, MOUNTS, NETWORK, PROCESSES, NAMES, MESSAGES, GROUPS, CLOCKS)
    ),
    *(
        Attempt(f"clone-{flag:x}", 56, flag | SIGCHLD)
        for flag in (USER, MOUNTS, NETWORK, PROCESSES, NAMES, MESSAGES, GROUPS, USER | MOUNTS)
    ),
    Attempt("clone3", 435, "b:88", 88),
    Attempt("setns", 308, 0, 0),
    # Mounts and files by other ways than their names.
    Attempt("mount", 165, "s:none", "s:/tmp", "s:tmpfs", 0, 0),
    Attempt("umount", 166, "s:/tmp", 2),
    Attempt("pivot-root", 155, "s:/tmp", "s:/tmp"),
    Attempt("chroot", 161, "s:/tmp"),
    Attempt("open-tree", 428, HERE, "s:/", 1),
    Attempt("open-tree-attr", 467, HERE, "s:/", 1, "b:64", 32),
    Attempt("move-mount", 429, HERE, "s:/usr", HERE, "s:/tmp", 0),
    Attempt("fsopen", 430, "s:tmpfs", 0),
    Attempt("fsconfig", 431, 0, 0, 0, 0, 0),
    Attempt("fsmount", 432, 0, 0, 0),
    Attempt("fspick", 433, HERE, "s:/", 0),
    Attempt("mount-setattr", 442, HERE, "s:/", 0, "b:64", 32),
    Attempt("name-to-handle", 303, HERE, "s:/usr", "b:200", "b:8", 0),
    Attempt("open-by-handle", 304, HERE, "b:200", 0),
    Attempt("mknod-block", 133, "s:/tmp/hostile-block", 0o60600, 0x800),
    Attempt("mknod-memory", 133, "s:/tmp/hostile-memory", 0o20600, 0x101),
    Attempt("chown", 92, "s:/tmp/work", 0, 0, errors={EPERM, EINVAL}),
    Attempt("quotactl", 179, 0x80000200, "s:/dev/sda", 0, 0),
    # The machine.
    Attempt("reboot", 169, 0xFEE1DEAD, 672274793, 0, 0),
    Attempt("kexec-load", 246, 0, 0, 0, 0),
    Attempt("kexec-file-load", 320, 0, 0, 0, "s:", 0),
    Attempt("init-module", 175, "b:16", 16, "s:"),
    Attempt("finit-module", 313, 0, "s:", 0),
    Attempt("delete-module", 176, "s:hostile", 0),
    Attempt("settimeofday", 164, "b:16", 0),
    Attempt("clock-settime", 227, 0, "b:16"),
    Attempt("clock-adjtime", 305, 0, "b:400"),
    Attempt("adjtimex", 159, "b:400"),
    Attempt("sethostname", 170, "s:hostile", 7),
    Attempt("setdomainname", 171, "s:hostile", 7),
    Attempt("swapon", 167, "s:/tmp/hostile", 0),
    Attempt("swapoff", 168, "s:/tmp/hostile"),
    Attempt("acct", 163, "s:/tmp/hostile"),
    Attempt("syslog", 103, 3, "b:200", 200),
    Attempt("iopl", 172, 3),
    Attempt("ioperm", 173, 0, 1, 1),
    Attempt("vhangup", 153),
    # Other people, and more than one's share.
    Attempt("setuid", 105, 0, errors={EPERM, EINVAL}),
    Attempt("setgid", 106, 0, errors={EPERM, EINVAL}),
    Attempt("setresuid", 117, 0, 0, 0, errors={EPERM, EINVAL}),
    Attempt("setgroups", 116, 1, "b:4"),
    Attempt("setpriority", 141, 0, 0, -10, errors={EPERM, EACCES}),
    Attempt("sched-fifo", 144, 0, 1, "s:\x01", errors={EPERM, EINVAL}),
    Attempt("prlimit-of-the-judge", 302, 1, 4, "b:16", 0),
    Attempt("affinity-of-the-judge", 203, 1, 8, "s:\x01"),
    Attempt("priority-of-the-judge", 141, 0, 1, 19),
    # Sockets of other families; keystrokes for a terminal.
    *(
        Attempt(f"socket-{family}", 41, family, 3, 0, errors={EAFNOSUPPORT, EPERM})
        for family in (3, 9, 15, 16, 17, 21, 29, 30, 31, 38, 40, 42, 44)
    ),
    Attempt("socket-raw", 41, 2, 3, 1, errors={EPERM, EPROTONOSUPPORT}),
    Attempt("tiocsti", 16, 0, 0x5412, "s:x"),
    Attempt("tiocsti-disguised", 16, 0, 0x100005412, "s:x"),
    Attempt("tioclinux", 16, 0, 0x541C, "s:x"),
    Attempt("close-what-is-not-open", 3, 200, errors={EBADF}),
)
LINES = "".join(f"{attempt.line}\n" for attempt in ATTEMPTS)
