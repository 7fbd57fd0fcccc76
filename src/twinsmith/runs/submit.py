"""A task in, a job out: with a name of its own, a folder for its result, and no secrets."""

import secrets
from datetime import UTC, datetime
from pathlib import Path

from twinsmith.core.budget import Budget
from twinsmith.core.case import Case
from twinsmith.core.task import Job, Task, without_secrets
from twinsmith.runs.book import Book
from twinsmith.wiring.effort import effort_of, quality_of, refuse_missing_frame

# Questions of one run take seeds one after the other: another try begins far away from them.
RESEED = 100_000


def new_job(book: Book, task: Task, *, out: Path | None, seed: int | None, budget: Budget) -> Job:
    """A job for a task; refuses a folder that the result could not be put in."""
    from twinsmith.adapters.outbox.folder import check_folder

    settings = book.settings
    run = f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
    folder = (out or book.folder(run) / "result").expanduser().absolute()
    check_folder(folder)
    refuse_missing_frame(settings, task)
    kept, masked = without_secrets(task, settings.masking)
    return Job(
        run=run,
        task=kept,
        budget=budget,
        masked=masked,
        effort=effort_of(settings),
        quality=quality_of(settings),
        reply_tokens=settings.values.gateway.reply_tokens,
        seed=settings.values.build.seed if seed is None else seed,
        out=str(folder),
    )


def another_try(book: Book, case: Case) -> Job:
    """A job for a case: what was asked and may be spent is the same, the seed is not."""
    first = book.job(case.run)
    return new_job(book, case.task, out=None, seed=first.seed + RESEED, budget=first.budget)
