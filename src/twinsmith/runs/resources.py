"""Who uses what of this machine, and whether it has room for more."""

import asyncio
from contextlib import suppress
from pathlib import Path

from twinsmith.core.errors import HostError
from twinsmith.core.operating.instance import instance_name
from twinsmith.core.resources.room import Slots, lack, lack_of_slots
from twinsmith.core.resources.use import Part, Resources, Use
from twinsmith.runs.book import Book
from twinsmith.settings import Settings
from twinsmith.wiring.resources import floor_of, machine_of, used_by_groups, used_by_models

MEGABYTE = 1 << 20


def lacks_for_run(settings: Settings) -> str:
    """Why no further run should begin on this machine; empty where there is room."""
    return lack(machine_of(settings), floor_of(settings))


def lacks_for_app(book: Book, name: str) -> str:
    """Why an app cannot be deployed on this machine now; empty where there is room."""
    from twinsmith.wiring.delivering import apps_of
    from twinsmith.wiring.running import node_of

    settings = book.settings
    given, each_mb = settings.values.resources, settings.values.deploy.memory_mb
    lacks = lack(machine_of(settings), floor_of(settings), needs_mb=each_mb)
    known = apps_of(settings).listed()
    here = [each for each in known if each.node in ("", node_of(settings)) and each.serving]
    running = [each for each in here if each.wanted == "running"]
    if lacks or any(each.name == name for each in running):
        # A new version takes the place of the one that serves.
        return lacks
    slots = Slots(taken=len(running), most=given.apps)
    return lack_of_slots(slots, each_mb=each_mb, all_mb=given.memory_mb)


def refuse_full(book: Book, name: str) -> None:
    """HostError, in one line, where an app cannot be deployed on this machine now."""
    why = lacks_for_app(book, name)
    if why:
        raise HostError(f"app {name} is not deployed: {why}")


async def resources(book: Book) -> Resources:
    """Who uses what of this machine."""
    settings = book.settings
    uses = (*_programs(book), _models(settings), *await _apps(book))
    return Resources(
        machine=machine_of(settings),
        uses=uses,
        parts=await asyncio.to_thread(_parts, settings.home),
        lacks=lacks_for_run(settings),
    )


def _programs(book: Book) -> tuple[Use, ...]:
    settings = book.settings
    given, groups = settings.values, used_by_groups()
    count, held = groups if groups is not None else (None, None)
    driven = sum(each.state == "driven" for each in book.driving.listed())
    taken = sum(each.concurrency for each in book.workers(serving=True))
    limit = given.resources.memory_mb * MEGABYTE or None
    note = "" if groups is not None else "no control groups here: limits hold process by process"
    return (
        Use(who="runs", slots=driven, slots_limit=given.workers.at_once or taken or None),
        Use(
            who="a program in the sandbox",
            memory_limit=given.sandbox.memory_mb * MEGABYTE,
            note=f"{given.sandbox.cpu_seconds:g} s of processor each",
        ),
        Use(
            who="all sandboxes and apps",
            slots=count,
            memory=held,
            memory_limit=limit,
            processors=given.resources.processors or None,
            note=note,
        ),
    )


def _models(settings: Settings) -> Use:
    import os

    from twinsmith.adapters.models.embedded import shape_for

    given = settings.values.embedded
    shape = shape_for(
        len(os.sched_getaffinity(0)),
        threads=given.threads,
        slots=given.slots,
        context=given.context,
    )
    count, held = used_by_models()
    return Use(
        who="embedded models",
        slots=count,
        memory=held,
        memory_limit=settings.values.resources.models_memory_mb * MEGABYTE or None,
        processors=float(shape.threads),
        note=f"{shape.slots} answers at once each",
    )


async def _apps(book: Book) -> tuple[Use, ...]:
    from twinsmith.wiring.delivering import apps_of
    from twinsmith.wiring.watching import gauge_of

    settings = book.settings
    serving = [each for each in apps_of(settings).listed() if each.serving]
    slots = settings.values.resources.apps or None
    found = [Use(who="apps", slots=len(serving), slots_limit=slots)]
    for app in serving:
        memory, limit, note = None, None, ""
        try:
            gauge = gauge_of(settings, app.host)
            usage = await gauge.read(instance_name(app.name, app.serving))
            memory, limit, note = usage.memory, usage.memory_limit, usage.state
        except HostError as error:
            note = str(error)
        found.append(Use(who=f"app {app.name}", memory=memory, memory_limit=limit, note=note))
    return tuple(found)


def _parts(home: Path) -> tuple[Part, ...]:
    """The parts of the data folder, the largest first."""
    from twinsmith.adapters.resources.folders import folders_in, size_of

    found = [Part(name=each.name, bytes=size_of(each)) for each in folders_in(home)]
    with suppress(OSError):
        files = [each for each in home.iterdir() if each.is_file() and not each.is_symlink()]
        found += [Part(name=each.name, bytes=each.stat().st_size) for each in files]
    return tuple(sorted(found, key=lambda each: (-each.bytes, each.name)))
