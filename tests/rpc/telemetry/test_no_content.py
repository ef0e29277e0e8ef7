"""Log, traces and metrics hold nothing that was stored, asked or answered, and nothing that tells of a hidden row."""

from __future__ import annotations

import json
import logging
import re
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import grpc
import pytest

from groundwire.v1 import (
    admin_pb2,
    glossary_pb2,
    graph_pb2,
    ingest_pb2,
    metric_pb2,
    narrative_pb2,
    router_pb2,
    tools_pb2,
)
from groundwire_server.rpc.log import OURS, ForeignLogs, make_log
from groundwire_server.settings import LogSettings
from tests.rpc.house import Documents, Facts, House, document_part, fact, finish, furnish, house, start, term
from tests.rpc.telemetry.traffic import ask_everything
from tests.rpc.telemetry.watching import Series, Spans, page, scraped
from tests.support.eventually import eventually

# One for each thing that can hold content, in all three languages; figures and codes that nothing else would hold.
CANARIES = {
    "text": "kanarienvogel 金糸雀の巣 金丝雀笼子",
    "doc_id": "papagei/akte-鸚鵡.md",
    "title": "Zeisigtitel 真鶸",
    "attribute": "stieglitzwert",
    "figure": "90817263.55",
    "metric": "FINKENERTRAG",
    "entity": "SPERLINGCO",
    "source": "meisenquelle.csv",
    "query": "lerchenfrage 雲雀はどこ",
    "filter": "amselfilter",
    "history": "drosselverlauf",
    "job_id": "starjob",
    "cursor": "kuckuckzeiger",
    "token": "Bearer zaunkoenig-token",
    "metadata": "wiedehopf",
}
WORDS = sorted(
    {word for text in CANARIES.values() for word in re.findall(r"\w{2,}", text)}
    - {"Bearer", "akte", "csv", "md", "token", "55"}
)


class Outside:
    """All that leaves a server but its answers."""

    def __init__(self, here: House, spans: Spans) -> None:
        self.here = here
        self.spans = spans

    def everything(self) -> str:
        spans = [
            (span.name, span.attributes, span.context, span.parent, span.status.description, span.links, span.resource)
            for span in self.spans.all()
        ]
        events = [(event.name, event.attributes) for span in self.spans.all() for event in span.events]
        return repr((self.here.log(), [str(each) for each in spans], events, page(self.here.server.metrics)))

    def canaries(self) -> list[str]:
        """Words that should not be there."""
        told = self.everything().casefold()
        return [word for word in WORDS if word.casefold() in told]

    def at_rest(self) -> bool:
        return not any(
            value for (name, _), value in scraped(self.here.server.metrics).items() if name == "groundwire_held"
        )


@contextmanager
def outside(data: Path, **settings: Any) -> Iterator[Outside]:
    """A server as `groundwire serve` has it, at its most talkative."""
    spans = Spans()
    with house(data, provider=spans.provider, telemetry__metrics_port=0, log__level="debug", **settings) as here:
        foreign = ForeignLogs(make_log(LogSettings(level="debug", format="json"), here.written))
        root, ours = logging.getLogger(), logging.getLogger(OURS)
        before = ours.level
        root.addHandler(foreign)
        ours.setLevel(logging.DEBUG)
        try:
            yield Outside(here, spans)
        finally:
            root.removeHandler(foreign)
            ours.setLevel(before)


