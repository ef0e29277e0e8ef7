"""The spans of a whole server: within the caller's trace, with the stages that the summary names, at their times."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ParentBased
from opentelemetry.trace import ProxyTracerProvider, SpanKind

from groundwire.v1 import admin_pb2, narrative_pb2, router_pb2
from groundwire_server.rpc.call import RpcCall
from groundwire_server.rpc.telemetry.call_spans import CallSpans
from tests.rpc.house import House, furnish, house
from tests.rpc.serving import failure_of
from tests.rpc.telemetry.traffic import ask_everything
from tests.rpc.telemetry.watching import Spans
from tests.support.eventually import eventually

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
PARENT = ("traceparent", f"00-{TRACE}-{SPAN}-01")
RETRIEVE = "groundwire.v1.NarrativeService/NarrativeRetrieve"


class Traced:
    """A furnished server and its spans."""

    def __init__(self, here: House, spans: Spans) -> None:
        self.here = here
        self.spans = spans

    def span_of(self, request_id: str) -> ReadableSpan:
        """The one span of a call."""

        def found() -> list[ReadableSpan]:
            named = ("groundwire.request_id", request_id)
            return [span for span in self.spans.calls() if named in (span.attributes or {}).items()]

        assert eventually(lambda: found() != [])
        (span,) = found()
        return span

    def retrieve(self, request_id: str, *metadata: tuple[str, str], query: str = "fox") -> Any:
        request = narrative_pb2.NarrativeRetrieveRequest(query=query, options={"request_id": request_id})  # type: ignore[arg-type]
        return list(self.here.narrative.NarrativeRetrieve(request, metadata=metadata))[-1].summary


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Traced]:
    spans = Spans()
    with house(Path(tmp_path_factory.mktemp("traced")) / "data", provider=spans.provider) as here:
        furnish(here)
        yield Traced(here, spans)


def test_a_call_is_in_the_trace_of_its_caller(traced: Traced) -> None:
    traced.retrieve("in-trace", PARENT, ("tracestate", "vendor=1"))
    span = traced.span_of("in-trace")
    assert format(span.context.trace_id, "032x") == TRACE
    assert span.parent is not None
    assert format(span.parent.span_id, "016x") == SPAN
    assert span.context.trace_state.to_header() == "vendor=1"
    assert (span.name, span.kind) == (RETRIEVE, SpanKind.SERVER)
    attributes = dict(span.attributes or {})
    assert attributes["rpc.system"] == "grpc"
    assert f"{attributes['rpc.service']}/{attributes['rpc.method']}" == RETRIEVE
    assert attributes["groundwire.end_reason"] == "EXHAUSTED"
    line = next(each for each in traced.here.log() if each["request_id"] == "in-trace")
    assert line["trace_id"] == TRACE


@pytest.mark.parametrize(
    "parent",
    [
        "",
        "nonsense",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"ff-{TRACE}-{SPAN}-01",
        "00-" + "é" * 3,
        "x" * 4096,
    ],
)
def test_what_is_no_context_begins_a_trace(traced: Traced, parent: str) -> None:
    request_id = f"bad-{abs(hash(parent))}"
    try:
        traced.retrieve(request_id, ("traceparent", parent))
    except (grpc.RpcError, ValueError, UnicodeEncodeError):  # the client itself does not send it
        return
    span = traced.span_of(request_id)
    assert span.parent is None
    assert format(span.context.trace_id, "032x") != TRACE


def test_the_stages_are_those_of_the_summary(traced: Traced) -> None:
    summary = traced.retrieve("stages")
    span = traced.span_of("stages")
    stages = traced.spans.stages(span)
    assert sorted(each.name for each in stages) == sorted(timing.stage for timing in summary.timings)
    for timing in summary.timings:
        (stage,) = [each for each in stages if each.name == timing.stage]
        attributes = dict(stage.attributes or {})
        assert (attributes["groundwire.items_in"], attributes["groundwire.items_out"]) == (
            timing.items_in,
            timing.items_out,
        )
        assert attributes.get("groundwire.library_id", "") == timing.library_id
        assert stage.kind is SpanKind.INTERNAL
        assert stage.context.trace_id == span.context.trace_id
        (begin, end), (first, last) = _times(span), _times(stage)
        assert begin <= first <= last <= end
        told = timing.elapsed.ToNanoseconds()
        assert abs((last - first) - told) <= max(2_000, told // 1000)


def test_stages_that_follow_one_another_stand_so(traced: Traced) -> None:
    traced.retrieve("order")
    at = {each.name: each for each in traced.spans.stages(traced.span_of("order"))}
    for before, after in (("restrict", "lexical"), ("lexical", "fuse"), ("fuse", "exit")):
        assert _times(at[before])[1] <= _times(at[after])[0] + 100_000


def _times(span: ReadableSpan) -> tuple[int, int]:
    assert span.start_time is not None
    assert span.end_time is not None
    return span.start_time, span.end_time


def test_a_degradation_is_an_event(traced: Traced) -> None:
    hint: Any = {"predicate": {"field": "doc_id", "eq": {"string_value": "nowhere"}}}
    options: Any = {"hint": hint, "request_id": "degraded"}
    list(traced.here.narrative.NarrativeRetrieve(narrative_pb2.NarrativeRetrieveRequest(query="fox", options=options)))
    events = traced.span_of("degraded").events
    assert {event.name for event in events} == {"degradation"}
    assert "FILTER_DROPPED" in {dict(event.attributes or {})["groundwire.kind"] for event in events}


def test_every_call_has_one_span_and_an_answer_those_of_its_branches(traced: Traced) -> None:
    before = len(traced.spans.calls())
    ask_everything(traced.here)
    assert eventually(lambda: len(traced.spans.calls()) == before + 11)
    names = [span.name.rpartition("/")[2] for span in traced.spans.calls()[before:]]
    assert {"NarrativeRetrieve", "QueryMetric", "GraphTrace", "Ask", "Route", "GetJob"} <= set(names)
    options: Any = {"request_id": "answer"}
    request = router_pb2.AskRequest(question="What was the population of Japan in 2020?", options=options)
    summary = list(traced.here.router.Ask(request))[-1].summary
    stages = traced.spans.stages(traced.span_of("answer"))
    assert sorted(each.name for each in stages) == sorted(timing.stage for timing in summary.timings)


def test_one_that_is_not_sampled_costs_no_span(tmp_path: Path) -> None:
    provider = TracerProvider(sampler=ParentBased(ALWAYS_OFF), shutdown_on_exit=False)
    spans = CallSpans(provider)
    with house(tmp_path / "data", provider=provider) as here:
        here.store({"a.md": "A fox."})
        assert all("trace_id" not in line for line in here.log())
    assert spans.open_spans == 0


def test_the_process_keeps_no_provider_of_ours(traced: Traced) -> None:
    assert isinstance(trace.get_tracer_provider(), ProxyTracerProvider)


def test_a_bad_id_or_request_is_told_by_its_reason(traced: Traced) -> None:
    before = len(traced.spans.calls())
    failure = failure_of(lambda: traced.here.admin.GetJob(admin_pb2.GetJobRequest(job_id="never")))
    assert eventually(lambda: len(traced.spans.calls()) > before)
    attributes = dict(traced.span_of(failure.metadata["request_id"]).attributes or {})
    assert attributes["groundwire.reason"] == "UNKNOWN_JOB"
    assert attributes["rpc.grpc.status_code"] == grpc.StatusCode.NOT_FOUND.value[0]


class _Context:
    """As much of grpc's as a span needs."""

    def __init__(self, metadata: list[tuple[str, str | bytes]]) -> None:
        self._metadata = metadata

    def invocation_metadata(self) -> list[tuple[str, str | bytes]]:
        return self._metadata


