"""Ingests over a socket: broken connections, the caller's own faults, cancellation."""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from google.protobuf.any_pb2 import Any as AnyMessage
from google.rpc import error_details_pb2, status_pb2

import groundwire
from groundwire import DocumentUpload
from groundwire._ingest.retry import retry_delay
from groundwire.v1 import ingest_pb2
from tests.client.both import Connect
from tests.client.ingest_model import Connection, Stored
from tests.client.serving import serving
from tests.support.eventually import eventually


class Fragile:
    """Breaks the n-th connection after so many requests; what it stored stays."""

    def __init__(self, *limits: int) -> None:
        self.stored = Stored()
        self.starts: list[ingest_pb2.IngestStart] = []
        self._limits = iter(limits)

    def __call__(self, requests: Iterator[Any], context: grpc.ServicerContext) -> Iterator[Any]:
        connection = Connection(self.stored)
        limit = next(self._limits, 10**9)
        for taken, request in enumerate(requests):
            if request.HasField("start"):
                self.starts.append(ingest_pb2.IngestStart.FromString(request.start.SerializeToString()))
            yield from connection.take(request)
            if taken >= limit:
                context.abort(grpc.StatusCode.UNAVAILABLE, "connection lost")


def _uploads(count: int) -> list[DocumentUpload]:
    return [DocumentUpload(f"d{place}", [b"x" * 100_000] * 4) for place in range(count)]


def test_a_broken_connection_is_taken_up_where_all_is_durable(connect: Connect) -> None:
    server = Fragile(2, 3, 0)
    with serving(IngestDocuments=server) as address, connect(address) as client:
        stream = client.ingest_documents(_uploads(5), library="lib", ingest_id="my-id")
        events = list(stream)
        report = stream.collect()
    sizes = {doc_id: len(content) for doc_id, content in server.stored.documents.items()}
    assert sizes == {f"d{place}": 400_000 for place in range(5)}
    assert server.stored.stored_twice == []
    assert sorted(outcome.doc_id for outcome in report.outcomes) == [f"d{n}" for n in range(5)]
    assert report.summary.stored == 5
    assert len(server.starts) == 4
    assert {(start.ingest_id, start.library_id) for start in server.starts} == {("my-id", "lib")}
    assert [type(event) for event in events].count(groundwire.Reconnecting) == 3
    resumed = [start.resume_after_seq for start in server.starts]
    assert resumed == sorted(resumed)
    assert resumed[-1] > 0


def test_refused_documents_are_outcomes_not_errors(connect: Connect) -> None:
    server = Fragile()
    uploads = [DocumentUpload("refuse me", b"x"), DocumentUpload("good", b"y")]
    with serving(IngestDocuments=server) as address, connect(address) as client:
        report = client.ingest_documents(uploads).collect()
    reasons = {outcome.doc_id: outcome.error.reason if outcome.error else None for outcome in report.outcomes}
    assert reasons == {"refuse me": groundwire.ErrorReason.DOCUMENT_BROKEN, "good": None}
    assert report.ingest_id


def test_a_server_that_is_not_there_is_told_at_once(connect: Connect) -> None:
    with connect("127.0.0.1:1") as client, pytest.raises(groundwire.GroundwireError) as caught:
        client.ingest_documents(_uploads(1)).collect()
    assert caught.value.status == "UNAVAILABLE"


def test_a_refusal_with_a_reason_is_not_tried_again(connect: Connect) -> None:
    starts: list[int] = []

    def refuse(requests: Iterator[Any], context: grpc.ServicerContext) -> Iterator[Any]:
        starts.append(1)
        next(requests)
        yield ingest_pb2.IngestDocumentsResponse(accepted={"max_in_flight_parts": 1})
        next(requests)  # so that nothing is under way: a write into an ended call is INTERNAL, and tried again
        detail = AnyMessage()
        detail.Pack(error_details_pb2.ErrorInfo(reason="STORAGE_FULL", domain="groundwire.v1"))
        status = status_pb2.Status(code=8, details=[detail]).SerializeToString()
        context.set_trailing_metadata([("grpc-status-details-bin", status)])
        context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "the disk is full")

    with (
        serving(IngestDocuments=refuse) as address,
        connect(address) as client,
        pytest.raises(groundwire.GroundwireError) as caught,
    ):
        client.ingest_documents(_uploads(1)).collect()
    assert caught.value.reason is groundwire.ErrorReason.STORAGE_FULL
    assert starts == [1]


def test_an_end_without_summary_is_tried_again(connect: Connect) -> None:
    stored, calls = Stored(), iter([False, True])

    def half(requests: Iterator[Any], context: grpc.ServicerContext) -> Iterator[Any]:
        connection, whole = Connection(stored), next(calls)
        for taken, request in enumerate(requests):
            yield from connection.take(request)
            if not whole and taken == 1:
                return

    with serving(IngestDocuments=half) as address, connect(address) as client:
        report = client.ingest_documents(_uploads(2)).collect()
    assert report.summary.stored == 2
    assert stored.stored_twice == []


