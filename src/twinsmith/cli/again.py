"""`twinsmith build --like RUN`: a run built again with the versions of then."""

import typer

from twinsmith.cli.remote import server
from twinsmith.cli.wish import Manner


def build_again(run: str, manner: Manner, *, near: bool) -> None:
    """Build a run again, here or on the server that was named."""
    from twinsmith.cli.book import opened_book
    from twinsmith.cli.build import see_through
    from twinsmith.runs.again import job_like

    client = server()
    if client is not None:
        from twinsmith.cli import remote_runs

        remote_runs.build(
            client, lambda: client.runs.again(run, near=near, key=manner.key or ""), manner
        )
        return
    book = opened_book()
    job = job_like(book, book.find(run), near=near, out=manner.out)
    for each in job.repeats.different if job.repeats else ():
        typer.echo(f"different from then: {each}", err=True)
    see_through(book, job, manner)
