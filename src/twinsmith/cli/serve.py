"""`twinsmith serve`: the API and the console, with a worker and a monitor beside them."""

from typing import Annotated

import typer

EXAMPLE = "Example: twinsmith serve --port 8400 (Ctrl-C ends it; apps go on)"


def serve(
    host: Annotated[str, typer.Option(help="The address to listen at; else server.host.")] = "",
    port: Annotated[
        int | None, typer.Option(help="The port; 0: any that is free; else server.port.")
    ] = None,
    worker: Annotated[
        bool, typer.Option(help="Whether a worker runs beside it that takes runs.")
    ] = True,
    monitor: Annotated[
        bool, typer.Option(help="Whether the monitor of apps runs beside it.")
    ] = True,
) -> None:
    """Serve the API and the console; the first start prints a link for the first administrator."""
    import asyncio
    from dataclasses import replace

    from twinsmith.cli.book import opened_book
    from twinsmith.cli.live import now_utc
    from twinsmith.core.errors import ConfigError
    from twinsmith.runs.accounts import first_link
    from twinsmith.web.serving import serve as served

    book = opened_book()
    values = book.settings.values
    if port is not None and not 0 <= port < 1 << 16:
        raise ConfigError(f"port {port} is none; one from 0 to 65535")
    given = values.server.model_copy(
        update={
            **({"host": host} if host else {}),
            **({"port": port} if port is not None else {}),
        }
    )
    settings = replace(book.settings, values=values.model_copy(update={"server": given}))

    def said(line: str) -> None:
        typer.echo(f"{now_utc()[11:19]}  {line}")

    async def told(address: str) -> None:
        # Not before: a start that fails would use up the link, and nobody would have seen it.
        token = await first_link(book)
        said(f"serves at {address}")
        if token:
            link = f"{address}/welcome?token={token}"
            typer.echo(f"the first administrator begins here, once: {link}")

    async def main() -> None:
        await served(settings, worker=worker, monitor=monitor, said=said, welcome=told)
        said("server leaves; apps go on")

    asyncio.run(main())
