"""`twinsmith build` and `twinsmith resume`: see a run to its end and show it."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from twinsmith.cli import exits, options
from twinsmith.cli.files import text_of
from twinsmith.cli.outcome import finish
from twinsmith.cli.remote import server
from twinsmith.cli.wish import Manner, Wish

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from contextlib import AbstractContextManager

    from twinsmith.client import Client
    from twinsmith.core.driving import Priority
    from twinsmith.core.run_record import Given
    from twinsmith.core.task import Job, Masked, Task
    from twinsmith.core.trying.arrangement import Arrangement
    from twinsmith.runs.book import Book
    from twinsmith.runs.drive import Driver
    from twinsmith.runs.ended import Outcome
    from twinsmith.settings import Settings

BUILD_EXAMPLE = (
    'Example: twinsmith build "Write a Python function slugify(title) that turns a title into a '
    'URL slug" --out ./slug'
)
RESUME_EXAMPLE = "Example: twinsmith resume 20261115-101500-a3f9 (or only: a3f9)"


def build(
    task: Annotated[str, typer.Argument(help="What to build, in a sentence.")] = "",
    language: options.Language = "",
    kind: options.Kind = "",
    tests: options.Tests = None,
    spec: options.Spec = None,
    out: options.Out = None,
    seed: options.Seed = None,
    budget_seconds: options.Seconds = None,
    budget_tokens: options.Tokens = None,
    budget_usd: options.Dollars = None,
    detach: options.Detach = False,
    priority: options.Order = "normal",
    key: options.Key = None,
    deploy: options.Deploy = False,
    name: options.Name = "",
    other: options.With = None,
    like: options.Like = "",
    near: options.Near = False,
    as_json: options.Json = False,
) -> None:
    """Turn one sentence into a tested program, and with --deploy into a running service."""
    from twinsmith.core.driving import priority_of
    from twinsmith.core.errors import ConfigError

    if deploy and (detach or as_json):
        raise ConfigError(
            "--deploy follows the build to its end; without --detach and --json, or in two "
            "commands: build, then deploy RUN"
        )
    wish = Wish(
        text=task,
        language=language,
        kind=kind,
        tests=tests,
        spec=spec,
        seed=seed,
        seconds=budget_seconds,
        tokens=budget_tokens,
        usd=budget_usd,
        other=tuple(other or ()),
    )
    manner = Manner(
        out=out,
        detach=detach,
        priority=priority_of(priority),
        key=key,
        deploy=deploy,
        name=name,
        as_json=as_json,
    )
    client = server()
    if like or near:
        _build_again(like, wish, manner, near=near)
    elif client is not None:
        _build_there(client, wish, manner)
    else:
        _build_here(wish, manner)


def _build_again(run: str, wish: Wish, manner: Manner, *, near: bool) -> None:
    """Build a run again; nothing but the manner may be typed beside its name."""
    from twinsmith.cli.again import build_again
    from twinsmith.core.errors import ConfigError

    if not run or not wish.nothing:
        raise ConfigError(
            "--like RUN names the task and all that belongs to it: no task, and of the options "
            "only --near, --out, --deploy, --name, --detach, --priority, --key and --json"
        )
    build_again(run, manner, near=near)


def _build_there(client: "Client", wish: Wish, manner: Manner) -> None:
    """Let a server build what is wanted, and bring the result here."""
    from twinsmith.cli import remote_runs
    from twinsmith.client.shapes import NewRun

    kept = _without_secrets(_task(wish), wish.tests)
    asked = NewRun.of(
        task=kept.text,
        language=wish.language,
        kind=wish.kind,
        tests=kept.tests,
        spec=kept.spec if wish.spec else "",
        seed=wish.seed,
        budget_seconds=wish.seconds,
        budget_tokens=wish.tokens,
        budget_usd=wish.usd,
        priority=manner.priority,
        arrangement=wish.other,
    )
    remote_runs.build(client, lambda: client.runs.submit(asked, key=manner.key or ""), manner)


def _build_here(wish: Wish, manner: Manner) -> None:
    """Build what is wanted on this machine; the same key twice is one build."""
    from twinsmith.cli.book import opened_book
    from twinsmith.core.trying.arrangement import AS_SET
    from twinsmith.runs.submit import new_job
    from twinsmith.runs.versions import read

    # A setting that is wrong is told before a task that is.
    book = opened_book()
    wanted = _task(wish)
    known = book.driving.of_key(manner.key) if manner.key else ""
    if known:
        ended = show_queued(book, known, detach=manner.detach, as_json=manner.as_json)
        if ended is not None:
            finish(ended, as_json=manner.as_json)
        return
    budget = wish.budget(book.settings.values.build)
    arrangement = read(book, wish.other) if wish.other else AS_SET
    job = new_job(
        book, wanted, out=manner.out, seed=wish.seed, budget=budget, arrangement=arrangement
    )
    _tell_masked(job.masked, job.task, wish.tests)
    see_through(book, job, manner)


def see_through(book: "Book", job: "Job", manner: Manner) -> None:
    """See a run to its end, by workers where there are any, and deploy what came of it.

    One that is left alone is only told by its name.
    """
    as_json = manner.as_json
    if manner.detach or book.workers(serving=True):
        queue = queued(
            book,
            job,
            key=manner.key,
            priority=manner.priority,
            detach=manner.detach,
            as_json=as_json,
        )
        if queue is None:
            return
        ended = queue
    else:
        provide_model(book.settings, as_json=as_json, arrangement=job.arrangement)
        driver = _driver(book, as_json=as_json)
        ended = drive(driver, job.run, lambda: driver.start(job, manner.key), as_json=as_json)
    _deployed(book, ended, name=manner.name, wanted=manner.deploy)
    finish(ended, as_json=as_json)


def _deployed(book: "Book", ended: "Outcome", *, name: str, wanted: bool) -> None:
    """Deploy what a build has solved, where a person wants that; the command ends with it."""
    from twinsmith.cli.act import act
    from twinsmith.cli.outcome import tell
    from twinsmith.core.outcome import RunOutcome
    from twinsmith.runs.deploy import deploying
    from twinsmith.runs.resources import refuse_full

    if wanted and isinstance(ended, RunOutcome) and not ended.solved:
        typer.echo("not deployed: only what is solved is", err=True)
    elif wanted and isinstance(ended, RunOutcome):
        tell(ended)
        action = deploying(book, ended.run, name=name)
        refuse_full(book, action.app)
        act(book, action, detach=False, as_json=False)


def _task(wish: Wish) -> "Task":
    """The task that was typed, with its files; a mistake in them is told before anything starts."""
    from twinsmith.core.probe import read_tests
    from twinsmith.core.task import read_task
    from twinsmith.runs.spec import read_spec, spec_in

    tests, spec = wish.tests, wish.spec
    source = text_of(tests, option="--tests ") if tests else ""
    document = read_spec(text_of(spec, option="--spec "), spec.name) if spec else spec_in(wish.text)
    wanted = read_task(
        text=wish.text, language=wish.language, kind=wish.kind, tests=source, spec=document
    )
    if tests:
        # Read once more by the flow.
        read_tests(source, file=tests.name)
    return wanted


def _without_secrets(wanted: "Task", tests: Path | None) -> "Task":
    """The task without secrets of this environment, which the server does not know as such."""
    from twinsmith.core.task import without_secrets
    from twinsmith.settings import load

    kept, masked = without_secrets(wanted, load().masking)
    _tell_masked(masked, kept, tests)
    return kept


def _tell_masked(masked: "Masked", kept: "Task", tests: Path | None) -> None:
    """Tell the person where secrets were masked; refuse tests that cannot run without them."""
    from twinsmith.core.errors import ConfigError
    from twinsmith.core.task import runs_when_masked

    if not masked:
        return
    if tests and not runs_when_masked(kept.tests):
        raise ConfigError(
            f"{tests} holds secrets of the environment outside of strings and comments: masked, "
            "it cannot run; take them out"
        )
    typer.echo(f"masked before anything was written or asked: {masked}", err=True)


def resume(
    run: Annotated[str, typer.Argument(help="The run, or how its name ends.")],
    as_json: options.Json = False,
) -> None:
    """Go on with a run where it stopped; nothing finished is done or paid twice."""
    import asyncio

    from twinsmith.cli.book import opened_book
    from twinsmith.cli.follow import Here, follow_to_the_end
    from twinsmith.core.progress import ENDED
    from twinsmith.core.task import Job
    from twinsmith.runs.submit import requeue

    client = server()
    if client is not None:
        from twinsmith.cli import remote_runs

        remote_runs.resume(client, run, as_json=as_json)
    book = opened_book()
    name = book.find(run)
    state = book.progress(name).state
    if state not in (*ENDED, "running") and book.workers(serving=True):
        asyncio.run(requeue(book, name))
        followed = follow_to_the_end(Here(book, name), book.settings, as_json=as_json)
        finish(followed, as_json=as_json)
    if state not in ENDED and isinstance(book.given(name), Job):
        provide_model(book.settings, as_json=as_json)
    driver = _driver(book, as_json=as_json)
    finish(drive(driver, name, lambda: driver.resume(name), as_json=as_json), as_json=as_json)


def queued(
    book: "Book",
    job: "Given",
    *,
    key: str | None,
    priority: "Priority",
    detach: bool,
    as_json: bool,
) -> "Outcome | None":
    """Leave a run to workers; its outcome, or nothing where it is left alone."""
    import asyncio

    from twinsmith.cli.follow import somebody_sits_here
    from twinsmith.runs.submit import submit

    attended = not detach and somebody_sits_here(book.settings, as_json=as_json)
    run = asyncio.run(submit(book, job, key=key, priority=priority, attended=attended))
    return show_queued(book, run, detach=detach, as_json=as_json)


def show_queued(book: "Book", run: str, *, detach: bool, as_json: bool) -> "Outcome | None":
    """Follow a run of workers to its end, or only tell its name."""
    from twinsmith.cli.follow import Here, follow_to_the_end

    if not detach:
        return follow_to_the_end(Here(book, run), book.settings, as_json=as_json)
    if as_json:
        typer.echo(json.dumps({"run": run, "state": book.progress(run).state}))
        return None
    typer.echo(run)
    if not book.workers(serving=True):
        typer.echo("no worker takes runs yet; start one with: twinsmith worker", err=True)
    return None


def _driver(book: "Book", *, as_json: bool) -> "Driver":
    """What drives a run in this process; asks at the terminal where somebody sits at one."""
    from twinsmith.adapters.desk.terminal import Terminal
    from twinsmith.cli.follow import somebody_sits_here
    from twinsmith.runs.drive import Driver

    driver = Driver(book)

    def aside() -> "AbstractContextManager[None]":
        # What shows the run is only there once the run has begun.
        return driver.aside()

    if somebody_sits_here(book.settings, as_json=as_json):
        driver.terminal = Terminal(aside=aside, masking=book.settings.masking)
    return driver


def provide_model(
    settings: "Settings", *, as_json: bool, arrangement: "Arrangement | None" = None
) -> None:
    """Install the embedded model when nothing else could answer, saying so first."""
    from twinsmith.wiring.knowledge import missing_files
    from twinsmith.wiring.models import missing_model, store_of

    model = missing_model(settings, arrangement) if arrangement else missing_model(settings)
    wanted = [model] if model is not None else []
    if settings.values.build.retrieval and not settings.values.models.script:
        wanted += missing_files(settings)
    for each in wanted:
        from twinsmith.cli.models import install_shown

        install_shown(store_of(settings), each, quiet=as_json)


def drive(
    driver: "Driver", run: str, work: "Callable[[], Awaitable[Outcome]]", *, as_json: bool
) -> "Outcome":
    """Drive a run to its end and show it; the command ends where the run is parked."""
    import asyncio
    import signal

    from twinsmith.cli.live import beside
    from twinsmith.core.errors import TwinsmithError

    terminated = False

    async def main() -> "Outcome":
        nonlocal terminated
        me = asyncio.current_task()
        assert me is not None

        def terminate() -> None:
            nonlocal terminated
            terminated = True
            me.cancel()

        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, terminate)
        driven = asyncio.ensure_future(work())
        await beside(driver, run, driven, quiet=as_json)
        return driven.result()

    try:
        return asyncio.run(main())
    except (KeyboardInterrupt, asyncio.CancelledError):
        code = exits.TERMINATED if terminated else exits.INTERRUPTED
        exits.fail(
            f"run {run} is parked; go on with: twinsmith resume {run}", code, as_json=as_json
        )
    except TwinsmithError as error:
        stopped = driver.book.progress(run).state in ("parked", "waiting")
        if not stopped or f"resume {run}" in str(error):
            raise
        exits.fail(f"{error}; then: twinsmith resume {run}", exits.code_of(error), as_json=as_json)
