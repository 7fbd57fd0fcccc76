"""Which models this machine and these settings offer, and the gateway made of them."""

import asyncio
import json
import os
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from twinsmith.adapters.clock import SystemClock
from twinsmith.adapters.models import catalogue
from twinsmith.adapters.models.embedded import EmbeddedServer, shape_for
from twinsmith.adapters.models.install import ModelStore
from twinsmith.adapters.models.routing import (
    FRONTIER,
    PROVIDERS,
    Available,
    Choice,
    Endpoint,
    choose,
    read_endpoint,
)
from twinsmith.adapters.models.scripted import ScriptedModel, read_script
from twinsmith.core.model import ROLES, Role
from twinsmith.core.trying.arrangement import AS_SET, ROUTES, Arrangement
from twinsmith.core.trying.versions import SHORTEST_HASH, model_and_version
from twinsmith.ports import Model
from twinsmith.settings import Settings
from twinsmith.wiring.resources import hold_model

if TYPE_CHECKING:
    from twinsmith.adapters.models.gateway import Gateway
    from twinsmith.adapters.models.prices import PriceList
    from twinsmith.adapters.models.providers import Heard, Providers

ENSEMBLES = (1, 2)
OLLAMA_SECONDS = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What is here, and what each role of each ensemble will use."""

    available: Available
    routes: dict[tuple[int, Role], Choice]

    def embedded(self) -> set[str]:
        """The embedded models that some role may use."""
        return {
            endpoint.model
            for choice in self.routes.values()
            for endpoint in choice.endpoints
            if endpoint.provider == "embedded"
        }

    def leading_embedded(self) -> set[str]:
        """The embedded models that some role uses first: without them nothing works."""
        firsts = (choice.endpoints[:1] for choice in self.routes.values())
        return {e.model for endpoints in firsts for e in endpoints if e.provider == "embedded"}


def store_of(settings: Settings) -> ModelStore:
    """Where model files lie."""
    return ModelStore(settings.models_folder, hub=settings.values.models.hub)


def offer(settings: Settings) -> Offer:
    """Look around and decide."""
    models = settings.values.models
    keys = tuple(provider for provider in FRONTIER if provider in settings.keys)
    here = Available(
        keys=keys,
        server_model=models.server_model if models.server else "",
        ollama_model="" if keys or models.server else _ollama_model(models.ollama),
        embedded_model=embedded_name(models.embedded, _memory_mb()),
    )
    by_number = {1: settings.values.ensemble_1, 2: settings.values.ensemble_2}
    routes = {
        (number, role): choose(role, number, getattr(by_number[number], role), here)
        for number in ENSEMBLES
        for role in ROLES
    }
    for choice in routes.values():
        for endpoint in choice.endpoints:
            if endpoint.provider == "embedded":
                catalogue.find_language(endpoint.model)
    return Offer(available=here, routes=routes)


def arranged_offer(offered: Offer, arrangement: Arrangement) -> Offer:
    """What each role will use where an arrangement names its models."""
    routes = dict(offered.routes)
    for (number, role), choice in offered.routes.items():
        asked = arrangement.asks(role, number)
        if asked:
            endpoints = tuple(
                endpoint
                for name in asked
                for endpoint in (choice.endpoints if name == ROUTES else (endpoint_of(name),))
            )
            why = f"{', '.join(asked)} is asked instead of what the settings say"
            routes[number, role] = Choice(endpoints=tuple(dict.fromkeys(endpoints)), why=why)
    return replace(offered, routes=routes)


def endpoint_of(name: str) -> Endpoint:
    """The endpoint of a model as an arrangement names it, with or without a version."""
    return read_endpoint(model_and_version(name)[0], setting="the arrangement's model")


def most_usd(offered: Offer, tokens: int, prices: "PriceList") -> dict[str, float | None]:
    """The most that so many tokens cost in US dollars, by model; None where nobody knows a price.

    Local models cost nothing and are left out.
    """
    price = prices.price
    found: dict[str, float | None] = {}
    for endpoint in {each for choice in offered.routes.values() for each in choice.endpoints}:
        if endpoint.frontier:
            asked, answered = price(endpoint, tokens, 0), price(endpoint, 0, tokens)
            known = asked is not None and answered is not None
            found[endpoint.name] = max(asked or 0.0, answered or 0.0) if known else None
    return dict(sorted(found.items()))


def prices_of(settings: Settings) -> "PriceList":
    """The prices of the settings, and those that come with twinsmith."""
    from twinsmith.adapters.models.prices import PriceList
    from twinsmith.core.costs.price import price_in

    return PriceList(tuple(map(price_in, settings.values.costs.prices)))


def embedded_name(wanted: str, memory_mb: int) -> str:
    """The model a setting means: by name, none, or the largest that fits in memory."""
    if wanted != "auto":
        return catalogue.find_language(wanted).name if wanted else ""
    default = catalogue.find("qwen2.5-coder-1.5b")
    small = catalogue.find("qwen2.5-coder-0.5b")
    return (default if memory_mb >= default.memory_mb else small).name


def missing_model(
    settings: Settings, arrangement: Arrangement = AS_SET
) -> catalogue.CatalogueModel | None:
    """The embedded model that a build would need and that is not installed."""
    if settings.values.models.script:
        return None
    store = store_of(settings)
    chosen = arranged_offer(offer(settings), arrangement)
    needed = [catalogue.find(name) for name in sorted(chosen.leading_embedded())]
    return next((model for model in needed if store.path(model) is None), None)


def file_versions(settings: Settings) -> dict[str, str]:
    """The version of every embedded model that is installed: its name, and how its hash begins."""
    from twinsmith.adapters.models.hashes import FileHashes

    store, hashes = store_of(settings), FileHashes(settings.models_folder)
    files = [(each.name, store.path(each)) for each in catalogue.MODELS if each.kind == "language"]
    return {name: f"{name}@{hashes.of(path)[:SHORTEST_HASH]}" for name, path in files if path}


@asynccontextmanager
async def opened_model(settings: Settings, heard: "Heard | None" = None) -> AsyncIterator[Model]:
    """What answers under these settings, for as long as the block lasts."""
    script = settings.values.models.script
    if script:
        bill = settings.home / "scripted-bill.jsonl"
        yield ScriptedModel(read_script(Path(script).expanduser()), bill, settings.masking)
        return
    # Read once in the life of a file: afterwards this costs nothing.
    versions = await asyncio.to_thread(file_versions, settings)
    door = _gateway(settings, versions, heard or (lambda _key, _parts: None))
    try:
        yield door
    finally:
        await door.close()


def _gateway(settings: Settings, versions: dict[str, str], heard: "Heard") -> "Gateway":
    """The gateway with everything behind it; nothing starts before the first question."""
    from twinsmith.adapters.models.gateway import Gateway, Manners
    from twinsmith.adapters.models.reply_cache import ReplyCache
    from twinsmith.adapters.models.transcripts import Transcripts

    manners, clock = settings.values.gateway, SystemClock()
    transcripts = Transcripts(
        settings.home / "transcripts", manners.retention_days, clock, settings.masking
    )
    transcripts.prune()
    return Gateway(
        offer(settings).routes,
        _providers(settings, versions, heard),
        Manners(retries=manners.retries, at_once=manners.at_once, per_minute=manners.per_minute),
        cache=ReplyCache(settings.home / "cache" / "replies.db", manners.cache_mb << 20),
        transcripts=transcripts,
        masking=settings.masking,
        clock=clock,
        prices=prices_of(settings),
    )


def _providers(settings: Settings, versions: dict[str, str], heard: "Heard") -> "Providers":
    from twinsmith.adapters.models.providers import Access, Providers, Timeouts

    manners, models = settings.values.gateway, settings.values.models
    urls = {**settings.urls, "server": models.server}
    if models.ollama:
        urls["ollama"] = f"{models.ollama.rstrip('/')}/v1"
    access = Access(
        keys={p: settings.keys[p] for p in PROVIDERS if p in settings.keys},
        urls={p: urls[p] for p in PROVIDERS if urls.get(p)},
    )
    timeouts = Timeouts(
        connect=manners.connect_seconds,
        first_token=manners.first_token_seconds,
        whole=manners.reply_seconds,
    )
    wanted, store = settings.values.embedded, store_of(settings)
    shape = shape_for(
        len(os.sched_getaffinity(0)),
        threads=wanted.threads,
        slots=wanted.slots,
        context=wanted.context,
    )
    held = partial(hold_model, settings)
    # A run may ask for others than the settings do; none of them starts before it is asked.
    servers = {
        name: EmbeddedServer(path, shape, version=version, held=held)
        for name, version in versions.items()
        if (path := store.path(catalogue.find(name)))
    }
    return Providers(access, timeouts, servers, heard)


def _ollama_model(url: str) -> str:
    """The first model a local Ollama has, or nothing when none answers."""
    if not url.startswith(("http://", "https://")):
        return ""
    try:
        with urllib.request.urlopen(f"{url}/api/tags", timeout=OLLAMA_SECONDS) as answer:  # noqa: S310
            found = json.load(answer)["models"]
        return str(found[0]["name"]) if found else ""
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return ""


def _memory_mb() -> int:
    """Memory that programs could still take, in MB."""
    for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) // 1024
    return 0
