"""Steps remembered by DBOS, in SQLite or PostgreSQL.

Each process drives one run. It registers under an application version of its own
(`PIPELINE@RUN`), so that no other process of the same database picks the run up, and a run that
an older pipeline began is recognised instead of being replayed wrongly.
"""

import asyncio
import fcntl
import json
import os
import sqlite3
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from dbos import DBOS, DBOSClient, DBOSConfig, Serializer, SetWorkflowID, WorkflowHandleAsync, error
from sqlalchemy.exc import SQLAlchemyError

from twinsmith.adapters.durable.codec import from_json, to_json
from twinsmith.core.errors import EngineError, RunCancelled
from twinsmith.core.events import Json
from twinsmith.core.masking import NOTHING_KNOWN

T = TypeVar("T")

_OPEN = ("PENDING", "ENQUEUED")


class JsonSerializer(Serializer):
    """Records are readable JSON, never pickle: reading a database must not run code."""

    def serialize(self, data: object) -> str:
        """Any value DBOS wants to keep; only its own exceptions are not JSON already."""
        return json.dumps(data, default=repr, ensure_ascii=False)

    def deserialize(self, serialized_data: str) -> object:
        """The value again."""
        return json.loads(serialized_data)

    def name(self) -> str:
        """Written beside each record."""
        return "twinsmith_json"


class DbosEngine:
    """Drives one run at a time over a database named by an address."""

    def __init__(self, url: str, pipeline: str) -> None:
        self._url = url
        self._pipeline = pipeline
        self._failure: Exception | None = None
        self._broken: asyncio.Future[Exception] | None = None

    async def drive(self, run: str, flow: Callable[[], Awaitable[T]], kind: type[T]) -> T:
        """Run a flow to its end, or give its recorded end."""
        self._failure, self._broken = None, asyncio.get_running_loop().create_future()
        version = f"{self._pipeline}@{run}"

        async def workflow(_run: str) -> Json:
            try:
                return to_json(await flow(), kind)
            except Exception as broken:
                left = self._leave(broken)
                self._give_up()
                raise left from broken
            except asyncio.CancelledError:
                self._give_up()
                raise

        with _reported(self._url):
            self._launch(version)
            registered = DBOS.workflow(name="build")(workflow)
            status = await DBOS.get_workflow_status_async(run)
            if status is None:
                with SetWorkflowID(run):
                    handle = await DBOS.start_workflow_async(registered, run)
            elif status.app_version != version:
                raise EngineError(
                    f"run {run} was begun by pipeline {status.app_version}, this is {version}; "
                    "install the version that began it, or start a new build"
                )
            elif status.status in _OPEN:
                handle = await DBOS.resume_workflow_async(run)
            else:
                handle = await DBOS.retrieve_workflow_async(run)
        return from_json(await self._result(run, handle), kind)

    async def step(self, name: str, work: Callable[[], Awaitable[T]], kind: type[T]) -> T:
        """Do the work once and remember its value."""

        async def once() -> Json:
            try:
                return to_json(await work(), kind)
            except Exception as broken:
                raise self._leave(broken) from broken

        try:
            # Preemptible: a cancelled run does not wait for a model to finish its sentence.
            data = await DBOS.run_step_async({"name": name, "preemptible": True}, once)
        except error.DBOSUnexpectedStepError as other:
            run, place, _, was = other.inputs
            raise EngineError(
                f"run {run} cannot go on: its step {place} was {was!r}, now it is {name!r}; "
                "start a new build"
            ) from other
        return from_json(data, kind)

    async def cancel(self, run: str) -> None:
        """Stop a run for good, wherever it is being driven, unless it has ended."""
        path = _sqlite_path(self._url)
        if path and not path.exists():
            return
        with _reported(self._url):
            client = DBOSClient(system_database_url=self._url, serializer=JsonSerializer())
            try:
                await client.cancel_workflow_async(run)
            except error.DBOSNonExistentWorkflowError:
                # It never got as far as the engine: there is nothing to stop.
                return
            finally:
                client.destroy()

    def close(self) -> None:
        """Stop the engine's threads."""
        DBOS.destroy(workflow_completion_timeout_sec=0, destroy_registry=True)
        with suppress(RuntimeError):
            # The engine made its own thread pool the loop's, and has just shut it down.
            asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor())

    def _launch(self, version: str) -> None:
        config: DBOSConfig = {
            "name": "twinsmith",
            "system_database_url": self._url,
            "application_version": version,
            # Unlike any other process's, so that starting never recovers somebody else's work.
            "executor_id": f"{version}/{os.getpid()}",
            "serializer": JsonSerializer(),
            "log_level": "CRITICAL",
            "enable_otlp": False,
            "notification_listener_polling_interval_sec": 0.1,
        }
        DBOS(config=config)
        with _sqlite_ready(self._url):
            DBOS.launch()

    def _leave(self, broken: Exception) -> BaseException:
        """Keep what broke for `drive` and leave the engine without a trace in its records."""
        self._failure = self._failure or broken
        return asyncio.CancelledError()

    def _give_up(self) -> None:
        """Tell `drive` what broke, now that the flow is over and no step is under way."""
        if self._failure and self._broken is not None and not self._broken.done():
            self._broken.set_result(self._failure)

    async def _result(self, run: str, handle: WorkflowHandleAsync[Json]) -> Json:
        assert self._broken is not None
        result = asyncio.ensure_future(handle.get_result(polling_interval_sec=0.1))
        either: set[asyncio.Future[Any]] = {result, self._broken}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if self._broken.done():
            result.cancel()
            await asyncio.gather(result, return_exceptions=True)
            raise self._broken.result()
        with _reported(self._url):
            try:
                return result.result()
            except error.DBOSAwaitedWorkflowCancelledError:
                raise RunCancelled(f"run {run} was cancelled; start a new build") from None


@contextmanager
def _sqlite_ready(url: str) -> Iterator[None]:
    """Make a SQLite file, and keep other processes from opening it as long as the block lasts.

    DBOS makes its tables one by one, outside a transaction: a second process, or a kill in the
    middle, would find half of them. So they are made in a file aside that is then moved in place.
    """
    path = _sqlite_path(url)
    if path is None:
        yield
        return
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with path.with_name(f"{path.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            _make_sqlite(path)
        yield


def _sqlite_path(url: str) -> Path | None:
    prefix = "sqlite:///"
    return Path(url.removeprefix(prefix)) if url.startswith(prefix) else None


def _make_sqlite(path: Path) -> None:
    aside = path.with_name(f"{path.name}.new")
    for leftover in path.parent.glob(f"{aside.name}*"):
        leftover.unlink()
    aside.touch(mode=0o600)
    DBOS.migrate(f"sqlite:///{aside}")
    with closing(sqlite3.connect(aside)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    aside.rename(path)


@contextmanager
def _reported(url: str) -> Iterator[None]:
    """Whatever the database or the engine complains about becomes one line."""
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error, OSError, error.DBOSException) as problem:
        # Masked before it is cut: half a password is still a part of it.
        reason = NOTHING_KNOWN.text(" ".join(str(problem).split()))[:300]
        raise EngineError(
            f"the engine cannot use {NOTHING_KNOWN.text(url)}: {reason}; see 'twinsmith doctor'"
        ) from problem
