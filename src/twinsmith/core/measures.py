"""The figures that are measured: stable names, and how they are counted and written down."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

MeasureKind = Literal["counter", "histogram", "gauge"]
BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800)
"""The upper bounds of the buckets of every histogram, in seconds."""
INFINITE = "+Inf"
SUM, COUNT, ONLY = "sum", "count", ""
UNITS = {"s": "_seconds", "By": "_bytes", "USD": "_usd"}
LONGEST_LABEL = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A figure by its name in OpenTelemetry; Prometheus' name follows from it."""

    name: str
    kind: MeasureKind
    meaning: str
    unit: str = "1"
    labels: tuple[str, ...] = ()

    @property
    def family(self) -> str:
        """The name that Prometheus knows it by."""
        plain = self.name.replace(".", "_") + UNITS.get(self.unit, "")
        return f"{plain}_total" if self.kind == "counter" else plain


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Part:
    """One number of a figure: its family, its labels as text, and which part of it."""

    family: str
    labels: str
    part: str
    """`sum`, `count` or the bound of a bucket of a histogram; empty where there is one number."""


def _seconds(name: str, meaning: str, *labels: str) -> Measure:
    return Measure(name=name, kind="histogram", unit="s", meaning=meaning, labels=labels)


def _count(name: str, meaning: str, *labels: str, unit: str = "1") -> Measure:
    return Measure(name=name, kind="counter", unit=unit, meaning=meaning, labels=labels)


HTTP_REQUESTS = _count("twinsmith.http.requests", "Requests answered", "method", "route", "status")
HTTP_SECONDS = _seconds("twinsmith.http.duration", "Time until a request is answered", "face")
RUN_SECONDS = _seconds(
    "twinsmith.run.duration", "Time from a run's record to its end", "kind", "state"
)
STAGE_SECONDS = _seconds("twinsmith.stage.duration", "Time of a stage of a run", "stage")
STEP_ERRORS = _count("twinsmith.step.errors", "Steps that broke off and are done again", "step")
QUEUE_WAIT = _seconds("twinsmith.queue.wait", "Time that a run waited for a worker")
MODEL_SECONDS = _seconds("twinsmith.model.duration", "Time of a model's answer", "model", "role")
MODEL_FIRST = _seconds("twinsmith.model.first_token", "Time to a model's first token", "model")
MODEL_ERRORS = _count("twinsmith.model.errors", "Questions that nobody answered", "role")
MODEL_TOKENS = _count("twinsmith.model.tokens", "Tokens asked and answered", "model", "direction")
MODEL_COST = _count("twinsmith.model.cost", "Money spent on models", "model", unit="USD")
MODEL_CACHE = _count("twinsmith.model.cache", "Questions and the reply cache", "result")
SANDBOX_STARTS = _count("twinsmith.sandbox.starts", "Starts of the sandbox", "language", "result")
SANDBOX_SECONDS = _seconds(
    "twinsmith.sandbox.duration", "Time of a start of the sandbox", "language"
)
RETRIEVAL_SECONDS = _seconds("twinsmith.retrieval.duration", "Time of a look-up", "store", "result")
INCIDENTS = _count("twinsmith.incident.opened", "Incidents opened", "kind")
INCIDENTS_OVER = _count("twinsmith.incident.closed", "Incidents closed", "kind")
DROPPED = _count("twinsmith.telemetry.dropped", "Spans and figures that could not be kept", "sort")
COUNTED = (
    HTTP_REQUESTS, HTTP_SECONDS, RUN_SECONDS, STAGE_SECONDS, STEP_ERRORS, QUEUE_WAIT,
    MODEL_SECONDS, MODEL_FIRST, MODEL_ERRORS, MODEL_TOKENS, MODEL_COST, MODEL_CACHE,
    SANDBOX_STARTS, SANDBOX_SECONDS, RETRIEVAL_SECONDS, INCIDENTS, INCIDENTS_OVER, DROPPED,
)  # fmt: skip
"""The figures that processes count as they work; all of a database add up."""
FAMILIES: Mapping[str, Measure] = {each.family: each for each in COUNTED}


def parts_of(measure: Measure, value: float, labels: Mapping[str, str]) -> dict[Part, float]:
    """What a value adds to the numbers of a figure."""
    assert set(labels) == set(measure.labels), f"{measure.name} has labels {measure.labels}"
    told, family = labels_text(labels), measure.family
    if measure.kind != "histogram":
        return {Part(family=family, labels=told, part=ONLY): value}
    return {
        Part(family=family, labels=told, part=bound_of(value)): 1.0,
        Part(family=family, labels=told, part=SUM): value,
        Part(family=family, labels=told, part=COUNT): 1.0,
    }


def bound_of(value: float) -> str:
    """The bucket that a value falls in, by its upper bound."""
    return next((f"{bound:g}" for bound in BOUNDS if value <= bound), INFINITE)


def labels_text(labels: Mapping[str, str]) -> str:
    """Labels in Prometheus' own words, in the order of their names, without braces."""
    return ",".join(f'{name}="{_escaped(labels[name])}"' for name in sorted(labels))


def exposed(numbers: Mapping[Part, float]) -> list[str]:
    """Counted figures as lines that Prometheus reads; every figure is named, also without any."""
    by_family: dict[str, dict[str, dict[str, float]]] = {}
    for part, value in numbers.items():
        by_family.setdefault(part.family, {}).setdefault(part.labels, {})[part.part] = value
    lines: list[str] = []
    for measure in COUNTED:
        lines += head(measure)
        for labels, parts in sorted(by_family.get(measure.family, {}).items()):
            lines += _rows(measure, labels, parts)
    return lines


def head(measure: Measure) -> list[str]:
    """What Prometheus is told of a figure before its numbers."""
    family = measure.family
    return [f"# HELP {family} {measure.meaning}", f"# TYPE {family} {measure.kind}"]


def sample(name: str, labels: str, value: float) -> str:
    """One line of a figure."""
    return f"{name}{{{labels}}} {value:.10g}" if labels else f"{name} {value:.10g}"


def quantile(buckets: Mapping[str, float], share: float) -> float | None:
    """The value below which a share of all lies, within its bucket as if they were spread evenly.

    What lies above the last bound counts as that bound; None where nothing was counted.
    """
    whole = sum(buckets.values())
    if whole <= 0:
        return None
    wanted, seen, lower = share * whole, 0.0, 0.0
    for bound in BOUNDS:
        here = buckets.get(f"{bound:g}", 0.0)
        if here and seen + here >= wanted:
            return lower + (bound - lower) * (wanted - seen) / here
        seen, lower = seen + here, bound
    return float(BOUNDS[-1])


def _rows(measure: Measure, labels: str, parts: Mapping[str, float]) -> Iterable[str]:
    family = measure.family
    if measure.kind != "histogram":
        return [sample(family, labels, parts.get(ONLY, 0.0))]
    rows, seen = [], 0.0
    before = f"{labels}," if labels else ""
    for bound in (*(f"{each:g}" for each in BOUNDS), INFINITE):
        seen += parts.get(bound, 0.0)
        rows.append(sample(f"{family}_bucket", f'{before}le="{bound}"', seen))
    rows.append(sample(f"{family}_sum", labels, parts.get(SUM, 0.0)))
    rows.append(sample(f"{family}_count", labels, seen))
    return rows


def _escaped(text: str) -> str:
    plain = text[:LONGEST_LABEL].replace("\\", "\\\\").replace('"', '\\"')
    return plain.replace("\n", "\\n")
