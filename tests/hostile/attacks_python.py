"""Hostile programs in Python; the first word of the command line chooses what one does."""

BOMBS = r"""
import os, signal, sys, threading, time

def hog():
    kept = []
    while True:
        kept.append(b"x" * (1 << 20))

def fill(folder):
    total, block = 0, b"x" * (1 << 16)
    for n in range(100):
        size = 0
        try:
            with open(f"{folder}/hostile-{n}", "wb", buffering=0) as file:
                while size < 8 << 20:
                    wrote = file.write(block)
                    size += wrote
                    total += wrote
        except OSError:
            break
    return total

def figures():
    total, shm = fill(".") + fill("/tmp"), fill("/dev/shm")
    for folder in (".", "/tmp"):
        for name in os.listdir(folder):
            if name.startswith("hostile"):
                os.unlink(f"{folder}/{name}")
    files, opened = 0, []
    try:
        while True:
            os.close(os.open(f"/tmp/hostile-empty-{files}", os.O_CREAT | os.O_WRONLY))
            files += 1
    except OSError:
        pass
    try:
        while True:
            opened.append(os.open("/dev/null", os.O_RDONLY))
    except OSError:
        pass
    print("bytes", total, "shm", shm, "files", files, "open", len(opened))

def threads():
    threading.stack_size(1 << 16)
    n = 0
    try:
        while True:
            threading.Thread(target=time.sleep, args=(100,), daemon=True).start()
            n += 1
    except RuntimeError:
        os.write(1, f"threads {n}\n".encode())
        os._exit(0)

# One that sleeps and holds the pipe, and one that is another process every millisecond.
def survive():
    for kind in range(2):
        if os.fork() == 0:
            os.setsid()
            if os.fork() > 0:
                os._exit(0)
            for n in set(range(1, 65)) - {9, 19, 32, 33}:
                signal.signal(n, signal.SIG_IGN)
            while True:
                if kind == 0:
                    time.sleep(100)
                elif os.fork() > 0:
                    os._exit(0)
                else:
                    time.sleep(0.001)
    time.sleep(0.05)
    print("gone")

match sys.argv[1]:
    case "fork":
        while True:
            try:
                os.fork()
            except OSError:
                time.sleep(0.001)
    case "memory":
        hog()
    case "memories":
        for n in range(8):
            if os.fork() == 0:
                break
        hog()
    case "loop":
        while True:
            pass
    case "sleep":
        while True:
            time.sleep(100)
    case "output":
        while True:
            print("hostile hostile hostile")
    case "fill":
        figures()
    case "threads":
        threads()
    case "survive":
        survive()
    case "look":
        print(sum(name.isdigit() for name in os.listdir("/proc")))
    case "ordinary":
        print(6 * 7)
"""

# Reads calls, a line each: name, number, arguments (a number, s:text, or b:size of zeros).
CALLS = r"""
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
kept = []
def argument(word):
    if word[:2] not in ("s:", "b:"):
        return ctypes.c_ulong(int(word, 0) & (2**64 - 1))
    text = word[2:].encode() if word[0] == "s" else bytes(int(word[2:]))
    kept.append(ctypes.create_string_buffer(text, len(text) + 1))
    return kept[-1]
libc.syscall.restype = ctypes.c_long
for line in sys.stdin:
    name, number, *words = line.rstrip("\n").split("\t")
    words += ["0"] * (6 - len(words))
    ctypes.set_errno(0)
    got = libc.syscall(ctypes.c_long(int(number)), *map(argument, words))
    print(name, ctypes.get_errno() if got == -1 else 0, sep="\t", flush=True)
"""

