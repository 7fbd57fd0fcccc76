"""What a check can ask of a service: the same in the sandbox and in the tests handed over."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sandboxes import BACKENDS, code, run, sandbox
from twinsmith.core.execution import Limits
from twinsmith.core.services.service_tests import as_test_file

# Says what it was asked, and answers in several ways.
ECHO = """
import http.server, json, os

class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self):
        size = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(size)
        said = {
            "method": self.command,
            "path": self.path,
            "type": self.headers.get_all("Content-Type"),
            "body": body.decode("latin-1"),
            "key": self.headers.get("X-Key"),
        }
        data = json.dumps(said).encode() if self.path != "/raw" else b"\\xff\\x00raw"
        self.send_response(418 if self.path == "/teapot" else 200)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Set-Cookie", "a=1")
        self.send_header("Set-Cookie", "b=2")
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = answer

    def log_message(self, *words): ...

address = ("127.0.0.1", int(os.environ["PORT"]))
http.server.ThreadingHTTPServer(address, Handler).serve_forever()
"""

CHECKS = {
    "as before": """
r = http("PUT", "/a?b=%20c#d", {"n": [1, "é"]}, {"X-Key": "k"})
said = r.json()
assert (said["method"], said["path"], said["key"]) == ("PUT", "/a?b=%20c#d", "k")
assert said["type"] == ["application/json"] and said["body"] == '{"n": [1, "\\\\u00e9"]}'
assert http("POST", "/", body="text").json()["body"] == "text"
assert http("GET", "/").json()["type"] is None
""",
    "answers": """
r = http("GET", "/teapot")
assert r.status == r.status_code == 418 and not r.ok and http("GET", "/").ok
r = http("GET", "/raw")
assert r.content == b"\\xff\\x00raw" and r.text == "\\ufffd\\x00raw"
assert r.headers["content-TYPE"] == r.headers.get("Content-Type") and "X-None" not in r.headers
assert r.headers["Set-Cookie"] == "a=1, b=2"
try:
    r.json()
except ValueError:
    pass
else:
    assert False
""",
    "paths": """
assert http("GET", "/für alle/1").json()["path"] == "/f%C3%BCr%20alle/1"
assert http("GET", "/a%2Fb?x=%7B&y=[1]").json()["path"] == "/a%2Fb?x=%7B&y=[1]"
assert http("GET", "/a\\r\\nX-Key: 1").json()["path"] == "/a%0D%0AX-Key:%201"
""",
    "query": """
wanted = {"q": "a b&c", "n": 1, "x": 1.5, "yes": True, "tag": ["ü", "v"], "none": None}
path = "/s?q=a+b%26c&n=1&x=1.5&yes=true&tag=%C3%BC&tag=v"
assert http("GET", "/s", query=wanted).json()["path"] == path
assert http("GET", "/s?a=1", query={"b": 2}).json()["path"] == "/s?a=1&b=2"
assert http("GET", "/s", query={}).json()["path"] == "/s"
""",
    "form": """
said = http("POST", "/f", form={"name": "a b", "no": False}).json()
assert said["body"] == "name=a+b&no=false"
assert said["type"] == ["application/x-www-form-urlencoded"]
assert http("POST", "/f", form={}).json()["type"] == ["application/x-www-form-urlencoded"]
""",
    "files": """
files = {"doc": ("a\\"b.txt", "one part two", "text/plain"), "raw": ("c.bin", b"\\xff\\r\\n")}
said = http("POST", "/f", files=files, form={"title": "ü"}).json()
(kind,) = said["type"]
assert kind.startswith("multipart/form-data; boundary=")
import email
whole = f"Content-Type: {kind}\\r\\n\\r\\n{said['body']}".encode("latin-1")
title, doc, raw = email.message_from_bytes(whole).get_payload()
assert title.get_payload(decode=True) == "ü".encode() and title.get_filename() is None
assert (doc.get_filename(), doc.get_content_type()) == ("a%22b.txt", "text/plain")
assert doc.get_payload(decode=True) == b"one part two"
assert raw.get_content_type() == "application/octet-stream"
assert said["body"].count(f"--{kind.partition('=')[2]}") == 4
assert "\\xff\\r\\n\\r\\n--" in said["body"]
""",
    "bytes": """
assert http("POST", "/b", body=b"\\x00\\xff").json()["body"] == "\\x00\\xff"
said = http("POST", "/b", json=[], headers={"content-type": "application/merge-patch+json"}).json()
assert said["type"] == ["application/merge-patch+json"]
""",
}


@pytest.mark.parametrize("backend", BACKENDS)
async def test_in_the_sandbox(backend: str) -> None:
    probes = code(*CHECKS.values())
    execution = await run(ECHO, kind="service", probes=probes, box=sandbox(backend))
    seen = {name: r.detail for name, r in zip(CHECKS, execution.results, strict=True)}
    assert seen == dict.fromkeys(CHECKS, "")
    asked = {name: r.value for name, r in zip(CHECKS, execution.results, strict=True)}
    assert [entry[1] for entry in ast.literal_eval(asked["query"])][1:] == ["/s?a=1&b=2", "/s"]
    assert ast.literal_eval(asked["paths"])[0][:4] == [
        *("GET", "/für alle/1", 200, "application/json")
    ]


@pytest.mark.parametrize("name", CHECKS)
def test_in_the_tests_handed_over(name: str, tmp_path: Path) -> None:
    probes = code(CHECKS[name], "assert http('GET', '/').status == 0")
    (tmp_path / "service.py").write_text(ECHO)
    text = as_test_file(probes, file="service.py", name="test_service.py", build=(), run=())
    (tmp_path / "test_service.py").write_text(text)
    command = [sys.executable, "-W", "error", "-m", "unittest", "test_service.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1] == "FAILED (failures=1)", done.stderr
    assert "FAIL: test_check_1 " in done.stderr


async def test_an_answer_cannot_be_longer_than_is_read() -> None:
    source = ECHO.replace('b"\\xff\\x00raw"', 'b"x" * 3_000_000')
    check = "r = http('GET', '/raw')\nassert len(r.content) == 1 << 20"
    execution = await run(source, kind="service", probes=code(check), limits=Limits())
    assert execution.results[0].detail == ""