_GOOD = st.from_regex(r"00-[0-9a-f]{32}-[0-9a-f]{16}-01", fullmatch=True)
_STATE = st.from_regex(r"[a-z]{1,3}(@[a-z])?=[!-~]{0,5}(,[a-z]{1,3}=[ -~]{0,5}){0,40}", fullmatch=True)
_VALUES = st.one_of(st.text(max_size=80), st.binary(max_size=80), _GOOD, _STATE)
_KEYS = st.sampled_from(["traceparent", "tracestate", "other"])


@pytest.fixture(scope="module")
def hostile() -> tuple[CallSpans, Spans]:
    spans = Spans()
    return CallSpans(spans.provider), spans


@given(metadata=st.lists(st.tuples(_KEYS, _VALUES), max_size=4))
def test_no_metadata_makes_it_fail_or_stands_in_a_log(
    hostile: tuple[CallSpans, Spans], metadata: list[tuple[str, str | bytes]]
) -> None:
    made, spans = hostile
    call = RpcCall(_Context(metadata), RETRIEVE, None)
    written: list[logging.LogRecord] = []
    handler = logging.Handler()
    handler.emit = written.append  # type: ignore[method-assign]
    logging.getLogger("opentelemetry").addHandler(handler)
    try:
        made.begun(call)
        made.ended(call, "OK", "", None)
    finally:
        logging.getLogger("opentelemetry").removeHandler(handler)
    assert written == []
    assert made.open_spans == 0
    assert int(call.trace_id, 16) == spans.all()[-1].context.trace_id


def test_a_caller_that_samples_no_trace_gets_none(hostile: tuple[CallSpans, Spans]) -> None:
    made, spans = hostile
    before = len(spans.all())
    call = RpcCall(_Context([("traceparent", f"00-{TRACE}-{SPAN}-00")]), RETRIEVE, None)
    made.begun(call)
    made.ended(call, "OK", "", None)
    assert (call.trace_id, len(spans.all())) == ("", before)
