"""Spans of calls: one for each, within the trace that its caller is in, and under it one for each stage.

They hold names of our own, counts of what the caller may read, and ids: of the call and of libraries. Health checks and
reflection have none.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from dataclasses import dataclass

import grpc
from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind, StatusCode, TracerProvider, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from groundwire_server import __version__
from groundwire_server.evidence import StageTiming, Summary
from groundwire_server.rpc.call import RpcCall
from groundwire_server.rpc.methods import shown_method

__all__ = ["CallSpans"]

_NAME = "groundwire_server"
_UNTRACED = ("grpc.health.", "grpc.reflection.")
# As W3C Trace Context says. What else a caller writes is left out here: the library would write it into a log.
_MEMBER = (
    r"(?:[a-z][a-z0-9_*/-]{0,255}|[a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13})=[ -+\--<>-~]{0,255}[!-+\--<>-~]"
)
_W3C = {
    "traceparent": re.compile(r"[0-9a-f]{2}(?:-[0-9a-f]{32})(?:-[0-9a-f]{16})-[0-9a-f]{2}(?:-.*)?"),
    "tracestate": re.compile(rf"[ \t]*{_MEMBER}[ \t]*(?:,[ \t]*(?:{_MEMBER})?[ \t]*){{0,31}}"),
}
_MOST_CHARS = 512
# What OpenTelemetry's conventions call an error of the server; all else is the caller's doing.
_SERVER_FAULTS = frozenset({"UNKNOWN", "DEADLINE_EXCEEDED", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS"})
_NUMBERS = {code.name: code.value[0] for code in grpc.StatusCode}


@dataclass(frozen=True, slots=True)
class _Open:
    """A span that has begun. `began`: nanoseconds since 1970."""

    span: Span
    began: int


class CallSpans:
    """Makes spans with a tracer of `provider`, which is of one server alone or of the process that it is a part of."""

    def __init__(self, provider: TracerProvider) -> None:
        self._tracer = provider.get_tracer(_NAME, __version__)
        self._w3c = TraceContextTextMapPropagator()
        self._open: dict[RpcCall, _Open] = {}

    @property
    def open_spans(self) -> int:
        """Spans that have begun and not ended."""
        return len(self._open)

    def begun(self, call: RpcCall) -> None:
        """A call came in; from now on `call.trace_id` names its trace."""
        if call.method.startswith(_UNTRACED):
            return
        method = shown_method(call.method)
        service, _, name = method.rpartition("/")
        began = time.time_ns()
        span = self._tracer.start_span(
            method,
            self._parent(call.context.invocation_metadata()),
            SpanKind.SERVER,
            {"rpc.system": "grpc", "rpc.service": service, "rpc.method": name},
            start_time=began,
        )
        if not span.is_recording():
            return
        call.trace_id = format(span.get_span_context().trace_id, "032x")
        self._open[call] = _Open(span, began)

    def ended(self, call: RpcCall, code: str, reason: str, summary: Summary | None) -> None:
        """A call ended. `summary`: of a stream that came so far, whether or not it was read."""
        opened = self._open.pop(call, None)
        if opened is None:
            return
        span = opened.span
        now = time.time_ns()
        span.set_attributes(
            {
                "groundwire.request_id": call.request_id,
                "groundwire.messages_sent": call.frames,
                "groundwire.sent_bytes": call.sent,
            }
        )
        if code in _NUMBERS:
            span.set_attribute("rpc.grpc.status_code", _NUMBERS[code])
        if reason:
            span.set_attribute("groundwire.reason", reason)
        if code in _SERVER_FAULTS:
            span.set_status(StatusCode.ERROR, reason or code)
        if summary is not None:
            self._tell(call, opened, summary, now)
        span.end(now)

    def _tell(self, call: RpcCall, opened: _Open, summary: Summary, now: int) -> None:
        opened.span.set_attribute("groundwire.end_reason", summary.end_reason.name)
        for degradation in summary.degradations:
            told = {"groundwire.kind": degradation.kind.name}
            if degradation.library_id:
                told["groundwire.library_id"] = degradation.library_id
            opened.span.add_event("degradation", told)
        inside = set_span_in_context(opened.span, Context())
        for timing in summary.timings:
            self._stage(timing, call, opened.began, now, inside)

    def _stage(self, timing: StageTiming, call: RpcCall, began: int, now: int, inside: Context) -> None:
        """A stage that works in several goes stands as one block, at the end of the last."""
        end = min(now, max(began, began + int((timing.ended - call.started) * 1e9)))
        start = max(began, end - int(timing.elapsed.total_seconds() * 1e9))
        told: dict[str, str | int] = {"groundwire.items_in": timing.items_in, "groundwire.items_out": timing.items_out}
        if timing.library_id:
            told["groundwire.library_id"] = timing.library_id
        self._tracer.start_span(timing.stage, inside, attributes=told, start_time=start).end(end)

    def _parent(self, metadata: Iterable[tuple[str, str | bytes]] | None) -> Context:
        """What the caller's `traceparent` and `tracestate` say; one that is no W3C context begins a new trace."""
        carrier = {key: value for key, value in metadata or () if isinstance(value, str) and _is_w3c(key, value)}
        return self._w3c.extract(carrier, Context()) if carrier else Context()


def _is_w3c(key: str, value: str) -> bool:
    form = _W3C.get(key)
    return form is not None and len(value) <= _MOST_CHARS and form.fullmatch(value) is not None
