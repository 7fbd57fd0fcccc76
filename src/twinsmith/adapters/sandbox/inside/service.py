"""A service: started once on the sandbox's own loopback, asked by every check, stopped."""

from __future__ import annotations

import time

from . import stand_in
from .request import Asking
from .transcript import Transcript

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .probes import Probing
    from .running import Running
    from .watch import Watch

PORT = 8000
LISTENING = "0A"
START_SECONDS = 20.0
LONGEST_LOG = 1 << 20


def judge_service(
    probing: Probing, probes: list[dict[str, Any]], tell: Callable[[dict[str, Any]], None]
) -> None:
    """Start it, wait for its port, run every check, stop it, tell its log."""
    import http.client  # noqa: F401  (once, before checks are forked)

    limits = probing.limits
    told = {"PORT": str(PORT), "HOST": "127.0.0.1", "UPSTREAM_URL": stand_in.URL}
    running = probing.start((), told)
    watch = running.watch(
        {**limits, "probe_seconds": START_SECONDS, "output_bytes": LONGEST_LOG}, probing.usage
    )
    running.feed(watch, "")
    port = _await_port(running, watch)
    for number, probe in enumerate(probes):
        if running.has_ended(watch) or port is None:
            row = _gone(running, watch, limits, listened=port is not None)
        else:
            transcript = Transcript()
            watch.deadline = time.monotonic() + limits["probe_seconds"]
            names = {"http": Asking(port, transcript), "stand_in": stand_in.StandIn}
            row = probing.check(probe, names, transcript, watch)
            # One that died of it needs a moment to be gone.
            watch.deadline = time.monotonic() + (0.001 if row["outcome"] == "passed" else 0.05)
            watch.until(lambda: running.has_ended(watch))
        tell({"n": number, **row})
    running.stop(watch)
    row = running.row(watch, "", limits)
    running.close()
    tell({"log": row["output"] + row["errors"], "peak_kb": row["peak_kb"], "cpu": row["cpu"]})


def _await_port(running: Running, watch: Watch) -> int | None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        # Whoever listens where a stand-in will is not who is asked.
        ports = _listening() - {stand_in.PORT}
        if ports:
            return PORT if PORT in ports else min(ports)
        watch.deadline = time.monotonic() + 0.01
        if watch.until(lambda: running.has_ended(watch)) == "":
            return None
    return None


def _listening() -> set[int]:
    """Ports of this network namespace, which has no other inhabitants."""
    ports = set()
    for name in ("tcp", "tcp6"):
        try:
            with open(f"/proc/net/{name}") as table:
                rows = [line.split() for line in table.readlines()[1:]]
        except OSError:
            continue
        ports |= {int(row[1].rpartition(":")[2], 16) for row in rows if row[3] == LISTENING}
    return ports


def _gone(
    running: Running, watch: Watch, limits: dict[str, Any], *, listened: bool
) -> dict[str, Any]:
    if not running.has_ended(watch):
        return {"outcome": "timed out", "detail": f"no port in {START_SECONDS:g} s"}
    outcome, fate = running.fate(limits)
    said = (watch.came[running.stderr] or watch.came[running.stdout]).decode(errors="replace")
    last = said.strip().rpartition("\n")[2][:300]
    when = "" if listened else " before it listened"
    return {"outcome": outcome, "detail": f"the service {fate}{when}; it said: {last}"}
