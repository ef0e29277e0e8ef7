"""However a call ends, it is counted once, its span ends once, and nothing stays open."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from opentelemetry.trace import StatusCode
from prometheus_client import CollectorRegistry, generate_latest

from groundwire.v1 import admin_pb2, admin_pb2_grpc, ingest_pb2, ingest_pb2_grpc, narrative_pb2, narrative_pb2_grpc
from groundwire_server.errors import ErrorReason, FailedPrecondition
from groundwire_server.rpc.telemetry import Telemetry
from groundwire_server.rpc.telemetry.call_metrics import CallMetrics
from groundwire_server.rpc.telemetry.call_spans import CallSpans
from tests.rpc.serving import Served, failure_of, serving
from tests.rpc.telemetry.watching import Series, Spans, read, series
from tests.support.eventually import eventually

RETRIEVE = "groundwire.v1.NarrativeService/NarrativeRetrieve"
Request = narrative_pb2.NarrativeRetrieveRequest
Response = narrative_pb2.NarrativeRetrieveResponse
MUCH = "x" * 500_000

entered = threading.Event()


async def retrieve(request: narrative_pb2.NarrativeRetrieveRequest, call: Any) -> None:
    await call.write(Response(progress={"stage": "one"}))  # type: ignore[arg-type]
    if request.query == "fault":
        raise ValueError("fault")
    if request.query == "known":
        raise FailedPrecondition(ErrorReason.NO_EMBEDDER, "No embedder.")
    if request.query == "wait":
        entered.set()
        await asyncio.sleep(60)
    if request.query == "flood":
        for _ in range(200):  # more than the windows of a connection hold
            entered.set()
            await call.write(Response(progress={"stage": MUCH}))  # type: ignore[arg-type]


async def info(_request: object, _call: object) -> admin_pb2.GetServerInfoResponse:
    return admin_pb2.GetServerInfoResponse(server_version="1")


async def ingest(requests: Any, call: Any) -> None:
    async for _ in requests:
        entered.set()
        await call.write(ingest_pb2.IngestDocumentsResponse())


BUILT: Any = {
    "NarrativeService/NarrativeRetrieve": retrieve,
    "AdminService/GetServerInfo": info,
    "IngestService/IngestDocuments": ingest,
}


@dataclass
class OneMetrics:
    """Metrics of calls alone, with no port."""

    calls: CallMetrics


@dataclass
class Watched:
    """A server, what it counts and what it traces."""

    served: Served
    registry: CollectorRegistry
    telemetry: Telemetry
    spans: Spans

    def numbers(self) -> dict[Series, float]:
        return read(generate_latest(self.registry).decode())

    def ended(self) -> dict[tuple[str, str, str], float]:
        """Calls that ended, by method, code and reason."""
        found = {}
        for (name, labels), value in self.numbers().items():
            if name == "groundwire_calls_total":
                of = dict(labels)
                found[of["method"], of["code"], of["reason"]] = value
        return found

    def open(self) -> float:
        return sum(value for (name, _), value in self.numbers().items() if name == "groundwire_calls_open")

    def at_rest(self) -> bool:
        assert self.telemetry.spans is not None
        return self.open() == 0 and self.telemetry.spans.open_spans == 0


@contextmanager
def watched(max_call_seconds: float = 30.0) -> Iterator[Watched]:
    entered.clear()
    registry, spans = CollectorRegistry(), Spans()
    telemetry = Telemetry(OneMetrics(CallMetrics(registry)), CallSpans(spans.provider))  # type: ignore[arg-type]
    with serving(BUILT, observer=telemetry, max_call_seconds=max_call_seconds) as served:
        yield Watched(served, registry, telemetry, spans)


def ask(here: Watched, query: str, **more: Any) -> Any:
    return narrative_pb2_grpc.NarrativeServiceStub(here.served.channel).NarrativeRetrieve(Request(query=query), **more)


def read_all(here: Watched) -> None:
    assert len(list(ask(here, "ok"))) == 1


def cancel(here: Watched) -> None:
    call = ask(here, "wait")
    next(call)
    assert entered.wait(10)
    call.cancel()


def cancel_unread(here: Watched) -> None:
    call = ask(here, "flood")
    assert entered.wait(10)
    assert eventually(lambda: here.numbers()[series("groundwire_sent_bytes_total", method=RETRIEVE)] > 60_000)
    assert here.open() == 1
    call.cancel()


def go_away(here: Watched) -> None:
    channel = grpc.insecure_channel(here.served.address, options=[("grpc.use_local_subchannel_pool", 1)])
    next(narrative_pb2_grpc.NarrativeServiceStub(channel).NarrativeRetrieve(Request(query="wait")))
    assert entered.wait(10)
    channel.close()


def run_out_of_time(here: Watched) -> None:
    assert failure_of(lambda: ask(here, "wait", timeout=0.2)).code is grpc.StatusCode.DEADLINE_EXCEEDED


def fail_as_known(here: Watched) -> None:
    assert failure_of(lambda: ask(here, "known")).reason == "NO_EMBEDDER"


def fail_by_fault(here: Watched) -> None:
    assert failure_of(lambda: ask(here, "fault")).reason == "INTERNAL"


def send_nonsense(here: Watched) -> None:
    call = here.served.channel.unary_stream(f"/{RETRIEVE}")
    assert failure_of(lambda: call(b"\xff\xff")).reason == "INVALID_REQUEST"


ENDINGS: list[tuple[Callable[[Watched], None], set[tuple[str, str]]]] = [
    (read_all, {("OK", "")}),
    (cancel, {("CANCELLED", "")}),
    (cancel_unread, {("CANCELLED", "")}),
    (go_away, {("CANCELLED", "")}),
    # Who notices first, the client or the server, is for the clocks to say.
    (run_out_of_time, {("CANCELLED", ""), ("DEADLINE_EXCEEDED", "DEADLINE")}),
    (fail_as_known, {("FAILED_PRECONDITION", "NO_EMBEDDER")}),
    (fail_by_fault, {("INTERNAL", "INTERNAL")}),
    (send_nonsense, {("INVALID_ARGUMENT", "INVALID_REQUEST")}),
]


@pytest.mark.parametrize(("end", "told"), ENDINGS, ids=[end.__name__ for end, _ in ENDINGS])
def test_each_ending_is_told_once(end: Callable[[Watched], None], told: set[tuple[str, str]]) -> None:
    with watched() as here:
        end(here)
        assert eventually(lambda: here.ended() != {})
        assert eventually(here.at_rest)
        ((method, code, reason), count) = next(iter(here.ended().items()))
        assert (method, count, len(here.ended())) == (RETRIEVE, 1, 1)
        assert (code, reason) in told
        numbers = here.numbers()
        assert numbers[series("groundwire_call_seconds_count", method=RETRIEVE)] == 1
        (line,) = [line for line in here.served.log() if line["event"] == "call"]
        assert numbers[series("groundwire_messages_sent_total", method=RETRIEVE)] == line["frames"]
        sent = numbers[series("groundwire_sent_bytes_total", method=RETRIEVE)]
        assert (sent > 0) == (line["frames"] > 0)
        (span,) = here.spans.calls()
        assert span.name == RETRIEVE
        assert span.attributes is not None
        assert span.attributes["groundwire.request_id"] == line["request_id"]
        assert format(span.context.trace_id, "032x") == line["trace_id"]
        assert span.attributes["rpc.grpc.status_code"] == grpc.StatusCode[code].value[0]
        assert span.attributes.get("groundwire.reason", "") == reason
        faulty = code in ("INTERNAL", "DEADLINE_EXCEEDED")
        assert span.status.status_code is (StatusCode.ERROR if faulty else StatusCode.UNSET)
        assert not any("fault" in str(event.attributes) for event in span.events)


def test_a_server_that_stops_ends_what_it_counts() -> None:
    with watched() as here:
        call = ask(here, "wait")
        next(call)
        assert entered.wait(10)
    assert here.at_rest()
    assert sum(here.ended().values()) == 1
    assert len(here.spans.calls()) == 1
    with pytest.raises(grpc.RpcError):
        next(call)


def test_the_servers_own_bound_is_a_deadline() -> None:
    with watched(max_call_seconds=0.2) as here:
        assert failure_of(lambda: ask(here, "wait")).reason == "DEADLINE"
        assert eventually(here.at_rest)
        assert here.ended() == {(RETRIEVE, "DEADLINE_EXCEEDED", "DEADLINE"): 1}


def test_a_single_answer_and_an_ingest_count_like_streams() -> None:
    with watched() as here:
        admin_pb2_grpc.AdminServiceStub(here.served.channel).GetServerInfo(admin_pb2.GetServerInfoRequest())
        stub = ingest_pb2_grpc.IngestServiceStub(here.served.channel)
        sent = iter([ingest_pb2.IngestDocumentsRequest()] * 3)
        assert len(list(stub.IngestDocuments(sent))) == 3
        assert eventually(here.at_rest)
        one, many = "groundwire.v1.AdminService/GetServerInfo", "groundwire.v1.IngestService/IngestDocuments"
        assert here.ended() == {(one, "OK", ""): 1, (many, "OK", ""): 1}
        assert here.numbers()[series("groundwire_messages_sent_total", method=one)] == 1
        assert here.numbers()[series("groundwire_sent_bytes_total", method=one)] == 3
        assert here.numbers()[series("groundwire_messages_sent_total", method=many)] == 3


def test_what_callers_make_up_becomes_no_name() -> None:
    with watched() as here:
        for number in range(20):
            call = here.served.channel.unary_unary(f"/kanarienvogel.{number}/Method")
            with pytest.raises(grpc.RpcError):
                call(b"")
        assert eventually(here.at_rest)
        assert here.ended() == {("other", "UNIMPLEMENTED", "NOT_IMPLEMENTED"): 20}
        assert {span.name for span in here.spans.calls()} == {"other"}
        everything = generate_latest(here.registry).decode() + here.served.written.getvalue()
        assert "kanarienvogel" not in everything + "".join(span.to_json() for span in here.spans.all())


def test_health_is_counted_and_not_traced() -> None:
    with watched() as here:
        health_pb2_grpc.HealthStub(here.served.channel).Check(health_pb2.HealthCheckRequest())
        assert eventually(here.at_rest)
        assert here.ended() == {("grpc.health.v1.Health/Check", "OK", ""): 1}
        assert here.spans.all() == []


def test_many_calls_of_mixed_endings_leave_exact_counts() -> None:
    with watched() as here:
        calls = []
        for number in range(120):
            kind = ("ok", "known", "fault", "wait")[number % 4]
            call = ask(here, kind)
            calls.append((kind, call))
            if kind == "wait":
                next(call)
                call.cancel()
        for kind, call in calls:
            if kind == "ok":
                assert len(list(call)) == 1
            elif kind != "wait":
                assert failure_of(lambda call=call: call).reason  # type: ignore[misc]
        assert eventually(here.at_rest)
        assert here.ended() == {
            (RETRIEVE, "OK", ""): 30,
            (RETRIEVE, "FAILED_PRECONDITION", "NO_EMBEDDER"): 30,
            (RETRIEVE, "INTERNAL", "INTERNAL"): 30,
            (RETRIEVE, "CANCELLED", ""): 30,
        }
        assert len(here.spans.calls()) == 120
