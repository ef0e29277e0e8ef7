"""Numbers of calls: how many, how long, how they ended, what they sent, what ran less well.

Labels are names of our own: methods, status codes, reasons, stages, kinds. Nothing that a caller wrote or a library
holds becomes one, so their number is bounded, and no label tells of a row.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from groundwire_server.evidence import Degradation, ModelUsage, Summary
from groundwire_server.ingest import DocumentOutcome, IngestSummary
from groundwire_server.rpc.call import RpcCall
from groundwire_server.rpc.methods import shown_method

__all__ = ["CallMetrics"]

_CALL_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_STAGE_SECONDS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30)
# Stages are named by the code. Should one ever be named by something else, it stays with so many.
_MOST_STAGES = 64


@dataclass(frozen=True, slots=True)
class _OfMethod:
    """The series of one method, looked up once."""

    open: Gauge
    seconds: Histogram
    messages: Counter
    sent: Counter


class CallMetrics:
    """Counts into a registry, which is of one server alone."""

    def __init__(self, registry: CollectorRegistry) -> None:
        def counter(name: str, words: str, *labels: str) -> Counter:
            return Counter(f"groundwire_{name}", words, labels, registry=registry)

        self._open = Gauge(
            "groundwire_calls_open", "Calls that have begun and not ended.", ["method"], registry=registry
        )
        self._calls = counter("calls", "Calls that ended, however they did.", "method", "code", "reason")
        self._seconds = Histogram(
            "groundwire_call_seconds",
            "Time of a call, from its coming in to its end.",
            ["method"],
            buckets=_CALL_SECONDS,
            registry=registry,
        )
        self._messages = counter("messages_sent", "Messages written: frames of streams, and single answers.", "method")
        self._bytes = counter("sent_bytes", "Bytes of the messages written, before compression and TLS.", "method")
        self._stages = Histogram(
            "groundwire_stage_seconds",
            "Time of a stage, of answers that came to their summary.",
            ["stage"],
            buckets=_STAGE_SECONDS,
            registry=registry,
        )
        self._answers = counter("answers", "Streams that came to their summary.", "method", "end_reason")
        self._degradations = counter(
            "degradations", "What ran less well than planned, as answers say.", "method", "kind"
        )
        self._model_calls = counter("model_calls", "Calls of the language model, failed ones included.")
        self._model_tokens = counter("model_tokens", "Tokens sent to the language model and received.", "direction")
        self._documents = counter("ingest_documents", "Documents whose outcome an ingest has told.", "outcome")
        self._rows = counter("ingest_rows", "Figures and relations of ingests that came to their end.", "outcome")
        self._of_methods: dict[str, _OfMethod] = {}
        self._of_stages: dict[str, Histogram] = {}
        self._of_endings: dict[tuple[str, str, str], Counter] = {}

    def begun(self, call: RpcCall) -> None:
        """A call came in."""
        self._of(call).open.inc()

    def frame(self, call: RpcCall, size: int) -> None:
        """A message was written."""
        of = self._of(call)
        of.messages.inc()
        of.sent.inc(size)

    def told(self, call: RpcCall, news: object) -> None:
        """An event of an ingest; what ran less well, or a model was asked, for one answer. From any thread."""
        if isinstance(news, Degradation):
            self._degradations.labels(shown_method(call.method), news.kind.name).inc()
        elif isinstance(news, ModelUsage):
            self._count_usage(news)
        elif isinstance(news, DocumentOutcome):
            outcome = "failed" if news.error is not None else "unchanged" if news.unchanged else "stored"
            self._documents.labels(outcome).inc()
        elif isinstance(news, IngestSummary) and call.method.endswith("/IngestFacts"):
            for name in ("stored", "unchanged", "failed"):
                self._rows.labels(name).inc(getattr(news, name))

    def ended(self, call: RpcCall, code: str, reason: str, summary: Summary | None) -> None:
        """A call ended. `summary`: of a stream that came so far, whether or not it was read."""
        of = self._of(call)
        of.open.dec()
        of.seconds.observe(time.monotonic() - call.started)
        method = shown_method(call.method)
        ending = (method, code, reason)
        counted = self._of_endings.get(ending)
        if counted is None:
            counted = self._of_endings[ending] = self._calls.labels(*ending)
        counted.inc()
        if summary is not None:
            self._count(method, summary)

    def _count(self, method: str, summary: Summary) -> None:
        self._answers.labels(method, summary.end_reason.name).inc()
        for timing in summary.timings:
            self._of_stage(timing.stage).observe(timing.elapsed.total_seconds())
        for degradation in summary.degradations:
            self._degradations.labels(method, degradation.kind.name).inc()
        for usage in summary.model_usage:
            self._count_usage(usage)

    def _count_usage(self, usage: ModelUsage) -> None:
        self._model_calls.inc(usage.calls)
        self._model_tokens.labels("sent").inc(usage.input_tokens)
        self._model_tokens.labels("received").inc(usage.output_tokens)

    def _of_stage(self, name: str) -> Histogram:
        found = self._of_stages.get(name)
        if found is None:
            if len(self._of_stages) >= _MOST_STAGES:
                return self._stages.labels("other")
            found = self._of_stages[name] = self._stages.labels(name)
        return found

    def _of(self, call: RpcCall) -> _OfMethod:
        method = shown_method(call.method)
        found = self._of_methods.get(method)
        if found is None:
            series = (self._open, self._seconds, self._messages, self._bytes)
            found = self._of_methods[method] = _OfMethod(*(each.labels(method) for each in series))  # type: ignore[arg-type]
        return found
