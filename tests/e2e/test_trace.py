"""One trace followed by hand, from a request to a healed service, through kills and workers."""

import json
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.collectors import Collector, http_collector
from tests.conftest import Command, until
from tests.delivered import SMOKE, Yard, yard
from tests.e2e.test_heal import staged
from tests.secrets_planted import TOKENS
from tests.served import Served, key_for, serving
from tests.service_scripts import CART, cart_script
from tests.shoppers import Shopper, divides
from twinsmith.adapters.telemetry.table import TelemetryTable
from twinsmith.core.telemetry import Span, Trace, new_trace

pytestmark = pytest.mark.xdist_group("heal")

PLANTED, IN_ENVIRONMENT = TOKENS["GitHub"], TOKENS["GitLab"]
TASK = f"{CART} (token {PLANTED})"
QUICK = {
    "TWINSMITH_MONITOR_SECONDS": "0.5",
    "TWINSMITH_MONITOR_STEADY_SECONDS": "3",
    "TWINSMITH_APPROVALS_NEEDED": "",
    "TWINSMITH_BUILD_ANSWER_SECONDS": "0",
    "SOME_API_TOKEN": IN_ENVIRONMENT,
    "OTEL_EXPORTER_OTLP_HEADERS": f"authorization=Bearer {IN_ENVIRONMENT}",
}
Headers = dict[str, str]
WORDS = ("shopping cart", "def add_item", "REST API", "apple", "total")
"""Words of the task and of what models answered: none of them is for a trace."""


def test_one_trace_from_a_request_to_a_healed_service(tmp_path: Path) -> None:
    asked = new_trace()
    with http_collector() as collector, yard(tmp_path / "home", QUICK) as local:
        local.command.env["TWINSMITH_TELEMETRY_ENDPOINT"] = collector.address
        local.command.use_script(cart_script(delay=0.5))
        with serving(local.command, "--no-worker") as server:
            key = key_for(local.command, "read", "build", "deploy")
            headers = {"authorization": f"Bearer {key}"}
            run = submitted(server, asked, headers)
            with working(local.command) as first:
                until(lambda: answered(local.command) >= 6, seconds=120)
                first.send_signal(signal.SIGKILL)
            with working(local.command):
                until(lambda: state(server, run, headers) == "solved", seconds=240)
                release = deployed(server, run, headers)
                healed(local, run, tmp_path / "faulty")
            shown = server.ask("GET", f"/api/v1/runs/{release}/trace", **headers)[2]
        bill = local.command.bill()
        assert len(bill) == len(set(bill))
        told = json.loads(local.command("trace", run, "--json").stdout)
        assert (told["trace"], len(told["bars"])) == (asked.trace, len(shown["bars"]))
        kept = TelemetryTable(f"sqlite:///{local.command.home / 'telemetry.db'}").spans(asked.trace)
        follow(kept, asked, run)
        agree(collector, kept)
        for name in ("runs.db", "telemetry.db"):
            nothing_leaked(collector, (local.command.home / name).read_bytes())


@contextmanager
def working(command: Command) -> "Iterator[subprocess.Popen[str]]":
    """A worker for as long as the block lasts; one that was killed in it is gone already."""
    process = command.start("worker")
    try:
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=60)


def answered(command: Command) -> int:
    """How many questions were answered so far."""
    bill = command.home / "scripted-bill.jsonl"
    return len(bill.read_text().splitlines()) if bill.exists() else 0


def submitted(server: Served, asked: Trace, headers: Headers) -> str:
    wanted = {"task": TASK}
    status, _, told = server.ask("POST", "/api/v1/runs", wanted, traceparent=asked.text, **headers)
    assert status == 202, told
    return str(told["run"])


def state(server: Served, run: str, headers: Headers) -> str:
    time.sleep(0.1)  # not more often than a server lets anybody ask
    status, _, told = server.ask("GET", f"/api/v1/runs/{run}", **headers)
    assert status == 200, told
    return str(told["state"])


def deployed(server: Served, run: str, headers: Headers) -> str:
    """Release what was built; nothing is said of the trace here, the run knows it."""
    wanted = {"run": run, "name": "shop", "host": "local"}
    status, _, told = server.ask("POST", "/api/v1/apps", wanted, **headers)
    assert status == 202, told
    until(lambda: state(server, told["run"], headers) == "done", seconds=120)
    return str(told["run"])


