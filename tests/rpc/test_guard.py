"""What a client sees when a handler fails, over a real socket: a status of ours, and nothing of the exception."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Iterator

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from groundwire.v1 import admin_pb2, admin_pb2_grpc, ingest_pb2, ingest_pb2_grpc, narrative_pb2, narrative_pb2_grpc
from groundwire_server.errors import ErrorReason, FailedPrecondition
from groundwire_server.rpc.guard import unknown_fields
from tests.rpc.serving import Served, failure_of, serving
from tests.support.eventually import eventually

CANARY = "kanarienvogel-7f3a"
Request = narrative_pb2.NarrativeRetrieveRequest
Response = narrative_pb2.NarrativeRetrieveResponse

entered, left = threading.Event(), threading.Event()


class CanaryError(Exception):
    """Holds a secret in its text, arguments and notes."""


async def info(_request: object, _call: object) -> object:
    error = CanaryError(CANARY, {"secret": CANARY})
    error.add_note(CANARY)
    raise error from ValueError(CANARY)


async def libraries(_request: object, _call: object) -> object:
    return f"{CANARY} is no message"


async def retrieve(request: narrative_pb2.NarrativeRetrieveRequest, call: object) -> None:
    await call.write(Response(progress={"stage": "one"}))  # type: ignore[attr-defined, arg-type]
    if request.query == "fault":
        raise CanaryError(CANARY)
    if request.query == "known":
        raise FailedPrecondition(ErrorReason.NO_EMBEDDER, "No embedder.", details={"mode": "HYBRID"})
    if request.query == "wait":
        entered.set()
        try:
            await asyncio.sleep(60)
        finally:
            left.set()


async def ingest(requests: object, call: object) -> None:
    async for request in requests:  # type: ignore[attr-defined]
        if request.WhichOneof("message") == "finish":
            raise CanaryError(CANARY)
        await call.write(ingest_pb2.IngestDocumentsResponse())  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    handlers = {
        "AdminService/GetServerInfo": info,
        "AdminService/ListLibraries": libraries,
        "NarrativeService/NarrativeRetrieve": retrieve,
        "IngestService/IngestDocuments": ingest,
    }
    with serving(handlers, max_call_seconds=0.3) as running:
        yield running


def narrative(served: Served) -> narrative_pb2_grpc.NarrativeServiceStub:
    return narrative_pb2_grpc.NarrativeServiceStub(served.channel)


def admin(served: Served) -> admin_pb2_grpc.AdminServiceStub:
    return admin_pb2_grpc.AdminServiceStub(served.channel)


def test_an_exception_leaves_no_trace_for_the_client_and_only_its_place_in_the_log(
    served: Served, capfd: pytest.CaptureFixture[str]
) -> None:
    finish = ingest_pb2.IngestDocumentsRequest(finish=ingest_pb2.IngestFinish())
    calls = [
        lambda: admin(served).GetServerInfo(admin_pb2.GetServerInfoRequest()),
        lambda: admin(served).ListLibraries(admin_pb2.ListLibrariesRequest()),
        lambda: narrative(served).NarrativeRetrieve(Request(query="fault")),
        lambda: ingest_pb2_grpc.IngestServiceStub(served.channel).IngestDocuments(iter([finish])),
    ]
    for call in calls:
        failure = failure_of(call)
        assert failure.code is grpc.StatusCode.INTERNAL
        assert failure.reason == "INTERNAL"
        assert failure.metadata["request_id"] in failure.message
        assert CANARY.encode() not in failure.raw
        faults = [line for line in served.log() if line["event"] == "fault"]
        assert faults[-1]["request_id"] == failure.metadata["request_id"]
        assert faults[-1]["at"]
    assert "CanaryError" in faults[-1]["error"]
    assert any("ValueError" in each["error"] for line in served.log() for each in line.get("after", []))
    assert CANARY not in served.written.getvalue()
    out, err = capfd.readouterr()
    assert CANARY not in out + err


def test_a_known_error_in_the_middle_of_a_stream_ends_it_with_its_reason(served: Served) -> None:
    failure = failure_of(lambda: narrative(served).NarrativeRetrieve(Request(query="known")))
    assert (failure.code, failure.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "NO_EMBEDDER")
    assert failure.metadata["mode"] == "HYBRID"


def test_a_call_is_cut_at_the_longest_run(served: Served) -> None:
    failure = failure_of(lambda: narrative(served).NarrativeRetrieve(Request(query="wait")))
    assert (failure.code, failure.reason) == (grpc.StatusCode.DEADLINE_EXCEEDED, "DEADLINE")


def test_a_cancelled_call_leaves_its_handler(served: Served) -> None:
    entered.clear()
    left.clear()
    stream = narrative(served).NarrativeRetrieve(Request(query="wait"))
    assert next(stream).progress.stage == "one"
    assert entered.wait(5)
    stream.cancel()
    assert left.wait(5)


def test_methods_that_are_not_built_or_not_there_are_refused_with_a_reason(served: Served) -> None:
    calls = [
        lambda: admin(served).GetJob(admin_pb2.GetJobRequest()),
        lambda: admin(served).WatchJob(admin_pb2.WatchJobRequest()),
        lambda: ingest_pb2_grpc.IngestServiceStub(served.channel).IngestFacts(iter([])),
        lambda: served.channel.unary_unary("/groundwire.v2.AdminService/GetServerInfo")(b""),
        lambda: served.channel.unary_stream("/nowhere")(b""),
    ]
    for call in calls:
        failure = failure_of(call)
        assert (failure.code, failure.reason) == (grpc.StatusCode.UNIMPLEMENTED, "NOT_IMPLEMENTED")


def test_bytes_that_are_no_message_are_refused(served: Served) -> None:
    broken = served.channel.unary_unary("/groundwire.v1.AdminService/GetServerInfo")
    failure = failure_of(lambda: broken(b"\xff\xff\xff"))
    assert (failure.code, failure.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")
    ingest_stream = served.channel.stream_stream("/groundwire.v1.IngestService/IngestDocuments")
    assert failure_of(lambda: ingest_stream(iter([b"\xff\xff"]))).code is grpc.StatusCode.INVALID_ARGUMENT


def test_a_field_that_the_server_does_not_know_is_refused_with_its_path(served: Served) -> None:
    newer = Request(query="x")
    newer.options.filter.all_of.filters.add()
    newer.options.filter.all_of.filters[0].MergeFromString(b"\xf8\x07\x01")
    newer.options.MergeFromString(b"\xf8\x06\x01")
    failure = failure_of(lambda: narrative(served).NarrativeRetrieve(newer))
    assert failure.code is grpc.StatusCode.INVALID_ARGUMENT
    assert [(field, reason) for field, reason, _ in failure.violations] == [
        ("options", "UNKNOWN_NAME"),
        ("options.filter.all_of.filters[0]", "UNKNOWN_NAME"),
    ]
    assert unknown_fields(Request(query="x")) == []


@pytest.mark.parametrize("method", ["AdminService/GetJob", "NarrativeService/NarrativeRetrieve"])
def test_a_call_that_brings_no_request_is_refused(served: Served, method: str) -> None:
    call = served.channel.stream_stream(f"/groundwire.v1.{method}")
    failure = failure_of(lambda: call(iter([])))
    assert (failure.code, failure.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST")
    assert failure.violations == [("request", "VALUE_REQUIRED", "the call brought no message")]


def test_a_call_whose_request_does_not_come_is_cut_at_the_longest_run(served: Served) -> None:
    kept: queue.Queue[bytes | None] = queue.Queue()
    call = served.channel.stream_stream("/groundwire.v1.NarrativeService/NarrativeRetrieve")
    failure = failure_of(lambda: call(iter(kept.get, None)))
    assert (failure.code, failure.reason) == (grpc.StatusCode.DEADLINE_EXCEEDED, "DEADLINE")
    kept.put(None)


@pytest.mark.parametrize(
    ("metadata", "option", "want"),
    [
        ((), "", None),
        ((("x-request-id", "m-1"),), "", "m-1"),
        ((("x-request-id", "m-1"),), "o-1", "o-1"),
        ((("x-request-id", "m" * 129),), "", None),
        ((("x-request-id", "m-1"),), "o" * 129, "m-1"),
        ((("x-request-id", "m-1"),), "o\n1", "m-1"),
    ],
)
def test_the_request_id_is_the_callers_where_it_is_a_good_one(
    served: Served, metadata: tuple[tuple[str, str], ...], option: str, want: str | None
) -> None:
    request = Request(query="known", options={"request_id": option})  # type: ignore[arg-type]
    failure = failure_of(lambda: narrative(served).NarrativeRetrieve(request, metadata=metadata))
    got = failure.metadata["request_id"]
    assert got == want or (want is None and got.startswith("q-"))


def test_health_is_served_and_guarded(served: Served) -> None:
    stub = health_pb2_grpc.HealthStub(served.channel)
    for service in ("", "groundwire.v1.NarrativeService"):
        answer = stub.Check(health_pb2.HealthCheckRequest(service=service))
        assert answer.status == health_pb2.HealthCheckResponse.SERVING
    assert failure_of(lambda: stub.Check(health_pb2.HealthCheckRequest(service="x"))).code is grpc.StatusCode.NOT_FOUND


def test_a_client_that_pings_each_ten_seconds_is_welcome() -> None:
    """grpc's own rule of two pings per five minutes would answer with GOAWAY; here the bound is five seconds."""
    from groundwire_server.rpc import server

    options = dict(server._OPTIONS)
    assert options["grpc.http2.min_ping_interval_without_data_ms"] < 10_000
    assert options["grpc.keepalive_permit_without_calls"] == 1


def test_nothing_is_left_after_all_that(served: Served) -> None:
    for _ in range(20):
        failure_of(lambda: narrative(served).NarrativeRetrieve(Request(query="fault")))
    left.clear()
    done = threading.Event()
    stream = narrative(served).NarrativeRetrieve(Request(query="wait"), timeout=0.05)
    stream.add_done_callback(lambda _: done.set())
    assert done.wait(5)
    assert left.wait(5)
    failure_of(lambda: admin(served).GetJob(admin_pb2.GetJobRequest()))
    assert eventually(lambda: served.guard.open_calls == 0)
