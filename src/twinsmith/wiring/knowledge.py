"""Which library answers, by the settings: where it lies, and what turns words into vectors."""

import getpass
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from twinsmith.core.errors import ConfigError, ModelUnavailable

if TYPE_CHECKING:
    from twinsmith.adapters.knowledge.embedder import Embedder
    from twinsmith.adapters.knowledge.library import Library
    from twinsmith.adapters.knowledge.minilm import MiniLm
    from twinsmith.adapters.knowledge.packs.catalogue import Machine
    from twinsmith.adapters.models.catalogue import CatalogueModel
    from twinsmith.ports import Retriever
    from twinsmith.settings import Settings

Provider = Literal["openai", "google", "server", "ollama"]

BUILT_IN = "minilm-l6-v2"
FILES = (BUILT_IN, "minilm-l6-v2-tokenizer")
PROVIDERS: tuple[Provider, ...] = ("openai", "google", "server", "ollama")
DIMENSIONS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
    "gemini-embedding-001": 3072,
}
_URLS = {
    "openai": "https://api.openai.com/v1",
    "google": "https://generativelanguage.googleapis.com",
}


def missing_files(settings: "Settings") -> list["CatalogueModel"]:
    """What the embedder needs and is not installed."""
    from twinsmith.adapters.models import catalogue
    from twinsmith.adapters.models.install import ModelStore

    if settings.values.knowledge.embedder != BUILT_IN:
        return []
    store = ModelStore(settings.models_folder)
    return [m for m in map(catalogue.find, FILES) if store.path(m) is None]


@asynccontextmanager
async def opened_library(settings: "Settings") -> AsyncIterator["Library"]:
    """The library of the settings, for as long as the block lasts."""
    from twinsmith.adapters.clock import SystemClock
    from twinsmith.adapters.knowledge.library import Library
    from twinsmith.adapters.knowledge.postgres_store import PostgresStore
    from twinsmith.adapters.knowledge.sqlite_store import SqliteStore

    chosen, folder = settings.values.knowledge, settings.home / "knowledge"
    embedder = embedder_of(settings)
    store = PostgresStore(chosen.store) if chosen.store else SqliteStore(folder / "knowledge.db")
    library = Library(
        store,
        folder,
        embedder,
        SystemClock(),
        f"user:{getpass.getuser()}",
        older=lambda name: _older(settings, name),
        least_cosine=chosen.least_cosine or None,
    )
    try:
        yield library
    finally:
        await library.close()


@asynccontextmanager
async def opened_retriever(settings: "Settings") -> AsyncIterator["Retriever"]:
    """The library for a build, or nothing where the embedder is not there yet or out of reach.

    No secret reaches it.
    """
    from twinsmith.adapters.knowledge.library_masked import MaskedLibrary
    from twinsmith.adapters.knowledge.nothing import NothingKnown

    if not settings.values.build.retrieval or missing_files(settings):
        yield NothingKnown()
        return
    async with opened_library(settings) as library:
        if not library.has_starter():
            await library.add_starter()
        yield MaskedLibrary(library, settings.masking)


def installed_here(settings: "Settings") -> "Machine":
    """Where packs find what they read; libraries only if a program has needed them already."""
    from twinsmith.adapters.knowledge.packs.catalogue import Machine

    layers = (settings.sandbox_folder / "layers").glob("python-*")
    newest = max(layers, key=lambda folder: folder.stat().st_mtime, default=None)
    return Machine(layer=newest)


async def with_libraries(settings: "Settings", tell: "Callable[[str], None]") -> "Machine":
    """Where packs find what they read, with the libraries that Python programs may use."""
    from twinsmith.adapters.knowledge.packs.catalogue import Machine
    from twinsmith.adapters.sandbox.layers import ALLOWED, Layers
    from twinsmith.core.program import Program

    layers = Layers(settings.sandbox_folder / "layers", tell)
    return Machine(layer=await layers.layer(Program(source="", requires=tuple(ALLOWED.values()))))


