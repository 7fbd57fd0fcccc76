"""`twinsmith knowledge`: filling the knowledge base, and asking it a question."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from twinsmith.cli.bars import bar
from twinsmith.cli.options import Json, at_least

if TYPE_CHECKING:
    from twinsmith.adapters.knowledge.ingest import Added
    from twinsmith.adapters.knowledge.library import Library

ADD_EXAMPLE = "Example: twinsmith knowledge add ./src --pack python,flask"
PACKS_EXAMPLE = "Example: twinsmith knowledge packs"
SEARCH_EXAMPLE = 'Example: twinsmith knowledge search "how are passwords stored?" -k 3'
STATS_EXAMPLE = "Example: twinsmith knowledge stats"
REMOVE_EXAMPLE = "Example: twinsmith knowledge remove ./src"
REBUILD_EXAMPLE = "Example: twinsmith knowledge rebuild"
SNAPSHOT_EXAMPLE = "Example: twinsmith knowledge snapshot known.zip"
RESTORE_EXAMPLE = "Example: twinsmith knowledge restore known.zip"
MOST_TOLD = 20

T = TypeVar("T")

knowledge = typer.Typer(help="What is known, and questions to it.", no_args_is_help=True)


@knowledge.command("add", epilog=ADD_EXAMPLE)
def add(
    paths: Annotated[list[Path] | None, typer.Argument(help="Files and folders.")] = None,
    git: Annotated[str, typer.Option(help="A repository: its address or folder.")] = "",
    pack: Annotated[
        str, typer.Option(metavar="NAME,…", help="Documentation installed here: see `packs`.")
    ] = "",
    as_json: Json = False,
) -> None:
    """Read files and folders; what has not changed costs nothing, what is gone is forgotten."""
    from twinsmith.cli.packs import add_packs, chosen
    from twinsmith.core.errors import ConfigError
    from twinsmith.settings import load

    packs = chosen(pack)
    if not paths and not git and not packs:
        raise ConfigError("nothing to add; name a file or folder, or give --git or --pack")

    async def work(library: "Library") -> "dict[str, Added]":
        done = {}
        for path in paths or ():
            source = str(path.expanduser().resolve())
            done[source] = await _added(library, Path(source), source, quiet=as_json)
        if git:
            done[git] = await _cloned(library, git, quiet=as_json)
        return done | await add_packs(library, load(), packs, quiet=as_json)

    rows = _with_library(work, as_json=as_json)
    if as_json:
        from dataclasses import asdict

        typer.echo(json.dumps({s: asdict(a) for s, a in rows.items()}, ensure_ascii=False))
        return
    for source, added in rows.items():
        typer.echo(
            f"{source}: {added.new} new, {added.changed} changed, {added.unchanged} unchanged, "
            f"{added.removed} gone, {len(added.skipped)} skipped; {added.passages} passages"
        )
        for skipped in added.skipped[:MOST_TOLD]:
            typer.echo(f"  skipped {skipped.path}: {skipped.reason}")
        if len(added.skipped) > MOST_TOLD:
            typer.echo(f"  and {len(added.skipped) - MOST_TOLD} more; --json tells all")


@knowledge.command("packs", epilog=PACKS_EXAMPLE)
def packs(as_json: Json = False) -> None:
    """Documentation that `add --pack` would read on this machine, and what would bring more."""
    from twinsmith.cli.packs import list_packs
    from twinsmith.settings import load

    async def work(library: "Library") -> dict[str, int]:
        return library.passages_by_source()

    list_packs(load(), _with_library(work, as_json=as_json), as_json=as_json)


@knowledge.command("search", epilog=SEARCH_EXAMPLE)
def search(
    text: Annotated[str, typer.Argument(help="A question, an identifier or an error message.")],
    k: Annotated[
        int, typer.Option("-k", parser=at_least(1), metavar="N", help="Most answers.")
    ] = 5,
    language: Annotated[str, typer.Option(help="Only passages in this language.")] = "",
    as_json: Json = False,
) -> None:
    """The passages that answer best; nothing, where nothing fits."""
    hits = _with_library(lambda library: library.search(text, k, language), as_json=as_json)
    if as_json:
        from dataclasses import asdict

        typer.echo(json.dumps([asdict(hit) for hit in hits], ensure_ascii=False))
        return
    if not hits:
        typer.echo("nothing fits")
    for hit in hits:
        passage = hit.passage
        where = f"{passage.source}: {passage.path}:{passage.first_line}"
        typer.echo(f"{hit.score:.2f} {hit.channel}  {passage.symbol or '-'}  ({where})")
        typer.echo("".join(f"    {line}\n" for line in passage.text.strip().splitlines()[:12]))


@knowledge.command("stats", epilog=STATS_EXAMPLE)
def stats(as_json: Json = False) -> None:
    """How much is known, and from where."""
    from dataclasses import asdict

    async def work(library: "Library") -> dict[str, object]:
        figures = {**asdict(library.stats()), "names": library.sources()}
        return figures | {"embedders": library.embedders()}

    figures = _with_library(work, as_json=as_json)
    if as_json:
        typer.echo(json.dumps(figures, ensure_ascii=False))
        return
    for name, value in figures.items():
        match value:
            case dict():
                shown = ", ".join(f"{key} ({count} passages)" for key, count in value.items())
            case list():
                shown = ", ".join(value)
            case _:
                shown = str(value)
        typer.echo(f"{name:<10} {shown}")


@knowledge.command("remove", epilog=REMOVE_EXAMPLE)
def remove(
    source: Annotated[str, typer.Argument(help="A source, as `knowledge stats` names it.")],
    as_json: Json = False,
) -> None:
    """Forget a source."""
    from twinsmith.core.errors import ConfigError

    async def work(library: "Library") -> int:
        names = library.sources()
        place = str(Path(source).expanduser().resolve())
        name = next((known for known in names if known in (source, place)), None)
        if name is None:
            raise ConfigError(
                f"source {source!r} is not known; one of {', '.join(names) or 'none'}"
            )
        return library.remove(name)

    documents = _with_library(work, as_json=as_json)
    typer.echo(
        json.dumps({"removed": documents}) if as_json else f"forgotten: {documents} documents"
    )


@knowledge.command("rebuild", epilog=REBUILD_EXAMPLE)
def rebuild(as_json: Json = False) -> None:
    """Make the index anew from what is kept; with another embedder, all vectors as well."""

    async def work(library: "Library") -> int:
        with bar("embedding", quiet=as_json) as told:
            await library.rebuild(told)
        return library.stats().passages

    passages = _with_library(work, as_json=as_json)
    typer.echo(json.dumps({"passages": passages}) if as_json else f"rebuilt: {passages} passages")


@knowledge.command("snapshot", epilog=SNAPSHOT_EXAMPLE)
def snapshot(
    file: Annotated[Path, typer.Argument(help="Where to write it; an older one is replaced.")],
    as_json: Json = False,
) -> None:
    """Write everything that is known to one file, for another machine or another store."""

    async def work(library: "Library") -> int:
        with bar("writing", quiet=as_json) as told:
            await library.snapshot(file.expanduser().absolute(), told)
        return library.stats().passages

    passages = _with_library(work, as_json=as_json)
    typer.echo(
        json.dumps({"passages": passages, "bytes": file.expanduser().stat().st_size})
        if as_json
        else f"written: {file}, {passages} passages, {file.expanduser().stat().st_size:,} bytes"
    )


@knowledge.command("restore", epilog=RESTORE_EXAMPLE)
def restore(
    file: Annotated[Path, typer.Argument(help="A file that `knowledge snapshot` wrote.")],
    as_json: Json = False,
) -> None:
    """Know what a snapshot knows instead of what is known now; all of it, or nothing changes."""

    async def work(library: "Library") -> int:
        with bar("reading", quiet=as_json) as told:
            await library.restore(file.expanduser().absolute(), told)
        return library.stats().passages

    passages = _with_library(work, as_json=as_json)
    typer.echo(json.dumps({"passages": passages}) if as_json else f"restored: {passages} passages")


@knowledge.command("upkeep", hidden=True)
def upkeep() -> None:
    """Embed what lacks a vector and merge the index: begun by other commands, in the background."""
    import asyncio

    from twinsmith.adapters.lease import lease
    from twinsmith.settings import load
    from twinsmith.wiring.knowledge import opened_library, upkeep_folder

    settings = load()

    async def main() -> None:
        async with opened_library(settings) as library:
            while library.due():
                await library.upkeep(lambda _done, _total: None)

    with lease(upkeep_folder(settings), "upkeep"):
        asyncio.run(main())


def _with_library(work: "Callable[[Library], Awaitable[T]]", *, as_json: bool) -> T:
    """Do work with the library, after its model files and its starter are there."""
    import asyncio

    from twinsmith.cli.models import install_shown
    from twinsmith.settings import load
    from twinsmith.wiring.knowledge import background_upkeep, missing_files, opened_library
    from twinsmith.wiring.models import store_of

    settings = load()
    for model in missing_files(settings):
        install_shown(store_of(settings), model, quiet=as_json)

    async def main() -> T:
        async with opened_library(settings) as library:
            if not library.has_starter():
                await library.add_starter()
            done = await work(library)
            for message in library.messages():
                typer.echo(message, err=True)
            if library.due():
                background_upkeep(settings)
            return done

    return asyncio.run(main())


async def _added(library: "Library", path: Path, source: str, *, quiet: bool) -> "Added":
    from twinsmith.adapters.knowledge.sources import how_many

    total = how_many(path)
    with bar("files", quiet=quiet) as told:
        return await library.add(path, source, lambda done, _path: told(done, total))


async def _cloned(library: "Library", url: str, *, quiet: bool) -> "Added":
    import asyncio
    import tempfile

    from twinsmith.adapters.knowledge.sources import clone

    with tempfile.TemporaryDirectory(prefix="twinsmith-git-") as folder:
        await asyncio.to_thread(clone, url, Path(folder) / "repository")
        return await _added(library, Path(folder) / "repository", url, quiet=quiet)