def store_canaries(here: House) -> None:
    text = f"# {CANARIES['title']}\n\n{CANARIES['text']} earned {CANARIES['figure']} USD, says {CANARIES['entity']}."
    value = [{"name": "mood", "value": {"string_value": CANARIES["attribute"]}}]
    for label in (ingest_pb2.LABEL_PUBLIC, ingest_pb2.LABEL_CONFIDENTIAL, ingest_pb2.LABEL_RESTRICTED):
        head: Any = {"title": CANARIES["title"], "attributes": value, "label": label}
        part = Documents(part=document_part(1, f"{label}-{CANARIES['doc_id']}", text.encode(), **head))
        list(here.ingest.IngestDocuments(iter([start(Documents), part, finish(Documents, 1)])))
    bad = Documents(part=document_part(1, CANARIES["doc_id"] + ".pdf", f"%PDF {CANARIES['text']}".encode()))
    list(here.ingest.IngestDocuments(iter([start(Documents), bad, finish(Documents, 1)])))
    metric, entity = glossary_pb2.TERM_KIND_METRIC, glossary_pb2.TERM_KIND_ENTITY
    terms = [term(metric, CANARIES["metric"], CANARIES["metric"].lower()), term(entity, CANARIES["entity"])]
    here.admin.UpdateGlossary(admin_pb2.UpdateGlossaryRequest(library_id="default", put=terms))
    rows = [
        fact(
            CANARIES["metric"],
            CANARIES["entity"],
            "2020",
            CANARIES["figure"],
            unit="USD",
            source_doc=CANARIES["source"],
        ),
        fact(CANARIES["metric"], CANARIES["entity"], CANARIES["query"], CANARIES["text"], unit="USD"),
    ]
    relation = ingest_pb2.RelationRecord(
        subject=CANARIES["entity"], relation="parent_of", object=CANARIES["attribute"], source_doc=CANARIES["source"]
    )
    here.store_facts(ingest_pb2.FactRecords(facts=rows, relations=[relation]))


def calls_with_canaries(here: House) -> list[Callable[[], Any]]:
    """Good and bad calls of all methods that bear something of the caller's own."""
    query, doc_id = CANARIES["query"], CANARIES["doc_id"]
    predicate: Any = {"predicate": {"field": CANARIES["filter"], "eq": {"string_value": CANARIES["filter"]}}}
    known: Any = {"predicate": {"field": "title", "eq": {"string_value": CANARIES["title"]}}}
    history: Any = [{"role": 1, "text": CANARIES["history"]}]
    named = [
        metric_pb2.MetricQuery(metric=m, entity=CANARIES["entity"], period=p)
        for m in (CANARIES["metric"], query)
        for p in ("2020", query)
    ]
    retrieve, admin = narrative_pb2.NarrativeRetrieveRequest, here.admin
    read: Any = here.narrative.NarrativeRetrieve
    return [
        lambda: read(retrieve(query=f"{query} {CANARIES['text']}", options={"hint": known})),
        lambda: read(retrieve(query=query, options={"filter": predicate})),
        lambda: read(retrieve(query=query, options={"filter": known, "explain": 3})),
        lambda: read(retrieve(query=query, options={"library_ids": [CANARIES["filter"]]})),
        lambda: read(retrieve(query=query, options={"language": CANARIES["filter"]})),
        lambda: read(retrieve(query=query, options={"resume": {"token": CANARIES["cursor"].encode()}})),
        lambda: read(retrieve(query=query, options={"request_id": CANARIES["text"]})),
        lambda: read(retrieve(query=query, mode=narrative_pb2.RETRIEVAL_MODE_HYBRID)),
        lambda: read(
            retrieve(query=query, tuning={"library_router": CANARIES["filter"], "reranker": CANARIES["filter"]})
        ),
        lambda: here.metric.QueryMetric(metric_pb2.QueryMetricRequest(queries=named)),
        lambda: here.metric.DescribeMetrics(metric_pb2.DescribeMetricsRequest(metric=query)),
        lambda: here.graph.GraphTrace(
            graph_pb2.GraphTraceRequest(neighborhood={"node_ids": [f"entity:{CANARIES['entity']}"]})
        ),
        lambda: here.graph.GraphTrace(graph_pb2.GraphTraceRequest(neighborhood={"node_ids": [query]})),
        lambda: here.router.Ask(
            router_pb2.AskRequest(question=f"What was {CANARIES['metric']} of {CANARIES['entity']} in 2020?")
        ),
        lambda: here.router.Ask(router_pb2.AskRequest(question=query, history=history)),
        lambda: here.router.Route(router_pb2.RouteRequest(question=query, history=history)),
        lambda: here.tools.ListTools(tools_pb2.ListToolsRequest(library_ids=[CANARIES["filter"]])),
        lambda: here.tools.VerifyCitation(
            tools_pb2.VerifyCitationRequest(lineage={"library_id": "default", "doc_id": doc_id, "chunk_id": query})
        ),
        lambda: admin.GetDocument(admin_pb2.GetDocumentRequest(library_id="default", doc_id=doc_id)),
        lambda: admin.ListRevisions(admin_pb2.ListRevisionsRequest(library_id="default", doc_id=f"1-{doc_id}")),
        lambda: admin.ListDocuments(
            admin_pb2.ListDocumentsRequest(library_id="default", page_token=CANARIES["cursor"])
        ),
        lambda: admin.GetJob(admin_pb2.GetJobRequest(job_id=CANARIES["job_id"])),
        lambda: admin.CancelJob(admin_pb2.CancelJobRequest(job_id=CANARIES["job_id"])),
        lambda: admin.SaveLibrary(
            admin_pb2.SaveLibraryRequest(
                library={"library_id": CANARIES["filter"], "description": query, "index": {"chunker": query}}
            )
        ),
        lambda: admin.DeleteLibrary(
            admin_pb2.DeleteLibraryRequest(library_id="default", confirmation=CANARIES["cursor"])
        ),
        lambda: here.ingest.WithdrawDocument(ingest_pb2.WithdrawDocumentRequest(library_id="default", doc_id=doc_id)),
        lambda: here.ingest.IngestDocuments(iter([start(Documents, ingest_id=CANARIES["cursor"])])),
        lambda: here.ingest.IngestFacts(iter([start(Facts, ingest_id=str(uuid.uuid4())), Facts(part={"seq": 9})])),
        lambda: here.channel.unary_unary(f"/{CANARIES['cursor']}/{CANARIES['filter']}")(query.encode()),
        lambda: here.channel.unary_stream("/groundwire.v1.NarrativeService/NarrativeRetrieve")(query.encode()),
        lambda: read(
            retrieve(query=query), metadata=[("authorization", CANARIES["token"]), ("x-note", CANARIES["metadata"])]
        ),
        lambda: read(
            retrieve(query=query),
            metadata=[("traceparent", CANARIES["metadata"]), ("tracestate", CANARIES["metadata"])],
        ),
        lambda: read(retrieve(query=query), metadata=[("baggage", f"a={CANARIES['metadata']}")]),
    ]


