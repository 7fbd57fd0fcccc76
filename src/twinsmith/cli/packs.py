"""Knowledge packs on the command line: listing and reading them."""

import json
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import typer

from twinsmith.cli.bars import bar

if TYPE_CHECKING:
    from twinsmith.adapters.knowledge.ingest import Added
    from twinsmith.adapters.knowledge.library import Library
    from twinsmith.adapters.knowledge.packs.article import Place
    from twinsmith.adapters.knowledge.packs.catalogue import Machine, Pack
    from twinsmith.settings import Settings

PIECES_A_SECOND = 45
"""Pieces that two cores embed in a second, about: for a word on how long it takes."""


def chosen(names: str) -> "list[Pack]":
    """The packs that a list with commas names, each once; ConfigError names an unknown one."""
    from twinsmith.adapters.knowledge.packs.catalogue import find

    return [find(name) for name in dict.fromkeys(filter(None, map(str.strip, names.split(","))))]


async def add_packs(
    library: "Library", settings: "Settings", packs: "list[Pack]", *, quiet: bool
) -> "dict[str, Added]":
    """Read packs one after the other; ConfigError before the first, where one has nothing here."""
    from twinsmith.adapters.knowledge.packs.catalogue import places
    from twinsmith.core.errors import ConfigError

    machine = await _machine(settings, packs, quiet=quiet)
    found = {pack.name: places(pack, machine) for pack in packs}
    for pack in packs:
        if not found[pack.name]:
            raise ConfigError(
                f"pack {pack.name} ({pack.what}): nothing of it is installed here; {pack.install}"
            )
    return {
        pack.source: await _added(library, pack, found[pack.name], quiet=quiet) for pack in packs
    }


def list_packs(settings: "Settings", sources: dict[str, int], *, as_json: bool) -> None:
    """Print one line a pack: what it reads, how much of it is here, and how to get it."""
    from twinsmith.adapters.knowledge.packs.catalogue import PACKS, places
    from twinsmith.wiring.knowledge import installed_here

    machine = installed_here(settings)
    rows = [_shelf(pack, places(pack, machine), sources) for pack in PACKS.values()]
    if as_json:
        typer.echo(json.dumps([asdict(row) for row in rows], ensure_ascii=False))
        return
    for row in rows:
        typer.echo(_line(row))


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """The state of a pack on this machine."""

    name: str
    what: str
    files: int
    installed: list[str]
    """The packages and libraries that brought the pack, with their versions."""
    added: int
    """The number of passages that are known from the pack."""
    install: str
    """The line that says how to get the pack where there is nothing to read."""
    more: str
    """The Debian package with a manual that the pack would read as well."""


def _shelf(pack: "Pack", found: "list[Place]", sources: dict[str, int]) -> Shelf:
    origins = sorted({f"{each.origin.package} {each.origin.version}" for each in found})
    has_more = any(pack.has_manual(place.origin.package) for place in found)
    return Shelf(
        name=pack.name,
        what=pack.what,
        files=len(found),
        installed=origins,
        added=sources.get(pack.source, 0),
        install="" if found else pack.install,
        more="" if has_more else pack.more,
    )


def _line(row: Shelf) -> str:
    state = f"{row.files} files of {', '.join(row.installed)}"
    if not row.files:
        state = f"not installed; {row.install}"
    if row.added:
        state += f"; {row.added} passages added"
    if row.more:
        state += f"; a manual is read instead after: apt-get install -y {row.more}"
    return f"{row.name:<13}{row.what}\n{'':<13}{state}"


async def _machine(settings: "Settings", packs: "list[Pack]", *, quiet: bool) -> "Machine":
    from twinsmith.adapters.knowledge.packs.shelves import LIBRARIES
    from twinsmith.wiring.knowledge import installed_here, with_libraries

    if any(pack.name in LIBRARIES for pack in packs):
        return await with_libraries(settings, lambda line: None if quiet else _say(line))
    return installed_here(settings)


async def _added(library: "Library", pack: "Pack", found: "list[Place]", *, quiet: bool) -> "Added":
    import asyncio

    from twinsmith.adapters.knowledge.packs.reading import MOST_PASSAGES, read_places

    with bar("files", quiet=quiet) as told:
        read = await asyncio.to_thread(read_places, found, told)
    if not quiet:
        most = f", {read.left_out} more than {MOST_PASSAGES} left out" if read.left_out else ""
        seconds = max(read.passages // PIECES_A_SECOND, 1)
        _say(
            f"{pack.source}: {read.passages} passages of {len(read.articles)} files{most}; "
            f"what is new takes up to {seconds} s on two cores"
        )
    began, total = time.monotonic(), len(read.articles)
    with bar("documents", quiet=quiet) as told:
        added = await library.add_pack(read, pack.source, lambda done, _path: told(done, total))
    seconds_taken = time.monotonic() - began
    if added.passages and not quiet:
        _say(f"{pack.source}: {seconds_taken:.0f} s, {added.passages / seconds_taken:.0f} a second")
    return added


def _say(line: str) -> None:
    typer.echo(line, err=True)
