"""The one door to every model: routes, retries, falls back, caches, and keeps count."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from twinsmith.adapters.models.patience import Breaker, Pace, wait_before
from twinsmith.adapters.models.prices import PriceList
from twinsmith.adapters.models.providers import Busy, Completion, Refused
from twinsmith.adapters.models.reply_cache import ReplyCache
from twinsmith.adapters.models.routing import Candidate, Choice, Endpoint, candidates, retired
from twinsmith.adapters.models.transcripts import Transcripts
from twinsmith.core.budget import most_tokens
from twinsmith.core.errors import ModelUnavailable
from twinsmith.core.masking import NOTHING_KNOWN, Masking
from twinsmith.core.model import Prompt, Reply, Role, fingerprint
from twinsmith.core.trying.versions import is_version
from twinsmith.ports import Clock

Routes = Mapping[tuple[int, Role], Choice]
MOVED_SECONDS = 300.0
"""A model that answers as another version than is wanted is not asked for that one for so long."""


class Asked(Protocol):
    """The part of providers that the gateway needs."""

    async def complete(self, endpoint: Endpoint, prompt: Prompt) -> Completion:
        """The answer of one attempt at one endpoint; raises Busy or Refused."""
        ...

    async def close(self) -> None:
        """Close all connections and servers."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Manners:
    """The limits that the gateway keeps with every endpoint."""

    retries: int
    at_once: int
    per_minute: int


