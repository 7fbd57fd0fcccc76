"""Telemetry sent to a collector by OTLP, over HTTP or gRPC, with OpenTelemetry's own SDK.

The SDK is imported with the first thing that is told: nobody else pays for it. What a
collector does not take in time is dropped; nobody who tells waits for one that is away.
"""

import atexit
import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from twinsmith.core.measures import BOUNDS, Measure
from twinsmith.core.telemetry import Span, Trace, trace_in

if TYPE_CHECKING:
    from opentelemetry.metrics import Meter
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import SpanContext

EVERY_SECONDS = 1.0
METRIC_SECONDS = 15.0
REST_SECONDS = 15.0
"""A collector that took nothing is left alone for so long."""
MOST_WAITING = 20_000
MOST_AT_ONCE = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class Collector:
    """Where a collector is, and how it is spoken to."""

    endpoint: str
    protocol: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    seconds: float = 3.0

    @property
    def traces(self) -> str:
        """The address that takes spans."""
        return self._address("traces")

    @property
    def metrics(self) -> str:
        """The address that takes figures."""
        return self._address("metrics")

    def _address(self, signal: str) -> str:
        if self.protocol == "grpc":
            return self.endpoint
        return f"{self.endpoint.rstrip('/')}/v1/{signal}"


class OtlpTelemetry:
    """Sends spans that ended, and figures, to a collector."""

    def __init__(
        self,
        collector: Collector,
        *,
        process: str,
        version: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._collector = collector
        self._process = process
        self._version = version
        self._clock = clock
        self._lock = threading.Lock()
        self._sending = threading.Lock()
        self._spans: list[Span] = []
        self._timer: threading.Timer | None = None
        self._rests_until = 0.0
        self._instruments: dict[str, Any] = {}
        self._leaves = False

    def tell(self, span: Span) -> None:
        """Send a span soon; one that is under way, or that another process told, is not sent."""
        if not span.ended or span.again:
            return
        with self._lock:
            if len(self._spans) < MOST_WAITING:
                self._spans.append(span)
            self._soon()

    def observe(self, measure: Measure, value: float = 1.0, **labels: str) -> None:
        """Add a value to a figure that is sent every quarter of a minute."""
        with self._lock:
            instrument = self._instruments.get(measure.name)
            if instrument is None:
                instrument = _instrument(self._meter, measure)
                self._instruments[measure.name] = instrument
            self._soon()
        if measure.kind == "histogram":
            instrument.record(value, labels)
        else:
            instrument.add(value, labels)

    def flush(self) -> None:
        """Send everything now, where the collector takes it."""
        with self._sending:
            with self._lock:
                spans, self._spans = self._spans, []
                timer, self._timer = self._timer, None
            if timer is not None:
                timer.cancel()
            if self._clock() < self._rests_until:
                return
            if not self._sent(spans) or not self._sent_figures():
                self._rests_until = self._clock() + REST_SECONDS

    def _sent(self, spans: list[Span]) -> bool:
        from opentelemetry.sdk.trace.export import SpanExportResult

        for first in range(0, len(spans), MOST_AT_ONCE):
            some = [self._readable(each) for each in spans[first : first + MOST_AT_ONCE]]
            if self._exporter.export(some) is not SpanExportResult.SUCCESS:
                return False
        return True

    def _sent_figures(self) -> bool:
        if not self._instruments:
            return True
        return self._provider.force_flush(timeout_millis=int(self._collector.seconds * 1000))

    def _soon(self) -> None:
        if self._timer is None:
            if not self._leaves:
                self._leaves = True
                atexit.register(self.flush)
            self._timer = threading.Timer(EVERY_SECONDS, self.flush)
            self._timer.daemon = True
            self._timer.start()

    @cached_property
    def _resource(self) -> "Resource":
        import secrets

        from opentelemetry.sdk.resources import Resource

        return Resource.create(
            {
                "service.name": "twinsmith",
                "service.version": self._version,
                "service.instance.id": secrets.token_hex(8),
                "twinsmith.process": self._process,
            }
        )

    @cached_property
    def _exporter(self) -> "SpanExporter":
        # What it cannot send it would tell everybody on the screen.
        logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)
        given = self._collector
        if given.protocol == "grpc":
            from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import (
                OTLPSpanExporter as GrpcExporter,
            )

            return GrpcExporter(
                endpoint=given.traces,
                insecure=not given.endpoint.startswith("https://"),
                headers=dict(given.headers),
                timeout=given.seconds,
            )
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

        return OTLPSpanExporter(
            endpoint=given.traces, headers=dict(given.headers), timeout=given.seconds
        )

    @cached_property
    def _provider(self) -> "MeterProvider":
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import MetricExporter, PeriodicExportingMetricReader

        given = self._collector
        exporter: MetricExporter
        if given.protocol == "grpc":
            from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import (
                OTLPMetricExporter as GrpcExporter,
            )

            exporter = GrpcExporter(
                endpoint=given.metrics,
                insecure=not given.endpoint.startswith("https://"),
                headers=dict(given.headers),
                timeout=given.seconds,
            )
        else:
            from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter

            exporter = OTLPMetricExporter(
                endpoint=given.metrics, headers=dict(given.headers), timeout=given.seconds
            )
        logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)
        reader = PeriodicExportingMetricReader(
            exporter,
            export_interval_millis=METRIC_SECONDS * 1000,
            export_timeout_millis=given.seconds * 1000,
        )
        return MeterProvider(metric_readers=[reader], resource=self._resource)

    @cached_property
    def _meter(self) -> "Meter":
        return self._provider.get_meter("twinsmith", self._version)

    def _readable(self, span: Span) -> "ReadableSpan":
        from opentelemetry.sdk.trace import ReadableSpan
        from opentelemetry.sdk.util.instrumentation import InstrumentationScope
        from opentelemetry.trace import Link, SpanKind, Status, StatusCode

        linked = trace_in(span.link) if span.link else None
        parent = Trace(trace=span.place.trace, span=span.parent) if span.parent else None
        failed = Status(StatusCode.ERROR, span.problem) if span.problem else Status(StatusCode.OK)
        told = {**span.attributes, "twinsmith.what": span.what}
        if span.problem:
            told["error.type"] = span.problem
        return ReadableSpan(
            name=span.name,
            context=_context(span.place),
            parent=_context(parent) if parent else None,
            resource=self._resource,
            attributes=told,
            links=[Link(_context(linked))] if linked else (),
            kind=SpanKind[span.kind.upper()],
            status=failed,
            start_time=int(span.began * 1e9),
            end_time=int(span.ended * 1e9),
            instrumentation_scope=InstrumentationScope("twinsmith", self._version),
        )


def _context(place: Trace) -> "SpanContext":
    from opentelemetry.trace import SpanContext, TraceFlags

    return SpanContext(
        trace_id=int(place.trace, 16),
        span_id=int(place.span, 16),
        is_remote=False,
        trace_flags=TraceFlags(TraceFlags.SAMPLED if place.sampled else TraceFlags.DEFAULT),
    )


def _instrument(meter: "Meter", measure: Measure) -> Any:  # noqa: ANN401 - three kinds of them
    told = {"unit": measure.unit, "description": measure.meaning}
    if measure.kind == "histogram":
        bounds = [float(each) for each in BOUNDS]
        return meter.create_histogram(
            measure.name, explicit_bucket_boundaries_advisory=bounds, **told
        )
    return meter.create_counter(measure.name, **told)
