"""A build as a workflow of an engine, for whoever drives one directly."""

from typing import Protocol

from twinsmith.adapters.codec import from_json, to_json
from twinsmith.core.events import Json
from twinsmith.core.execution import Limits
from twinsmith.core.outcome import RunOutcome
from twinsmith.core.task import Job
from twinsmith.flow.pipeline import build
from twinsmith.flow.recorder import Ports
from twinsmith.ports import Workflow


class Engine(Protocol):
    """An engine that a process drives runs with."""

    async def open(self, workflows: dict[str, Workflow]) -> None:
        """Register workflows by their names."""
        ...

    async def drive(self, workflow: str, run: str, given: Json) -> Json:
        """See a run to its end."""
        ...


async def driven(job: Job, limits: Limits, ports: Ports, engine: Engine) -> RunOutcome:
    """The outcome of a job on an engine; the ports hold the same one."""

    async def workflow(_run: str, given: Json) -> Json:
        outcome = await build(from_json(given, Job), limits, ports)
        return to_json(outcome, RunOutcome)

    await engine.open({"build": workflow})
    return from_json(await engine.drive("build", job.run, to_json(job, Job)), RunOutcome)
