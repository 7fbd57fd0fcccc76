"""Services that want more of a check than answers to their answers."""

import ast

import pytest

from tests.hostile.left import ALONE, attack
from tests.sandboxes import code, sandbox
from twinsmith.adapters.sandbox.inside.transcript import LONGEST
from twinsmith.core.execution import Limits

LIMITS = Limits(probe_seconds=5.0, cpu_seconds=10.0, memory_mb=192)
# Asked for anything, it does its worst to whoever stands in for another service.
FLOOD = """
import http.server, os, socket, threading
there, kept = ("127.0.0.1", 8001), []

def tell(data):
    try:
        with socket.create_connection(there, 1) as line:
            line.sendall(data)
            line.recv(100)
    except OSError:
        pass

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        try:
            kept.extend(socket.create_connection(there, 1) for _ in range(30))
        except OSError:
            pass
        tell(b"\\x00" * 100_000)
        tell(b"GET /" + b"x" * 200_000 + b" HTTP/1.1\\r\\n\\r\\n")
        for size in (b"nonsense", b"-5", b"9" * 30):
            tell(b"POST / HTTP/1.1\\r\\nContent-Length: " + size + b"\\r\\n\\r\\n" + b"x" * 300_000)
        chunked = b"POST / HTTP/1.1\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n"
        for size in (b"-5", b"zz", b"f" * 300):
            tell(chunked + size + b"\\r\\n" + b"x" * 300_000)
        for _ in range(1200):
            tell(b"GET / HTTP/1.0\\r\\n\\r\\n")
        self.send_response(204)
        self.end_headers()

address = ("127.0.0.1", int(os.environ["PORT"]))
http.server.ThreadingHTTPServer(address, Handler).serve_forever()
"""


@pytest.mark.parametrize("backend", ALONE)
async def test_a_stand_in_survives_what_it_is_asked(backend: str) -> None:
    probes = code(
        "up = stand_in({'GET /': 1})\nassert http('GET', '/').status == 204\n"
        "assert 500 < len(up.requests) <= 1000, len(up.requests)\n"
        "assert all(len(word) <= 1 << 16 for asked in up.requests for word in asked)",
        "up = stand_in({})\nassert up.requests == []",
    )
    execution = await attack(
        sandbox(backend), FLOOD, *probes.checks, language="python", kind="service", limits=LIMITS
    )
    assert [seen.detail for seen in execution.results] == ["", ""]


# Answers every request with what it was told to, whatever was asked.
ANSWERS = """
import os, socket
data = DATA
server = socket.create_server(("127.0.0.1", int(os.environ["PORT"])), backlog=100)
while True:
    line, _ = server.accept()
    with line:
        try:
            line.recv(1 << 16)
            line.sendall(data)
        except OSError:
            pass
"""
FORGED = {
    "a kind that ends the list": b"HTTP/1.1 200 OK\r\nContent-Type: '], ['GET', '/'\r\n\r\n']]",
    "a kind of no alphabet": b"HTTP/1.1 200 OK\r\nContent-Type: \xff\x80\r\n\r\n\xff\xfe\x00",
    "a long kind": b"HTTP/1.1 200 OK\r\nContent-Type: " + b"x" * 60_000 + b"\r\n\r\nx",
    "a long body": b"HTTP/1.1 200 OK\r\n\r\n" + "\U0010ffff".encode() * 500_000,
    "an endless header": b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 100_000,
    "no status": b"HTTP/1.1 99999999999999999999 OK\r\n\r\n",
    "nothing": b"",
}


@pytest.mark.parametrize("backend", ALONE)
@pytest.mark.parametrize("answer", FORGED)
async def test_what_a_service_answers_is_data(backend: str, answer: str) -> None:
    check = (
        "for n in range(100):\n"
        "    try:\n        http('GET', f'/{n}')\n    except Exception:\n        pass\n"
    )
    execution = await attack(
        sandbox(backend),
        ANSWERS.replace("DATA", repr(FORGED[answer])),
        *code(f"{check}assert False").checks,
        language="python",
        kind="service",
        limits=LIMITS,
    )
    (seen,) = execution.results
    assert seen.outcome == "failed", seen
    assert len(seen.value) <= LONGEST
    *entries, last = ast.literal_eval(seen.value)
    assert last == ["…"]
    assert [entry[:2] for entry in entries] == [["GET", f"/{n}"] for n in range(len(entries))]
    assert all(len(entry) == 5 for entry in entries)