def embedder_of(settings: "Settings") -> "Embedder":
    """The embedder in force; ConfigError or ModelUnavailable says what it lacks."""
    chosen = settings.values.knowledge
    if chosen.embedder == BUILT_IN:
        built_in = _built_in(settings)
        if built_in is None:
            lines = " and ".join(f"twinsmith models install {name}" for name in FILES)
            raise ModelUnavailable(f"the embedder is not installed; run: {lines}")
        return built_in
    name, _, model = chosen.embedder.partition(":")
    provider = next((known for known in PROVIDERS if known == name), None)
    if provider is None or not model:
        raise ConfigError(
            f"knowledge.embedder {chosen.embedder!r} is unknown; {BUILT_IN!r}, or one of "
            f"{', '.join(PROVIDERS)} with a model, for example 'openai:text-embedding-3-small'"
        )
    dimensions = chosen.dimensions or DIMENSIONS.get(model, 0)
    if not dimensions:
        raise ConfigError(
            f"how many dimensions {chosen.embedder!r} has is not known; set knowledge.dimensions"
        )
    return _remote(settings, provider, model, dimensions)


def background_upkeep(settings: "Settings") -> None:
    """Begin upkeep in a process of its own that outlives this one; one at a time."""
    from twinsmith.adapters.lease import is_held

    if is_held(upkeep_folder(settings)):
        return
    folder = upkeep_folder(settings)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (folder / "log").open("wb") as log:
        subprocess.Popen(
            [sys.executable, "-m", "twinsmith", "knowledge", "upkeep"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            cwd=settings.home,
        )


def upkeep_folder(settings: "Settings") -> Path:
    """Where the one process that does upkeep holds its lease and writes what it says."""
    return settings.home / "knowledge" / "upkeep"


def _older(settings: "Settings", name: str) -> "Embedder | None":
    """The embedder that once made vectors under this id, if it can still be asked."""
    built_in = _built_in(settings)
    if built_in is not None and built_in.id == name:
        return built_in
    service, _, size = name.rpartition("@")
    who, _, model = service.partition(":")
    provider = next((known for known in PROVIDERS if known == who), None)
    if provider is None or not size.isdigit():
        return None
    try:
        return _remote(settings, provider, model, int(size))
    except ConfigError:
        return None


def _built_in(settings: "Settings") -> "MiniLm | None":
    from twinsmith.adapters.knowledge.minilm import MiniLm
    from twinsmith.adapters.models import catalogue
    from twinsmith.adapters.models.install import ModelStore

    store = ModelStore(settings.models_folder)
    weights, tokenizer = (store.path(catalogue.find(name)) for name in FILES)
    if weights is None or tokenizer is None:
        return None
    return MiniLm(weights, tokenizer, threads=min(len(os.sched_getaffinity(0)), 8))


def _remote(settings: "Settings", provider: Provider, model: str, dimensions: int) -> "Embedder":
    from twinsmith.adapters.clock import SystemClock
    from twinsmith.adapters.knowledge.remote import RemoteEmbedder, Service

    gateway, models = settings.values.gateway, settings.values.models
    ollama = f"{models.ollama.rstrip('/')}/v1" if models.ollama else ""
    urls = {**_URLS, **settings.urls, "server": models.server, "ollama": ollama}
    if not urls.get(provider):
        raise ConfigError(f"embedder {provider}:{model} has no address; set models.{provider}")
    if provider in _URLS and provider not in settings.keys:
        raise ConfigError(
            f"embedder {provider}:{model} needs a key in the environment; "
            "`twinsmith doctor` names the variables"
        )
    service = Service(
        provider=provider,
        model=model,
        url=urls[provider],
        key=settings.keys.get(provider, ""),
        dimensions=dimensions,
        connect_seconds=gateway.connect_seconds,
        reply_seconds=gateway.reply_seconds,
        retries=gateway.retries,
    )
    return RemoteEmbedder(service, SystemClock())
