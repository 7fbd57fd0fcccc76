"""What nobody needs on this disk any more: found, told before it is done, and removed."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from twinsmith.core.errors import ConfigError
from twinsmith.core.events import SYSTEM
from twinsmith.core.operating.app import App, Release, rollback_target
from twinsmith.core.progress import ENDED
from twinsmith.core.resources.cleaning import KINDS, Cleaned, Item, ItemKind, chosen
from twinsmith.runs.book import Book
from twinsmith.wiring.resources import place_of, policy_of

NEWEST = "the newest of its kind"


def to_clean(book: Book) -> tuple[tuple[Item, ...], tuple[Cleaned, ...]]:
    """Everything that could be cleaned away, and what of it goes by the settings."""
    looks: dict[ItemKind, Callable[[Book], tuple[Item, ...]]] = {
        "run": _runs,
        "image": _images,
        "layer": _layers,
        "index": _indexes,
    }
    items = tuple(item for kind in KINDS for item in looks[kind](book))
    return items, chosen(items, policy_of(book.settings))


async def clean(book: Book, chosen_ones: Sequence[Cleaned]) -> int:
    """Remove what was chosen, unless it is needed by now; the bytes that became free."""
    from twinsmith.adapters.resources.folders import remove

    items, _ = await asyncio.to_thread(to_clean, book)
    free = {(each.kind, each.name) for each in items if not each.kept}
    gone = [each.item for each in chosen_ones if (each.item.kind, each.item.name) in free]
    for item in gone:
        await asyncio.to_thread(remove, place_of(book.settings, item.kind), item.name)
    freed = sum(item.bytes for item in gone)
    await book.tell(
        SYSTEM,
        "resources.cleaned",
        {"removed": [f"{item.kind} {item.name}" for item in gone], "bytes": freed},
    )
    return freed


def _found(book: Book, kind: ItemKind, kept: Mapping[str, str]) -> tuple[Item, ...]:
    """The things of a kind, the youngest first, with why those stay that have to."""
    from twinsmith.adapters.resources.folders import size_of

    return tuple(
        Item(
            kind=kind,
            name=folder.name,
            bytes=size_of(folder),
            days=days,
            kept=kept.get(folder.name, ""),
        )
        for folder, days in _folders(book, kind)
    )


def _folders(book: Book, kind: ItemKind) -> list[tuple[Path, float]]:
    """The folders of a kind and the days since each was changed, the youngest first."""
    from twinsmith.adapters.resources.folders import days_since, folders_in

    known = [(each, days_since(each)) for each in folders_in(place_of(book.settings, kind))]
    return sorted(known, key=lambda each: each[1])


def _runs(book: Book) -> tuple[Item, ...]:
    """The folders of runs, with their results; the journal has what happened in them."""
    kept = {release.deliverable.source.run: why for release, why in _releases(book) if why}
    known = set(book.journal.runs())
    for folder, _ in _folders(book, "run"):
        driving = book.driving.get(folder.name)
        under_way = driving is not None and driving.state != "ended"
        told = folder.name in known and book.progress(folder.name).state not in ENDED
        if under_way or told:
            kept[folder.name] = "it is not over"
    return _found(book, "run", kept)


def _images(book: Book) -> tuple[Item, ...]:
    """The images of the embedded host; engines keep their own."""
    kept = {
        release.image.reference: why
        for release, why in _releases(book)
        if why and release.image is not None
    }
    return _found(book, "image", kept)


def _layers(book: Book) -> tuple[Item, ...]:
    """Packages and what compilers need: the newest of each kind stays, and what images use."""
    kept = {_layer_of(folder): "an image uses it" for folder, _ in _folders(book, "image")}
    kinds: set[str] = set()
    shared = bool(book.settings.values.sandbox.folder)
    for folder, _ in _folders(book, "layer"):
        if shared:
            kept[folder.name] = "other data folders may use it (sandbox.folder)"
        kind = folder.name.rpartition("-")[0]
        if kind not in kinds:
            kept[folder.name] = NEWEST
        kinds.add(kind)
    return _found(book, "layer", kept)


def _indexes(book: Book) -> tuple[Item, ...]:
    """The indexes of knowledge, one for each embedder; they are made again from the store."""
    return _found(book, "index", {each.name: NEWEST for each, _ in _folders(book, "index")[:1]})


def _releases(book: Book) -> tuple[tuple[Release, str], ...]:
    """Every release, and why what it is made of stays; empty where nothing needs it."""
    from twinsmith.wiring.delivering import apps_of, releases_of

    table = releases_of(book.settings)
    return tuple(
        found
        for app in apps_of(book.settings).listed()
        for found in _of_app(app, table.listed(app.name))
    )


def _of_app(app: App, releases: Sequence[Release]) -> tuple[tuple[Release, str], ...]:
    try:
        back = rollback_target(app, releases, 0).number
    except ConfigError:
        back = 0
    kept = {
        back: f"a rollback of app {app.name} goes to it",
        app.good: f"the last known good release of app {app.name}",
        app.serving: f"app {app.name} serves it",
    }
    tried = f"app {app.name} tries it"
    return tuple(
        (each, kept.get(each.number, tried if each.state == "trying" else "")) for each in releases
    )


def _layer_of(image: Path) -> str:
    """The name of the layer that an image of the embedded host uses; empty where none."""
    with suppress(OSError, ValueError, AttributeError):
        return Path(str(json.loads((image / "image.json").read_text()).get("layer", ""))).name
    return ""