def test_a_connection_that_breaks_behind_the_summary_changes_nothing(connect: Connect) -> None:
    server = Fragile(2)
    with serving(IngestDocuments=server) as address, connect(address) as client:
        stream = client.ingest_documents([DocumentUpload("a", b"x")])
        events = list(stream)
        assert stream.collect().summary.stored == 1
    assert isinstance(events[-1], groundwire.IngestSummary)
    assert len(server.starts) == 1


def test_an_ingest_that_the_server_still_holds_is_waited_for(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that nobody told of the end of a connection takes a minute to find out."""
    waited: list[float] = []

    def noted(attempt: int, error: groundwire.GroundwireError) -> float:
        waited.append(retry_delay(attempt, error))
        return 0.0

    monkeypatch.setattr("groundwire._ingest.run.retry_delay", noted)
    server = Fragile(3)

    def holding(requests: Iterator[Any], context: grpc.ServicerContext) -> Iterator[Any]:
        if server.starts and sum(waited) < 75:
            detail = AnyMessage()
            detail.Pack(error_details_pb2.ErrorInfo(reason="INGEST_ID_IN_USE", domain="groundwire.v1"))
            status = status_pb2.Status(code=10, details=[detail]).SerializeToString()
            context.set_trailing_metadata([("grpc-status-details-bin", status)])
            context.abort(grpc.StatusCode.ABORTED, "it is open on another connection")
        yield from server(requests, context)

    with serving(IngestDocuments=holding) as address, connect(address) as client:
        assert client.ingest_documents(_uploads(4)).collect().summary.stored == 4
    assert len(waited) > 9
    assert len(server.starts) == 2


def test_what_the_callers_own_iterator_raises_comes_through(connect: Connect) -> None:
    def faulty() -> Iterator[DocumentUpload]:
        yield DocumentUpload("a", b"x")
        raise FileNotFoundError("gone.md")

    server = Fragile()
    with serving(IngestDocuments=server) as address, connect(address) as client:
        with pytest.raises(FileNotFoundError, match=r"gone\.md"):
            client.ingest_documents(faulty()).collect()
        assert client.ingest_documents([DocumentUpload("b", b"y")]).collect().summary is not None


def test_a_value_that_has_no_place_in_the_contract_is_the_callers_fault(connect: Connect) -> None:
    wrong = DocumentUpload("a", b"x", attributes=(groundwire.Attribute("n", {1: 2}),))  # type: ignore[arg-type]
    with (
        serving(IngestDocuments=Fragile()) as address,
        connect(address) as client,
        pytest.raises(TypeError, match="a value is a str"),
    ):
        client.ingest_documents([wrong]).collect()


def test_cancelling_keeps_what_was_acknowledged(connect: Connect) -> None:
    server, waiting = Fragile(), threading.Event()

    def slowly() -> Iterator[DocumentUpload]:
        yield DocumentUpload("a", b"x")
        waiting.wait(20)
        yield DocumentUpload("b", b"y")

    with serving(IngestDocuments=server) as address, connect(address) as client:
        stream = client.ingest_documents(slowly())
        with stream:
            for event in stream:
                if isinstance(event, groundwire.IngestAck):
                    break
        waiting.set()
        assert list(stream) == []
        with pytest.raises(groundwire.GroundwireError, match="cancelled"):
            stream.collect()
    assert list(server.stored.documents) == ["a"]


def test_another_thread_may_cancel_an_ingest_that_waits(connect: Connect) -> None:
    ended = threading.Event()

    def silent(requests: Iterator[Any], context: grpc.ServicerContext) -> Iterator[Any]:
        context.add_callback(ended.set)
        yield ingest_pb2.IngestDocumentsResponse(accepted={"max_in_flight_parts": 1})
        ended.wait(20)

    with serving(IngestDocuments=silent) as address, connect(address) as client:
        stream = client.ingest_documents(_uploads(3))
        assert isinstance(next(stream), groundwire.IngestAccepted)
        reading = threading.Thread(target=lambda: list(stream))
        reading.start()
        stream.cancel()
        reading.join(10)
        assert not reading.is_alive()
        assert ended.wait(10)


def test_an_ingest_that_is_left_lying_keeps_no_thread() -> None:
    def silent(requests: Iterator[Any], context: grpc.ServicerContext) -> Iterator[Any]:
        yield ingest_pb2.IngestDocumentsResponse(accepted={"max_in_flight_parts": 1})
        for _ in requests:
            pass

    def sending() -> list[str]:
        frames = sys._current_frames().values()
        return [frame.f_code.co_name for top in frames for frame, _ in traceback.walk_stack(top)]

    with serving(IngestDocuments=silent) as address:
        with groundwire.Client(address) as client:
            next(client.ingest_documents(_uploads(3)))
            assert eventually(lambda: "_messages" in sending())
        assert eventually(lambda: "_messages" not in sending() and "_listen" not in sending())


def test_withdrawing(connect: Connect) -> None:
    def method(request: ingest_pb2.WithdrawDocumentRequest, context: grpc.ServicerContext) -> Any:
        return ingest_pb2.WithdrawDocumentResponse(revision=len(request.doc_id), withdrawn_now=True)

    with serving(WithdrawDocument=method) as address, connect(address) as client:
        assert client.withdraw("a.md", library="lib") == groundwire.Withdrawal(4, True)
