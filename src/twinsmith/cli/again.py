"""`twinsmith build --like RUN`: a run built again with the versions of then."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from twinsmith.cli.remote import server

if TYPE_CHECKING:
    from twinsmith.core.driving import Priority


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """How a build is followed, and what becomes of it."""

    out: Path | None
    detach: bool
    priority: "Priority"
    key: str | None
    deploy: bool
    name: str
    as_json: bool


def build_again(run: str, manner: Manner, *, near: bool) -> None:
    """Build a run again, here or on the server that was named."""
    from twinsmith.cli.book import opened_book
    from twinsmith.cli.build import queued, see_through
    from twinsmith.runs.again import job_like

    client = server()
    if client is not None:
        from twinsmith.cli import remote_runs

        remote_runs.build(
            client,
            lambda: client.runs.again(run, near=near, key=manner.key or ""),
            out=manner.out,
            detach=manner.detach,
            deploy=manner.deploy,
            name=manner.name,
            as_json=manner.as_json,
        )
        return
    book = opened_book()
    job = job_like(book, book.find(run), near=near, out=manner.out)
    for each in job.repeats.different if job.repeats else ():
        typer.echo(f"different from then: {each}", err=True)
    if manner.detach:
        queued(
            book,
            job,
            key=manner.key,
            priority=manner.priority,
            detach=True,
            as_json=manner.as_json,
        )
        return
    see_through(
        book,
        job,
        name=manner.name,
        deploy=manner.deploy,
        as_json=manner.as_json,
        key=manner.key,
        priority=manner.priority,
    )
