"""All figures in Prometheus' own words: how everything stands now, and what was counted so far.

They are read from the database, so that every server of one tells the same; only what is of one
machine, or of one server, is told by that one alone.
"""

import os
import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import get_args

from twinsmith.core.measures import exposed, labels_text, sample
from twinsmith.core.operating.instance import InstanceState
from twinsmith.core.operating.reading import Usage
from twinsmith.runs.book import Book
from twinsmith.runs.health import AppHealth, healths, listed_incidents, pace

STATES: tuple[InstanceState, ...] = get_args(InstanceState)
Value = float | int | None


def prometheus_text(book: Book, *, streams: int, processor_seconds: float) -> str:
    """Everything that Prometheus is told by a server with so many streams."""
    from twinsmith.wiring.telemetry import table_of

    lines = [
        *_runs(book),
        *_gauge("twinsmith_streams", "Open event streams of this server", streams),
        *_gauge("twinsmith_server_seconds", "Processor time of this server", processor_seconds),
        *_machine(book),
        *_apps(healths(book)),
        *exposed(table_of(book.settings).totals()),
    ]
    return "\n".join(lines) + "\n"


def _runs(book: Book) -> list[str]:
    driving = book.driving.listed()
    states = Counter(str(each.state) for each in driving)
    queued = [each.run for each in driving if each.state == "queued"]
    told = [sample("twinsmith_runs", f'state="{k}"', n) for k, n in sorted(states.items())]
    return [
        *_head("twinsmith_runs", "Runs that are not over"),
        *told,
        *_gauge("twinsmith_queue_length", "Runs that wait for a worker", len(queued)),
        *_gauge(
            "twinsmith_queue_oldest_seconds",
            "How long the run waits that waits longest",
            _oldest(book, queued),
        ),
        *_gauge("twinsmith_workers", "Workers that live", len(book.workers(serving=True))),
        *_gauge("twinsmith_incidents", "Incidents not closed", len(listed_incidents(book))),
    ]


def _oldest(book: Book, queued: Sequence[str]) -> float:
    moments = [moment for run in queued if (moment := book.given_at(run))]
    if not moments:
        return 0.0
    oldest = datetime.fromisoformat(min(moments))
    return max(0.0, (datetime.now(UTC) - oldest).total_seconds())


def _machine(book: Book) -> list[str]:
    """What the machine of this server has, and what of it is free."""
    from twinsmith.wiring.resources import machine_of

    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    disk = shutil.disk_usage(book.settings.home)
    free = machine_of(book.settings).memory_mb << 20
    return [
        *_gauge("twinsmith_memory_bytes", "Memory of this machine", memory),
        *_gauge("twinsmith_memory_free_bytes", "Memory that can be had", free),
        *_gauge("twinsmith_disk_bytes", "Size of the disk with the data folder", disk.total),
        *_gauge("twinsmith_disk_free_bytes", "What is free of that disk", disk.free),
    ]


def _apps(found: Sequence[AppHealth]) -> list[str]:
    """How every app does, as its monitor saw it last."""
    lines = []
    for name, meaning, read in _APP_FIGURES:
        lines += _head(name, meaning)
        for each in found:
            value = read(each)
            if value is not None:
                lines.append(sample(name, labels_text({"app": each.app.name}), float(value)))
    lines += _head("twinsmith_app_state", "The state of an app's instance")
    for each in found:
        usage = _usage(each)
        for state in STATES if usage else ():
            labels = labels_text({"app": each.app.name, "state": state})
            lines.append(sample("twinsmith_app_state", labels, float(_stands(usage, state))))
    return lines


def _stands(usage: Usage | None, state: str) -> bool:
    return usage is not None and usage.state == state


def _usage(health: AppHealth) -> Usage | None:
    return health.readings[-1].usage if health.readings else None


def _of_usage(read: Callable[[Usage], Value]) -> Callable[[AppHealth], Value]:
    def of(health: AppHealth) -> Value:
        usage = _usage(health)
        return read(usage) if usage else None

    return of


def _failed(health: AppHealth) -> Value:
    asked = sum(each.traffic.requests for each in health.readings)
    failed = sum(each.traffic.failed for each in health.readings)
    return failed / asked if asked else None


def _slowest(health: AppHealth) -> Value:
    served = [each.traffic.slowest for each in health.readings if each.traffic.requests]
    return served[-1] if served else None


_APP_FIGURES: tuple[tuple[str, str, Callable[[AppHealth], Value]], ...] = (
    ("twinsmith_app_up", "Whether an app serves and is well", lambda app: app.words == "well"),
    (
        "twinsmith_app_wanted",
        "Whether an app is meant to run",
        lambda app: app.app.wanted == "running" and bool(app.app.serving),
    ),
    (
        "twinsmith_app_incidents",
        "Incidents of an app that are not closed",
        lambda app: len(app.incidents),
    ),
    ("twinsmith_app_seen_seconds", "Seconds since an app was looked at", lambda app: app.ago),
    (
        "twinsmith_app_requests_per_second",
        "Requests of people to an app",
        lambda app: pace(app.readings),
    ),
    ("twinsmith_app_failed_share", "Share of its requests of ten minutes that failed", _failed),
    ("twinsmith_app_p95_seconds", "95th percentile of its answers, as seen last", _slowest),
    ("twinsmith_app_memory_bytes", "Memory of an app", _of_usage(lambda usage: usage.memory)),
    (
        "twinsmith_app_memory_limit_bytes",
        "The most memory that it may have",
        _of_usage(lambda usage: usage.memory_limit),
    ),
    (
        "twinsmith_app_restarts",
        "Restarts of the instance that serves",
        _of_usage(lambda usage: usage.restarts),
    ),
)


def _head(name: str, meaning: str) -> list[str]:
    return [f"# HELP {name} {meaning}", f"# TYPE {name} gauge"]


def _gauge(name: str, meaning: str, value: float) -> list[str]:
    return [*_head(name, meaning), sample(name, "", value)]


def families(text: str) -> Mapping[str, str]:
    """The figures that a text for Prometheus holds, and what kind each is."""
    typed = (line.split() for line in text.splitlines() if line.startswith("# TYPE "))
    return {name: kind for _, _, name, kind in typed}
