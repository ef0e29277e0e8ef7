"""Ingest over the wire: order, acknowledgements, resumption, refusals one by one, and the end of a server."""

from __future__ import annotations

import queue
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from groundwire.v1 import errors_pb2, ingest_pb2, narrative_pb2
from tests.rpc.house import (
    Documents,
    Facts,
    House,
    document_part,
    fact,
    finish,
    house,
    kinds,
    snippets,
    start,
)
from tests.rpc.serving import Failure, failure_of
from tests.support.eventually import eventually


@pytest.fixture
def here(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path / "data") as running:
        yield running


def found(here: House, query: str) -> list[str]:
    request = narrative_pb2.NarrativeRetrieveRequest(query=query, mode="RETRIEVAL_MODE_LEXICAL", top_k=200)
    return [each.lineage.doc_id for each in snippets(here.narrative.NarrativeRetrieve(request))]


class Conversation:
    """A stream that is spoken in steps."""

    def __init__(self, method: Any) -> None:
        self._up: queue.Queue[Any] = queue.Queue()
        self.call = method(iter(self._up.get, None))

    def say(self, *messages: Any) -> None:
        for message in messages:
            self._up.put(message)

    def hear(self, kind: str) -> Any:
        """The next frame of that kind; others before it are passed over."""
        for frame in self.call:
            if frame.WhichOneof("message") == kind:
                return getattr(frame, kind)
        raise AssertionError(f"no {kind} came")

    def end(self) -> None:
        self._up.put(None)


def test_documents_are_acknowledged_and_then_found(here: House) -> None:
    frames = here.store({"a.txt": "a walrus", "b.txt": "a heron", "c.txt": "an otter"})
    said = kinds(frames, "message")
    assert said[0] == "accepted"
    assert said[-1] == "summary"
    assert frames[0].accepted.durable_seq == 0
    assert [frame.outcome.doc_id for frame in frames if frame.WhichOneof("message") == "outcome"] == [
        "a.txt",
        "b.txt",
        "c.txt",
    ]
    acks = [frame.ack.durable_seq for frame in frames if frame.WhichOneof("message") == "ack"]
    assert acks == sorted(acks)
    assert acks[-1] == 3
    summary = frames[-1].summary
    assert (summary.stored, summary.unchanged, summary.failed) == (3, 0, 0)
    assert summary.snapshot_id
    assert found(here, "heron") == ["b.txt"]


def test_warnings_have_a_kind_and_refuse_a_document_where_the_caller_says_so(here: House) -> None:
    raw = b"---\nnested:\n  a: 1\n---\na walrus"
    kind = ingest_pb2.INGEST_WARNING_KIND_METADATA_SKIPPED
    outcomes = []
    for refused in ([], [kind]):
        parts = [Documents(part=document_part(seq, name, content))
                 for seq, (name, content) in enumerate((("a.md", raw), ("b.md", b"a heron")), 1)]  # fmt: skip
        frames = here.ingest.IngestDocuments(
            iter([start(Documents, refuse_warnings=refused), *parts, finish(Documents, 2)])
        )
        outcomes.append([frame.outcome for frame in frames if frame.WhichOneof("message") == "outcome"])
    (told, _), (refusal, other) = outcomes
    assert [(warning.locator, warning.kind) for warning in told.warnings] == [("a.md", kind)]
    assert not told.HasField("error")
    assert refusal.error.reason == errors_pb2.ERROR_REASON_DEGRADATION_FORBIDDEN
    assert other.unchanged


@pytest.mark.parametrize("number", [0, 99])
def test_a_kind_of_warning_that_nobody_knows_is_named(here: House, number: int) -> None:
    frames = [start(Documents, refuse_warnings=[1, number]), finish(Documents, 0)]
    assert [violation[0] for violation in failure_of(lambda: here.ingest.IngestDocuments(iter(frames))).violations] == [
        "start.refuse_warnings[1]"
    ]


def test_figures_have_no_warnings_to_refuse(here: House) -> None:
    frames = [start(Facts, refuse_warnings=[1]), finish(Facts, 0)]
    assert [violation[0] for violation in failure_of(lambda: here.ingest.IngestFacts(iter(frames))).violations] == [
        "start.refuse_warnings"
    ]


