"""What may be told of a step by what came of it: names and figures, none of its words.

Calls of models are told as OpenTelemetry's conventions for generative models have it. What was
asked and answered stands in two attributes that telemetry drops unless people want it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from twinsmith.core import measures
from twinsmith.core.execution import Execution
from twinsmith.core.measures import Measure
from twinsmith.core.model import Prompt, Reply
from twinsmith.core.operating.instance import Image
from twinsmith.core.telemetry import PROMPTS, Attribute, Kind, provider_of
from twinsmith.core.variants import Varied
from twinsmith.flow.remembered import Inspected, Recalled, Remembered
from twinsmith.flow.timed import Timed

GATES = ("try", "rehearse", "canary")
"""The steps of a release whose value is why they refuse it."""
Measured = tuple[Measure, float, dict[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is told of a step that was done."""

    name: str
    kind: Kind = "internal"
    problem: str = ""
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    counted: tuple[Measured, ...] = ()
    timed: tuple[tuple[Measure, dict[str, str]], ...] = ()
    """The figures that the step's own time is added to."""

    def measured(self, seconds: float) -> Iterator[Measured]:
        """Every figure that the step adds to, for a step that took so long."""
        yield from self.counted
        for measure, labels in self.timed:
            yield measure, seconds, labels


def facts_of(name: str, value: object, prompt: Prompt | None = None) -> Facts:
    """What may be told of a step of that name, by its value."""
    match value:
        case Timed(value=None):
            return Facts(name=name, problem="budget")
        case Timed():
            return facts_of(name, value.value, prompt)
        case Reply() if prompt is not None:
            return _answered(prompt, value)
        case Execution():
            return _executed(name, value)
        case Recalled():
            return _looked_up(name, "library", len(value.hits), value.problem)
        case Remembered():
            return _looked_up(name, "graph", len(value.reminders), value.problem)
    return Facts(name=name, problem=_gate(name, value), attributes=_figures(value))


def _gate(name: str, value: object) -> str:
    """Whether a gate refused a release: its words tell why, and stand in the journal."""
    return "refused" if name in GATES and isinstance(value, str) and value else ""


def _figures(value: object) -> dict[str, Attribute]:
    match value:
        case Inspected():
            return {"twinsmith.findings": len(value.findings)}
        case Varied():
            kept = len(value.kept)
            return {"twinsmith.variants.tried": value.tried, "twinsmith.variants.kept": kept}
        case Image():
            return {"twinsmith.image": value.reference}
    return {}


def _answered(prompt: Prompt, reply: Reply) -> Facts:
    provider, model = provider_of(reply.model)
    told: dict[str, Attribute] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": model,
        "gen_ai.request.temperature": prompt.temperature,
        "gen_ai.request.max_tokens": prompt.max_tokens,
        "gen_ai.request.seed": prompt.seed,
        "gen_ai.response.model": reply.version or model,
        "gen_ai.response.finish_reasons": ("length" if reply.cut else "stop",),
        "gen_ai.response.time_to_first_chunk": round(reply.first_token_seconds, 3),
        "gen_ai.usage.input_tokens": reply.tokens_in,
        "gen_ai.usage.output_tokens": reply.tokens_out,
        "gen_ai.output.type": "json" if prompt.schema else "text",
        "twinsmith.role": prompt.role,
        "twinsmith.ensemble": prompt.ensemble,
        "twinsmith.template": prompt.template,
        "twinsmith.reply.cached": reply.cached,
        "twinsmith.reply.failed_attempts": len(reply.failed_attempts),
        PROMPTS[0]: prompt.text,
        PROMPTS[1]: reply.text,
    }
    if reply.usd is not None:
        told["twinsmith.reply.usd"] = reply.usd
    hit = "hit" if reply.cached else "miss"
    counted: list[Measured] = [(measures.MODEL_CACHE, 1.0, {"result": hit})]
    timed: tuple[tuple[Measure, dict[str, str]], ...] = ()
    if not reply.cached:
        named = {"model": reply.model}
        counted += [
            (measures.MODEL_TOKENS, float(reply.tokens_in), {**named, "direction": "in"}),
            (measures.MODEL_TOKENS, float(reply.tokens_out), {**named, "direction": "out"}),
            (measures.MODEL_COST, reply.usd or 0.0, named),
        ]
        if reply.first_token_seconds:
            counted.append((measures.MODEL_FIRST, reply.first_token_seconds, named))
        timed = ((measures.MODEL_SECONDS, {**named, "role": prompt.role}),)
    return Facts(
        name=f"chat {model}", kind="client", attributes=told, counted=tuple(counted), timed=timed
    )


def _executed(name: str, execution: Execution) -> Facts:
    outcomes = Counter(each.outcome for each in execution.results)
    told: dict[str, Attribute] = {
        "twinsmith.candidate": execution.candidate,
        "twinsmith.probes": len(execution.results),
        "twinsmith.passed": outcomes["passed"],
        "twinsmith.peak_mb": round(execution.peak_mb, 1),
    }
    # Of a program that does not build, its own words stay in the journal.
    return Facts(name=name, attributes=told, problem="not run" if execution.problem else "")


def _looked_up(name: str, store: str, found: int, problem: str) -> Facts:
    result = "away" if problem else "found" if found else "nothing"
    return Facts(
        name=name,
        problem="away" if problem else "",
        attributes={"twinsmith.store": store, "twinsmith.found": found},
        timed=((measures.RETRIEVAL_SECONDS, {"store": store, "result": result}),),
    )
