"""From settings to what runs are driven by: the engine, its queue, leases, workers, messages."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from twinsmith.adapters.lease import is_held, lease_file
from twinsmith.core.driving import Worker
from twinsmith.settings import Settings
from twinsmith.wiring.shared import shared_url

if TYPE_CHECKING:
    from pathlib import Path

    from twinsmith.adapters.durable.dbos_engine import DbosEngine
    from twinsmith.adapters.durable.dbos_queue import DbosQueue
    from twinsmith.adapters.durable.driving import DrivingTable
    from twinsmith.adapters.durable.workers import WorkerTable
    from twinsmith.adapters.messages import MessageTable

# Each of these takes a while to import: only what needs it pays for it.


def driving_of(settings: Settings) -> "DrivingTable":
    """Who drives which run, in the database that all share."""
    from twinsmith.adapters.durable.driving import DrivingTable

    return DrivingTable(shared_url(settings))


def workers_of(settings: Settings) -> "WorkerTable":
    """The processes that drive runs, in the database that all share."""
    from twinsmith.adapters.durable.workers import WorkerTable

    return WorkerTable(shared_url(settings))


def messages_of(settings: Settings) -> "MessageTable":
    """The messages to runs, in the database that all share."""
    from twinsmith.adapters.messages import MessageTable

    return MessageTable(shared_url(settings))


def queue_of(settings: Settings) -> "DbosQueue":
    """The engine's queue, for a process that drives nothing."""
    from twinsmith.adapters.durable.dbos_queue import DbosQueue
    from twinsmith.flow.pipeline import PIPELINE_VERSION

    return DbosQueue(settings.database_url, PIPELINE_VERSION)


def engine_of(settings: Settings, worker: str, living: Callable[[], Sequence[str]]) -> "DbosEngine":
    """The engine that remembers steps, for this pipeline and this worker."""
    from twinsmith.adapters.clock import SystemClock
    from twinsmith.adapters.durable.dbos_engine import DbosEngine
    from twinsmith.flow.pipeline import PIPELINE_VERSION

    return DbosEngine(
        settings.database_url,
        PIPELINE_VERSION,
        worker=worker,
        leases=driving_of(settings),
        messages=messages_of(settings),
        clock=SystemClock(),
        living=living,
    )


def known_workers(settings: Settings, table: "WorkerTable") -> tuple[Worker, ...]:
    """Every worker of the database; of those of this data folder, also whether they have ended."""
    return tuple(replace(each, gone=has_ended(settings, each.name)) for each in table.listed())


def has_ended(settings: Settings, worker: str) -> bool:
    """Whether a worker of this data folder has ended: the kernel frees its lease then."""
    folder = lease_folder(settings, worker)
    return lease_file(folder).exists() and not is_held(folder)


def lease_folder(settings: Settings, worker: str) -> "Path":
    """The folder in which a worker holds its lease."""
    return settings.home / "workers" / worker


def node_of(settings: Settings) -> str:
    """The name of this data folder among all that share a database; empty where none is shared."""
    import secrets

    if not settings.values.database.url:
        return ""
    path = settings.home / "node"
    if not path.exists():
        settings.home.mkdir(parents=True, exist_ok=True, mode=0o700)
        aside = path.with_name(f"node.{secrets.token_hex(4)}")
        aside.write_text(secrets.token_hex(8), encoding="ascii")
        try:
            # Unlike a rename it never replaces what another process put there just now.
            path.hardlink_to(aside)
        except FileExistsError:
            pass
        finally:
            aside.unlink()
    return path.read_text(encoding="ascii").strip()
