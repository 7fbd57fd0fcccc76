"""The porter before services of all sorts: requests, many at once, drains, programs that die."""

import http.client
import json
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.services_compiled import LINKS_IN_C
from tests.unix_http import Connection, ask
from twinsmith.kits import kit

SERVICE = textwrap.dedent(
    """
    import os, sys, time
    from http.server import BaseHTTPRequestHandler, {server}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "{protocol}"
        def do_GET(self):
            if self.path == "/die":
                os._exit(3)
            if self.path == "/crash":
                os.kill(os.getpid(), 9)
            if self.path == "/mute":
                self.close_connection = True
                return
            if self.path.startswith("/slow"):
                print("slow", flush=True)
                time.sleep(1.5)
            if self.path == "/chunked":
                self.send_response(200)
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                for part in (b"ab", b"c" * 40):
                    self.wfile.write(b"%x\\r\\n%s\\r\\n" % (len(part), part))
                self.wfile.write(b"0\\r\\n\\r\\n")
                return
            self.answer(f"{{os.getpid()}} {{os.environ['HOST']}}".encode())
        def do_HEAD(self):
            self.answer(b"12345")
        def do_POST(self):
            if self.path == "/early":
                self.send_response(413)
                self.send_header("Content-Length", "0")
                self.end_headers()
                self.close_connection = True
                return
            length = int(self.headers["Content-Length"])
            self.answer(self.rfile.read(length))
        def answer(self, body):
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)
        def log_message(self, *args):
            pass

    {before}
    {server}((os.environ["HOST"], int(os.environ["PORT"])), Handler).serve_forever()
    """
)


def service(
    *, server: str = "ThreadingHTTPServer", protocol: str = "HTTP/1.1", before: str = ""
) -> list[str]:
    return [
        sys.executable,
        "-c",
        SERVICE.format(server=server, protocol=protocol, before=before),
    ]


@dataclass(frozen=True, kw_only=True)
class Porter:
    process: subprocess.Popen[str]
    socket: Path

    def ask(self, method: str, path: str, body: bytes | None = None) -> tuple[int, bytes]:
        return ask(self.socket, method, path, body)

    def raw(self, text: bytes) -> bytes:
        """Everything that comes back on one connection, whose end for sending is closed."""
        with socket.socket(socket.AF_UNIX) as plain:
            plain.settimeout(20)
            plain.connect(str(self.socket))
            plain.sendall(text)
            plain.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: plain.recv(1 << 16), b""))

    def end(self) -> list[dict[str, object]]:
        """Stop it in good order; its lines of JSON."""
        self.process.send_signal(signal.SIGTERM)
        out, err = self.process.communicate(timeout=40)
        assert self.process.returncode == 0, err
        return lines(out)


def lines(out: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in out.splitlines() if line.startswith("{")]


