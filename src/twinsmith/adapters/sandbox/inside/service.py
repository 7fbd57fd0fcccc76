"""Judging a service: started once on the sandbox's own loopback, asked by every check, stopped."""

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
    probing: Probing,
    probes: list[dict[str, Any]],
    tell: Callable[[dict[str, Any]], None],
    renew: Callable[[], Probing],
) -> None:
    """Start the service, wait for its port, run every check, stop it, tell its log.

    A check that wants a fresh one finds it as if nobody had ever asked: no process and no file of
    an earlier one is left.
    """
    import http.client  # noqa: F401  (once, before checks are forked)

    serving = _Serving(probing)
    logs: list[str] = []
    peak, cpu = 0, 0.0
    for number, probe in enumerate(probes):
        if probe["fresh"] and serving.asked:
            ended = serving.stopped()
            logs.append(ended["output"] + ended["errors"])
            peak, cpu = max(peak, ended["peak_kb"]), cpu + ended["cpu"]
            serving = _Serving(renew())
        tell({"n": number, **serving.tried(probe)})
    ended = serving.stopped()
    logs.append(ended["output"] + ended["errors"])
    log = "".join(logs)[-LONGEST_LOG:]
    tell({"log": log, "peak_kb": max(peak, ended["peak_kb"]), "cpu": cpu + ended["cpu"]})


class _Serving:
    """One process of the service, from its start to its stop."""

    def __init__(self, probing: Probing) -> None:
        self.asked = 0
        self._probing = probing
        told = {"PORT": str(PORT), "HOST": "127.0.0.1", "UPSTREAM_URL": stand_in.URL}
        self._running = probing.start((), told)
        self._watch = self._running.watch(
            {**probing.limits, "probe_seconds": START_SECONDS, "output_bytes": LONGEST_LOG},
            probing.usage,
        )
        self._running.feed(self._watch, "")
        self._port = _await_port(self._running, self._watch)

    def tried(self, probe: dict[str, Any]) -> dict[str, Any]:
        """The outcome of one check on this process."""
        running, watch, limits = self._running, self._watch, self._probing.limits
        self.asked += 1
        if running.has_ended(watch) or self._port is None:
            return _gone(running, watch, limits, listened=self._port is not None)
        transcript = Transcript()
        watch.deadline = time.monotonic() + limits["probe_seconds"]
        names = {"http": Asking(self._port, transcript), "stand_in": stand_in.StandIn}
        row = self._probing.check(probe, names, transcript, watch)
        # One that died of it needs a moment to be gone.
        watch.deadline = time.monotonic() + (0.001 if row["outcome"] == "passed" else 0.05)
        watch.until(lambda: running.has_ended(watch))
        return row

    def stopped(self) -> dict[str, Any]:
        """Stop the process; gives its output and measurements."""
        self._running.stop(self._watch)
        row = self._running.row(self._watch, "", self._probing.limits)
        self._running.close()
        return row


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
    """The ports on which something listens in the sandbox."""
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