def test_an_outcome_comes_before_the_ack_that_covers_it(here: House) -> None:
    frames = here.store({f"{n}.txt": f"text {n}" for n in range(200)})
    told: set[int] = set()
    for frame in frames:
        if frame.WhichOneof("message") == "outcome":
            told.add(frame.outcome.seq)
        if frame.WhichOneof("message") == "ack":
            assert told >= set(range(1, frame.ack.durable_seq + 1))
    assert told == set(range(1, 201))


def test_a_lone_part_is_acknowledged_without_waiting_for_more(here: House) -> None:
    talk = Conversation(here.ingest.IngestDocuments)
    talk.say(start(Documents), Documents(part=document_part(1, "a.txt", b"a walrus")))
    assert talk.hear("ack").durable_seq == 1
    assert found(here, "walrus") == ["a.txt"]
    talk.say(finish(Documents, 1))
    assert talk.hear("summary").stored == 1
    talk.end()


def test_a_broken_stream_goes_on_after_what_is_durable(here: House) -> None:
    ingest_id = str(uuid.uuid4())
    talk = Conversation(here.ingest.IngestDocuments)
    talk.say(start(Documents, ingest_id=ingest_id), Documents(part=document_part(1, "a.txt", b"a walrus")))
    assert talk.hear("ack").durable_seq == 1
    talk.call.cancel()
    talk.end()
    assert eventually(lambda: not any(here.server.leftovers.values()))  # the first connection is let go
    again = [start(Documents, ingest_id=ingest_id, resume_after_seq=0)]
    again += [Documents(part=document_part(n, f"{n}.txt", b"x")) for n in (2, 3)]
    frames = list(here.ingest.IngestDocuments(iter([*again, finish(Documents, 3)])))
    assert frames[0].accepted.durable_seq == 1
    assert [frame.outcome.doc_id for frame in frames if frame.WhichOneof("message") == "outcome"] == [
        "a.txt",
        "2.txt",
        "3.txt",
    ]
    assert frames[-1].summary.stored == 3


def test_validate_only_stores_nothing(here: House) -> None:
    here.store({"a.txt": "a walrus"})
    part = Documents(part=document_part(1, "b.txt", b"a heron"))
    frames = list(here.ingest.IngestDocuments(iter([start(Documents, validate_only=True), part, finish(Documents, 1)])))
    assert frames[-1].summary.stored == 1
    assert frames[-1].summary.snapshot_id == ""
    assert found(here, "heron") == []


@pytest.mark.parametrize(
    ("frames", "reason"),
    [
        ([], "INGEST_ORDER"),
        ([finish(Documents, 0)], "INGEST_ORDER"),
        ([Documents(part=document_part(1, "a", b"x"))], "INGEST_ORDER"),
        ([start(Documents), start(Documents)], "INGEST_ORDER"),
        ([start(Documents)], "INGEST_ORDER"),
        ([start(Documents), Documents()], "INGEST_ORDER"),
        ([start(Documents), finish(Documents, 0), finish(Documents, 0)], "INGEST_ORDER"),
        ([start(Documents), finish(Documents, 0), Documents(part=document_part(1, "a", b"x"))], "INGEST_ORDER"),
        ([start(Documents), finish(Documents, 0), Documents()], "INGEST_ORDER"),
        ([start(Documents), Documents(part=document_part(2, "a", b"x"))], "INGEST_SEQUENCE_GAP"),
        ([start(Documents), Documents(part=document_part(1, "a", b"x")), finish(Documents, 2)], "INGEST_SEQUENCE_GAP"),
        ([start(Documents, ingest_id="one")], "INVALID_REQUEST"),
        ([start(Documents, library="")], "INVALID_REQUEST"),
        ([start(Documents, library="finance")], "UNKNOWN_LIBRARY"),
        ([start(Documents, resume_after_seq=7)], "INGEST_SEQUENCE_GAP"),
        ([start(Documents), Documents(part=ingest_pb2.DocumentPart(seq=1, content=b"x"))], "INGEST_ORDER"),
        ([start(Documents), Documents(part=document_part(1, "a", b"x" * 262_145))], "INVALID_REQUEST"),
    ],
)
def test_frames_out_of_order_end_the_stream_with_a_reason(here: House, frames: list[Any], reason: str) -> None:
    failure = failure_of(lambda: here.ingest.IngestDocuments(iter(frames)))
    assert failure.reason == reason
    assert here.store({"still.txt": "up"})[-1].summary.stored == 1