class Gateway:
    """The `Model` port: answers come from the first model of a role that can answer."""

    def __init__(
        self,
        routes: Routes,
        providers: Asked,
        manners: Manners,
        *,
        cache: ReplyCache,
        transcripts: Transcripts,
        clock: Clock,
        masking: Masking = NOTHING_KNOWN,
        prices: PriceList | None = None,
    ) -> None:
        self._prices = prices or PriceList()
        self._routes = routes
        self._providers = providers
        self._manners = manners
        self._cache = cache
        self._transcripts = transcripts
        self._masking = masking
        self._clock = clock
        self._chance = random.Random()  # noqa: S311 - jitter, not a secret
        self._breakers: dict[str, Breaker] = {}
        self._paces: dict[str, Pace] = {}
        self._moved: dict[tuple[str, str], tuple[str, float]] = {}
        """By model and wanted version: the version that answered instead, and until when that is
        taken to be so."""

    async def ask(self, prompt: Prompt) -> Reply:
        """The answer of the first model that gives one; ModelUnavailable tells all reasons."""
        choice = self._routes[prompt.ensemble, prompt.role]
        asked = candidates(prompt, choice)
        for candidate in asked:
            # Asked again after a kill, whoever answered then: it was paid, nobody is asked anew.
            paid = self._cache.paid(self._key(prompt, candidate), prompt.key)
            if paid is not None:
                return paid
        failed: list[str] = []
        for candidate in asked:
            reply = self._cached(candidate, prompt) or await self._asked(candidate, prompt, failed)
            if reply is not None:
                return reply
        reasons = "; ".join(failed) or choice.why
        raise ModelUnavailable(
            self._masking.text(
                f"no model answers as {prompt.role} ({reasons}); see 'twinsmith doctor'"
            )
        )

    async def close(self) -> None:
        """End the providers, the cache and all that was started."""
        await self._providers.close()
        self._cache.close()

    def _key(self, prompt: Prompt, candidate: Candidate) -> str:
        version = candidate.version or self._cache.version(candidate.name)
        return fingerprint(prompt, f"{candidate.name}@{version}")

    def _cached(self, candidate: Candidate, prompt: Prompt) -> Reply | None:
        """The answer that is known already, unless who gave it is not asked any more."""
        if retired(prompt, candidate.name):
            return None
        known = self._cache.get(self._key(prompt, candidate))
        return None if known and retired(prompt, candidate.name, known.version) else known

    async def _asked(self, candidate: Candidate, prompt: Prompt, failed: list[str]) -> Reply | None:
        """The answer of one model, if it is of a version that may answer; else why there is none.

        An answer of another version was paid and is thrown away: for a while the model is not
        asked again for the version that it no longer has.
        """
        name, wanted = candidate.name, candidate.version
        moved, until = self._moved.get((name, wanted), ("", 0.0))
        refused = retired(prompt, name)
        if not refused and moved and self._clock.seconds() < until:
            refused = retired(prompt, name, moved) or _other_version(moved, wanted)
        if refused:
            failed.append(f"{name}: {refused}")
            return None
        completion = await self._attempts(candidate.endpoint, prompt, failed)
        if completion is None:
            return None
        reply = self._reply(candidate.endpoint, completion, failed)
        reply = replace(reply, text=self._masking.reply(reply.text))
        # Before the cache: what is in there is not asked, and so not written down, again.
        self._transcripts.keep(prompt, reply)
        self._cache.note_version(name, reply.version)
        refused = retired(prompt, name, reply.version) or _other_version(reply.version, wanted)
        told = Candidate(endpoint=candidate.endpoint, version=reply.version)
        # What is thrown away answers no call that is made again.
        self._cache.put(self._key(prompt, told), reply, "" if refused else prompt.key)
        if refused:
            self._moved[name, wanted] = (reply.version, self._clock.seconds() + MOVED_SECONDS)
            failed.append(f"{name}: {refused} ({reply.tokens} tokens went into finding out)")
            return None
        return reply

    async def _attempts(
        self, endpoint: Endpoint, prompt: Prompt, failed: list[str]
    ) -> Completion | None:
        """Ask one endpoint as often as it makes sense; each failure is added to `failed`."""
        breaker = self._breakers.setdefault(endpoint.name, Breaker())
        too_dear = self._too_dear(endpoint, prompt)
        if too_dear:
            failed.append(f"{endpoint.name}: {too_dear}")
            return None
        for attempt in range(self._manners.retries + 1):
            if not breaker.closed(self._clock.seconds()):
                failed.append(f"{endpoint.name}: left alone after repeated failures")
                return None
            try:
                async with self._pace(endpoint).turn():
                    completion = await self._providers.complete(endpoint, prompt)
            except Refused as error:
                failed.append(f"{endpoint.name}: refused: {self._masking.text(str(error))}")
                return None
            except ModelUnavailable as error:
                failed.append(str(error))
                return None
            except Busy as error:
                breaker.failed(self._clock.seconds())
                failed.append(f"{endpoint.name}: {self._masking.text(str(error))}")
                wait = wait_before(attempt, error.after, self._chance)
                if wait is None or attempt == self._manners.retries:
                    return None
                await self._clock.sleep(wait)
            else:
                breaker.succeeded()
                return completion
        return None

    def _pace(self, endpoint: Endpoint) -> Pace:
        if endpoint.name not in self._paces:
            self._paces[endpoint.name] = Pace(
                at_once=self._manners.at_once,
                per_minute=self._manners.per_minute,
                clock=self._clock,
            )
        return self._paces[endpoint.name]

    def _too_dear(self, endpoint: Endpoint, prompt: Prompt) -> str:
        """The reason why a question could break the budget at an endpoint; empty: it cannot."""
        if prompt.max_usd is None:
            return ""
        most = self._prices.price(endpoint, most_tokens(prompt.text), prompt.max_tokens)
        if most is None:
            return "its price is unknown, and money is limited"
        if most > prompt.max_usd:
            return f"it could cost {most:.4f} USD, {prompt.max_usd:.4f} are left"
        return ""

    def _reply(self, endpoint: Endpoint, completion: Completion, failed: list[str]) -> Reply:
        return Reply(
            text=completion.text,
            model=endpoint.name,
            version=completion.version,
            tokens_in=completion.tokens_in,
            tokens_out=completion.tokens_out,
            usd=self._prices.price(endpoint, completion.tokens_in, completion.tokens_out),
            first_token_seconds=completion.first_token_seconds,
            cut=completion.cut,
            failed_attempts=tuple(failed),
        )


def _other_version(told: str, wanted: str) -> str:
    """What to say of an answer of another version than the wanted one; empty where it is that."""
    if is_version(told, wanted):
        return ""
    return f"it answers as version {told!r}, and only {wanted!r} is asked for"
