"""More words of attacks: what answers may not tell, and bytes that no client would send."""

ANSWERS = r'''
MARK = ""
HIDDEN = ()
DOORS = ("/debug", "/env", "/config", "/console", "/admin", "/metrics", "/status", "/info",
         "/actuator/env", "/server-status", "/debug/vars", "/debug/pprof/", "/.env", "/users")
HASHES = re.compile(r"(?:pbkdf2|scrypt):|\$2[aby]\$\d\d\$|\$argon2|\$[56]\$|\{SSHA\}")
KEYS = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY|AKIA[0-9A-Z]{16}")
ENVIRONMENT = re.compile(r"(?<![A-Z_])(?:(?:PATH|HOME|PWD|DATABASE|PYTHON[A-Z]+)[\"']?\s*[=:]\s*"
                         r"[\"']?/|SECRET_KEY[\"']?\s*[=:])")
KEPT = re.compile(r'"(\w*(?:passw|pwd|hash|salt|secret)\w*)"\s*:', re.I)
TRACE = re.compile(r'Traceback \(most recent call|File \\?"[^"\n]+", line \d+|__debugger__')
INSIDE = re.compile("|".join((
    r"goroutine \d+ \[", r"panicked at", r"panic: ", r" at \S+ line \d+\.",
    r"\bat .{1,80}\(\S+:\d+:\d+\)", r" at 0x[0-9a-f]{6,}",
    r"(?:sqlite3?|psycopg2?|sqlalchemy|mysql)\.\w+", r"SQL(?:ite)? error",
    r"\b(?:Operational|Integrity|Programming|Interface)Error", r"SQL syntax",
    r'near \\?".{0,80}syntax error', r"no such (?:table|column): ", r"unrecognized token: ",
    r"(?:UNIQUE|NOT NULL|CHECK|FOREIGN KEY) constraint failed",
    r"SELECT .{1,200} FROM\b", r"INSERT INTO\b", r"DELETE FROM\b", r"UPDATE .{1,200} SET\b",
    r"/(?:app|data|home|lib|root|run|srv|tmp|usr|var|venv|work)/[\w./+-]*\.\w{1,6}\b")))
BROKEN = (b"{", b"\xff\xfe{}", b'{"a": 1e999}', b'{"a": NaN}', b"[" * 200, b"null", b"\0",
          b'"\\ud800"', b"a=%ff&a[b]=c")
NO_VALUES = ("'", '"', "\0", "\ufffe", "%s%n", "9" * 400, "-1", "1e400", "\\", "None")
HOST = "Host: localhost\r\nConnection: close\r\n\r\n"


def tells_nothing(reply):
    """No password, hash, key or environment, nor a value that the contract does not know."""
    text = f"{reply.text}\n{dict(reply.headers)}"
    # What a token says can be read by everybody.
    tokens = re.findall(r"[\w-]+\.[\w-]+\.[\w-]*", text)
    text += "".join(str(parts_of(token) or "") for token in tokens)
    assert MARK not in text, "it shows a password"
    for name, pattern in (("a hash", HASHES), ("a key", KEYS), ("its environment", ENVIRONMENT)):
        assert not pattern.search(text), f"it shows {name}"
    known = {name for goal in AIMS for name in (*goal["gives"], *goal["names"])}
    told = set(KEPT.findall(text)) - known
    assert not told, f"it shows {sorted(told)}, which the contract does not know"
    words = {*re.findall(r"[\w-]{6,}", text), *re.findall(r"[^\s\"',;]{6,}", text)}
    for word in words:
        assert hashlib.sha256(word.encode()).hexdigest() not in HIDDEN, "it shows a secret"


def tells_no_secrets(what):
    goal, token = aim(what), entered(new("sue"))
    path = place(goal, token)
    for reply in (send(goal, token, path), send(goal, None, path), send(goal, "no-token", path)):
        tells_nothing(reply)
    for _, hand in spots(goal, token):
        tells_nothing(hand("'\"<"))


def tells_no_password():
    who = new("sue")
    for reply in (joined("register", who), joined("register", who), joined("login", who),
                  joined("login", who, password=MARK)):
        tells_nothing(reply)


def has_no_doors():
    token = entered(new("sue"))
    for path in DOORS:
        for headers in ({}, bearer(token) if token else {"X-Forwarded-For": "127.0.0.1"}):
            tells_nothing(tried("GET", path, headers=headers))
    for method in ("OPTIONS", "TRACE", "HEAD"):
        tells_nothing(tried(method, "/"))


def quiet(reply):
    there = TRACE.search(reply.text) or (INSIDE.search(reply.text) if reply.status >= 400 else None)
    assert not there, f"it tells of its inside: {there and there[0]!r}"


def stays_quiet(what, token):
    """Whatever is wrong with a request, the answer says nothing about the inside."""
    goal = aim(what)
    path, headers = place(goal, token), bearer(token) if token else {}
    for kind in ("application/json", "application/x-www-form-urlencoded", "nonsense"):
        for body in BROKEN:
            quiet(tried(goal["method"], path, body=body, headers={**headers, "Content-Type": kind}))
    for name in goal["names"]:
        for value in (["a"], {"a": 1}, 12345, -1, True, None, "abc", 10**30):
            quiet(send(goal, token, path, {name: value}))
    for _, hand in spots(goal, token):
        for text in NO_VALUES:
            quiet(hand(text))


def stays_quiet_elsewhere():
    known = {(goal["method"], goal["shape"]) for goal in AIMS}
    for goal in AIMS:
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "NO-SUCH"):
            if (method, goal["shape"]) not in known:
                quiet(tried(method, goal["path"].replace("{", "").replace("}", "")))
    for path in ("/no-such-path", "/%ff", "/%00", "/'", "//", "/%s", "/a?b=%ff", "/.%2e/"):
        quiet(tried("GET", path))


def spoken(data, seconds=3.0, ends=False):
    """What the service says to these bytes; nothing where it cuts the line, or takes too long
    for somebody who might still say more."""
    said = b""
    try:
        with socket.create_connection(("127.0.0.1", http.port), timeout=seconds) as line:
            line.sendall(data)
            if ends:
                line.shutdown(socket.SHUT_WR)
            while len(said) < 1 << 20 and (came := line.recv(1 << 16)):
                said += came
    except TimeoutError:
        assert said or not ends, f"after {seconds} s it still reads what has ended"
    except OSError:
        pass
    return said


def alive(seconds=5.0):
    """The service answers somebody who wants nothing in particular."""
    path = next((goal["path"] for goal in AIMS if goal["part"] == "health"), "/")
    said = spoken(f"GET {path} HTTP/1.1\r\n{HOST}".encode(), seconds)
    status = re.match(rb"HTTP/1\.[01] (\d{3})", said)
    assert status and int(status[1]) < 500, f"it no longer answers: {said[:100]!r}"


def survives_head(*lines, path="/"):
    text = "".join(f"{line}\r\n" for line in lines)
    spoken(f"GET {path} HTTP/1.1\r\n{text}{HOST}".encode())
    alive()


def bodied():
    """Routes that take a body, each with the first lines of a request; any where none does."""
    goals = [goal for goal in AIMS if goal["method"] != "GET" and goal["takes"]] or AIMS[:1]
    token = entered(new("bea"))
    login = f"Authorization: Bearer {token}\r\n" if token else ""
    for goal in goals:
        path = place(goal, token)
        yield goal, f"{goal['method']} {path} HTTP/1.1\r\n{login}Content-Type: application/json\r\n"


def survives_bodies(several):
    """Whole bodies, however large or deep; the service serves others after each route's."""
    for goal, begin in bodied():
        for body in several(goal):
            spoken(f"{begin}Content-Length: {len(body)}\r\n{HOST}".encode() + body)
        alive()


def large(goal):
    yield b'{"no-such-value": "' + b"x" * (2 << 20) + b'"}'


def deep(goal):
    yield from (b"[" * 100_000 + b"]" * 100_000, b'{"a":' * 100_000)
    nested = "[" * 900 + "]" * 900
    yield from (f'{{"{name}": {nested}}}'.encode() for name in goal["names"])


def survives_frame(begin, line, body):
    """A body that is not as long, or not of the form, that its header says."""
    spoken(f"{begin}{line}\r\n{HOST}".encode() + body, seconds=5.0, ends=True)
    alive()


def serves_beside(begin):
    """Others are served while a handful of clients sends a byte now and then."""
    lines = []
    try:
        for _ in range(6):
            lines.append(socket.create_connection(("127.0.0.1", http.port), timeout=5))
            lines[-1].sendall(begin.encode())
        for _ in range(4):
            time.sleep(0.25)
            for line in lines:
                try:
                    line.send(b"x")
                except OSError:
                    pass
            alive()
    finally:
        for line in lines:
            line.close()
'''
