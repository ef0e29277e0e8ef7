"""Real and injected failures: no exception's text, no content, reaches a client or a log; the server stays up."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from groundwire.v1 import admin_pb2, ingest_pb2, metric_pb2, narrative_pb2, narrative_pb2_grpc
from groundwire_server.engine import Engine
from groundwire_server.evidence import (
    Call,
    EndReason,
    Header,
    Label,
    Lineage,
    Snippet,
    Snippets,
    Summary,
    TextPassage,
    Trust,
)
from groundwire_server.lexical import LexicalIndex
from groundwire_server.library import Library
from tests.rpc.house import House, facts, finish, furnish, house, snippets, start
from tests.rpc.serving import failure_of
from tests.support.eventually import eventually

CANARY = "kanarienvogel"
Retrieve = narrative_pb2.NarrativeRetrieveRequest


@pytest.fixture
def here(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path / "data") as running:
        furnish(running)
        yield running


def boom(*_args: object, **_kwargs: object) -> Any:
    raise RuntimeError(f"{CANARY} {HIDDEN}", CANARY)


HIDDEN = "The secret kanarienvogel fox hides in the vault."


def nothing_leaked(here: House, capfd: pytest.CaptureFixture[str]) -> None:
    out, err = capfd.readouterr()
    assert CANARY not in here.written.getvalue()
    assert CANARY not in out + err


STAGES: list[tuple[object, str, Callable[[House], Any]]] = [
    (LexicalIndex, "search", lambda here: here.narrative.NarrativeRetrieve(Retrieve(query="fox"))),
    (Engine, "retrieve", lambda here: here.narrative.NarrativeRetrieve(Retrieve(query="fox"))),
    (
        Engine,
        "query_metric",
        lambda here: here.metric.QueryMetric(
            metric_pb2.QueryMetricRequest(queries=[{"metric": "a", "entity": "b", "period": "2020"}])
        ),
    ),
    (Engine, "list_libraries", lambda here: here.admin.ListLibraries(admin_pb2.ListLibrariesRequest())),
    (Engine, "server_info", lambda here: here.admin.GetServerInfo(admin_pb2.GetServerInfoRequest())),
    (
        Engine,
        "withdraw",
        lambda here: here.ingest.WithdrawDocument(ingest_pb2.WithdrawDocumentRequest(library_id="default", doc_id="x")),
    ),
    (
        Library,
        "writing",
        lambda here: here.ingest.IngestFacts(
            iter(
                [
                    start(ingest_pb2.IngestFactsRequest),
                    ingest_pb2.IngestFactsRequest(part=ingest_pb2.FactPart(seq=1, records=facts())),
                    finish(ingest_pb2.IngestFactsRequest, 1),
                ]
            )
        ),
    ),
]


@pytest.mark.parametrize(("owner", "name", "call"), STAGES, ids=[name for _, name, _ in STAGES])
def test_a_fault_in_any_stage_is_internal_and_silent(
    here: House,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    owner: object,
    name: str,
    call: Callable[[House], Any],
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, boom)
        failure = failure_of(lambda: call(here))
    assert (failure.code, failure.reason) == (grpc.StatusCode.INTERNAL, "INTERNAL")
    assert CANARY.encode() not in failure.raw
    fault = [line for line in here.log() if line["event"] == "fault"][-1]
    assert fault["request_id"] == failure.metadata["request_id"]
    assert fault["error"] == "RuntimeError"
    nothing_leaked(here, capfd)
    assert snippets(here.narrative.NarrativeRetrieve(Retrieve(query="fox")))


def test_a_fault_in_the_middle_of_a_stream_ends_it_without_a_summary(
    here: House, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    whole = Engine.retrieve

    def half(self: Engine, request: Any, call: Call) -> Iterator[Any]:
        yield from list(whole(self, request, call))[:-1]
        boom()

    monkeypatch.setattr(Engine, "retrieve", half)
    stream = here.narrative.NarrativeRetrieve(Retrieve(query="fox"))
    assert next(stream).HasField("header")
    assert next(stream).HasField("batch")
    failure = failure_of(lambda: stream)
    assert failure.code is grpc.StatusCode.INTERNAL
    nothing_leaked(here, capfd)


def test_a_stream_that_ends_without_summary_never_looks_whole(here: House, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Engine.retrieve
    monkeypatch.setattr(Engine, "retrieve", lambda *args: iter(list(whole(*args))[:-1]))
    failure = failure_of(lambda: here.narrative.NarrativeRetrieve(Retrieve(query="fox")))
    assert failure.code is grpc.StatusCode.INTERNAL
    fault = [line for line in here.log() if line["event"] == "fault"][-1]
    assert fault["fault"] == "end without summary"


@pytest.mark.parametrize("label", [Label.CONFIDENTIAL, Label.RESTRICTED])
def test_the_encoder_refuses_what_the_caller_may_not_read(
    here: House, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], label: Label
) -> None:
    hidden = Snippet("0" * 32, Lineage("default"), Trust.CITABLE, TextPassage(HIDDEN), label)

    def leak(_self: Engine, _request: Any, call: Call) -> Iterator[Any]:
        yield Header((), (), call.reference_day)
        yield Snippets((hidden,))
        yield Summary(EndReason.EXHAUSTED)

    monkeypatch.setattr(Engine, "retrieve", leak)
    failure = failure_of(lambda: here.narrative.NarrativeRetrieve(Retrieve(query="fox")))
    assert failure.code is grpc.StatusCode.INTERNAL
    assert CANARY.encode() not in failure.raw
    nothing_leaked(here, capfd)


def test_a_damaged_store_is_no_leak_and_the_other_libraries_answer(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with house(tmp_path / "data") as before:
        furnish(before)
        before.admin.SaveLibrary(admin_pb2.SaveLibraryRequest(library=admin_pb2.Library(library_id="other")))
        before.store({"o.txt": "another fox"}, library="other")
    store = tmp_path / "data" / "libraries" / "default" / "store.sqlite"
    damaged = bytearray(store.read_bytes())
    damaged[100 : len(damaged)] = CANARY.encode() * ((len(damaged) - 100) // len(CANARY)) + b"x" * (
        (len(damaged) - 100) % len(CANARY)
    )
    store.write_bytes(bytes(damaged))
    with house(tmp_path / "data") as after:
        alone = failure_of(
            lambda: after.narrative.NarrativeRetrieve(Retrieve(query="fox", options={"library_ids": ["default"]}))
        )
        assert alone.code is grpc.StatusCode.UNAVAILABLE
        assert CANARY.encode() not in alone.raw
        frames = list(after.narrative.NarrativeRetrieve(Retrieve(query="fox")))
        assert [each.lineage.doc_id for each in snippets(frames)] == ["o.txt"]
        lost = [each for each in frames[-1].summary.degradations if each.library_id == "default"]
        assert [narrative_kind(each) for each in lost] == ["LIBRARY_UNREACHABLE"]
        listed = after.admin.ListLibraries(admin_pb2.ListLibrariesRequest()).libraries
        assert [(each.library_id, each.HasField("fault"), each.documents) for each in listed] == [
            ("default", True, 0),
            ("other", False, 1),
        ]
        nothing_leaked(after, capfd)


def narrative_kind(degradation: Any) -> str:
    descriptor = degradation.DESCRIPTOR.fields_by_name["kind"].enum_type
    return str(descriptor.values_by_number[degradation.kind].name).removeprefix("DEGRADATION_KIND_")


# ---- cancellation --------------------------------------------------------------------------------------------------


class Slow:
    """A retrieval that works until its token says stop."""

    def __init__(self) -> None:
        self.begun, self.ended = threading.Event(), threading.Event()

    def __call__(self, _engine: Engine, _request: Any, call: Call) -> Iterator[Any]:
        pause = threading.Event()
        try:
            yield Header((), (), call.reference_day)
            self.begun.set()
            while True:
                call.cancel.check("slow")
                pause.wait(0.001)
        finally:
            self.ended.set()


@pytest.mark.parametrize("ending", ["cancel", "deadline", "channel"])
def test_work_stops_when_nobody_waits(here: House, monkeypatch: pytest.MonkeyPatch, ending: str) -> None:
    slow = Slow()
    monkeypatch.setattr(Engine, "retrieve", lambda *args: slow(*args))
    channel = grpc.insecure_channel(here.server.address)
    stub = narrative_pb2_grpc.NarrativeServiceStub(channel)
    stream = stub.NarrativeRetrieve(Retrieve(query="fox"), timeout=0.3 if ending == "deadline" else None)
    assert next(stream).HasField("header")
    assert slow.begun.wait(5)
    if ending == "cancel":
        stream.cancel()
    if ending == "channel":
        channel.close()
    assert slow.ended.wait(5)
    assert eventually(lambda: not any(here.server.leftovers.values()))
    channel.close()


def test_many_cancelled_calls_leave_no_thread_busy(here: House) -> None:
    for _ in range(50):
        stream = here.narrative.NarrativeRetrieve(Retrieve(query="report", top_k=200))
        next(stream)
        stream.cancel()
    assert snippets(here.narrative.NarrativeRetrieve(Retrieve(query="fox")))
    assert eventually(lambda: not any(here.server.leftovers.values()))