def test_what_was_good_before_a_bad_part_is_kept(here: House) -> None:
    good = Documents(part=document_part(1, "a.txt", b"a walrus"))
    gap = Documents(part=document_part(3, "c.txt", b"an otter"))
    failure = failure_of(lambda: here.ingest.IngestDocuments(iter([start(Documents), good, gap])))
    assert failure.reason == "INGEST_SEQUENCE_GAP"
    assert found(here, "walrus") == ["a.txt"]
    assert found(here, "otter") == []


def test_a_bad_document_is_refused_by_itself(here: House) -> None:
    nan = {"name": "price", "value": {"double_value": float("nan")}}
    parts = [
        document_part(1, "a.txt", b"a walrus"),
        document_part(2, "b.txt", b"a heron", attributes=[nan]),
        document_part(3, "c.bin", b"\x00\x01", media_type="video/mp4"),
        document_part(4, "d.txt", b"an otter", content_sha256=b"\x00" * 32),
        document_part(5, "", b"nameless"),
        document_part(6, "f.txt", b"a finch", chunker="scissors"),
        document_part(7, "g.txt", b"a goose"),
    ]
    sent = [start(Documents), *(Documents(part=part) for part in parts), finish(Documents, 7)]
    frames = list(here.ingest.IngestDocuments(iter(sent)))
    refused = {
        frame.outcome.seq: errors_pb2.ErrorReason.Name(frame.outcome.error.reason).removeprefix("ERROR_REASON_")
        for frame in frames
        if frame.WhichOneof("message") == "outcome" and frame.outcome.HasField("error")
    }
    assert refused == {
        2: "INVALID_REQUEST",
        3: "DOCUMENT_UNSUPPORTED",
        4: "DOCUMENT_HASH_MISMATCH",
        5: "INVALID_REQUEST",
        6: "UNKNOWN_NAME",
    }
    assert (frames[-1].summary.stored, frames[-1].summary.failed) == (2, 5)
    assert found(here, "walrus goose heron otter finch") == ["a.txt", "g.txt"]


def test_a_passage_that_no_message_could_carry_is_refused_and_the_largest_one_comes(here: House) -> None:
    small, large = b"fox " * 130_000, b"fox " * 132_000
    sent: list[Any] = [start(Documents)]
    for content, name in ((small, "small.txt"), (large, "large.txt")):
        pieces = [content[at : at + 200_000] for at in range(0, len(content), 200_000)]
        for piece in pieces:
            head = ingest_pb2.DocumentHead(doc_id=name, chunker="whole") if piece is pieces[0] else None
            part = ingest_pb2.DocumentPart(seq=len(sent), head=head, content=piece, last_part=piece is pieces[-1])
            sent.append(Documents(part=part))
    frames = list(here.ingest.IngestDocuments(iter([*sent, finish(Documents, len(sent) - 1)])))
    outcomes = {frame.outcome.doc_id: frame.outcome for frame in frames if frame.WhichOneof("message") == "outcome"}
    assert outcomes["large.txt"].error.reason == errors_pb2.ERROR_REASON_DOCUMENT_TOO_LARGE
    assert found(here, "fox") == ["small.txt"]


def test_bad_records_are_refused_one_by_one(here: House) -> None:
    nan = {"name": "x", "value": {"double_value": float("inf")}}
    records = ingest_pb2.FactRecords(
        facts=[
            fact("A", "B", "2020", "1", unit="USD"),
            fact("A", "B", "2021", "", unit="USD"),
            fact("A", "B", "soon", "1", unit="USD"),
            fact("A", "B", "2022", "1", unit="USD", attributes=[nan]),
            fact("A", "B", "2023", "2", unit="USD"),
        ],
        relations=[ingest_pb2.RelationRecord(subject="B", relation="parent_of")],
    )
    frames = here.store_facts(records)
    (rejected,) = [frame.rejected for frame in frames if frame.WhichOneof("message") == "rejected"]
    assert [(row.row, row.column) for row in rejected.rows] == [
        (2, "value"),
        (3, "period"),
        (4, "attributes[0].value.double_value"),
        (6, "object"),
        (6, "source_doc"),
        (6, "locator"),
    ]
    assert (frames[-1].summary.stored, frames[-1].summary.failed) == (2, 4)


