"""Steps remembered by DBOS, in SQLite or PostgreSQL: what a process needs that drives runs.

All processes of one pipeline share an application version, and each is an executor of its own. A
worker listens to the queue of all; a command at a terminal to a queue of its own, so that nobody
else takes the run that it resumes. Who drives a run is decided by its lease: whoever lost it finds
that out at the next step, and lets go.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

from dbos import DBOS, DBOSConfig, SetWorkflowID, WorkflowHandleAsync, error

from twinsmith.adapters.codec import from_json, to_json
from twinsmith.adapters.durable.dbos_database import JsonSerializer, made, reported
from twinsmith.adapters.durable.dbos_queue import APPLICATION, OPEN, DbosQueue
from twinsmith.adapters.sql import IDLE_SECONDS
from twinsmith.core.driving import QUEUE, Priority
from twinsmith.core.errors import (
    DatabaseAway,
    EngineError,
    RunBusy,
    RunCancelled,
    RunLost,
    Waiting,
)
from twinsmith.core.events import Json
from twinsmith.ports import Clock, Leases, Messages, Workflow

T = TypeVar("T")
POLL_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Held:
    """A run that this process holds, and by which fence."""

    run: str
    fence: int


_HELD: ContextVar[Held] = ContextVar("held")


class DbosEngine:
    """Drives runs over a database named by an address, as one worker."""

    def __init__(
        self,
        url: str,
        pipeline: str,
        *,
        worker: str,
        leases: Leases,
        messages: Messages,
        clock: Clock,
        living: Callable[[], Sequence[str]],
    ) -> None:
        self._url = url
        self._pipeline = pipeline
        self._worker = worker
        self._leases = leases
        self._messages = messages
        self._clock = clock
        self._living = living
        self._queue = DbosQueue(url, pipeline)
        self._workflows: dict[str, Callable[[str, Json], Coroutine[Any, Any, Json]]] = {}
        self._claimed: dict[str, int] = {}
        self._busy: dict[str, asyncio.Task[object]] = {}
        self._broken: dict[str, asyncio.Future[Exception]] = {}
        self._serves = False
        self._resumes = False
        self._closing = False
        self._handed: list[str] = []
        """Runs that others are to go on with, once this process takes none any more."""

    @property
    def busy(self) -> frozenset[str]:
        """The runs that this process drives now."""
        return frozenset(self._busy)

    async def open(
        self, workflows: dict[str, Workflow], *, concurrency: int = 0, at_once: int = 0
    ) -> None:
        """Register workflows by their names and begin; with `concurrency`, take runs of the queue.

        So many at once for each worker, and `at_once` for all of them; 0: no limit for all.
        """
        self._serves = concurrency > 0
        queue = QUEUE if self._serves else self._own_queue
        config: DBOSConfig = {
            "name": APPLICATION,
            "system_database_url": self._url,
            "application_version": self._pipeline,
            "executor_id": self._worker,
            "serializer": JsonSerializer(),
            "log_level": "CRITICAL",
            "enable_otlp": False,
            "notification_listener_polling_interval_sec": 0.1,
            "sys_db_idle_transaction_timeout_sec": IDLE_SECONDS,
        }
        with reported(self._url):
            DBOS(config=config)
            DBOS.listen_queues([queue])
            for name, workflow in workflows.items():
                self._workflows[name] = DBOS.workflow(name=name)(self._fenced(workflow))
            with made(self._url):
                DBOS.launch()
            if self._serves:
                await _register(queue, concurrency, at_once or None)

    async def start(
        self, workflow: str, run: str, given: Json, *, priority: Priority = "normal"
    ) -> None:
        """Queue a workflow that workers know by its name."""
        await self._queue.start(workflow, run, given, priority=priority)

    async def drive(self, workflow: str, run: str, given: Json) -> Json:
        """See a run to its end in this process, or give its recorded end.

        Whatever exception leaves the workflow is raised here and is not recorded: the run stays
        open and can be driven again. Raises RunCancelled when a person cancelled it.
        """
        self._broken[run] = asyncio.get_running_loop().create_future()
        with reported(self._url):
            status = await DBOS.get_workflow_status_async(run)
            if status is not None and status.app_version != self._pipeline:
                raise EngineError(
                    f"run {run} was begun by pipeline {status.app_version}, this is "
                    f"{self._pipeline}; install the version that began it, or start a new build"
                )
            if (status is None or status.status in OPEN) and run not in self._claimed:
                self._claimed[run] = self._claim(run)
            if status is None:
                with SetWorkflowID(run):
                    handle = await DBOS.start_workflow_async(self._workflows[workflow], run, given)
            elif status.status in OPEN:
                self._resumes = True
                await _register(self._own_queue)
                handle = await DBOS.resume_workflow_async(run, queue_name=self._own_queue)
            else:
                self._leases.leave(run, self._claimed.pop(run, 0), "ended")
                handle = await DBOS.retrieve_workflow_async(run)
        return await self._result(run, handle)

    def adopt(self, run: str, fence: int) -> None:
        """Take a run as claimed already."""
        self._claimed[run] = fence

    async def step(self, name: str, work: Callable[[], Awaitable[T]], kind: type[T]) -> T:
        """Do the work once and remember its value, as long as this process holds the run."""
        broken: list[Exception] = []

        async def once() -> Json:
            try:
                self.check()
                value = to_json(await work(), kind)
                # Whoever was suspended meanwhile must not tell, nor record, what came of it.
                self.check()
            except Exception as error:
                # DBOS records an exception and would replay it for ever; this one it does not.
                broken.append(error)
                raise asyncio.CancelledError from error
            return value

        try:
            # Preemptible: a cancelled run does not wait for a model to finish its sentence.
            data = await DBOS.run_step_async({"name": name, "preemptible": True}, once)
        except asyncio.CancelledError:
            if broken:
                raise broken[0] from None
            raise
        except error.DBOSUnexpectedStepError as other:
            run, place, _, was = other.inputs
            raise EngineError(
                f"run {run} cannot go on: its step {place} was {was!r}, now it is {name!r}; "
                "start a new build"
            ) from other
        except error.DBOSWorkflowCancelledError:
            raise RunCancelled(f"run {_HELD.get().run} was cancelled; start a new build") from None
        except error.DBOSWorkflowConflictIDError:
            raise RunLost(f"run {_HELD.get().run} was taken over by another worker") from None
        return from_json(data, kind)

    async def send(self, run: str, topic: str, value: Json) -> bool:
        """Give a run a message and let it go on."""
        return self._messages.put(run, topic, value)

    async def receive(self, topic: str, until: str) -> Json:
        """The message about a topic, remembered as a step; None once the time is over."""
        run = _HELD.get().run

        async def look() -> str:
            value = self._messages.get(run, topic)
            if value is None and self._clock.now() < until:
                raise Waiting(f"run {run} waits until {until[:16]}", topic=topic, until=until)
            if value is None and not self._messages.put(run, topic, None):
                # It came at the last moment.
                value = self._messages.get(run, topic)
            return json.dumps(value)

        received: Json = json.loads(await self.step(f"receive {topic}", look, str))
        return received

    def check(self) -> None:
        """RunLost where another worker has taken over the run that is driven here."""
        held = _HELD.get()
        self._leases.check(held.run, held.fence)

    async def close(self) -> None:
        """Hand over what is being driven, and stop the engine's threads."""
        self._closing = True
        under_way = tuple(self._busy.values())
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
        if self._resumes:
            with suppress(Exception):
                await DBOS.delete_queue_async(self._own_queue)
        DBOS.destroy(workflow_completion_timeout_sec=0, destroy_registry=True)
        # The engine made its own thread pool the loop's, and has just shut it down.
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor())
        for run in self._handed:
            await self._queue.again(run)

    @property
    def _own_queue(self) -> str:
        return f"of {self._worker}"

    def _claim(self, run: str) -> int:
        living = [*self._living(), self._worker]
        return self._leases.claim(run, self._worker, pipeline=self._pipeline, living=living)

    def _fenced(self, workflow: Workflow) -> Callable[[str, Json], Coroutine[Any, Any, Json]]:
        """A workflow that only runs while this process holds its run, and lets go at the end."""

        async def fenced(run: str, given: Json) -> Json:
            try:
                return await self._held(workflow, run, given)
            except Exception as broken:
                future = self._broken.get(run)
                if future is not None and not future.done():
                    future.set_result(broken)
                # DBOS would record the exception as the end of the run; this one it does not.
                raise asyncio.CancelledError from broken

        return fenced

    async def _held(self, workflow: Workflow, run: str, given: Json) -> Json:
        if self._closing:
            self._handed.append(run)
            raise asyncio.CancelledError
        fence = self._claimed.pop(run, 0) or self._claim(run)
        task = asyncio.current_task()
        assert task is not None
        self._busy[run] = task
        _HELD.set(Held(run, fence))
        try:
            result = await workflow(run, given)
            self._leases.leave(run, fence, "ended")
        except BaseException as left:
            await self._let_go(run, fence, left)
            raise
        finally:
            # A run that was lost may have come back to this process meanwhile.
            if self._busy.get(run) is task:
                del self._busy[run]
        return result

    async def _let_go(self, run: str, fence: int, left: BaseException) -> None:
        """Leave a run in the state that its end by an exception means."""
        match left:
            case RunLost() | RunBusy() | DatabaseAway():
                # Not ours any more; or a database that cannot be told: the next look at it will.
                return
            case RunCancelled():
                self._leases.leave(run, fence, "ended")
            case Waiting():
                self._leases.leave(run, fence, "waiting", topic=left.topic, until=left.until)
            case asyncio.CancelledError() if self._serves:
                if self._leases.leave(run, fence, "queued"):
                    self._handed.append(run)
                return
            case _:
                self._leases.leave(run, fence, "parked")
        if self._serves:
            # The limit of all workers counts what is not put aside.
            await self._queue.shelve(run)

    async def _result(self, run: str, handle: WorkflowHandleAsync[Json]) -> Json:
        broken = self._broken[run]
        result = asyncio.ensure_future(handle.get_result(polling_interval_sec=0.1))
        try:
            either: set[asyncio.Future[Any]] = {result, broken}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if broken.done():
                raise broken.result()
            with reported(self._url):
                try:
                    return result.result()
                except error.DBOSAwaitedWorkflowCancelledError:
                    raise RunCancelled(f"run {run} was cancelled; start a new build") from None
        finally:
            result.cancel()
            task = self._busy.get(run)
            if task is not None:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
            await asyncio.gather(result, return_exceptions=True)


async def _register(queue: str, concurrency: int | None = None, at_once: int | None = None) -> None:
    """Make a queue, or give it these limits: for each worker, and for all."""
    await DBOS.register_queue_async(
        queue,
        worker_concurrency=concurrency,
        global_concurrency=at_once,
        polling_interval_sec=POLL_SECONDS,
        on_conflict="always_update",
    )