def healed(local: Yard, run: str, folder: Path) -> None:
    """Let a person release a version with a fault, which is seen, rolled back and mended."""
    faulty(local.command.home / "runs" / run / "result", folder)
    with Shopper(local.port):
        local.act("deploy", str(folder), "--name", "shop", "--host", "local")
        until(lambda: staged(local, "closed"), seconds=240)
    incident = staged(local, "closed")
    assert incident is not None
    assert incident.attempts[-1].helped
    assert local.app()["serving"] == 3


def faulty(result: Path, folder: Path) -> None:
    """A version of a result that an empty cart breaks, and that only little is asked of."""
    for path in [each for each in result.rglob("*") if each.is_file()]:
        target = folder / path.relative_to(result)
        target.parent.mkdir(parents=True, exist_ok=True)
        text = path.read_text()
        if path.name == "solution.py":
            text = divides(text)
        if path.name == "checks.json":
            checks = json.loads(text)
            kept = [each for each in checks["checks"] if each["name"] in SMOKE]
            text = json.dumps({**checks, "checks": kept})
        target.write_text(text)


def follow(spans: "tuple[Span, ...]", asked: Trace, run: str) -> None:
    """Go the way from the request to the closed incident, a span at a time."""
    by_id = {each.place.span: each for each in spans}
    assert len(by_id) == len(spans)
    assert [each.name for each in spans if not each.ended] == []
    outside = [each for each in spans if each.parent not in by_id]
    # All came out of one request, and that one out of a caller whom nobody here knows.
    (request,) = outside
    assert (request.name, request.parent) == ("POST /api/v1/runs", asked.span)
    (build,) = (each for each in spans if each.name == "build")
    assert (build.run, by_id[build.parent]) == (run, request)
    steps = [each for each in spans if each.run == run and each.what == "step"]
    twice = Counter((each.name, each.parent, each.began) for each in steps)
    assert max(twice.values()) == 1
    chats = [each for each in steps if each.name == "chat cart"]
    assert {each.attributes["gen_ai.provider.name"] for each in chats} == {"scripted"}
    assert all(by_id[each.parent].what in ("stage", "run") for each in steps)
    assert any(each.name.startswith("execute") for each in steps)
    (incident,) = (each for each in spans if each.what == "incident")
    first, second, third = (each for each in spans if each.name == "deploy shop")
    assert [by_id[each.parent].name for each in (first, second)] == ["build", "build"]
    assert by_id[incident.parent] == second
    assert {"try", "canary", "switch", "soak"} <= {
        each.name for each in spans if each.parent == third.place.span
    }
    (fix,) = (each for each in spans if each.name == "fix")
    (back,) = (each for each in spans if each.name.startswith("rollback shop"))
    assert {by_id[each.parent].name for each in (fix, back, third)} == {incident.name}
    assert not any(each.link for each in (build, fix, third))
    assert all(each.link for each in (first, second))


def agree(collector: Collector, kept: "tuple[Span, ...]") -> None:
    """The collector knows the same spans, each once; what a kill took out of its hand is told."""
    mine = [each for each in collector.spans if each["trace"] == kept[0].place.trace]
    ids = [each["span"] for each in mine]
    assert len(ids) == len(set(ids))
    assert set(ids) == {each.place.span for each in kept}
    assert {each["parent"] for each in mine} == {each.parent for each in kept}
    wanted = {name for name, _ in collector.numbers}
    assert {"twinsmith.model.tokens", "twinsmith.sandbox.starts", "twinsmith.queue.wait"} <= wanted


def nothing_leaked(collector: Collector, database: bytes) -> None:
    """No secret left this machine; no words of people or models stand in what was told."""
    for secret in (PLANTED, IN_ENVIRONMENT):
        assert secret.encode() not in collector.raw
    told: list[Any] = [each["attributes"] for each in collector.spans]
    told += [each["name"] for each in collector.spans]
    text = json.dumps(told)
    assert [word for word in WORDS if word in text] == []
    assert PLANTED.encode() not in database
