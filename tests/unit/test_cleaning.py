"""What stays on the disk whatever its age: runs not over, releases that serve or are good."""

import asyncio
import json
import os
import time
from pathlib import Path

import pytest

from tests.waiting import SHOP
from twinsmith.core.driving import Driving
from twinsmith.core.events import Event, Json
from twinsmith.core.operating.app import App, Release
from twinsmith.core.operating.instance import Image
from twinsmith.core.people.actor import Actor
from twinsmith.runs.book import Book
from twinsmith.runs.cleaning import clean, to_clean
from twinsmith.settings import load
from twinsmith.wiring.delivering import apps_of, releases_of

OLD = time.time() - 200 * 86_400


@pytest.fixture
def book(tmp_path: Path) -> Book:
    return Book(load({"TWINSMITH_HOME": str(tmp_path / "home")}), Actor(name="ann"))


def folder(book: Book, *parts: str) -> Path:
    """An old folder with something in it."""
    made = book.settings.home.joinpath(*parts)
    made.mkdir(parents=True)
    (made / "file").write_text("x" * 5000)
    os.utime(made, (OLD, OLD))
    return made


def told(book: Book, run: str, kind: str, data: dict[str, Json]) -> None:
    event = Event(run=run, kind=kind, who="user:ann", data=data)
    asyncio.run(book.journal.append(event))


def chosen(book: Book) -> set[str]:
    return {each.item.name for each in to_clean(book)[1]}


def released(number: int, run: str) -> Release:
    from dataclasses import replace

    source = replace(SHOP.source, run=run)
    image = Image(reference=f"image-{number}", digest=f"{number}")
    return Release(
        app="shop",
        number=number,
        run=f"deploy-{number}",
        deliverable=replace(SHOP, source=source),
        image=image,
        state="trying" if number == 4 else "replaced",
    )


def test_only_runs_that_are_over_go(book: Book) -> None:
    for run in ("ended", "waits", "driven", "stranger"):
        folder(book, "runs", run)
    for run in ("ended", "waits", "driven"):
        told(book, run, "run.started", {"task": "t"})
        told(book, "system", "run.started", {"run": run})
    told(book, "ended", "run.ended", {"state": "solved"})
    told(book, "waits", "run.waiting", {"reason": "for an answer"})
    # Told as ended, and its worker is still bringing it to its end.
    told(book, "driven", "run.ended", {"state": "solved"})
    book.driving.submit(Driving(run="driven", state="driven", worker="w", fence=1))
    assert chosen(book) == {"ended", "stranger"}


def test_what_serves_is_good_or_is_tried_stays_with_all_that_it_is_made_of(book: Book) -> None:
    apps_of(book.settings).save(App(name="shop", host="local", port=8100, serving=3, good=2))
    for number in (1, 2, 3, 4):
        releases_of(book.settings).save(released(number, f"run-{number}"))
        folder(book, "runs", f"run-{number}")
        image = folder(book, "apps", "images", f"image-{number}")
        layer = f"/anywhere/layers/python-{number}"
        (image / "image.json").write_text(json.dumps({"words": [], "layer": layer}))
        os.utime(image, (OLD, OLD))
        folder(book, "sandbox", "layers", f"python-{number}")
    folder(book, "apps", "images", "nobodys")
    folder(book, "sandbox", "layers", "python-0")
    newest = folder(book, "sandbox", "layers", "python-9")
    os.utime(newest)
    assert chosen(book) == {"run-1", "image-1", "nobodys", "python-0"}
    items, going = to_clean(book)
    assert asyncio.run(clean(book, going)) > 0
    left = {each.name: each.kept for each in to_clean(book)[0]}
    assert "image-1" not in left
    assert left["image-3"] == left["run-3"] == "app shop serves it"
    assert left["run-2"] == "the last known good release of app shop"
    assert left["image-4"] == "app shop tries it"
    # Once the third is good, too, a rollback would go to the second, and never to one that failed.
    apps_of(book.settings).save(App(name="shop", host="local", port=8100, serving=3, good=3))
    left = {each.name: each.kept for each in to_clean(book)[0]}
    assert left["image-2"] == "a rollback of app shop goes to it"
    # Of an image that is gone, the layer can go the next time.
    assert chosen(book) == {"python-1"}
    assert len(items) > len(left)


def test_what_is_needed_by_now_is_not_removed(book: Book) -> None:
    place = folder(book, "apps", "images", "image-1")
    _, going = to_clean(book)
    assert [each.item.name for each in going] == ["image-1"]
    apps_of(book.settings).save(App(name="shop", host="local", port=8100, serving=1))
    releases_of(book.settings).save(released(1, "r"))
    assert asyncio.run(clean(book, going)) == 0
    assert place.exists()


def test_of_indexes_the_newest_stays(book: Book) -> None:
    folder(book, "knowledge", "index", "aaaa")
    os.utime(folder(book, "knowledge", "index", "bbbb"), (OLD + 9, OLD + 9))
    assert chosen(book) == {"aaaa"}


def test_layers_that_others_may_use_stay(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    given = {"TWINSMITH_HOME": str(tmp_path / "home"), "TWINSMITH_SANDBOX_FOLDER": str(shared)}
    book = Book(load(given), Actor(name="ann"))
    for name in ("python-1", "python-2"):
        (shared / "layers" / name).mkdir(parents=True)
        os.utime(shared / "layers" / name, (OLD, OLD))
    assert chosen(book) == set()
