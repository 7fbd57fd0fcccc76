"""A job like that of an earlier run: its task and seed, with the versions of then."""

from dataclasses import replace
from pathlib import Path

from twinsmith.core.budget import Budget
from twinsmith.core.errors import ConfigError
from twinsmith.core.task import Job, Repeated
from twinsmith.core.telemetry import new_trace
from twinsmith.core.trying.arrangement import Arrangement
from twinsmith.core.trying.then import (
    Now,
    Then,
    as_text,
    asked_as_then,
    differences,
    then_of,
)
from twinsmith.flow.traced import here
from twinsmith.runs.book import Book
from twinsmith.runs.submit import folder_for, new_run
from twinsmith.settings import Settings

LATEST_IN_ONE_LINE = 3


def job_like(
    book: Book, run: str, *, near: bool, out: Path | None, budget: Budget | None = None
) -> Job:
    """A job with the task, seed and versions of a run.

    What of these is not to be had is named in a ConfigError, or where something near is good enough
    in the job.
    """
    given = book.given(run)
    if not isinstance(given, Job):
        raise ConfigError(f"run {run} built nothing; name a run of `build`")
    then = then_of(book.journal.entries(run))
    lacking = differences(then, _now(book.settings, then))
    if lacking and not near:
        told = "; ".join(lacking[:LATEST_IN_ONE_LINE])
        raise ConfigError(
            f"run {run} cannot be built again with the versions of then: {told}; "
            "with --near it is built with what there is"
        )
    name = new_run()
    return replace(
        given,
        run=name,
        out=str(folder_for(book, name, out)),
        budget=budget or given.budget,
        arrangement=_arranged(book.settings, given, then, near=near),
        trace=here() or new_trace().text,
        repeats=Repeated(run=run, different=lacking),
    )


def _arranged(settings: Settings, given: Job, then: Then, *, near: bool) -> Arrangement:
    """The arrangement of then, told in full where it differs from what is here now."""
    from twinsmith.prompts import shipped, version_of
    from twinsmith.wiring.trying import known_templates, settings_now

    here_now = {key: as_text(value) for key, value in settings_now(settings).items()}
    known = known_templates(settings)
    return Arrangement(
        settings=tuple(
            (key, value)
            for key, value in sorted(then.settings.items())
            if key in here_now and here_now[key] != value
        )
        or given.arrangement.settings,
        models=asked_as_then(then, near=near),
        prompts=tuple(
            (name, version)
            for name, version in sorted(then.prompts.items())
            if (name, version) in known
            and not (name in shipped() and version_of(shipped()[name]) == version)
        ),
    )


def _now(settings: Settings, then: Then) -> Now:
    """What there is here of what took part then."""
    from twinsmith.adapters.models.scripted import read_script
    from twinsmith.flow.pipeline import PIPELINE_VERSION
    from twinsmith.wiring.models import file_versions
    from twinsmith.wiring.trying import known_templates, registry_of

    script = settings.values.models.script
    played = f"scripted:{read_script(Path(script).expanduser()).name}" if script else ""
    latest: dict[str, tuple[str, str]] = {}
    for each in registry_of(settings).listed("model"):
        it = each.version
        if it.version and each.last >= latest.get(it.name, ("", ""))[0]:
            latest[it.name] = (each.last, it.version)
    files = {f"embedded:{name}": version for name, version in file_versions(settings).items()}
    answering = {name: version for name, (_, version) in latest.items()}
    return Now(
        models={
            **{name: v for name, v in answering.items() if not name.startswith("embedded:")},
            **files,
        },
        prompts=known_templates(settings),
        pipeline=str(PIPELINE_VERSION) if then.told else "",
        script=played,
    )
