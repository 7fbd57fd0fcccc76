"""Workflows of DBOS from outside: queued, looked at, stopped, by a process that drives none."""

import asyncio
from collections.abc import Callable, Collection
from typing import TypeVar

from dbos import DBOS, DBOSClient, error

from twinsmith.adapters.durable.dbos_database import SQLITE, JsonSerializer, is_made, made, reported
from twinsmith.core.driving import QUEUE, SHELF, Engaged, Priority
from twinsmith.core.errors import RunCancelled
from twinsmith.core.events import Json

T = TypeVar("T")
APPLICATION = "twinsmith"
OPEN = ["PENDING", "ENQUEUED", "DELAYED"]
_PRIORITIES: dict[Priority, int] = {"high": 1, "normal": 10, "low": 100}


class DbosQueue:
    """The queue of one database, for workers of one pipeline."""

    def __init__(self, url: str, pipeline: str) -> None:
        self._url = url
        self._pipeline = pipeline

    async def start(
        self, workflow: str, run: str, given: Json, *, priority: Priority = "normal"
    ) -> None:
        """Queue a workflow for workers of this pipeline; a run that is known is left as it is."""

        def ask(client: DBOSClient) -> None:
            client.enqueue(
                {
                    "queue_name": QUEUE,
                    "workflow_name": workflow,
                    "workflow_id": run,
                    "app_version": self._pipeline,
                    "priority": _PRIORITIES[priority],
                },
                run,
                given,
            )

        await self._ask(ask, makes=True)

    async def again(self, run: str) -> bool:
        """Queue a run once more; False where the engine has never heard of it."""
        return await self._moved(run, QUEUE)

    async def shelve(self, run: str) -> bool:
        """Put a run where nobody takes it from, so that it counts against no limit."""
        return await self._moved(run, SHELF)

    async def forget(self, run: str) -> None:
        """Remove a run that was never begun: it can be queued anew, by another pipeline."""
        await self._ask(lambda client: client.delete_workflow(run))

    async def cancel(self, run: str) -> None:
        """Stop a run for good, wherever it is being driven, unless it has ended."""

        def ask(client: DBOSClient) -> None:
            try:
                client.cancel_workflow(run)
            except error.DBOSNonExistentWorkflowError:
                # It never got as far as the engine: there is nothing to stop.
                return

        if is_made(self._url):
            await self._ask(ask)

    async def result(self, run: str) -> Json:
        """The recorded end of a run, once there is one; RunCancelled where it was stopped."""

        def ask(client: DBOSClient) -> Json:
            try:
                found: Json = client.retrieve_workflow(run).get_result(polling_interval_sec=0.1)
            except error.DBOSAwaitedWorkflowCancelledError:
                raise RunCancelled(f"run {run} was cancelled; start a new build") from None
            return found

        return await self._ask(ask)

    async def engaged(self, runs: Collection[str]) -> dict[str, Engaged]:
        """These runs as the engine knows them, and all that it has not ended."""

        def ask(client: DBOSClient) -> dict[str, Engaged]:
            found = client.list_workflows(status=OPEN, load_input=False, load_output=False)
            missing = [run for run in runs if run not in {each.workflow_id for each in found}]
            if missing:
                found += client.list_workflows(
                    workflow_ids=missing, load_input=False, load_output=False
                )
            return {
                each.workflow_id: Engaged(
                    run=each.workflow_id,
                    status=each.status,
                    worker=each.executor_id or "",
                    queue=each.queue_name or "",
                )
                for each in found
            }

        return await self._ask(ask)

    async def _moved(self, run: str, queue: str) -> bool:
        def ask(client: DBOSClient) -> bool:
            try:
                client.resume_workflow(run, queue_name=queue)
            except error.DBOSNonExistentWorkflowError:
                return False
            return True

        return is_made(self._url) and await self._ask(ask)

    async def _ask(self, question: Callable[[DBOSClient], T], *, makes: bool = False) -> T:
        return await asyncio.to_thread(self._asked, question, makes=makes)

    def _asked(self, question: Callable[[DBOSClient], T], *, makes: bool) -> T:
        with reported(self._url):
            if not is_made(self._url):
                with made(self._url):
                    pass
            if makes and not self._url.startswith(SQLITE):
                DBOS.migrate(self._url)
            client = self.client()
            try:
                return question(client)
            finally:
                client.destroy()

    def client(self) -> DBOSClient:
        """A client of the engine's database."""
        return DBOSClient(
            system_database_url=self._url,
            serializer=JsonSerializer(),
            application_name=APPLICATION,
            retry_connection_errors=False,
        )
