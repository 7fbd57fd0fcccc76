"""Programs that use what no limit counted, keep what no folder shows, or read who the host is."""

import json
import os
import platform
import signal

import pytest

from tests.hostile.left import ALONE, CASES, attack, command, ready
from tests.sandboxes import BACKENDS, ENGINE_MARKS, ENGINES, FOLDER, LAYERS, code, run, sandbox
from twinsmith.adapters.sandbox.bubblewrap import Bubblewrap
from twinsmith.adapters.sandbox.runner import IsolatedSandbox
from twinsmith.adapters.sandbox.users import FIRST_USER, USERS
from twinsmith.core.execution import Limits, ProbeResult

FEW = Limits(probe_seconds=5.0, cpu_seconds=5.0, memory_mb=64)
BRIEF = Limits(probe_seconds=30.0, cpu_seconds=1.0)
# Family, kind and protocol of sockets that are neither Unix nor TCP.
SOCKETS = {
    **{f"netlink {protocol}": (16, 3, protocol) for protocol in (0, 6, 9, 12, 15, 16)},
    "multipath TCP": (2, 1, 262),
    "multipath TCP over IPv6": (10, 1, 262),
    "SCTP": (2, 1, 132),
    "SMC": (2, 1, 256),
    "packets in sequence": (2, 5, 132),
    "datagrams": (2, 2, 0),
    "congestion control": (2, 6, 33),
    "packets": (17, 3, 0),
    "algorithms": (38, 5, 0),
    "virtual machines": (40, 1, 0),
}


async def result_in(backend: str, source: str, *, limits: Limits = FEW) -> ProbeResult:
    """What came of one run as a command."""
    execution = await attack(sandbox(backend), source, language="python", limits=limits)
    assert execution.results, execution.problem
    return execution.results[0]


OPENS = """
import ctypes, json, sys
libc = ctypes.CDLL(None, use_errno=True)
opened = []
for name, words in json.load(sys.stdin).items():
    # The kernel looks at the lower half of a number; a filter sees all of it.
    for high in (0, 1 << 32, 0xFFFFFFFF << 32):
        numbers = [ctypes.c_ulong(words[0] | high), *map(ctypes.c_ulong, words[1:])]
        if libc.syscall(41, *numbers) >= 0 or libc.syscall(53, *numbers, None) >= 0:
            opened.append(name)
print(sorted(set(opened)))
"""


@pytest.mark.elsewhere(
    platform.machine() != "x86_64", reason="numbers of calls are those of x86-64"
)
@pytest.mark.parametrize("backend", BACKENDS)
async def test_sockets_are_unix_or_tcp(backend: str) -> None:
    probe = command(stdin=json.dumps(SOCKETS), stdout="[]\n")
    execution = await attack(sandbox(backend), OPENS, probe, language="python")
    assert [seen.detail for seen in execution.results] == [""]


RESOLVE = {
    "python": "import socket\nprint(socket.getaddrinfo('localhost', 80, type=1)[0][4][1])",
    "perl": "use Socket qw(getaddrinfo SOCK_STREAM);\n"
    "my ($e, @a) = getaddrinfo('127.0.0.1', '80', {socktype => SOCK_STREAM});\n"
    'print scalar(@a) ? "80\\n" : "$e\\n";',
    "go": 'package main\nimport ("fmt"; "net")\nfunc main() {\n'
    '  l, err := net.Listen("tcp", "localhost:0")\n  if err != nil { panic(err) }\n'
    '  c, err := net.Dial("tcp", l.Addr().String())\n'
    "  if err != nil { panic(err) }\n  c.Close()\n  fmt.Println(80)\n}",
    "rust": "use std::net::{TcpListener, TcpStream};\nfn main() {\n"
    '  let l = TcpListener::bind("localhost:0").unwrap();\n'
    '  TcpStream::connect(l.local_addr().unwrap()).unwrap();\n  println!("80");\n}',
    "c": "#include <netdb.h>\n#include <stdio.h>\nint main(void) {\n"
    "  struct addrinfo *found = 0, asked = {.ai_socktype = SOCK_STREAM, .ai_flags = 0x20};\n"
    '  if (getaddrinfo("localhost", "80", &asked, &found)) return 1;\n  puts("80");\n}',
    "cpp": "#include <netdb.h>\n#include <cstdio>\nint main() {\n"
    "  addrinfo *found = nullptr;\n"
    '  if (getaddrinfo("localhost", "80", nullptr, &found)) return 1;\n  puts("80");\n}',
}


