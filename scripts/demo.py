"""The whole promise on this machine: a sentence becomes a service that runs, leaks and is healed.

    python scripts/demo.py "TASK"

Everything is done through the command `twinsmith`, as a person would; what it prints is shown.
"""

import json
import os
import shlex
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path

from twinsmith.core.operating.deliverable import deliverable_in
from twinsmith.core.planning.contract import Operation

APP = "notes"
KEPT_BYTES = 300_000
PAUSE = 0.05
MOST_SECONDS = 900.0
# A person who looks on: short waits, and no question whether a fix may be released.
QUICK = {
    "TWINSMITH_APPROVALS_NEEDED": "schema_change,data_touched,risk_high",
    "TWINSMITH_DEPLOY_SOAK_SECONDS": "5",
    "TWINSMITH_MONITOR_STEADY_SECONDS": "5",
}
TWINSMITH = [sys.executable, "-m", "twinsmith"]


def main() -> None:
    """Build, deploy, break and heal."""
    os.environ.update(QUICK)
    _shown("doctor")
    _say("one sentence in:")
    _shown("build", sys.argv[1], "--deploy", "--name", APP)
    _say("the same service once more in the sandbox, its checks one by one:")
    built = _told("status", "--json")
    run = next(str(each["run"]) for each in reversed(_rows(built)) if each["state"] == "solved")
    _shown("verify", run)
    url = str(_app()["url"])
    route, folder = _leaky(Path(str(_status(run)["out"])))
    _say(
        f"it serves at {url}; a version of it that keeps memory of every {route.path} is deployed:"
    )
    _shown("deploy", str(folder), "--name", APP)
    _say("people use it, and a monitor watches:")
    closed = _healed(f"{url}{route.path}")
    app = _app()
    print(f"\nincident {closed}; release {app['serving']} of {APP} serves on host {app['host']}")
    print(
        "an engine (--host docker, --host podman) would bring images, quotas and its own restarts"
    )
    print(f"address: {url}")
    print(f"try:     curl {url}{route.path}")
    print(f"stop:    .venv/bin/twinsmith stop {APP}")
    sys.exit(0 if closed == "closed" else 1)


def _leaky(result: Path) -> tuple[Operation, Path]:
    """A folder with the same service, in which one route keeps some memory each time."""
    files = {
        str(path.relative_to(result)): path.read_text()
        for path in result.rglob("*")
        if path.is_file()
    }
    contract = deliverable_in(files, str(result)).contract
    routes = contract.pieces if contract is not None else ()
    plain = [each for each in routes if each.method == "GET" and not each.parameters]
    route = next((each for each in plain if not each.login), None)
    if route is None:
        sys.exit("the service has no route that anybody may read, so its leak cannot be shown")
    source = files["solution.py"]
    begin = source.index(f"\ndef {route.function}(")
    body = source.index(":\n", begin) + 2
    leak = f"    KEPT.append(b'x' * {KEPT_BYTES})\n"
    files["solution.py"] = (
        f"{source[:begin]}\nKEPT = []\n\n{source[begin:body]}{leak}{source[body:]}"
    )
    folder = Path(tempfile.mkdtemp(prefix="twinsmith-demo-"))
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return route, folder


def _healed(url: str) -> str:
    """Use the service until its incident is over; how that ended."""
    over = threading.Event()
    answers: list[int] = []
    known = {each["id"] for each in _incidents()}
    person = threading.Thread(target=_use, args=(url, over, answers))
    monitor = subprocess.Popen([*TWINSMITH, "monitor"])
    person.start()
    stage, deadline = "not seen", time.monotonic() + MOST_SECONDS
    try:
        while stage not in ("closed", "escalated") and time.monotonic() < deadline:
            time.sleep(1)
            fresh = [each for each in _incidents() if each["id"] not in known]
            stage = str(fresh[-1]["stage"]) if fresh else stage
    finally:
        over.set()
        person.join()
        monitor.terminate()
        monitor.wait()
    bad = sum(status != 200 for status in answers)
    print(f"\n{len(answers)} requests meanwhile, {bad} of them failed")
    for each in _incidents():
        if each["id"] not in known:
            _shown("incidents", str(each["id"]))
    return stage


def _incidents() -> list[dict[str, object]]:
    return _rows(_told("incidents", "--all", "--json"))


def _use(url: str, over: threading.Event, answers: list[int]) -> None:
    while not over.is_set():
        status = 0
        with suppress(OSError), urllib.request.urlopen(url, timeout=10) as answer:
            status = answer.status
        answers.append(status)
        time.sleep(PAUSE)


def _app() -> dict[str, object]:
    return next(each for each in _rows(_told("apps", "--json")) if each["name"] == APP)


def _status(run: str) -> dict[str, object]:
    (row,) = [each for each in _rows(_told("status", run, "--json")) if each["run"] == run]
    return row


def _shown(*words: str) -> None:
    """A command as a person sees it; the demo ends where it fails."""
    print(f"$ twinsmith {shlex.join(words)}", flush=True)
    done = subprocess.run([*TWINSMITH, *words], check=False)
    if done.returncode:
        sys.exit(done.returncode)


def _told(*words: str) -> str:
    return subprocess.run([*TWINSMITH, *words], check=True, capture_output=True, text=True).stdout


def _rows(text: str) -> list[dict[str, object]]:
    told = json.loads(text)
    return told if isinstance(told, list) else [told]


def _say(line: str) -> None:
    print(f"\n{line}", flush=True)


if __name__ == "__main__":
    main()
