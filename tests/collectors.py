"""A collector of OpenTelemetry for tests, over HTTP and gRPC, from the protocol's own servicers."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import grpc
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2 as metrics_pb
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2_grpc as metrics_grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as trace_pb
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2_grpc as trace_grpc

KINDS = ("unspecified", "internal", "server", "client", "producer", "consumer")


@dataclass(kw_only=True)
class Collector:
    """What was received."""

    address: str = ""
    spans: list[dict[str, Any]] = field(default_factory=list)
    numbers: dict[tuple[str, tuple[tuple[str, str], ...]], float] = field(default_factory=dict)
    headers: list[dict[str, str]] = field(default_factory=list)
    raw: bytes = b""
    """Every byte that came in."""

    def take_spans(self, request: Any, headers: dict[str, str]) -> None:  # noqa: ANN401
        self.headers.append(headers)
        self.raw += request.SerializeToString()
        for resource in request.resource_spans:
            for scope in resource.scope_spans:
                self.spans += [_span(each, resource.resource) for each in scope.spans]

    def take_metrics(self, request: Any, headers: dict[str, str]) -> None:  # noqa: ANN401
        self.headers.append(headers)
        self.raw += request.SerializeToString()
        for resource in request.resource_metrics:
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    points = [*metric.sum.data_points, *metric.histogram.data_points]
                    for point in points:
                        key = (metric.name, tuple(sorted(_attributes(point.attributes).items())))
                        counted = getattr(point, "count", None)
                        value = point.as_double or point.as_int if counted is None else counted
                        self.numbers[key] = float(value)

    def until(self, count: int, seconds: float = 20.0) -> list[dict[str, Any]]:
        """The spans, once there are so many."""
        deadline = time.monotonic() + seconds
        while len(self.spans) < count:
            assert time.monotonic() < deadline, [each["name"] for each in self.spans]
            time.sleep(0.05)
        return self.spans


@contextmanager
def http_collector() -> Iterator[Collector]:
    """A collector that speaks OTLP over HTTP."""
    found = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.headers.get("content-encoding") == "gzip":
                import gzip

                body = gzip.decompress(body)
            headers = {name.lower(): value for name, value in self.headers.items()}
            if self.path == "/v1/traces":
                found.take_spans(trace_pb.ExportTraceServiceRequest.FromString(body), headers)
            elif self.path == "/v1/metrics":
                found.take_metrics(metrics_pb.ExportMetricsServiceRequest.FromString(body), headers)
            else:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("content-type", "application/x-protobuf")
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=5)


@contextmanager
def grpc_collector() -> Iterator[Collector]:
    """A collector that speaks OTLP over gRPC."""
    found = Collector()

    def told(context: grpc.ServicerContext) -> dict[str, str]:
        return {str(key): str(value) for key, value in context.invocation_metadata()}

    class Traces(trace_grpc.TraceServiceServicer):
        def Export(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: ANN401, N802
            found.take_spans(request, told(context))
            return trace_pb.ExportTraceServiceResponse()

    class Metrics(metrics_grpc.MetricsServiceServicer):
        def Export(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: ANN401, N802
            found.take_metrics(request, told(context))
            return metrics_pb.ExportMetricsServiceResponse()

    server = grpc.server(ThreadPoolExecutor(max_workers=2))
    trace_grpc.add_TraceServiceServicer_to_server(Traces(), server)  # type: ignore[no-untyped-call]
    metrics_grpc.add_MetricsServiceServicer_to_server(Metrics(), server)  # type: ignore[no-untyped-call]
    port = server.add_insecure_port("127.0.0.1:0")
    found.address = f"http://127.0.0.1:{port}"
    server.start()
    try:
        yield found
    finally:
        server.stop(grace=0).wait(5)


def _span(span: Any, resource: Any) -> dict[str, Any]:  # noqa: ANN401
    return {
        "trace": span.trace_id.hex(),
        "span": span.span_id.hex(),
        "parent": span.parent_span_id.hex(),
        "name": span.name,
        "kind": KINDS[span.kind],
        "began": span.start_time_unix_nano / 1e9,
        "ended": span.end_time_unix_nano / 1e9,
        "failed": span.status.code == 2,
        "links": [(each.trace_id.hex(), each.span_id.hex()) for each in span.links],
        "attributes": _attributes(span.attributes),
        "resource": _attributes(resource.attributes),
    }


def _attributes(attributes: Any) -> dict[str, Any]:  # noqa: ANN401
    return {each.key: _value(each.value) for each in attributes}


def _value(value: Any) -> Any:  # noqa: ANN401
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(each) for each in value.array_value.values]
    return getattr(value, kind) if kind else None