def test_a_withdrawn_document_is_found_no_more(here: House) -> None:
    here.store({"a.txt": "a walrus"})
    out = here.ingest.WithdrawDocument(ingest_pb2.WithdrawDocumentRequest(library_id="default", doc_id="a.txt"))
    assert (out.revision, out.withdrawn_now) == (1, True)
    assert found(here, "walrus") == []
    again = here.ingest.WithdrawDocument(ingest_pb2.WithdrawDocumentRequest(library_id="default", doc_id="a.txt"))
    assert not again.withdrawn_now
    for request, reason in (
        ({"library_id": "default", "doc_id": "never.txt"}, "UNKNOWN_DOCUMENT"),
        ({"library_id": "other", "doc_id": "a.txt"}, "UNKNOWN_LIBRARY"),
        ({}, "INVALID_REQUEST"),
    ):
        asked = ingest_pb2.WithdrawDocumentRequest(**request)
        assert failure_of(lambda asked=asked: here.ingest.WithdrawDocument(asked)).reason == reason


def test_a_document_that_the_caller_may_not_read_cannot_be_withdrawn_either(here: House) -> None:
    here.store({"s.txt": "secret"}, label=ingest_pb2.LABEL_CONFIDENTIAL)
    asked = ingest_pb2.WithdrawDocumentRequest(library_id="default", doc_id="s.txt")
    hidden = failure_of(lambda: here.ingest.WithdrawDocument(asked))
    asked.doc_id = "t.txt"
    missing = failure_of(lambda: here.ingest.WithdrawDocument(asked))
    assert (hidden.code, hidden.reason) == (missing.code, missing.reason)
    assert hidden.message.replace("s.txt", "t.txt") == missing.message


def test_a_label_that_the_server_does_not_know_is_restricted(here: House) -> None:
    here.store({"s.txt": "a walrus"}, label=99)
    assert found(here, "walrus") == []


def test_an_ingest_that_is_open_cannot_be_opened_again(here: House) -> None:
    ingest_id = str(uuid.uuid4())
    talk = Conversation(here.ingest.IngestDocuments)
    talk.say(start(Documents, ingest_id=ingest_id))
    talk.hear("accepted")
    failure = failure_of(lambda: here.ingest.IngestDocuments(iter([start(Documents, ingest_id=ingest_id)])))
    assert (failure.code, failure.reason) == (grpc.StatusCode.ABORTED, "INGEST_ID_IN_USE")
    talk.say(finish(Documents, 0))
    talk.hear("summary")
    talk.end()


def test_a_stopping_server_says_what_is_durable(tmp_path: Path) -> None:
    heard: list[Any] = []
    problems: list[grpc.RpcError] = []
    ready = threading.Event()

    def listen(talk: Conversation) -> None:
        try:
            for frame in talk.call:
                heard.append(frame)
                if frame.WhichOneof("message") == "ack":
                    ready.set()
        except grpc.RpcError as error:
            problems.append(error)

    with house(tmp_path / "data", server__drain_seconds=10) as running:
        talk = Conversation(running.ingest.IngestDocuments)
        listener = threading.Thread(target=listen, args=(talk,))
        listener.start()
        talk.say(start(Documents), Documents(part=document_part(1, "a.txt", b"a walrus")))
        assert ready.wait(10)
    listener.join(10)
    talk.end()
    assert heard[-1].shutting_down.durable_seq == 1
    failure = Failure.of(problems[0])
    assert (failure.code, failure.reason, failure.retry) == (grpc.StatusCode.UNAVAILABLE, "NOT_SERVING", True)
    with house(tmp_path / "data") as again:
        assert found(again, "walrus") == ["a.txt"]


def test_facts_come_as_files_too(here: House) -> None:
    rows = [
        "metric,entity,period,value,unit,source_doc,locator",
        "A,B,2020,1.50,USD,r.csv,row=1",
        "A,B,2021,,USD,r.csv,2",
    ]
    table = "\n".join(rows).encode()
    head = ingest_pb2.FactFileHead(name="figures.csv")
    pieces = [table[at : at + 40] for at in range(0, len(table), 40)]
    parts = [
        ingest_pb2.FactPart(
            seq=seq,
            file=ingest_pb2.FactFilePart(head=head if seq == 1 else None, content=piece, last_part=seq == len(pieces)),
        )
        for seq, piece in enumerate(pieces, 1)
    ]
    sent = [start(Facts), *(Facts(part=part) for part in parts), finish(Facts, len(parts))]
    frames = list(here.ingest.IngestFacts(iter(sent)))
    assert (frames[-1].summary.stored, frames[-1].summary.failed) == (1, 1)
    failure = failure_of(lambda: here.ingest.IngestFacts(iter([start(Facts), Facts(part=ingest_pb2.FactPart(seq=1))])))
    assert failure.reason == "INVALID_REQUEST"
