"""Services that call another one: a check stands in for it, here and in the tests handed over."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.sandboxes import BACKENDS, LIMITS, code, needs, run, sandbox
from twinsmith.core.services.service_tests import as_test_file

PRICES = """
import http.server, json, os, urllib.error, urllib.request

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        wanted = self.path.partition("?")[2]
        data = b"paid" if self.path.startswith("/pay") else None
        asked = urllib.request.Request(os.environ["UPSTREAM_URL"] + "/" + wanted, data=data)
        try:
            with urllib.request.urlopen(asked, timeout=2) as reply:
                status, said = reply.status, reply.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                status, said = error.code, error.read().decode()
        except OSError as error:
            status, said = 502, type(error).__name__
        body = json.dumps([status, said]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words): ...

address = ("127.0.0.1", int(os.environ["PORT"]))
http.server.ThreadingHTTPServer(address, Handler).serve_forever()
"""
CHECKS = {
    "nobody is there": "assert http('GET', '/?rates').json() == [502, 'URLError']",
    "it answers": """
up = stand_in({"GET /rates": {"EUR": 1.5}, "GET /list": [1], "GET /text": "für alle",
               "GET /rates?to=USD": 2, "GET /down": (503, {"error": "down"}),
               "POST /pay": (201, "")})
assert http("GET", "/?rates").json() == [200, '{"EUR": 1.5}']
assert http("GET", "/?rates?to=GBP").json() == [200, '{"EUR": 1.5}']
assert http("GET", "/?rates?to=USD").json() == [200, "2"]
assert http("GET", "/?list").json() == [200, "[1]"]
assert http("GET", "/?text").json() == [200, "für alle"]
assert http("GET", "/?down").json() == [503, '{"error": "down"}']
assert http("GET", "/?none").json()[0] == 404
assert http("GET", "/pay?pay").json() == [201, ""]
assert up.requests[0] == ("GET", "/rates", "") and len(up.requests) == 8
last = up.requests[-1]
assert (last.method, last.path, last.body) == ("POST", "/pay", "paid")
import os
assert up.url.startswith("http://127.0.0.1:")
""",
    "it is gone": "assert http('GET', '/?rates').json() == [502, 'URLError']",
    "another takes its place": """
one = stand_in({"GET /rates": 1})
assert http("GET", "/?rates").json() == [200, "1"]
two = stand_in({"GET /rates": 2})
assert http("GET", "/?rates").json() == [200, "2"]
assert (len(one.requests), len(two.requests)) == (1, 1)
two.close()
assert http("GET", "/?rates").json()[0] == 502
""",
    "several at once": """
import threading
up = stand_in({"GET /rates": {"EUR": 1}})
threads = [threading.Thread(target=http, args=("GET", "/?rates")) for _ in range(10)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert up.requests == [("GET", "/rates", "")] * 10
""",
}


@pytest.mark.parametrize("backend", BACKENDS)
async def test_in_the_sandbox(backend: str) -> None:
    probes = code(*CHECKS.values())
    execution = await run(PRICES, kind="service", probes=probes, box=sandbox(backend))
    seen = {name: r.detail for name, r in zip(CHECKS, execution.results, strict=True)}
    assert seen == dict.fromkeys(CHECKS, "")


def test_in_the_tests_handed_over(tmp_path: Path) -> None:
    probes = code(*CHECKS.values())
    (tmp_path / "service.py").write_text(PRICES)
    text = as_test_file(probes, file="service.py", name="test_service.py", build=(), run=())
    (tmp_path / "test_service.py").write_text(text)
    command = [sys.executable, "-W", "error", "-m", "unittest", "test_service.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert f"Ran {len(CHECKS)} tests" in done.stderr
    assert done.stderr.splitlines()[-1] == "OK", done.stderr


GO = """package main

import (
	"io"
	"net/http"
	"os"
	"strings"
)

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		body := io.MultiReader(strings.NewReader("in "), strings.NewReader("parts"))
		reply, err := http.Post(os.Getenv("UPSTREAM_URL")+"/pay", "text/plain", body)
		if err != nil {
			http.Error(w, err.Error(), 502)
			return
		}
		defer reply.Body.Close()
		io.Copy(w, reply.Body)
	})
	http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil)
}
"""


async def test_a_body_in_parts_is_heard() -> None:
    needs("go")
    check = (
        "up = stand_in({'POST /pay': 'thanks'})\n"
        "assert http('GET', '/').text == 'thanks'\n"
        "assert up.requests == [('POST', '/pay', 'in parts')]"
    )
    execution = await run(GO, language="go", kind="service", probes=code(check))
    assert [r.detail for r in execution.results] == [""], execution.problem


LISTENS = """
import os, socket, time
held = socket.create_server(("127.0.0.1", 8001))
{more}
while True:
    time.sleep(1)
"""


async def test_who_listens_only_there_is_no_service() -> None:
    source = LISTENS.format(more="time.sleep(0.5)\nraise SystemExit(3)")
    execution = await run(source, kind="service", probes=code("http('GET', '/')"), limits=LIMITS)
    assert execution.results[0].detail.startswith(
        "the service ended with exit code 3 before it listened"
    )


async def test_a_service_that_takes_the_place_fails_the_check() -> None:
    source = 'import socket\nheld = socket.create_server(("127.0.0.1", 8001))\n' + PRICES
    probes = code("stand_in({})", "assert http('GET', '/?rates')")
    execution = await run(source, kind="service", probes=probes, limits=LIMITS)
    taken, _ = execution.results
    assert (taken.outcome, taken.detail) == (
        "raised",
        "RuntimeError: port 8001 is taken: a service has to leave it free",
    )
