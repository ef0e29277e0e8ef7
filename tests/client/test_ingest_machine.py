"""The state machine of an ingest against a plain server, with connections that break anywhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import groundwire
from groundwire import DocumentUpload
from groundwire._ingest.machine import IngestMachine, Need
from groundwire._ingest.parts import DocumentCutter, FactCutter, cut
from groundwire.v1 import errors_pb2, ingest_pb2
from tests.client.ingest_model import Connection, Stored

Response = ingest_pb2.IngestDocumentsResponse


def _machine() -> IngestMachine:
    return IngestMachine(ingest_pb2.IngestDocumentsRequest, "id", "default", validate_only=False)


def _name(place: int) -> str:
    """Every third file holds several documents."""
    return f"d{place}" if place % 3 else f"d{place}+more{place}+more{place}"


def _run(contents: list[bytes], size: int, window: int, breaks: list[tuple[int, int]]) -> tuple[Stored, list[object]]:
    """Ingest over connections of which the n-th breaks after so many requests taken and responses delivered."""
    stored, machine = Stored(), _machine()
    uploads = [DocumentUpload(_name(place), content) for place, content in enumerate(contents)]
    parts = cut(uploads, DocumentCutter(size))
    events: list[object] = []
    limits = iter(breaks)
    while machine.summary is None:
        taken, delivered = next(limits, (10**9, 10**9))
        connection = Connection(stored, window)
        waiting = connection.take(machine.connect())  # type: ignore[arg-type]
        while machine.summary is None and (taken or (waiting and delivered)):
            if waiting and delivered:
                delivered -= 1
                events += machine.receive(waiting.pop(0))
                continue
            if not taken:
                break
            step = machine.next_message()
            if step is Need.PART:
                part = next(parts, None)
                machine.end() if part is None else machine.offer(part)
            elif step is Need.WAIT and not waiting:
                raise AssertionError("both sides wait")
            elif isinstance(step, ingest_pb2.IngestDocumentsRequest):
                taken -= 1
                waiting += connection.take(step)
            else:
                break
    return stored, events


@given(
    st.lists(st.binary(max_size=20), max_size=6),
    st.integers(1, 8),
    st.integers(1, 5),
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 9)), max_size=8),
)
def test_nothing_is_lost_stored_twice_or_told_twice(
    contents: list[bytes], size: int, window: int, breaks: list[tuple[int, int]]
) -> None:
    stored, events = _run(contents, size, window, breaks)
    assert stored.documents == {_name(place): content for place, content in enumerate(contents)}
    assert stored.stored_twice == []
    told = [event.doc_id for event in events if isinstance(event, groundwire.DocumentOutcome)]
    assert told == [name for place in range(len(contents)) for name in _name(place).split("+")]
    assert isinstance(events[-1], groundwire.IngestSummary)


def test_no_more_is_out_than_the_server_wants_and_a_throttle_counts() -> None:
    machine = _machine()
    parts = cut([DocumentUpload(str(n), b"") for n in range(10)], DocumentCutter())
    machine.connect()
    assert machine.next_message() is Need.WAIT
    machine.receive(Response(accepted={"durable_seq": 0, "max_in_flight_parts": 2}))

    def send_all() -> list[int]:
        sent = []
        while (step := machine.next_message()) is not Need.WAIT:
            if step is Need.PART:
                machine.offer(next(parts))
            else:
                assert isinstance(step, ingest_pb2.IngestDocumentsRequest)
                sent.append(step.part.seq)
        return sent

    assert send_all() == [1, 2]
    machine.receive(Response(ack={"durable_seq": 1}))
    assert send_all() == [3]
    machine.receive(Response(throttle={"max_in_flight_parts": 0}))
    machine.receive(Response(ack={"durable_seq": 3}))
    assert send_all() == []
    machine.receive(Response(throttle={"max_in_flight_parts": 4}))
    assert send_all() == [4, 5, 6, 7]


def test_a_caller_that_crashed_goes_on_with_the_same_id() -> None:
    contents = [b"a" * 5, b"b" * 5, b"c" * 5]
    stored, _ = _run(contents[:2], 2, 2, [])
    stored.documents.clear()  # so that a document that is sent again would show
    machine = _machine()
    parts = cut([DocumentUpload(_name(place), content) for place, content in enumerate(contents)], DocumentCutter(2))
    connection, events = Connection(stored, 2), []
    waiting = connection.take(machine.connect())  # type: ignore[arg-type]
    while machine.summary is None:
        if waiting:
            events += machine.receive(waiting.pop(0))
            continue
        step = machine.next_message()
        if step is Need.PART:
            part = next(parts, None)
            machine.end() if part is None else machine.offer(part)
        else:
            waiting += connection.take(step)  # type: ignore[arg-type]
    assert list(stored.documents) == ["d2"]
    told = [event.doc_id for event in events if isinstance(event, groundwire.DocumentOutcome)]
    assert told == ["d0", "more0", "more0", "d1", "d2"]


def test_a_server_that_lost_what_it_acknowledged_is_an_error() -> None:
    machine = _machine()
    machine.connect()
    machine.receive(Response(accepted={"durable_seq": 5, "max_in_flight_parts": 1}))
    machine.connect()
    with pytest.raises(groundwire.GroundwireError, match="had acknowledged 5"):
        machine.receive(Response(accepted={"durable_seq": 4, "max_in_flight_parts": 1}))


@pytest.mark.parametrize(
    ("responses", "message"),
    [
        ([Response(ack={"durable_seq": 1})], "not accepted first"),
        ([Response(accepted={})] * 2, "accepted twice"),
        ([Response(accepted={}), Response(summary={}), Response(ack={})], "after the summary"),
    ],
)
def test_messages_in_a_wrong_order_are_errors(responses: list[Response], message: str) -> None:
    machine = _machine()
    machine.connect()
    *before, wrong = responses
    for response in before:
        machine.receive(response)
    with pytest.raises(groundwire.BrokenStream, match=message):
        machine.receive(wrong)


def test_unknown_messages_are_passed_over() -> None:
    machine = _machine()
    machine.connect()
    assert machine.receive(Response()) == []


def test_refused_rows_name_the_record_that_was_given_and_are_told_once() -> None:
    machine = IngestMachine(ingest_pb2.IngestFactsRequest, "id", "default", validate_only=False)
    items = [
        groundwire.RelationRecord("A", "parent_of", "B", "s", "l"),
        groundwire.FactRecord("m", "e", "soon", "1", "s", "l"),
        groundwire.FactFile("f.csv", b"x"),
    ]
    parts = cut(items, FactCutter())
    machine.connect()
    machine.receive(ingest_pb2.IngestFactsResponse(accepted={"max_in_flight_parts": 9}))
    for part in parts:
        machine.offer(part)
    rows = [
        {"seq": 1, "row": 1, "column": "period", "reason": errors_pb2.ERROR_REASON_FACT_PERIOD_MALFORMED},
        {"seq": 1, "row": 2, "column": "object", "reason": errors_pb2.ERROR_REASON_RELATION_UNKNOWN_END},
        {"seq": 2, "file": "f.csv", "row": 1, "column": "value"},
    ]
    response = ingest_pb2.IngestFactsResponse(rejected={"rows": rows})
    (event,) = machine.receive(response)
    assert isinstance(event, groundwire.RowsRejected)
    assert [row.record for row in event.rows] == [1, 0, -1]
    assert event.rows[0].reason is groundwire.ErrorReason.FACT_PERIOD_MALFORMED
    assert machine.receive(response) == []
