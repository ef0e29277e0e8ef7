"""Calls in any mixture, told of from any thread: whatever comes when, what is counted and traced adds up."""

from __future__ import annotations

import threading
from collections import Counter
from datetime import timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind
from prometheus_client import CollectorRegistry, generate_latest

from groundwire_server.evidence import Degradation, DegradationKind, EndReason, StageTiming, Summary
from groundwire_server.ingest import DocumentOutcome
from groundwire_server.rpc.call import RpcCall
from groundwire_server.rpc.telemetry import Telemetry
from groundwire_server.rpc.telemetry.call_metrics import CallMetrics
from groundwire_server.rpc.telemetry.call_spans import CallSpans
from tests.rpc.telemetry.watching import Series, read, series

METHODS = (
    "groundwire.v1.NarrativeService/NarrativeRetrieve",
    "groundwire.v1.RouterService/Ask",
    "grpc.health.v1.Health/Check",
    "made.up/Method",
)
CODES = (("OK", ""), ("CANCELLED", ""), ("INTERNAL", "INTERNAL"), ("RESOURCE_EXHAUSTED", "OVERLOADED"))
EVENTS = ("frame", "summary", "document")


class _Context:
    def invocation_metadata(self) -> tuple[tuple[str, str], ...]:
        return ()


class _Metrics:
    def __init__(self, registry: CollectorRegistry) -> None:
        self.calls = CallMetrics(registry)


EXPORTED = InMemorySpanExporter()
PROVIDER = TracerProvider(shutdown_on_exit=False)
PROVIDER.add_span_processor(SimpleSpanProcessor(EXPORTED))


def made() -> tuple[Telemetry, CollectorRegistry]:
    registry: Any = CollectorRegistry()
    EXPORTED.clear()
    return Telemetry(_Metrics(registry), CallSpans(PROVIDER)), registry  # type: ignore[arg-type]


def summary_of(elapsed: Any) -> Summary:
    degradation = Degradation(DegradationKind.VECTOR_OFF, "embedder:loading")
    timings = (StageTiming("lexical", elapsed, 9, 3, "default"), StageTiming("exit", elapsed, 3, 3))
    return Summary(EndReason.TOP_K, degradations=(degradation,), timings=timings)


def total(found: dict[Series, float], name: str) -> float:
    return sum(value for (family, _), value in found.items() if family == name)


CALLS = st.lists(
    st.tuples(st.sampled_from(METHODS), st.sampled_from(CODES), st.lists(st.sampled_from(EVENTS), max_size=5)),
    max_size=12,
)


@given(CALLS, st.timedeltas(timedelta(0), timedelta(days=400)), st.randoms(use_true_random=False))
def test_it_adds_up(plans: list[Any], elapsed: Any, random: Any) -> None:
    telemetry, registry = made()
    steps: list[tuple[int, str]] = [
        (at, each) for at, plan in enumerate(plans) for each in ("begin", *plan[2], "end", "late")
    ]
    # Any mixture in which the steps of each call keep their order.
    order = [at for at, _ in steps]
    random.shuffle(order)
    waiting = {at: [each for owner, each in steps if owner == at] for at in range(len(plans))}
    calls: dict[int, RpcCall] = {}
    for at in order:
        method, ending, _ = plans[at]
        match waiting[at].pop(0):
            case "begin":
                calls[at] = RpcCall(_Context(), method, None)
                telemetry.begun(calls[at])
            case "frame":
                telemetry.frame(calls[at], 10)
            case "document":
                telemetry.told(calls[at], DocumentOutcome("kanarienvogel", 1, 1))
            case "end":
                calls[at].outcome = ending
                telemetry.ended(calls[at], *ending)
            case _:  # a summary in time, or one that its thread made when the call was over
                telemetry.told(calls[at], summary_of(elapsed))
    assert telemetry.spans is not None
    assert (telemetry.spans.open_spans, telemetry._summaries) == (0, {})
    page = generate_latest(registry).decode()
    assert "kanarienvogel" not in page
    found = read(page)
    assert total(found, "groundwire_calls_open") == 0
    events = Counter(each for _, _, some in plans for each in some)
    assert total(found, "groundwire_messages_sent_total") == events["frame"]
    assert total(found, "groundwire_sent_bytes_total") == 10 * events["frame"]
    assert total(found, "groundwire_ingest_documents_total") == events["document"]
    answered = sum("summary" in some for _, _, some in plans)
    assert total(found, "groundwire_answers_total") == total(found, "groundwire_degradations_total") == answered
    assert total(found, "groundwire_stage_seconds_count") == 2 * answered
    for method in METHODS:
        shown = method if method != "made.up/Method" else "other"
        for code, reason in CODES:
            wanted = sum((each, ending) == (method, (code, reason)) for each, ending, _ in plans)
            assert found.get(series("groundwire_calls_total", method=shown, code=code, reason=reason), 0) == wanted
    spans = EXPORTED.get_finished_spans()
    traced = [plan for plan in plans if not plan[0].startswith("grpc.health")]
    assert sum(span.kind is SpanKind.SERVER for span in spans) == len(traced)
    assert sum(span.kind is SpanKind.INTERNAL for span in spans) == 2 * sum("summary" in some for _, _, some in traced)
    for span in spans:
        assert (span.start_time or 0) <= (span.end_time or 0)


def test_summaries_from_many_threads_are_counted_once_or_not_at_all() -> None:
    """Each is told while its call ends in another thread: counted with it, or too late, and never kept."""
    telemetry, registry = made()
    calls = [RpcCall(_Context(), METHODS[0], None) for _ in range(400)]
    for call in calls:
        telemetry.begun(call)
    both = threading.Barrier(2)

    def tell() -> None:
        both.wait()
        for call in calls:
            telemetry.told(call, summary_of(timedelta(seconds=1)))

    teller = threading.Thread(target=tell)
    teller.start()
    both.wait()
    for call in calls:
        call.outcome = ("OK", "")
        telemetry.ended(call, "OK", "")
    teller.join()
    found = read(generate_latest(registry).decode())
    assert total(found, "groundwire_calls_total") == len(calls)
    assert total(found, "groundwire_answers_total") <= len(calls)
    assert telemetry._summaries == {}
