"""Which library answers, by the settings: where it lies, and what turns words into vectors."""

import getpass
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from twinsmith.adapters.knowledge.library import Library
    from twinsmith.adapters.models.catalogue import CatalogueModel
    from twinsmith.settings import Settings

FILES = ("minilm-l6-v2", "minilm-l6-v2-tokenizer")


def missing_files(settings: "Settings") -> list["CatalogueModel"]:
    """What the embedder needs and is not installed."""
    from twinsmith.adapters.models import catalogue
    from twinsmith.adapters.models.install import ModelStore

    store = ModelStore(settings.models_folder)
    return [m for m in map(catalogue.find, FILES) if store.path(m) is None]


@asynccontextmanager
async def opened_library(settings: "Settings") -> AsyncIterator["Library"]:
    """The library of the data folder, for as long as the block lasts."""
    from twinsmith.adapters.clock import SystemClock
    from twinsmith.adapters.knowledge.library import Library
    from twinsmith.adapters.knowledge.minilm import MiniLm
    from twinsmith.adapters.models import catalogue
    from twinsmith.adapters.models.install import ModelStore
    from twinsmith.core.errors import ModelUnavailable

    store = ModelStore(settings.models_folder)
    weights, tokenizer = (store.path(catalogue.find(name)) for name in FILES)
    if weights is None or tokenizer is None:
        lines = " and ".join(f"twinsmith models install {name}" for name in FILES)
        raise ModelUnavailable(f"the embedder is not installed; run: {lines}")
    embedder = MiniLm(weights, tokenizer, threads=min(len(os.sched_getaffinity(0)), 8))
    who = f"user:{getpass.getuser()}"
    library = Library(settings.home / "knowledge", embedder, SystemClock(), who)
    try:
        yield library
    finally:
        await library.close()
