"""Traces as values: a place in a trace, a span that is told there, and what may be told of it.

Identifiers follow from names wherever work is done again after a kill: whoever takes a run over
goes on in the same trace with the same parents, and what is told twice is known by its identifier.
"""

import hashlib
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

What = Literal["request", "submit", "run", "stage", "step", "incident"]
Kind = Literal["internal", "server", "client", "producer", "consumer"]
Attribute = str | int | float | bool | tuple[str, ...]
VERSION = "00"
TRACE_LENGTH, SPAN_LENGTH = 32, 16
HEX = frozenset("0123456789abcdef")
PROMPTS = ("gen_ai.input.messages", "gen_ai.output.messages")
"""The attributes that hold what was asked and answered."""
LONGEST, LONGEST_PROMPT = 200, 20_000
PROVIDERS = {"google": "gcp.gemini"}
"""Names of providers that the semantic conventions spell in another way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """A place in a trace: what begins there has `span` for its parent."""

    trace: str
    span: str
    sampled: bool = True

    @property
    def text(self) -> str:
        """The place as W3C's `traceparent` writes it."""
        return f"{VERSION}-{self.trace}-{self.span}-{'01' if self.sampled else '00'}"

    def within(self, *names: str) -> "Trace":
        """A place in the same trace whose identifier follows from names."""
        return replace(self, span=span_id(*names))


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Something that took its time in a trace; `ended` is 0 while it is under way."""

    what: What
    name: str
    place: Trace
    began: float
    ended: float = 0.0
    parent: str = ""
    kind: Kind = "internal"
    problem: str = ""
    """The sort of an error, never its text; empty where all went well."""
    run: str = ""
    link: str = ""
    """A place in another trace that this belongs to as well, as a `traceparent`."""
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    again: bool = False
    """Whether nothing was done: whoever has heard of this span knows all of it."""

    @property
    def seconds(self) -> float:
        """How long it took; 0 while it is under way."""
        return max(0.0, self.ended - self.began) if self.ended else 0.0


def trace_in(text: str) -> Trace | None:
    """The place that a `traceparent` names; None where it names none."""
    parts = text.strip().split("-")
    if len(parts) < 4 or len(parts[0]) != 2 or parts[0] == "ff" or not set(parts[0]) <= HEX:
        return None
    version, trace, span, flags = parts[:4]
    if version == VERSION and len(parts) != 4:
        return None
    shaped = len(trace) == TRACE_LENGTH and len(span) == SPAN_LENGTH and len(flags) == 2
    if not shaped or not set(trace + span + flags) <= HEX:
        return None
    if not trace.strip("0") or not span.strip("0"):
        return None
    return Trace(trace=trace, span=span, sampled=bool(int(flags, 16) & 1))


def new_trace() -> Trace:
    """The beginning of a trace that nobody has heard of."""
    return Trace(trace=secrets.token_hex(TRACE_LENGTH // 2), span=new_span())


def new_span() -> str:
    """The identifier of a span that nothing else has."""
    return secrets.token_hex(SPAN_LENGTH // 2)


def span_id(*names: str) -> str:
    """The identifier of a span that follows from names."""
    return _digest(*names)[:SPAN_LENGTH]


def place_of_run(run: str, context: str) -> Trace:
    """The place of a run: in the trace of whoever gave it, else in one of its own."""
    given = trace_in(context)
    if given is None:
        given = Trace(trace=_digest("trace", run)[:TRACE_LENGTH], span="")
    return given.within("run", run)


def parent_in(context: str) -> str:
    """The span that a context names; empty where it names none."""
    given = trace_in(context)
    return given.span if given else ""


def is_sampled(place: Trace, share: float) -> bool:
    """Whether a trace is told; all processes that see it say the same."""
    return place.sampled and int(place.trace[-16:], 16) < share * (1 << 64)


def presentable(span: Span, mask: Callable[[str], str], *, prompts: bool) -> Span:
    """A span as it may be told: without prompts where they are not wanted, and masked."""
    kept = {
        name: _masked(value, mask, LONGEST_PROMPT if name in PROMPTS else LONGEST)
        for name, value in span.attributes.items()
        if prompts or name not in PROMPTS
    }
    name, problem = mask(span.name)[:LONGEST], mask(span.problem)[:LONGEST]
    return replace(span, name=name, problem=problem, attributes=kept)


def provider_of(model: str) -> tuple[str, str]:
    """The provider of a model, as the semantic conventions spell it, and its own name."""
    provider, colon, name = model.partition(":")
    return (PROVIDERS.get(provider, provider), name) if colon else ("unknown", model)


def _masked(value: Attribute, mask: Callable[[str], str], longest: int) -> Attribute:
    """A value without secrets; masked before it is cut, or half a secret would be left."""
    if isinstance(value, str):
        return mask(value)[:longest]
    if isinstance(value, tuple):
        return tuple(mask(each)[:longest] for each in value)
    return value


def _digest(*names: str) -> str:
    return hashlib.sha256("\n".join(names).encode()).hexdigest()