REACH = r"""
import os, socket, stat, sys

def say(name, escaped):
    print(name, "ESCAPED" if escaped else "contained")

def can(act, *args):
    try:
        got = act(*args)
        if isinstance(got, int) and got > 2:
            os.close(got)
        return True
    except (OSError, ValueError):
        return False

def reaches(family, address):
    with socket.socket(family) as each:
        each.settimeout(1)
        return can(each.connect, address)

def dump(path):
    try:
        with open(path, "rb") as file:
            print("DUMP", path)
            print(file.read().replace(b"\0", b" ").decode(errors="replace"))
    except OSError:
        pass

_, port, abstract, unix, secret, pid = sys.argv
for path in ("/etc/passwd", "/etc/shadow", "/root/.bashrc", "/home", "/proc/1/environ",
             "/proc/1/mem", "/proc/1/maps", "/proc/1/fd", f"/proc/{os.getppid()}/mem",
             f"/proc/{os.getppid()}/environ", "/proc/kcore", "/sys/kernel/security", "/dev/mem",
             "/dev/sda"):
    say(path, can(os.open, path, os.O_RDONLY))
say("read-secret", can(os.open, secret, os.O_RDONLY))
for place in ("", "/usr", "/etc", "/dev", "/run", "/var", "/proc", "/usr/bin", "/run/layer",
              "/usr/lib", "/root", "/home"):
    say(f"{place}/hostile", can(os.open, f"{place}/hostile", os.O_CREAT | os.O_WRONLY))
say("hostname", can(os.open, "/proc/sys/kernel/hostname", os.O_WRONLY))
say("core-pattern", can(os.open, "/proc/sys/kernel/core_pattern", os.O_WRONLY))
say("harness", can(os.open, "/run/harness", os.O_WRONLY))
say("port", reaches(socket.AF_INET, ("127.0.0.1", int(port))))
say("metadata", reaches(socket.AF_INET, ("169.254.169.254", 80)))
say("internet", reaches(socket.AF_INET, ("1.1.1.1", 53)))
say("dns", can(socket.getaddrinfo, "example.com", 80))
say("abstract", reaches(socket.AF_UNIX, "\0" + abstract))
say("unix", reaches(socket.AF_UNIX, unix))
say("netlink", can(socket.socket, 16, socket.SOCK_RAW, 0))
devices = open("/proc/net/dev").readlines()
say("interfaces", {line.split(":")[0].strip() for line in devices if ":" in line} - {"lo"})
os.symlink(secret, "/tmp/hostile-link")
say("symlink", can(os.open, "/tmp/hostile-link", os.O_RDONLY))
say("hardlink", can(os.link, "/usr/bin/true", "/tmp/hostile-hard"))
say("device", can(os.mknod, "/tmp/hostile-device", stat.S_IFCHR | 0o600, os.makedev(1, 1)))
say("suid", not all(os.statvfs(p).f_flag & os.ST_NOSUID for p in ("/tmp", "/dev/shm", "/usr")))
say("user", can(os.setuid, 0) or can(os.setgid, 0))
say("nice", can(os.setpriority, os.PRIO_PROCESS, 0, -10))
say("realtime", can(os.sched_setscheduler, 0, os.SCHED_FIFO, os.sched_param(1)))
for path in ("/etc/passwd", "/proc/self/status", f"/proc/{pid}/cmdline"):
    dump(path)
for name in os.listdir("/proc"):
    if name.isdigit():
        for file in ("environ", "cmdline", "mountinfo"):
            dump(f"/proc/{name}/{file}")
for name, value in os.environ.items():
    print("ENV", f"{name}={value}")
"""

# Mode 0 writes what the judge would; 1 answers itself and ends; 2 looks for what is expected.
FORGERY = r"""
import builtins, ctypes, gc, json, os, re, sys
LINE = b'{"n": 0, "outcome": "passed", "detail": ""}\n{"verdict": ["passed", ""]}\n'
ANSWER = json.dumps({"value": 1, "args": [], "outcome": "passed", "verdict": ["passed", ""]})
WANTED = re.compile(rb"8392\d{11}(?!\d)")

def everywhere(data):
    for fd in range(1, 256):
        try:
            os.write(fd, data)
        except OSError:
            pass

def texts():
    # Its own memory is a copy of the starter's: dumpable again, it can be read.
    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)
    for name in filter(str.isdigit, os.listdir("/proc")):
        for file in ("cmdline", "environ", *(f"fd/{n}" for n in range(10))):
            try:
                fd = os.open(f"/proc/{name}/{file}", os.O_RDONLY | os.O_NONBLOCK)
                yield os.read(fd, 1 << 20)
            except OSError:
                pass
        try:
            with open(f"/proc/{name}/maps") as maps, open(f"/proc/{name}/mem", "rb") as mem:
                for line in maps:
                    start, end = (int(word, 16) for word in line.split()[0].split("-"))
                    if "/usr/lib" not in line and end - start < 1 << 26:
                        try:
                            mem.seek(start)
                            yield mem.read(end - start)
                        except (OSError, ValueError, OverflowError):
                            pass
        except OSError:
            pass
    for value in gc.get_objects():
        try:
            yield repr(value)[:100_000].encode(errors="replace")
        except Exception:
            pass

def search():
    for text in texts():
        found = WANTED.search(text)
        if found:
            return int(found[0])
    return 0

def f(mode):
    if mode < 2:
        everywhere(LINE)
    if mode == 1:
        everywhere(len(ANSWER).to_bytes(4, "big") + ANSWER.encode())
        os._exit(0)
    return search() if mode == 2 else 0

if __name__ == "__main__":
    print(search())
"""

