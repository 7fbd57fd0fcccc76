"""What a run tells of itself as it goes: its stages, what it really did in them, how long it took.

A step whose value is remembered tells nothing. Stages and steps have identifiers that follow from
the run and their names, so that whoever takes a run over goes on in the same trace, and a step that
a kill let be done twice is one span. A step that broke off is done again: it has one of its own.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from twinsmith.core import measures
from twinsmith.core.errors import ModelUnavailable, Waiting
from twinsmith.core.execution import Execution, Limits
from twinsmith.core.measures import Measure
from twinsmith.core.model import Prompt
from twinsmith.core.probe import Probes
from twinsmith.core.program import Program
from twinsmith.core.telemetry import Span, Trace, new_span, place_of_run, span_id
from twinsmith.flow.facts import Facts, facts_of
from twinsmith.ports import Clock, Sandbox, Telemetry

T = TypeVar("T")
Action = Callable[[], Awaitable[T]]
_HERE: ContextVar[Trace | None] = ContextVar("place in a trace", default=None)


def here() -> str:
    """The place in a trace that this is done at, as a `traceparent`; empty where there is none."""
    place = _HERE.get()
    return place.text if place else ""


@contextmanager
def at(place: Trace) -> Iterator[None]:
    """Let what is done in the block belong to a place in a trace."""
    token = _HERE.set(place)
    try:
        yield
    finally:
        _HERE.reset(token)


class Untold:
    """Telemetry that nobody wants."""

    def tell(self, span: Span) -> None:
        """Nothing."""

    def observe(self, measure: Measure, value: float = 1.0, **labels: str) -> None:
        """Nothing."""

    def flush(self) -> None:
        """Nothing."""


UNTOLD = Untold()


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """Where a run is told, and when it is now."""

    telemetry: Telemetry = UNTOLD
    clock: Clock

    def now(self) -> float:
        """This moment, in seconds since 1970."""
        return datetime.fromisoformat(self.clock.now()).timestamp()


class Traced:
    """What one run tells; `context` is the `traceparent` that it was given with."""

    def __init__(self, run: str, context: str, telling: Telling) -> None:
        self._run = run
        self._place = place_of_run(run, context)
        self._telling = telling
        self._begun: Counter[str] = Counter()
        self._done = 0

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Tell of a stage: that it began, and that it ended, whoever did what of it."""
        span = self._span("stage", name, self._place.span)
        self._telling.telemetry.tell(span)
        before = self._done
        with at(span.place):
            try:
                yield
            except Exception as error:
                if not isinstance(error, Waiting):
                    self._ended(replace(span, problem=type(error).__name__), before)
                raise
        self._ended(span, before)

    def step(self, name: str, action: Action[T], prompt: Prompt | None = None) -> Action[T]:
        """An action that tells of itself once it is really done."""
        parent = _HERE.get()
        within = parent.span if parent and parent.trace == self._place.trace else self._place.span
        span = self._span("step", name, within)

        async def traced() -> T:
            began = replace(span, began=self._telling.now())
            try:
                with at(span.place):
                    value = await action()
            except Exception as error:
                if not isinstance(error, Waiting):
                    self._broke(began, error)
                raise
            self._done += 1
            self._did(began, facts_of(name, value, prompt))
            return value

        return traced

    def _span(self, what: str, name: str, parent: str) -> Span:
        """A span of this run that begins now; the n-th of its name."""
        assert what in ("stage", "step")
        key = f"{what} {name}"
        self._begun[key] += 1
        place = self._place.within(what, self._run, name, str(self._begun[key]))
        return Span(
            what="stage" if what == "stage" else "step",
            name=name,
            place=place,
            parent=parent,
            began=self._telling.now(),
            run=self._run,
        )

    def _did(self, span: Span, facts: Facts) -> None:
        ended = replace(
            span,
            name=facts.name,
            kind=facts.kind,
            ended=self._telling.now(),
            attributes=facts.attributes,
            problem=facts.problem,
        )
        self._telling.telemetry.tell(ended)
        for measure, value, labels in facts.measured(ended.seconds):
            self._telling.telemetry.observe(measure, value, **labels)

    def _broke(self, span: Span, error: Exception) -> None:
        """Tell of a step that nobody remembers: the next time it is another span."""
        place = replace(span.place, span=new_span())
        self._telling.telemetry.tell(
            replace(span, place=place, ended=self._telling.now(), problem=type(error).__name__)
        )
        first = span.name.split(" ")[0]
        self._telling.telemetry.observe(measures.STEP_ERRORS, step=first)
        if isinstance(error, ModelUnavailable) and first == "ask":
            role = span.name.split(" ")[1]
            self._telling.telemetry.observe(measures.MODEL_ERRORS, role=role)

    def _ended(self, span: Span, before: int) -> None:
        again = self._done == before
        ended = replace(span, ended=self._telling.now(), again=again)
        self._telling.telemetry.tell(ended)
        if not again:
            named = span.name.rstrip("0123456789 ")
            self._telling.telemetry.observe(measures.STAGE_SECONDS, ended.seconds, stage=named)


class CountedSandbox:
    """A sandbox whose starts are counted."""

    def __init__(self, sandbox: Sandbox, telling: Telling) -> None:
        self._sandbox = sandbox
        self._telling = telling

    async def run(self, program: Program, probes: Probes, limits: Limits) -> Execution:
        """Run every probe on the program, as the sandbox does."""
        telemetry, began = self._telling.telemetry, self._telling.clock.seconds()
        try:
            done = await self._sandbox.run(program, probes, limits)
        except Exception:
            telemetry.observe(measures.SANDBOX_STARTS, language=program.language, result="broken")
            raise
        seconds = self._telling.clock.seconds() - began
        telemetry.observe(measures.SANDBOX_STARTS, language=program.language, result="run")
        telemetry.observe(measures.SANDBOX_SECONDS, seconds, language=program.language)
        return done


def incident_place(incident: str, context: str) -> Trace:
    """The place of an incident: in the trace of the release that has the trouble."""
    return replace(place_of_run(incident, context), span=span_id("incident", incident))
