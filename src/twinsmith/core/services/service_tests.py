"""The checks of a service as a test file that is handed over with it and needs nothing else."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from string import Template
from textwrap import indent

from twinsmith.core.probe import Probe, Probes

_FILE = '''"""Checks of $file over HTTP, as a stranger on the network would try it.

Run them with `python -m unittest $name` beside $file; it is started on a port of its own.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from collections import namedtuple
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from string import punctuation
from urllib.parse import quote, urlencode
$setup
SERVICE = Path(__file__).resolve().with_name("$file")
BUILD = $build
COMMAND = $command
START_SECONDS = 20
started = {}
to_json, from_json = json.dumps, json.loads


def setUpModule():
    with socket.socket() as free, socket.socket() as other:
        for name, each in (("port", free), ("upstream", other)):
            each.bind(("127.0.0.1", 0))
            started[name] = each.getsockname()[1]
    if BUILD:
        subprocess.run(BUILD, cwd=SERVICE.parent, check=True)
    start()


def start():
    global PLACES
    started["folder"] = tempfile.TemporaryDirectory()
    PLACES = (started["folder"].name,)
    started["process"] = subprocess.Popen(
        COMMAND,
        cwd=started["folder"].name,
        env={
            **os.environ,
            "HOST": "127.0.0.1",
            "PORT": str(started["port"]),
            "UPSTREAM_URL": f"http://127.0.0.1:{started['upstream']}",
        },
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and started["process"].poll() is None:
        with socket.socket() as attempt:
            if attempt.connect_ex(("127.0.0.1", started["port"])) == 0:
                return
        time.sleep(0.05)
    tearDownModule()
    raise RuntimeError("the service does not start")


def tearDownModule():
    started["process"].kill()
    started["process"].wait()
    started["folder"].cleanup()


class Headers(dict):
    """Names mean the same in capitals and without; one that came twice has both values."""

    def __init__(self, items):
        super().__init__()
        for name, value in items:
            before = self[name] + ", " if name in self else ""
            self[name.lower()] = before + value

    def __getitem__(self, name):
        return super().__getitem__(name.lower())

    def __contains__(self, name):
        return super().__contains__(str(name).lower())

    def get(self, name, default=None):
        return super().get(name.lower(), default)


class Response:
    def __init__(self, raw):
        self.status = self.status_code = raw.status
        self.headers = Headers(raw.getheaders())
        self.content = raw.read()
        self.text = self.content.decode(errors="replace")
        self.ok = self.status < 400

    def json(self):
        return from_json(self.text)


def http(method, path, json=None, headers=None, body="", query=None, form=None, files=None):
    """One request; redirections are not followed."""
    if query:
        path += ("&" if "?" in path else "?") + urlencode(pairs_of(query))
    kind, data = content_of(json, body, form, files)
    typed = any(name.lower() == "content-type" for name in headers or {})
    sent = {"Content-Type": kind} if kind and not typed else {}
    connection = HTTPConnection("127.0.0.1", started["port"])
    try:
        target = quote(path, safe=punctuation, errors="replace")
        connection.request(method, target, data, {**sent, **(headers or {})})
        return Response(connection.getresponse())
    finally:
        connection.close()


def content_of(json, body, form, files):
    """What kind it is that is sent, and what is sent."""
    if json is not None:
        return "application/json", to_json(json).encode()
    if files:
        boundary, data = multipart(pairs_of(form or {}), files)
        return f"multipart/form-data; boundary={boundary}", data
    if form is not None:
        return "application/x-www-form-urlencoded", urlencode(pairs_of(form)).encode()
    return "", as_bytes(body)


def pairs_of(values):
    """Names and values as words; a list is a name several times, None is left out."""
    pairs = []
    for name, value in values.items():
        for each in value if isinstance(value, (list, tuple)) else [value]:
            if each is not None:
                pairs.append((name, str(each).lower() if isinstance(each, bool) else str(each)))
    return pairs


def multipart(pairs, files):
    """What stands between the parts, and all of them."""
    parts = [(f'form-data; name="{quoted(name)}"', "", word.encode()) for name, word in pairs]
    for name, given in files.items():
        file, content, *kind = given if isinstance(given, (list, tuple)) else (name, given)
        where = f'form-data; name="{quoted(name)}"; filename="{quoted(file)}"'
        parts.append((where, kind[0] if kind else "application/octet-stream", as_bytes(content)))
    boundary = "part"
    while any(boundary.encode() in content for _, _, content in parts):
        boundary += "-part"
    data = b""
    for where, kind, content in parts:
        typed = f"Content-Type: {kind}\\r\\n" if kind else ""
        head = f"--{boundary}\\r\\nContent-Disposition: {where}\\r\\n{typed}\\r\\n"
        data += head.encode() + content + b"\\r\\n"
    return boundary, data + f"--{boundary}--\\r\\n".encode()


def quoted(name):
    return str(name).replace('"', "%22").replace("\\r", "%0D").replace("\\n", "%0A")


def as_bytes(text):
    return text.encode() if isinstance(text, str) else bytes(text)


class Asked(namedtuple("Asked", "method path body")):
    def json(self):
        return from_json(self.body)


class Upstream(BaseHTTPRequestHandler):
    """Answers in the place of another service."""

    def answer(self):
        asked = Asked(self.command, self.path, self.body().decode(errors="replace"))
        self.server.requests.append(asked)
        whole, missing = f"{self.command} {self.path}", (404, {"error": "no such route"})
        said = self.server.routes.get(whole.partition("?")[0], missing)
        said = self.server.routes.get(whole, said)
        status, value = said if isinstance(said, tuple) else (200, said)
        kind = "application/octet-stream" if isinstance(value, bytes) else "application/json"
        kind = "text/plain; charset=utf-8" if isinstance(value, str) else kind
        data = as_bytes(value if isinstance(value, (str, bytes)) else to_json(value))
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = answer

    def body(self):
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        data = b""
        while size := int(self.rfile.readline().partition(b";")[0] or b"0", 16):
            data += self.rfile.read(size)
            self.rfile.readline()
        return data

    def log_message(self, *words):
        pass


class StandIn:
    """Another service that the service calls; it ends with the test that started it."""

    def __init__(self, routes):
        stop_standing_in()
        self.url = f"http://127.0.0.1:{started['upstream']}"
        self._server = ThreadingHTTPServer(("127.0.0.1", started["upstream"]), Upstream)
        self._server.routes, self._server.requests = routes, []
        self.requests = self._server.requests
        threading.Thread(target=self._server.serve_forever, args=(0.01,)).start()
        started["stand-in"] = self

    def close(self):
        self._server.shutdown()
        self._server.server_close()
        started.pop("stand-in", None)


stand_in = StandIn


def stop_standing_in():
    if "stand-in" in started:
        started["stand-in"].close()


class ServiceTest(unittest.TestCase):
    def start_anew(self):
        """A service that nobody has asked: no process and no file of the one before is left."""
        tearDownModule()
        globals().get("_tokens", {}).clear()
        start()

    def tearDown(self):
        stop_standing_in()

$tests

if __name__ == "__main__":
    unittest.main()
'''


def as_test_file(
    probes: Probes, *, file: str, name: str, build: tuple[str, ...], run: tuple[str, ...]
) -> str:
    """A test module for the service in `file`, to be kept beside it under `name`."""
    methods = "\n".join(_methods(probes.checks))
    command = "[sys.executable, str(SERVICE)]"
    if not file.endswith(".py"):
        program = 'str(SERVICE.with_name("solution"))' if build else "str(SERVICE)"
        command = f"[*{list(run[:-1])!r}, {program}]"
    return Template(_FILE).substitute(
        file=file,
        name=name,
        build=repr(list(build)),
        command=command,
        setup=probes.setup,
        tests=methods,
    )


def _methods(checks: Sequence[Probe]) -> Iterator[str]:
    """The test methods of a test file, one a check, each with a name of its own."""
    seen: Counter[str] = Counter()
    for probe in checks:
        name = re.sub(r"\W+", "_", probe.name.lower()).strip("_")
        seen[name] += 1
        name += f"__{seen[name]}" if seen[name] > 1 else ""
        lines = f"self.start_anew()\n{probe.source}" if probe.fresh else probe.source
        yield indent(f"def test_{name}(self):\n{indent(lines, '    ')}\n", "    ")
