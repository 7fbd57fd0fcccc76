"""The pipeline, a table of contents: every stage once, in order, durable."""

from dataclasses import replace

from twinsmith.core.effort import ENSEMBLES
from twinsmith.core.errors import BadReply, BudgetExceeded
from twinsmith.core.execution import Limits
from twinsmith.core.knowing.insight import Reminder
from twinsmith.core.knowing.knowledge import Hit
from twinsmith.core.outcome import RunOutcome, Work
from twinsmith.core.planning.requirement import NOTHING_REQUIRED, Requirements
from twinsmith.core.profile import Profile
from twinsmith.core.progress import several
from twinsmith.core.task import Job
from twinsmith.flow.build.accept import reason_for
from twinsmith.flow.build.chronicle import Chronicle
from twinsmith.flow.build.clarify import clarify
from twinsmith.flow.build.handover import result_files
from twinsmith.flow.build.kind import kind_of
from twinsmith.flow.build.mend import Mending
from twinsmith.flow.build.practice import practices
from twinsmith.flow.build.refuse import refused
from twinsmith.flow.build.requirements import required
from twinsmith.flow.build.retrieve import retrieve
from twinsmith.flow.build.service import Services
from twinsmith.flow.build.share import remember, share
from twinsmith.flow.build.shown import shown
from twinsmith.flow.build.twins import Twins
from twinsmith.flow.build.unsupported import unsupported
from twinsmith.flow.build.verdicts import judge
from twinsmith.flow.recorder import Ports, Recorder

# The order of recorded steps is part of a run's record: raise this when it changes, and runs that
# an older order began are refused by name instead of being replayed wrongly.
PIPELINE_VERSION = "13"


async def build(job: Job, limits: Limits, ports: Ports) -> RunOutcome:
    """The outcome of a job: every stage in order, and the result published."""
    recorder = Recorder(job, ports)
    work = Work()
    if job.mend is not None:
        return await _accept(job, await Mending(job, limits, recorder).solve(), recorder)
    try:
        why = await refused(job.task, recorder.ask)
        if why:
            return await _accept(job, Work(problem=why), recorder)
        if job.task.kind_open:
            kind = await kind_of(job.task, recorder.ask)
            job = replace(job, task=replace(job.task, kind=kind))
            await recorder.tell("kind.read", key="kind", who="slow", data={"kind": kind})
        work = Work(profile=await _clarify(job, recorder))
        if work.profile.contradictions:
            first = work.profile.contradictions[0]
            told = f"the task's examples contradict each other: {first}; mend it"
            return await _accept(job, replace(work, problem=told), recorder)
        reminders: tuple[Reminder, ...] = ()
        if job.task.kind != "service":
            pieces, reminders = await _retrieve(job, recorder)
            work = replace(work, pieces=pieces)
        work = await _searched(job, work, reminders, limits, recorder)
    except (BadReply, BudgetExceeded) as error:
        return await _accept(job, replace(work, problem=str(error)), recorder)
    outcome = await _accept(job, work, recorder)
    await share(job, work, outcome, recorder)
    return outcome


async def _searched(
    job: Job, work: Work, reminders: tuple[Reminder, ...], limits: Limits, recorder: Recorder
) -> Work:
    """The work after a search: by `Services` for a service, by `Twins` for everything else."""
    if job.task.kind == "service":
        return await Services(job, work, limits, recorder).solve()
    wanted = await _required(job, recorder)
    twins = Twins(job, work, limits, recorder, reminders=reminders, wanted=wanted)
    work = await twins.solve()
    if not wanted.each:
        return work
    asked = await shown(work.pool, work.selection.winner, wanted, limits, recorder)
    await Chronicle(recorder).stood(asked.standings)
    return replace(work, asked=asked)


async def _clarify(job: Job, recorder: Recorder) -> Profile:
    async with recorder.stage("clarify") as stage:
        profile = await clarify(job.task, recorder.ask)
        if profile.question:
            answer = await recorder.ask_person(profile.question, profile.assumed)
            profile = replace(profile, answer=answer)
        if profile.sensitive and job.effort.practice:
            profile = replace(profile, practice=await practices(job.task, recorder.ask))
        profile = replace(profile, unsupported=await unsupported(job.task, recorder.ask))
        examples = len(profile.examples) + len(profile.example_checks)
        what = f"{job.task.language} {job.task.kind} {profile.entry}".rstrip()
        stage.text = f"{what}, {several(examples, 'example')}"
        if profile.unsupported:
            stage.text += f"; not supported: {profile.unsupported}"
    return profile


async def _required(job: Job, recorder: Recorder) -> Requirements:
    """The requirements of a library or a command; a function is one requirement by itself."""
    if job.task.kind == "function" or job.task.tests:
        return NOTHING_REQUIRED
    async with recorder.stage("requirements") as stage:
        wanted = await required(job.task.text, ENSEMBLES[: job.effort.ensembles], recorder)
        stage.text = several(len(wanted.each), "requirement")
    return wanted


async def _retrieve(job: Job, recorder: Recorder) -> tuple[tuple[Hit, ...], tuple[Reminder, ...]]:
    async with recorder.stage("retrieve") as stage:
        pieces = await recorder.recall(lambda known: retrieve(job, known))
        reminders = await recorder.remember(lambda graph: remember(job, graph))
        stage.text = f"{several(len(pieces), 'piece')}, {several(len(reminders), 'insight')}"
    return pieces, reminders


async def _accept(job: Job, work: Work, recorder: Recorder) -> RunOutcome:
    async with recorder.stage("accept") as stage:
        verdicts = judge(work.pool)
        solved, why = reason_for(job, work, verdicts)
        outcome = RunOutcome(
            run=job.run,
            solved=solved,
            reason=why,
            out=job.out,
            verdicts=verdicts,
            winner=work.selection.winner if solved else None,
            confidence=work.selection.confidence,
            spent=recorder.ledger.spent,
            models=recorder.models,
        )
        await recorder.publish(result_files(job, work, outcome))
        stage.text = "solved" if solved else "not solved"
    return outcome
