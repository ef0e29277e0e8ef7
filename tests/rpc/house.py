"""A whole server on a free port, with a small library, called through the generated stubs alone."""

from __future__ import annotations

import io
import json
import uuid
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc

from groundwire.v1 import (
    admin_pb2,
    admin_pb2_grpc,
    evidence_pb2,
    glossary_pb2,
    graph_pb2_grpc,
    ingest_pb2,
    ingest_pb2_grpc,
    metric_pb2_grpc,
    narrative_pb2_grpc,
    router_pb2_grpc,
    tools_pb2_grpc,
)
from groundwire_server.rpc import Running, running
from groundwire_server.rpc.log import make_log
from groundwire_server.settings import Settings, load_settings

Documents = ingest_pb2.IngestDocumentsRequest
Facts = ingest_pb2.IngestFactsRequest


@dataclass
class House:
    """A running server and stubs for all of its services."""

    server: Running
    channel: grpc.Channel
    written: io.StringIO
    narrative: narrative_pb2_grpc.NarrativeServiceStub = field(init=False)
    metric: metric_pb2_grpc.MetricServiceStub = field(init=False)
    graph: graph_pb2_grpc.GraphServiceStub = field(init=False)
    router: router_pb2_grpc.RouterServiceStub = field(init=False)
    tools: tools_pb2_grpc.ToolServiceStub = field(init=False)
    ingest: ingest_pb2_grpc.IngestServiceStub = field(init=False)
    admin: admin_pb2_grpc.AdminServiceStub = field(init=False)

    def __post_init__(self) -> None:
        self.narrative = narrative_pb2_grpc.NarrativeServiceStub(self.channel)
        self.metric = metric_pb2_grpc.MetricServiceStub(self.channel)
        self.graph = graph_pb2_grpc.GraphServiceStub(self.channel)
        self.router = router_pb2_grpc.RouterServiceStub(self.channel)
        self.tools = tools_pb2_grpc.ToolServiceStub(self.channel)
        self.ingest = ingest_pb2_grpc.IngestServiceStub(self.channel)
        self.admin = admin_pb2_grpc.AdminServiceStub(self.channel)

    def log(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.written.getvalue().splitlines()]

    def store(self, texts: dict[str, str], *, label: int = 0, library: str = "default") -> list[Any]:
        """Ingest texts by doc_id; gives all frames."""
        parts = [
            Documents(part=document_part(seq, doc_id, text.encode(), label=label))
            for seq, (doc_id, text) in enumerate(texts.items(), 1)
        ]
        return list(
            self.ingest.IngestDocuments(iter([start(Documents, library), *parts, finish(Documents, len(parts))]))
        )

    def store_facts(self, records: ingest_pb2.FactRecords, library: str = "default") -> list[Any]:
        """Ingest figures and relations; gives all frames."""
        part = Facts(part=ingest_pb2.FactPart(seq=1, records=records))
        return list(self.ingest.IngestFacts(iter([start(Facts, library), part, finish(Facts, 1)])))


def start(kind: Any, library: str = "default", ingest_id: str = "", **more: Any) -> Any:
    opened = ingest_pb2.IngestStart(ingest_id=ingest_id or str(uuid.uuid4()), library_id=library, **more)
    return kind(start=opened)


def finish(kind: Any, last_seq: int) -> Any:
    return kind(finish=ingest_pb2.IngestFinish(last_seq=last_seq))


def document_part(seq: int, doc_id: str, content: bytes, *, label: int = 0, **head: Any) -> ingest_pb2.DocumentPart:
    made = ingest_pb2.DocumentHead(doc_id=doc_id, label=label, **head)  # type: ignore[arg-type]
    return ingest_pb2.DocumentPart(seq=seq, head=made, content=content, last_part=True)


