"""The checks of a service as a test file that is handed over with it and needs nothing else."""

import re
from string import Template
from textwrap import indent

from twinsmith.core.probe import Probe, Probes

_FILE = '''"""Checks of $file over HTTP, as a stranger on the network would try it.

Run them with `python -m unittest $name` beside $file; it is started on a port of its own.
"""

import socket
import subprocess
import sys
import tempfile
import time
import unittest
from http.client import HTTPConnection
from pathlib import Path
$setup
SERVICE = Path(__file__).resolve().with_name("$file")
BUILD = $build
COMMAND = $command
START_SECONDS = 20
started = {}
to_json = json.dumps


def setUpModule():
    global PLACES
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        started["port"] = free.getsockname()[1]
    started["folder"] = tempfile.TemporaryDirectory()
    PLACES = (started["folder"].name,)
    if BUILD:
        subprocess.run(BUILD, cwd=SERVICE.parent, check=True)
    started["process"] = subprocess.Popen(
        COMMAND,
        cwd=started["folder"].name,
        env={**os.environ, "HOST": "127.0.0.1", "PORT": str(started["port"])},
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


class Response:
    def __init__(self, raw):
        self.status, self.headers = raw.status, raw.headers
        self.text = raw.read().decode(errors="replace")


def http(method, path, json=None, headers=None, body=""):
    """One request; redirections are not followed."""
    sent = {"Content-Type": "application/json"} if json is not None else {}
    data = to_json(json) if json is not None else body
    connection = HTTPConnection("127.0.0.1", started["port"])
    try:
        connection.request(method, path, data.encode(), {**sent, **(headers or {})})
        return Response(connection.getresponse())
    finally:
        connection.close()


class ServiceTest(unittest.TestCase):
$tests

if __name__ == "__main__":
    unittest.main()
'''


def as_test_file(
    probes: Probes, *, file: str, name: str, build: tuple[str, ...], run: tuple[str, ...]
) -> str:
    """A test module for the service in `file`, to be kept beside it under `name`."""
    methods = "\n".join(_method(probe) for probe in probes.checks)
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


def _method(probe: Probe) -> str:
    name = re.sub(r"\W+", "_", probe.name.lower()).strip("_")
    source = indent(probe.source, "    ")
    return indent(f"def test_{name}(self):\n{source}\n", "    ")
