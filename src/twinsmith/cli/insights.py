"""`twinsmith insights`: what was learned, from which run, and how often it helped."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from twinsmith.cli.options import Json, at_least
from twinsmith.cli.remote import command, server

if TYPE_CHECKING:
    from twinsmith.core.knowing.insight import Insight

EXAMPLE = "Example: twinsmith insights --about ZeroDivisionError -n 5"


def insights(
    about: Annotated[
        str, typer.Option(help="Only what has these words: a subject, a name, an error.")
    ] = "",
    n: Annotated[
        int, typer.Option("-n", parser=at_least(1), metavar="N", help="Most answers.")
    ] = 20,
    language: Annotated[str, typer.Option(help="Only what holds in this language.")] = "",
    as_json: Json = False,
) -> None:
    """What was learned, what helps most first."""
    client = server()
    if client is not None:
        found = client.known.insights(about=about, language=language, most=n)
    else:
        found = _known_here(about, language, n)
    if as_json:
        typer.echo(json.dumps([_as_json(insight) for insight in found], ensure_ascii=False))
        return
    if found:
        _table(found)
    elif about or language:
        asked = [f"about {about!r}"] if about else []
        asked += [f"in {language!r}"] if language else []
        typer.echo(f"nothing learned {' '.join(asked)}")
    else:
        typer.echo(f'nothing learned yet; every build may add to it: {command()} build "…"')


def _known_here(about: str, language: str, most: int) -> "tuple[Insight, ...]":
    """What the graph of this machine knows."""
    import asyncio

    from twinsmith.flow.insights import insights as look_up
    from twinsmith.settings import load
    from twinsmith.wiring.graph import opened_graph

    settings = load()

    async def main() -> "tuple[Insight, ...]":
        async with opened_graph(settings) as graph:
            return await look_up(graph, about=about, language=language, limit=most)

    return asyncio.run(main())


def _table(found: "tuple[Insight, ...]") -> None:
    from twinsmith.cli.screen import fitted, flat
    from twinsmith.core.knowing.insight import weight

    typer.echo(f"weight  {'kind':<14}  helped  failed  {'run':<20}  what was learned")
    for one in found:
        counts = f"{one.helped:>6}  {one.failed:>6}"
        line = f"{weight(one):>6.2f}  {one.kind:<14}  {counts}  {one.run:<20}  {flat(one.text)}"
        typer.echo(fitted(line))
        for text in one.contradicts.values():
            typer.echo(fitted(f"        contradicts: {flat(text)}"))


def _as_json(insight: "Insight") -> dict[str, object]:
    from dataclasses import asdict

    from twinsmith.core.knowing.insight import weight

    counts = {"helped": insight.helped, "failed": insight.failed}
    return {**asdict(insight), **counts, "weight": round(weight(insight), 4)}
