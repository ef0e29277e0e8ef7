"""What watches a server in the tests: a reader of its metrics, a store of its spans, a collector that speaks OTLP."""

from __future__ import annotations

import gzip
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind
from prometheus_client.parser import text_string_to_metric_families

Series = tuple[str, tuple[tuple[str, str], ...]]


def series(name: str, **labels: str) -> Series:
    return name, tuple(sorted(labels.items()))


def read(text: str) -> dict[Series, float]:
    """Every sample of a page of metrics."""
    return {
        series(sample.name, **sample.labels): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def page(address: str, path: str = "/metrics") -> str:
    with urllib.request.urlopen(f"http://{address}{path}", timeout=10) as answer:
        return str(answer.read().decode("utf-8"))


def scraped(address: str) -> dict[Series, float]:
    return read(page(address))


class Spans:
    """A provider of its own and what it was given."""

    def __init__(self) -> None:
        self._store = InMemorySpanExporter()
        self.provider = TracerProvider(resource=Resource({}), shutdown_on_exit=False)
        self.provider.add_span_processor(SimpleSpanProcessor(self._store))

    def all(self) -> list[ReadableSpan]:
        return list(self._store.get_finished_spans())

    def calls(self) -> list[ReadableSpan]:
        return [span for span in self.all() if span.kind is SpanKind.SERVER]

    def stages(self, call: ReadableSpan) -> list[ReadableSpan]:
        """Those under the span of a call, by when they began."""
        inside = call.context.span_id
        found = [span for span in self.all() if span.parent is not None and span.parent.span_id == inside]
        return sorted(found, key=lambda span: (span.start_time or 0, span.name))


class Collector:
    """What a collector was sent."""

    def __init__(self) -> None:
        self.requests: list[ExportTraceServiceRequest] = []
        self.headers: list[dict[str, str]] = []
        self.address = ""

    @property
    def spans(self) -> list[Any]:
        return [
            span
            for request in list(self.requests)
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    @property
    def resources(self) -> list[dict[str, str]]:
        return [
            {each.key: each.value.string_value for each in resource.resource.attributes}
            for request in list(self.requests)
            for resource in request.resource_spans
        ]


@contextmanager
def collecting(status: int = 200) -> Iterator[Collector]:
    """A server on a free port that takes OTLP over HTTP, or refuses it."""
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                raw = gzip.decompress(raw)
            if self.path == "/v1/traces" and status == 200:
                collector.headers.append(dict(self.headers))
                collector.requests.append(ExportTraceServiceRequest.FromString(raw))
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    collector.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=lambda: server.serve_forever(0.01))
    thread.start()
    try:
        yield collector
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
