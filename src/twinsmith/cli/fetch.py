"""`twinsmith fetch`: a result from the database that several machines share."""

import json
from pathlib import Path
from typing import Annotated

import typer

from twinsmith.cli.options import Json
from twinsmith.cli.remote import server

EXAMPLE = "Example: twinsmith fetch a3f9 --out ./slug"


def fetch(
    run: Annotated[str, typer.Argument(help="The run, or how its name ends.")],
    out: Annotated[Path | None, typer.Option(help="A new folder for the result.")] = None,
    as_json: Json = False,
) -> None:
    """Bring the result of a run to this machine; with `database.url`, whoever built it."""
    import asyncio

    client = server()
    if client is not None:
        from twinsmith.cli.remote_runs import brought

        name = client.runs.get(run).run
        folder = asyncio.run(brought(client, name, out))
    else:
        from twinsmith.cli.book import opened_book
        from twinsmith.runs.fetch import fetch as fetched

        book = opened_book()
        name = book.find(run)
        folder = asyncio.run(fetched(book, name, out))
    typer.echo(json.dumps({"run": name, "out": str(folder)}) if as_json else f"result: {folder}")