@pytest.mark.parametrize(("backend", "language"), CASES)
async def test_names_of_this_room_are_still_found(backend: str, language: str) -> None:
    box = ready(backend, language)
    limits = Limits(probe_seconds=10.0, cpu_seconds=10.0)
    probe = command(stdout="80\n")
    execution = await attack(box, RESOLVE[language], probe, language=language, limits=limits)
    assert [(seen.detail, seen.errors) for seen in execution.results] == [("", "")]


@pytest.mark.parametrize("backend", BACKENDS)
async def test_there_are_no_terminals(backend: str) -> None:
    source = (
        "import os, pty\n"
        "for place in ('/dev/ptmx', '/dev/pts/ptmx'):\n"
        "    try:\n        print(os.open(place, os.O_RDWR))\n"
        "    except OSError:\n        pass\n"
        "try:\n    print(pty.openpty())\nexcept OSError:\n    print('none')\n"
    )
    seen = await result_in(backend, source)
    assert (seen.output, seen.errors) == ("none\n", "")


LASTING = """
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
key, create = 0x7473, 0o1000
found = [
    libc.shmget(key, 4096, 0o600) >= 0,
    libc.semget(key, 1, 0o600) >= 0,
    libc.msgget(key, 0o600) >= 0,
    libc.mq_open(b"/hostile", 2, 0o600, None) >= 0,
]
libc.shmget(key, 4096, create | 0o600), libc.semget(key, 1, create | 0o600)
libc.msgget(key, create | 0o600), libc.mq_open(b"/hostile", 0o102, 0o600, None)
print(found)
"""


@pytest.mark.parametrize("backend", BACKENDS)
async def test_what_no_folder_shows_does_not_last_either(backend: str) -> None:
    probe = command(stdout=f"{[False] * 4}\n")
    execution = await attack(sandbox(backend), LASTING, probe, probe, language="python")
    assert [seen.detail for seen in execution.results] == ["", ""]


@pytest.mark.groups
@pytest.mark.parametrize("backend", ALONE)
async def test_memory_of_huge_pages_is_refused(backend: str) -> None:
    source = (
        "import ctypes, mmap\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        "libc.mmap.restype = ctypes.c_long\n"
        "got = libc.mmap(None, ctypes.c_size_t(2 << 20), 3, 0x40022, -1, ctypes.c_long(0))\n"
        "print(got, ctypes.get_errno(), libc.memfd_create(b'hostile', 4), ctypes.get_errno())\n"
    )
    seen = await result_in(backend, source)
    assert seen.output == "-1 12 -1 12\n"


BURNERS = {
    # Each process of a chain stays below what one may use.
    "chain, waited for": """
for _ in range(40):
    if os.fork() == 0:
        burn(0.5)
        os._exit(0)
    os.wait()
""",
    "chain, left behind": """
for _ in range(40):
    if os.fork():
        os._exit(0)
    burn(0.5)
""",
    "chain, not cared for": """
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for _ in range(40):
    if os.fork() == 0:
        burn(0.5)
        os._exit(0)
    time.sleep(0.55)
""",
    "side by side": """
for _ in range(8):
    if os.fork() == 0:
        burn(0.9)
        os._exit(0)
time.sleep(20)
""",
}
BURN = """
import os, signal, time
def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
"""


USED_UP = "the program used more than 1 s of processor time"


async def burnt(box: IsolatedSandbox, way: str) -> ProbeResult:
    """What came of a program that uses a second a second time."""
    # The first process of one chain would end at once, and its probe with it.
    first = "if os.fork():\n    time.sleep(25)\n" if way == "chain, left behind" else ""
    source = BURN + first + BURNERS[way]
    execution = await attack(box, source, language="python", limits=BRIEF)
    return execution.results[0]


@pytest.mark.groups
@pytest.mark.parametrize(
    ("backend", "way"),
    [
        *(("bubblewrap", way) for way in BURNERS),
        *(pytest.param(engine, "side by side", marks=ENGINE_MARKS) for engine in ENGINES),
    ],
)
async def test_processor_time_is_that_of_all_processes(backend: str, way: str) -> None:
    seen = await burnt(sandbox(backend), way)
    assert (seen.outcome, seen.detail) == ("timed out", USED_UP)


@pytest.mark.parametrize("backend", ALONE)
async def test_a_function_that_leaves_the_work_to_others_is_stopped_as_well(backend: str) -> None:
    source = BURN + "def f():\n" + BURNERS["chain, waited for"].replace("\n", "\n    ")
    execution = await run(
        source, kind="function", probes=code("f()"), limits=BRIEF, box=sandbox(backend)
    )
    (seen,) = execution.results
    assert (seen.outcome, seen.detail) == ("timed out", USED_UP)