def listens(place: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as trial:
        return trial.connect_ex(str(place)) == 0


@contextmanager
def porter(*words: str) -> Iterator[Porter]:
    with tempfile.TemporaryDirectory(prefix="porter-") as folder:
        program = Path(folder, "porter.pl")
        program.write_text(kit("porter.txt"))
        place = Path(folder, "http.sock")
        place.write_text("left behind")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        process = subprocess.Popen(
            ["perl", str(program), "--", *words],
            env={"PATH": "/usr/bin:/bin", "LISTEN": str(place), "PROGRAM_PORT": str(port)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=folder,
        )
        try:
            while process.poll() is None and not listens(place):
                time.sleep(0.01)
            yield Porter(process=process, socket=place)
        finally:
            if process.poll() is None:
                # Nobody's process 1 here: the program outlives a porter that is killed.
                process.terminate()
            process.communicate(timeout=40)


def test_requests_pass_as_they_are_and_each_is_one_line() -> None:
    with porter(*service()) as at:
        assert at.socket.stat().st_mode & 0o777 == 0o777
        status, body = at.ask("GET", "/a?token=secret")
        assert (status, body.split()[1]) == (200, b"127.0.0.1")
        large = b"x" * 3_000_000
        assert at.ask("POST", "/echo", large) == (200, large)
        assert at.ask("GET", "/chunked") == (200, b"ab" + b"c" * 40)
        assert at.ask("HEAD", "/head") == (200, b"")
        assert at.ask("POST", "/early", large)[0] == 413
        assert at.ask("GET", "/mute")[0] == 502
        told = at.end()
    assert [(line["method"], line["path"], line["status"]) for line in told] == [
        ("GET", "/a", 200),
        ("POST", "/echo", 200),
        ("GET", "/chunked", 200),
        ("HEAD", "/head", 200),
        ("POST", "/early", 413),
        ("GET", "/mute", 502),
    ]
    assert set(told[0]) == {"at", "from", "method", "path", "status", "bytes", "microseconds"}
    assert told[1]["bytes"] == len(large)
    assert not at.socket.exists()


@pytest.mark.parametrize("protocol", ["HTTP/1.0", "HTTP/1.1"])
def test_who_keeps_a_connection_holds_up_nobody(protocol: str) -> None:
    # This server serves one connection at a time, to its end.
    with porter(*service(server="HTTPServer", protocol=protocol)) as at:
        kept = Connection(at.socket)
        for path in ("/1", "/2", "/3"):
            kept.request("GET", path)
            assert kept.getresponse().read()
        assert at.ask("GET", "/other")[0] == 200
        kept.request("GET", "/4")
        assert kept.getresponse().status == 200
        told = at.end()
        assert [line["path"] for line in told] == ["/1", "/2", "/3", "/other", "/4"]
        kept.close()


def test_requests_sent_at_once_on_one_connection_are_answered_in_turn() -> None:
    with porter(*service()) as at:
        three = b"".join(b"GET /%d HTTP/1.1\r\nHost: x\r\n\r\n" % n for n in range(3))
        assert at.raw(three).count(b"HTTP/1.1 200 OK") == 3
        assert [line["path"] for line in at.end()] == ["/0", "/1", "/2"]


@pytest.mark.parametrize("server", ["ThreadingHTTPServer", "HTTPServer"])
def test_many_at_once_are_all_answered(server: str) -> None:
    # Both have a queue of five: what is too much for it, the system would end.
    with porter(*service(server=server)) as at, ThreadPoolExecutor(40) as pool:
        body = b"y" * 100_000
        found = list(pool.map(lambda n: at.ask("POST", f"/{n}", body), range(400)))
        assert found == [(200, body)] * 400
        assert sorted(str(line["path"]) for line in at.end()) == sorted(f"/{n}" for n in range(400))


def test_more_connections_than_there_is_room_for_wait_their_turn() -> None:
    with porter(*service()) as at:
        assert at.ask("GET", "/")[0] == 200
        idle = [socket.socket(socket.AF_UNIX) for _ in range(480)]
        for each in idle:
            each.connect(str(at.socket))
        with ThreadPoolExecutor(1) as pool:
            late = pool.submit(at.ask, "GET", "/late")
            time.sleep(0.3)
            assert not late.done()
            idle.pop().close()
            assert late.result()[0] == 200
        for each in idle:
            each.close()
        at.end()


def test_a_stopped_service_finishes_what_it_is_doing_and_takes_nothing_new() -> None:
    with porter(*service()) as at, ThreadPoolExecutor(2) as pool:
        assert at.ask("GET", "/")[0] == 200
        idle = Connection(at.socket)
        idle.request("GET", "/idle")
        assert idle.getresponse().read()
        slow = pool.submit(at.ask, "GET", "/slow")
        assert at.process.stdout is not None
        while at.process.stdout.readline() != "slow\n":
            pass
        ended = pool.submit(at.end)
        assert idle.sock.recv(1) == b""
        idle.close()
        with pytest.raises(OSError, match=r"No such file|refused"):
            at.ask("GET", "/new")
        assert not slow.done()
        assert slow.result()[0] == 200
        assert [line["path"] for line in ended.result()] == ["/slow"]


def test_a_service_that_takes_a_moment_to_listen_misses_no_request() -> None:
    with porter(*service(before="time.sleep(0.7)")) as at:
        assert at.ask("GET", "/early")[0] == 200


def test_whoever_asks_a_program_that_never_listens_is_told_so() -> None:
    with porter("sleep", "60") as at:
        status, body = at.ask("GET", "/health")
        assert (status, body) == (503, b"the service does not listen\n")
        assert [(line["path"], line["status"]) for line in at.end()] == [("/health", 503)]


@pytest.mark.parametrize(
    ("path", "code", "says"),
    [("/die", 3, "by itself, exit code 3"), ("/crash", 137, "by signal 9")],
)
def test_a_program_that_ends_takes_the_porter_along(path: str, code: int, says: str) -> None:
    with porter(*service()) as at:
        assert at.ask("GET", path)[0] == 502
        out, err = at.process.communicate(timeout=20)
        assert at.process.returncode == code
        assert f"porter: the program ended {says}" in err
        assert [line["status"] for line in lines(out)] == [502]


def test_a_program_that_is_not_there_or_a_place_that_is_not_there_is_one_line() -> None:
    with porter("/no/such/program") as at:
        _, err = at.process.communicate(timeout=20)
        assert at.process.returncode == 127
        assert err.splitlines()[0].startswith("porter: cannot start /no/such/program: ")
    done = subprocess.run(
        ["perl", "-", "--", "true"],
        input=kit("porter.txt"),
        env={"LISTEN": "/no/such/http.sock"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr.startswith("porter: cannot listen at LISTEN=/no/such/http.sock: ")


@pytest.mark.parametrize(
    "target",
    [
        b'/a"b',
        b"/a\\b\\",
        b'/","status":200,"x":"',
        b"/\xff\xfe",
        b"/%0a%22",
        b"/tab\tin",
        b"/\x1b[31m",
        b"/" + b"z" * 5000,
    ],
)
def test_a_hostile_path_stays_inside_its_line(target: bytes) -> None:
    with porter(*service()) as at:
        at.raw(b"GET " + target + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        (line,) = at.end()
        assert str(line["path"]).startswith("/")
        assert set(line) == {"at", "from", "method", "path", "status", "bytes", "microseconds"}


@pytest.mark.parametrize(
    "said",
    [
        b"\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 20,
        b"GET / HTTP/1.1\r\nX: " + b"y" * 100_000,
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 99\r\n\r\nshort",
    ],
)
def test_what_is_no_request_hurts_nobody(said: bytes) -> None:
    with porter(*service()) as at:
        at.raw(said)
        assert at.ask("GET", "/after")[0] == 200
        assert at.end()[-1]["path"] == "/after"


def test_a_client_that_goes_away_is_told_of_and_costs_nothing_more() -> None:
    with porter(*service()) as at:
        gone = Connection(at.socket)
        gone.request("GET", "/slow")
        gone.close()
        assert at.ask("GET", "/after")[0] == 200
        assert [(line["path"], line["status"]) for line in at.end()] == [
            ("/after", 200),
            ("/slow", 200),
        ]


def test_it_listens_on_a_port_where_it_is_told_one() -> None:
    with socket.socket() as free, socket.socket() as other:
        free.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        port, program = free.getsockname()[1], other.getsockname()[1]
    process = subprocess.Popen(
        ["perl", "-", "--", *service()],
        env={"LISTEN": f"127.0.0.1:{port}", "PROGRAM_PORT": str(program)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    process.stdin.write(kit("porter.txt"))
    process.stdin.close()
    process.stdin = None
    for _ in range(200):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        try:
            connection.request("GET", "/here")
            assert connection.getresponse().status == 200
            break
        except ConnectionRefusedError:
            time.sleep(0.05)
        finally:
            connection.close()
    process.terminate()
    out, _ = process.communicate(timeout=30)
    assert [(line["from"], line["path"]) for line in lines(out)] == [("127.0.0.1", "/here")]


def test_a_compiled_service_is_served_the_same(tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler; run: apt-get install -y gcc libc6-dev")
    for name, text in LINKS_IN_C.items():
        (tmp_path / name).write_text(text)
    sources = [str(path) for path in tmp_path.glob("*.c")]
    subprocess.run([compiler, "-o", str(tmp_path / "app"), *sources], check=True)
    with porter(str(tmp_path / "app")) as at:
        assert at.ask("GET", "/health")[0] == 200
        assert at.ask("GET", "/nothing/here")[0] == 404
        assert [line["status"] for line in at.end()] == [200, 404]