def make(call: Callable[[], Any]) -> str:
    """What became of a call: its status."""
    try:
        answer = call()
        if hasattr(answer, "__next__"):
            list(answer)
    except grpc.RpcError as error:
        return str(error.code().name)  # type: ignore[attr-defined]
    return "OK"


@pytest.mark.parametrize("backend", ["none", "deterministic"])
def test_nothing_that_was_said_or_stored_is_seen_from_outside(tmp_path: Path, backend: str) -> None:
    with outside(tmp_path / "data", embedding__backend=backend) as seen:
        store_canaries(seen.here)
        endings = [make(call) for call in calls_with_canaries(seen.here)]
        # The test is one of something: much went well, much was refused, and for different reasons.
        assert endings.count("OK") >= 10
        assert {"INVALID_ARGUMENT", "NOT_FOUND", "UNIMPLEMENTED"} <= set(endings)
        assert "INTERNAL" not in endings
        assert eventually(seen.at_rest)
        assert seen.canaries() == []
        calls = [line for line in seen.here.log() if line["event"] == "call"]
        assert len(calls) >= len(endings)
        assert all(line["request_id"] for line in calls)


def test_a_fault_of_ours_shows_none_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_args: object, **_more: object) -> None:
        logging.getLogger("groundwire_server.engine").warning("a line of ours")
        raise ValueError(CANARIES["text"], CANARIES["query"])

    with outside(tmp_path / "data") as seen:
        store_canaries(seen.here)
        monkeypatch.setattr("groundwire_server.engine.engine.retrieve", broken)
        request = narrative_pb2.NarrativeRetrieveRequest(query=CANARIES["query"], options={"request_id": "the-call"})  # type: ignore[arg-type]
        assert make(lambda: seen.here.narrative.NarrativeRetrieve(request)) == "INTERNAL"
        assert eventually(seen.at_rest)
        assert seen.canaries() == []
        # What a room writes in a thread that works for a call names it, as the guard's own lines do.
        lines = [line for line in seen.here.log() if line.get("request_id") == "the-call"]
        assert {line["event"] for line in lines} == {"a line of ours", "fault", "call"}
        assert len({line["trace_id"] for line in lines if "trace_id" in line}) == 1