WHO = """
import json, os, socket
print(json.dumps([os.uname().nodename, socket.gethostname(), open("/proc/cmdline").read()]))
"""


async def test_the_machine_has_no_name_and_was_started_by_nobody() -> None:
    seen = await result_in("bubblewrap", WHO)
    assert json.loads(seen.output) == ["sandbox", "sandbox", ""]


@pytest.mark.elsewhere(os.geteuid() != 0, reason="only root can give a room another user id")
async def test_no_room_shares_a_user_id_with_the_one_before() -> None:
    source = "import re\nprint(*set(re.findall(r'\\buid=(\\d+)', open('/proc/mounts').read())))\n"
    seen = [int((await result_in("bubblewrap", source)).output) for _ in range(4)]
    assert len(set(seen)) == 4
    assert all(FIRST_USER <= user < FIRST_USER + USERS for user in seen)


async def test_no_path_of_the_data_folder_can_be_read() -> None:
    """Neither where a layer is mounted from nor in the files of the layer."""
    source = (
        "import os, numpy\n"
        "told = open('/proc/self/mountinfo').read() + open('/proc/self/mounts').read()\n"
        "print('/run/layer' in told, NAME in told, numpy.__file__)\n"
        "for folder, _, names in os.walk('/run/layer'):\n"
        "    for name in names:\n"
        "        with open(os.path.join(folder, name), 'rb') as file:\n"
        "            if NAME.encode() in file.read():\n"
        "                print(os.path.join(folder, name))\n"
    )
    limits = Limits(probe_seconds=30.0, cpu_seconds=30.0)
    seen = await result_in("bubblewrap", f"NAME = {FOLDER.parent.name!r}\n{source}", limits=limits)
    assert seen.output == "True False /run/layer/numpy/__init__.py\n", seen.errors


SHARING = {
    "anonymous": "mmap.mmap(-1, SIZE)",
    "zeros": "mmap.mmap(os.open('/dev/zero', os.O_RDWR), SIZE)",
    "in memory": "grown(os.memfd_create('hostile'))",
    "a segment": "attached(libc.shmget(0, SIZE, 0o1600))",
    "scratch": "grown(os.open('/dev/shm/hostile', os.O_RDWR | os.O_CREAT))",
    "private": "mmap.mmap(-1, SIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)",
}
SHARE = """
import ctypes, mmap, os
libc = ctypes.CDLL(None, use_errno=True)
SIZE = 192 << 20
def grown(file):
    os.ftruncate(file, 60 << 20)
    return mmap.mmap(file, 60 << 20)
def attached(segment):
    if segment < 0:
        raise OSError(segment)
    return (ctypes.c_char * SIZE).from_address(libc.shmat(segment, None, 0))
held = []
try:
    for _ in range(4):
        held.append({})
        for at in range(0, len(held[-1]), 4096):
            held[-1][at : at + 1] = b"x"
except (OSError, ValueError, MemoryError):
    pass
print(sum(map(len, held)) >> 20)
"""


@pytest.mark.parametrize("way", SHARING)
async def test_without_a_group_memory_that_can_be_shared_is_limited_as_well(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("twinsmith.adapters.sandbox.cgroup.here", lambda: None)
    box = IsolatedSandbox(Bubblewrap(), LAYERS)
    assert "missing=[memory,cpu" in str(await box.isolation())
    execution = await attack(box, SHARE.format(SHARING[way]), language="python", limits=FEW)
    (seen,) = execution.results
    # A scratch folder has its own limit, and whoever passes it is ended.
    ended = seen.exit_code == -signal.SIGBUS or seen.outcome == "out of memory"
    assert ended or int(seen.output) <= FEW.memory_mb, seen


@pytest.mark.parametrize("way", [way for way in BURNERS if way != "chain, not cared for"])
async def test_without_a_group_processes_tell_what_they_used(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All but those whose parents do not care for their end: hence the missing wall."""
    monkeypatch.setattr("twinsmith.adapters.sandbox.cgroup.here", lambda: None)
    box = IsolatedSandbox(Bubblewrap(), LAYERS)
    seen = await burnt(box, way)
    assert (seen.outcome, seen.detail) == ("timed out", USED_UP)


async def test_without_a_group_other_languages_run_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("twinsmith.adapters.sandbox.cgroup.here", lambda: None)
    box = IsolatedSandbox(Bubblewrap(), LAYERS)
    for language, source in RESOLVE.items():
        ready("bubblewrap", language)
        limits = Limits(probe_seconds=20.0, cpu_seconds=20.0)
        execution = await run(source, language=language, box=box, limits=limits)
        assert [(seen.outcome, seen.errors) for seen in execution.results] == [("passed", "")]
