"""A real `twinsmith serve` of a test's own, on a free port of the loopback."""

import json
import re
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPResponse
from typing import IO, Any

from tests.conftest import Command

PASSWORD = "correct horse battery 9"
STOP_SECONDS = 60


@dataclass(kw_only=True)
class Served:
    """A server that runs, and what it said."""

    process: "subprocess.Popen[str]"
    said: list[str] = field(default_factory=list)

    @property
    def address(self) -> str:
        found = [re.search(r"serves at (\S+)", line) for line in self.said]
        return next((match[1] for match in found if match), "")

    @property
    def link(self) -> str:
        """The link for the first administrator; empty where there are users already."""
        found = [re.search(r"once: (\S+)", line) for line in list(self.said)]
        return next((match[1] for match in found if match), "")

    def ask(
        self, method: str, path: str, body: object = None, **headers: str
    ) -> tuple[int, dict[str, str], Any]:
        """One request; the status, the headers, and what came, as JSON where it is."""
        return ask(self.address, method, path, body, **headers)

    def end(self, number: int = signal.SIGTERM) -> int:
        """End it with a signal; its exit code."""
        with suppress(ProcessLookupError):
            self.process.send_signal(number)
        return self.process.wait(timeout=STOP_SECONDS)


def ask(
    address: str, method: str, path: str, body: object = None, **headers: str
) -> tuple[int, dict[str, str], Any]:
    """One request to an address."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    data = None
    if body is not None:
        data = json.dumps(body).encode()
        sent["content-type"] = "application/json"
    request = urllib.request.Request(address + path, data=data, headers=sent, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, _lower(answer), _content(answer)
    except urllib.error.HTTPError as error:
        return error.code, {k.lower(): v for k, v in error.headers.items()}, _content(error)


def events(address: str, path: str, **headers: str) -> Iterator[tuple[int, str, dict[str, object]]]:
    """The events of a stream until it ends: their ids, kinds and data."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(address + path, headers=sent)
    with urllib.request.urlopen(request, timeout=60) as answer:
        seen = {"id": "0"}
        for raw in answer:
            line = raw.decode().rstrip("\n")
            name, _, value = line.partition(": ")
            if line and name:
                seen[name] = value
            elif "data" in seen:
                yield int(seen["id"]), seen.get("event", ""), json.loads(seen["data"])
                seen = {"id": seen["id"]}


@contextmanager
def serving(command: Command, *args: str) -> Iterator[Served]:
    """A server that takes requests, ended at the end of the block."""
    process = command.start("serve", "--port", "0", *args)
    served = Served(process=process)
    streams = [process.stdout, process.stderr]

    def listen(stream: IO[str] | None) -> None:
        assert stream is not None
        with stream:
            for line in stream:
                served.said.append(line.rstrip())

    threads = [threading.Thread(target=listen, args=(each,), daemon=True) for each in streams]
    for each in threads:
        each.start()
    try:
        deadline = time.monotonic() + 60
        while not served.address:
            assert process.poll() is None, served.said
            assert time.monotonic() < deadline, served.said
            time.sleep(0.02)
        yield served
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        try:
            process.wait(timeout=STOP_SECONDS)
        finally:
            process.kill()
        for each in threads:
            each.join(timeout=5)


def key_for(command: Command, *scopes: str) -> str:
    """A key of the first administrator, who is there once a server was."""
    told = [part for scope in scopes for part in ("--scope", scope)]
    made = command("keys", "add", "admin", "test", *told, "--json")
    return str(json.loads(made.stdout)["secret"])


def _lower(answer: HTTPResponse) -> dict[str, str]:
    return {name.lower(): value for name, value in answer.headers.items()}


def _content(answer: HTTPResponse | urllib.error.HTTPError) -> Any:  # noqa: ANN401
    text = answer.read()
    try:
        return json.loads(text)
    except ValueError:
        return text