def test_a_name_that_a_caller_made_up_would_be_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("guard", "telemetry.call_metrics", "telemetry.call_spans"):
        monkeypatch.setattr(f"groundwire_server.rpc.{module}.shown_method", lambda method: method)
        with outside(tmp_path / module) as seen:
            make(lambda seen=seen: seen.here.channel.unary_unary(f"/{CANARIES['cursor']}/{CANARIES['filter']}")(b""))  # type: ignore[misc]
            assert eventually(seen.at_rest)
            assert seen.canaries() == sorted([CANARIES["cursor"], CANARIES["filter"]])
        monkeypatch.undo()


# ---- hidden rows


def hide_more(here: House) -> None:
    """Rows that the caller may not read, of every kind."""
    for label in (ingest_pb2.LABEL_CONFIDENTIAL, ingest_pb2.LABEL_RESTRICTED):
        here.store(
            {f"more/{label}-{number}.md": f"Another fox {number} of Japan, revenue 12." for number in range(40)},
            label=label,
        )
        here.store_facts(
            ingest_pb2.FactRecords(
                facts=[
                    fact(
                        "population",
                        "Japan",
                        "2020",
                        str(number),
                        unit="persons",
                        label=label,
                        source_doc=f"{number}.csv",
                    )
                    for number in range(40)
                ],
                relations=[
                    ingest_pb2.RelationRecord(
                        subject="ASIA", relation="parent_of", object=f"X{number}", source_doc="x.csv", label=label
                    )
                    for number in range(40)
                ],
            )
        )


_TIMES = ("_seconds_sum", "_seconds_bucket")


def _numbers(found: dict[Series, float]) -> dict[Series, float]:
    """All but what goes with time, with memory, or with the length of a time as it is written."""
    left_out = ("process_", "python_gc_", "groundwire_sent_bytes", "groundwire_messages_sent", "groundwire_build")
    return {
        key: value for key, value in found.items() if not key[0].startswith(left_out) and not key[0].endswith(_TIMES)
    }


def _seen(seen: Outside) -> dict[str, Any]:
    before = _numbers(scraped(seen.here.server.metrics))
    ask_everything(seen.here)
    for number, call in enumerate(calls_with_canaries(seen.here)):
        if number not in _WRITES:
            with suppress(grpc.RpcError):
                make(call)
    assert eventually(seen.at_rest)
    after = _numbers(scraped(seen.here.server.metrics))
    plain = ("groundwire.request_id", "groundwire.sent_bytes", "groundwire.messages_sent")
    spans = sorted(
        (
            span.name,
            str(sorted((k, v) for k, v in (span.attributes or {}).items() if k not in plain)),
            str([event.attributes for event in span.events]),
        )
        for span in seen.spans.all()
    )
    lines = [
        {k: v for k, v in line.items() if k not in ("ms", "frames", "timestamp", "request_id", "trace_id")}
        for line in seen.here.log()
    ]
    return {
        "before": before,
        "after": after,
        "spans": spans,
        "lines": sorted(json.dumps(line, sort_keys=True) for line in lines),
    }


_WRITES = {22, 23, 24, 25, 26, 27}


def test_hidden_rows_change_nothing_that_is_seen_from_outside(tmp_path: Path) -> None:
    found = []
    for name in ("with", "without"):
        data, settings = tmp_path / name, {"embedding__backend": "deterministic", "secret": "s"}
        with house(data, **settings) as here:
            furnish(here)
            if name == "with":
                hide_more(here)
            assert eventually(lambda here=here: not here.server.engine.jobs._board.open_jobs())  # type: ignore[misc]
        with outside(data, **settings) as seen:
            seen.here.server.engine.wait_for_embedder(20)
            found.append(_seen(seen))
    one, other = found
    for part in one:
        assert one[part] == other[part], part
    assert one["after"] != one["before"]