@contextmanager
def house(data: Path, *, provider: Any = None, **settings: object) -> Iterator[House]:
    """Serve a data folder until the block ends. Settings by dotted name, dots written as two underscores.

    provider: of its traces; by default as the settings say.
    """
    named = {name.replace("__", "."): value for name, value in settings.items()}
    chosen: Settings = load_settings(
        {"data": data, "server.port": 0, "embedding.backend": "none", "server.drain_seconds": 1, **named}, environ={}
    )
    written = io.StringIO()
    log = make_log(chosen.log.model_copy(update={"format": "json"}), written)
    with ExitStack() as after, running(chosen, log, provider=provider) as server:
        channel = grpc.insecure_channel(server.address)
        after.callback(channel.close)  # once the server is gone: a stop is seen by the calls that run
        yield House(server, channel, written)


TEXTS = {
    "notes/fox.md": "# Foxes\n\nThe quick brown fox jumps over the lazy dog.\n\nA fox sleeps in a den.",
    "notes/japan.md": "日本の人口は約一億二千万人である。\n\n東京は首都である。",
    "notes/china.txt": "北京是中国的首都。香港的收入增长。",
    **{f"many/{n:03}.txt": f"Report number {n} about rivers, bridges and the price of bread." for n in range(60)},
}
HIDDEN_TEXT = "The secret kanarienvogel fox hides in the vault."


def term(kind: int, code: str, *names: str, **detail: Any) -> glossary_pb2.Term:
    return glossary_pb2.Term(
        kind=kind,  # type: ignore[arg-type]
        code=code,
        synonyms=[glossary_pb2.Synonym(text=name) for name in names],
        **detail,
    )


def glossary() -> list[glossary_pb2.Term]:
    summed = glossary_pb2.MetricDetail(unit="persons", additivity=glossary_pb2.ADDITIVITY_SUM)
    return [
        term(glossary_pb2.TERM_KIND_METRIC, "POPULATION", "population", "人口", metric=summed),
        term(
            glossary_pb2.TERM_KIND_METRIC, "REVENUE", "revenue", "sales", metric=glossary_pb2.MetricDetail(unit="USD")
        ),
        term(glossary_pb2.TERM_KIND_ENTITY, "JPN", "Japan", "日本"),
        term(glossary_pb2.TERM_KIND_ENTITY, "ASIA", "Asia"),
        term(glossary_pb2.TERM_KIND_ENTITY, "ACME", "Acme"),
    ]


def fact(metric: str, entity: str, period: str, value: str, **more: Any) -> ingest_pb2.FactRecord:
    given = {"source_doc": "report.csv", "locator": "row=1", **more}
    return ingest_pb2.FactRecord(metric=metric, entity=entity, period=period, value=value, **given)


def facts() -> ingest_pb2.FactRecords:
    return ingest_pb2.FactRecords(
        facts=[
            fact("population", "Japan", "2020", "126261000", unit="persons"),
            fact("population", "Japan", "2021", "125681593", unit="persons"),
            fact("REVENUE", "ACME", "2020", "1234.50", unit="USD"),
            fact("REVENUE", "ACME", "2020", "1300.00", unit="USD", source_doc="other.csv"),
            fact("REVENUE", "ACME", "2021", "9999", unit="USD", label=ingest_pb2.LABEL_CONFIDENTIAL),
        ],
        relations=[
            ingest_pb2.RelationRecord(
                subject="ASIA", relation="parent_of", object="JPN", source_doc="regions.jsonl", locator="line=1"
            )
        ],
    )


def furnish(here: House) -> None:
    """Documents of three labels, a glossary, figures, a relation."""
    here.store(TEXTS)
    here.store({"secret/vault.md": HIDDEN_TEXT}, label=ingest_pb2.LABEL_CONFIDENTIAL)
    here.store({"secret/never.md": HIDDEN_TEXT}, label=ingest_pb2.LABEL_RESTRICTED)
    here.admin.UpdateGlossary(admin_pb2.UpdateGlossaryRequest(library_id="default", put=glossary()))
    here.store_facts(facts())


def snippets(frames: Iterable[Any]) -> list[evidence_pb2.Snippet]:
    return [each for frame in frames if frame.WhichOneof("frame") == "batch" for each in frame.batch.snippets]


def kinds(frames: Iterable[Any], field_name: str = "frame") -> list[str]:
    return [frame.WhichOneof(field_name) for frame in frames]
