"""A call of every method, as bytes, and a gate at which the server's threads can be held."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

import grpc
import pytest
from google.protobuf.message import Message

from groundwire.v1 import (
    admin_pb2,
    evidence_pb2,
    graph_pb2,
    ingest_pb2,
    metric_pb2,
    narrative_pb2,
    router_pb2,
    stream_pb2,
    tools_pb2,
    value_pb2,
)
from groundwire_server.rpc.work import WorkPool
from tests.rpc.house import Documents, Facts, House, document_part, fact, finish, start
from tests.support.eventually import eventually

__all__ = ["LONG", "NARROW", "REQUESTS", "Gate", "begin", "fill", "gate", "nothing_left"]

LIBRARY = "default"
NARROW = [
    ("grpc.http2.bdp_probe", 0),
    ("grpc.http2.lookahead_bytes", 1 << 16),
    ("grpc.use_local_subchannel_pool", 1),
]
"""Of a channel on which a stream may have little under way."""

_DOCUMENTS, _FIGURES = 24, 500
_OPTIONS = stream_pb2.CallOptions(explain=stream_pb2.EXPLAIN_LEVEL_PLAN, language="en")


def fill(here: House) -> None:
    """A library whose answers are longer than a narrow channel takes at once."""
    library = admin_pb2.Library(library_id=LIBRARY, index=admin_pb2.IndexSettings(chunker="whole"))
    here.admin.SaveLibrary(admin_pb2.SaveLibraryRequest(library=library))
    here.store({f"{at}.md": f"Population of {at} and 売上高. " + "filler 人口 " * 1500 for at in range(_DOCUMENTS)})
    relations = [
        ingest_pb2.RelationRecord(
            subject="ROOT", relation="parent_of", object=f"N{at}", object_kind="entity", locator=f"line={at}"
        )
        for at in range(_FIGURES)
    ]
    for each in relations:
        each.source_doc = "relations.jsonl"
    facts = [fact("population", f"N{at}", "2020", str(at), unit="persons") for at in range(_FIGURES)]
    here.store_facts(ingest_pb2.FactRecords(facts=facts, relations=relations))
    for _ in range(3):  # all threads open what they need
        for call in [begin(here.channel, LONG[0]) for _ in range(8)]:
            list(call)


def _documents() -> list[Message]:
    part = document_part(1, "new.md", b"Something new.")
    return [start(Documents, LIBRARY), Documents(part=part), finish(Documents, 1)]


def _facts() -> list[Message]:
    records = ingest_pb2.FactRecords(facts=[fact("population", "N1", "2021", "7", unit="persons")])
    return [start(Facts, LIBRARY), Facts(part=ingest_pb2.FactPart(seq=1, records=records)), finish(Facts, 1)]


def _figures() -> list[metric_pb2.MetricQuery]:
    return [metric_pb2.MetricQuery(metric="population", entity=f"N{at}", period="2020") for at in range(_FIGURES)]


REQUESTS: dict[str, Callable[[], list[Message]]] = {
    "NarrativeService/NarrativeRetrieve": lambda: [
        narrative_pb2.NarrativeRetrieveRequest(query="population 売上高", top_k=_DOCUMENTS, options=_OPTIONS)
    ],
    "MetricService/QueryMetric": lambda: [metric_pb2.QueryMetricRequest(queries=_figures(), options=_OPTIONS)],
    "MetricService/DescribeMetrics": lambda: [metric_pb2.DescribeMetricsRequest()],
    "GraphService/GraphTrace": lambda: [
        graph_pb2.GraphTraceRequest(
            closure=graph_pb2.Closure(node_ids=["ROOT"], relations=["parent_of"]), options=_OPTIONS
        )
    ],
    "RouterService/Ask": lambda: [
        router_pb2.AskRequest(question="What does the text say about 売上高?", top_k=_DOCUMENTS, options=_OPTIONS)
    ],
    "RouterService/Route": lambda: [router_pb2.RouteRequest(question="population of N1 in 2020")],
    "ToolService/ListTools": lambda: [tools_pb2.ListToolsRequest()],
    "ToolService/VerifyCitation": lambda: [
        tools_pb2.VerifyCitationRequest(
            lineage=evidence_pb2.Lineage(
                library_id=LIBRARY, doc_id="1.md", revision=1, span=value_pb2.Span(start=0, end=10)
            ),
            quote="Population",
        )
    ],
    "IngestService/IngestDocuments": _documents,
    "IngestService/IngestFacts": _facts,
    "IngestService/WithdrawDocument": lambda: [
        ingest_pb2.WithdrawDocumentRequest(library_id=LIBRARY, doc_id="never-there.md")
    ],
    "AdminService/GetServerInfo": lambda: [admin_pb2.GetServerInfoRequest()],
    "AdminService/ListLibraries": lambda: [admin_pb2.ListLibrariesRequest()],
    "AdminService/SaveLibrary": lambda: [
        admin_pb2.SaveLibraryRequest(library=admin_pb2.Library(library_id="other"), validate_only=True)
    ],
    "AdminService/UpdateGlossary": lambda: [admin_pb2.UpdateGlossaryRequest(library_id=LIBRARY, validate_only=True)],
    "AdminService/ListDocuments": lambda: [admin_pb2.ListDocumentsRequest(library_id=LIBRARY)],
    "AdminService/GetDocument": lambda: [admin_pb2.GetDocumentRequest(library_id=LIBRARY, doc_id="1.md")],
    "AdminService/ListRevisions": lambda: [admin_pb2.ListRevisionsRequest(library_id=LIBRARY, doc_id="1.md")],
    "AdminService/DiffRevisions": lambda: [
        admin_pb2.DiffRevisionsRequest(library_id=LIBRARY, doc_id="1.md", old_revision=1, new_revision=1)
    ],
    "AdminService/ListFacts": lambda: [admin_pb2.ListFactsRequest(library_id=LIBRARY, page_size=500)],
    "AdminService/ListRelations": lambda: [admin_pb2.ListRelationsRequest(library_id=LIBRARY, page_size=500)],
    "AdminService/DeleteLibrary": lambda: [admin_pb2.DeleteLibraryRequest(library_id=LIBRARY, validate_only=True)],
    "AdminService/StartReindex": lambda: [admin_pb2.StartReindexRequest(library_id=LIBRARY, validate_only=True)],
    "AdminService/PurgeRevisions": lambda: [admin_pb2.PurgeRevisionsRequest(library_id=LIBRARY, validate_only=True)],
    "AdminService/GetJob": lambda: [admin_pb2.GetJobRequest(job_id="j-never")],
    "AdminService/WatchJob": lambda: [admin_pb2.WatchJobRequest(job_id="j-never")],
    "AdminService/CancelJob": lambda: [admin_pb2.CancelJobRequest(job_id="j-never")],
    "AdminService/ListJobs": lambda: [admin_pb2.ListJobsRequest()],
}
"""Method to its requests."""

LONG = (
    "NarrativeService/NarrativeRetrieve",
    "MetricService/QueryMetric",
    "GraphService/GraphTrace",
    "RouterService/Ask",
    "AdminService/ListFacts",
)
"""Methods whose answers a narrow channel does not take at once."""


def begin(channel: grpc.Channel, method: str, requests: list[Message] | None = None, **more: Any) -> Any:
    """Begin a call of whatever kind; its frames are bytes, and nothing is read before somebody asks for them."""
    path, raw = f"/groundwire.v1.{method}", cast(Any, channel)
    sent = [each.SerializeToString() for each in (REQUESTS[method]() if requests is None else requests)]
    if method.startswith("IngestService/Ingest"):
        return raw.stream_stream(path)(iter(sent), **more)
    return raw.unary_stream(path)(sent[0], **more)


# ---- held threads -------------------------------------------------------------------------------------------------

T = TypeVar("T")


class Gate:
    """Where the work of a server waits while the gate is shut: before it begins, or, in a stream, at a frame."""

    def __init__(self) -> None:
        self._open = threading.Event()
        self._open.set()
        self._at = 0
        self._fault = False
        self.reached = threading.Event()

    def shut(self, *, at: int = 0) -> None:
        """Hold what comes: streams before their frame `at`, all else before it begins."""
        self._at = at
        self.reached.clear()
        self._open.clear()

    def break_at(self, at: int) -> None:
        """Have all work end with a fault, streams at their frame `at`."""
        self._at = at
        self._fault = True

    def open(self) -> None:
        """Let all through."""
        self._fault = False
        self._open.set()

    def through(self, make: Callable[[], T]) -> Callable[[], T]:
        def held() -> T:
            self._pass()
            return make()

        return held

    def frames(self, source: Iterator[bytes]) -> Iterator[bytes]:
        try:
            place = 0
            while True:
                if place == self._at:
                    self._pass()
                try:
                    frame = next(source)
                except StopIteration:
                    return
                yield frame
                place += 1
        finally:
            source.close()  # type: ignore[attr-defined]

    def _pass(self) -> None:
        if self._fault:
            raise RuntimeError("a fault of the test")
        if not self._open.is_set():
            self.reached.set()
            if not self._open.wait(30):
                raise AssertionError("nobody opened the gate")


@contextmanager
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    """A gate before all work of servers in this process; open, until it is shut."""
    here = Gate()
    run, opened, stream = WorkPool.run, WorkPool.open, WorkPool.stream
    with monkeypatch.context() as patch:
        patch.setattr(WorkPool, "run", lambda pool, function: run(pool, here.through(function)))
        patch.setattr(WorkPool, "open", lambda pool, make, close: opened(pool, here.through(make), close))
        patch.setattr(WorkPool, "stream", lambda pool, source: stream(pool, here.frames(source)))
        try:
            yield here
        finally:
            here.open()


# ---- what is left -------------------------------------------------------------------------------------------------


def _tasks(here: House) -> int:
    return len(asyncio.all_tasks(here.server.loop))


def _descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


@contextmanager
def nothing_left(here: House, *, descriptors: bool = True) -> Iterator[None]:
    """What was begun inside has left nothing: no call, work, place, ending, task or descriptor.

    Args:
        descriptors: whether to count these; each new thread of a server opens its own of the store.
    """
    here.admin.ListJobs(admin_pb2.ListJobsRequest())  # the connection is there
    assert eventually(lambda: not any(here.server.leftovers.values()), 30), here.server.leftovers
    tasks, files = _tasks(here), _descriptors()
    yield
    assert eventually(lambda: not any(here.server.leftovers.values()), 30), here.server.leftovers
    assert eventually(lambda: _tasks(here) <= tasks, 30), asyncio.all_tasks(here.server.loop)
    assert not descriptors or eventually(lambda: _descriptors() <= files, 30)