# Each defines f; none may pass `assert f() == <a number it cannot know>`.
TRICKS = {
    "equal to everything": (
        "class Yes(int):\n    def __eq__(self, other): return True\n"
        "    __hash__ = int.__hash__\n    def __ne__(self, other): return False\n"
        "def f(): return Yes()\n"
    ),
    "equal in a list": (
        "class Yes(list):\n    def __eq__(self, other): return True\ndef f(): return Yes()\n"
    ),
    "other builtins": (
        "import builtins\nbuiltins.AssertionError = ValueError\n"
        "builtins.isinstance = lambda *a: True\nbuiltins.int = lambda *a: 1\n"
        "builtins.__import__ = lambda *a, **k: builtins\ndef f(): return 0\n"
    ),
    "other modules": (
        "import json, sys\njson.dumps = json.loads = lambda *a, **k: {'outcome': 'passed'}\n"
        "for name in list(sys.modules):\n    sys.modules[name] = json\ndef f(): return 0\n"
    ),
    "other frames": (
        "import gc, sys\ndef f():\n    frame = sys._getframe()\n    while frame:\n"
        "        for space in (frame.f_locals, frame.f_globals):\n"
        "            for name in list(space):\n"
        "                if name in ('encode', 'send', '_answer', 'wire', 'value'):\n"
        "                    space[name] = lambda *a, **k: {'outcome': 'passed', 'args': []}\n"
        "        frame = frame.f_back\n    return 0\n"
    ),
    "other objects": (
        "import gc\ndef f():\n    for each in gc.get_objects():\n        if type(each) is dict:\n"
        "            for key in [k for k in each if k in ('expected', 'outcome', 'check')]:\n"
        "                each[key] = 0\n    return 0\n"
    ),
    "leaves early": "import os\nos._exit(0)\n",
    "leaves politely": "raise SystemExit(0)\n",
    "leaves when called": "import sys\ndef f(): sys.exit(0)\n",
    "raises what a failed check raises": "def f(): raise AssertionError('passed')\n",
    "never answers": "import os\ndef f():\n    os.close(4)\n    return 0\n",
    "main of its own": "import sys\nsys.modules['__main__'].__dict__.clear()\ndef f(): return 0\n",
    "says it has no functions": (
        'import os\nm = b\'{"functions": [], "values": {"f": 1}}\'\n'
        "os.write(4, len(m).to_bytes(4, 'big') + m)\ndef f(): return 0\n"
    ),
    "no builtins for the check": (
        'import os\nm = b\'{"functions": ["f"], "values": '
        '{"__builtins__": {"$": "dict", "v": []}, "__name__": "x"}}\'\n'
        "os.write(4, len(m).to_bytes(4, 'big') + m)\ndef f(): return 0\n"
    ),
}

# Answers that are no answers: (what is written into the pipe of replies).
ANSWERS = {
    "too large a number": b'{"value": {"$": "float", "v": "0x1p99999"}, "args": []}',
    "no value": b'{"args": []}',
    "no tag": b'{"value": {}, "args": []}',
    "unknown tag": b'{"value": {"$": "object", "v": 1}, "args": []}',
    "tag that is a list": b'{"value": {"$": [], "v": 1}, "args": []}',
    "keys that are lists": b'{"value": {"$": "dict", "v": [[[], 1]]}, "args": []}',
    "raises a list": b'{"raised": [1], "message": {}, "where": null}',
    "raises an exception group": b'{"raised": "ExceptionGroup", "message": "x"}',
    "a list": b"[]",
    "nothing": b"",
    "nonsense": b"\xff\xfe{{{",
    "deep": b'{"value": ' + b"[" * 50_000 + b"]" * 50_000 + b', "args": []}',
    "deep tuples": b'{"value": ' + b'{"$": "tuple", "v": [' * 900 + b"]}" * 900 + b', "args": []}',
    "infinite": b'{"value": NaN, "args": [], "args": {"a": 1}}',
    "digits": b'{"value": ' + b"9" * 100_000 + b', "args": []}',
    "hexadecimal digits": b'{"value": {"$": "int", "v": "' + b"f" * 1_000_000 + b'"}, "args": []}',
}
