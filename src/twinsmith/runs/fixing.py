"""A deployed service and a check that fails on it, made into a job for both ensembles."""

from dataclasses import replace

from twinsmith.core.budget import Budget
from twinsmith.core.errors import ConfigError
from twinsmith.core.operating.app import Release
from twinsmith.core.operating.mend import Mend
from twinsmith.core.operating.trouble import Trouble
from twinsmith.core.task import Job, Task
from twinsmith.runs.apps import found, releases
from twinsmith.runs.book import Book
from twinsmith.runs.submit import new_job


def fixing(
    book: Book, name: str, tests: str, *, budget: Budget, release: int = 0, told: str = ""
) -> Job:
    """The job that mends a release of an app; ConfigError where that release cannot be mended."""
    app = found(book, name)
    number = release or app.serving
    known = {each.number: each for each in releases(book, name)}
    if number not in known:
        numbers = ", ".join(map(str, known)) or "none"
        raise ConfigError(f"app {name} has no release {number}; there are: {numbers}")
    return job_for(book, known[number], tests, budget=budget, told=told)


def job_for(
    book: Book,
    release: Release,
    tests: str,
    *,
    budget: Budget,
    told: str = "",
    trouble: Trouble | None = None,
) -> Job:
    """The job that mends one release: by checks that fail on it, or by the trouble it had."""
    deliverable = release.deliverable
    source = deliverable.source
    if not source.framed or deliverable.contract is None:
        raise ConfigError(
            f"release {release.number} of {release.app} is not built around twinsmith's frame, so "
            "no function of it can be exchanged; build a new version and deploy that"
        )
    task = Task(
        text=source.task or f"the service {release.app}",
        language=source.program.language,
        kind="service",
        tests=tests,
        spec=deliverable.spec,
    )
    # A repair is nothing to try things with.
    job = new_job(book, task, out=None, seed=None, budget=budget, arms=())
    said = book.settings.masking.text(" ".join(told.split()))
    mend = Mend(
        program=source.program,
        checks=deliverable.probes,
        told=said,
        app=release.app,
        trouble=trouble,
    )
    return replace(job, mend=mend)
