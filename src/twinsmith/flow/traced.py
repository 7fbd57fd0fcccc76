"""What a run tells of itself as it goes: its stages, what it really did in them, how long it took.

A step whose value is remembered tells nothing. Stages and steps have identifiers that follow from
the run and their names, so that whoever takes a run over goes on in the same trace, and a step that
a kill let be done twice is one span. A step that broke off is done again: it has one of its own.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
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


class Traced:
    """What one run tells; `context` is the `traceparent` that it was given with."""

    def __init__(self, run: str, context: str, telemetry: Telemetry, clock: Clock) -> None:
        self._run = run
        self._place = place_of_run(run, context)
        self._telemetry = telemetry
        self._clock = clock
        self._begun: Counter[str] = Counter()
        self._done = 0

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Tell of a stage: that it began, and that it ended, whoever did what of it."""
        span = self._span("stage", name, self._place.span)
        self._telemetry.tell(span)
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
            began = replace(span, began=self._now())
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

    def counted(self, sandbox: Sandbox) -> "CountedSandbox":
        """A sandbox whose starts are counted."""
        return CountedSandbox(sandbox, self._telemetry, self._clock)

    def _now(self) -> float:
        """This moment, in seconds since 1970."""
        return datetime.fromisoformat(self._clock.now()).timestamp()

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
            began=self._now(),
            run=self._run,
        )

    def _did(self, span: Span, facts: Facts) -> None:
        ended = replace(
            span,
            name=facts.name,
            kind=facts.kind,
            ended=self._now(),
            attributes=facts.attributes,
            problem=facts.problem,
        )
        self._telemetry.tell(ended)
        for measure, value, labels in facts.measured(ended.seconds):
            self._telemetry.observe(measure, value, **labels)

    def _broke(self, span: Span, error: Exception) -> None:
        """Tell of a step that nobody remembers: the next time it is another span."""
        place = replace(span.place, span=new_span())
        self._telemetry.tell(
            replace(span, place=place, ended=self._now(), problem=type(error).__name__)
        )
        first = span.name.split(" ")[0]
        self._telemetry.observe(measures.STEP_ERRORS, step=first)
        if isinstance(error, ModelUnavailable) and first == "ask":
            role = span.name.split(" ")[1]
            self._telemetry.observe(measures.MODEL_ERRORS, role=role)

    def _ended(self, span: Span, before: int) -> None:
        again = self._done == before
        ended = replace(span, ended=self._now(), again=again)
        self._telemetry.tell(ended)
        if not again:
            named = span.name.rstrip("0123456789 ")
            self._telemetry.observe(measures.STAGE_SECONDS, ended.seconds, stage=named)


class CountedSandbox:
    """A sandbox whose starts are counted."""

    def __init__(self, sandbox: Sandbox, telemetry: Telemetry, clock: Clock) -> None:
        self._sandbox = sandbox
        self._telemetry = telemetry
        self._clock = clock

    async def run(self, program: Program, probes: Probes, limits: Limits) -> Execution:
        """Run every probe on the program, as the sandbox does."""
        telemetry, began = self._telemetry, self._clock.seconds()
        try:
            done = await self._sandbox.run(program, probes, limits)
        except Exception:
            telemetry.observe(measures.SANDBOX_STARTS, language=program.language, result="broken")
            raise
        seconds = self._clock.seconds() - began
        telemetry.observe(measures.SANDBOX_STARTS, language=program.language, result="run")
        telemetry.observe(measures.SANDBOX_SECONDS, seconds, language=program.language)
        return done


def incident_place(incident: str, context: str) -> Trace:
    """The place of an incident: in the trace of the release that has the trouble."""
    return replace(place_of_run(incident, context), span=span_id("incident", incident))
