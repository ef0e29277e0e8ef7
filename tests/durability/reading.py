"""What a caller sees of a library, through the wire, and whether it is whole."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

import grpc
from google.protobuf.message import Message

from groundwire import CitationVerdict, Client, GraphEdge, MetricFact, MetricFound, MetricQuery, Snippet, TextPassage
from groundwire.v1 import (
    graph_pb2,
    graph_pb2_grpc,
    metric_pb2,
    metric_pb2_grpc,
    narrative_pb2,
    narrative_pb2_grpc,
    stream_pb2,
)
from tests.durability.state import FigureKey, Relation, State
from tests.durability.texts import MARKER
from tests.durability.workload import FIGURES_ASKED
from tests.support.canonical import canonical

__all__ = ["Seen", "answers", "assert_exact", "assert_whole", "look", "wait_embedded"]

_ALL = 10_000
_LONGEST_WAIT = 60.0


@dataclass(frozen=True)
class Seen:
    """All that can be read.

    documents: id to the passages found, in text order. figures: of those asked for. counts: documents, chunks, facts
    and relations as ListLibraries has them.
    """

    documents: Mapping[str, list[Snippet]]
    figures: Mapping[FigureKey, str | None]
    relations: frozenset[Relation]
    counts: tuple[int, int, int, int]

    def is_of(self, state: State) -> bool:
        """Whether this is the state, by what can be told without reading the texts."""
        return not self.differences(state)

    def differences(self, state: State) -> list[str]:
        """How this is another state."""
        found = {doc_id: passages[0].lineage.revision for doc_id, passages in self.documents.items()}
        wanted = {doc_id: revision for doc_id, (revision, _) in state.documents.items()}
        figures = {key: state.figure(key) for key in self.figures}
        chunks = sum(map(len, self.documents.values()))
        counts = (len(wanted), chunks, len(state.figures), len(state.relations))
        pairs = {
            "documents": (found, wanted),
            "figures": (_given(self.figures), _given(figures)),
            "relations": (self.relations, state.relations),
            "counts": (self.counts, counts),
        }
        return [f"{name}: {seen} instead of {right}" for name, (seen, right) in pairs.items() if seen != right]


def _given(figures: Mapping[FigureKey, str | None]) -> dict[FigureKey, str]:
    return {key: value for key, value in figures.items() if value is not None}


def look(client: Client) -> Seen:
    """Read everything."""
    libraries = client.list_libraries()
    if not libraries:
        return Seen({}, dict.fromkeys(FIGURES_ASKED), frozenset(), (0, 0, 0, 0))
    (library,) = libraries
    documents: defaultdict[str, list[Snippet]] = defaultdict(list)
    for snippet in client.retrieve(MARKER, mode="lexical", top_k=_ALL).collect().snippets:
        documents[snippet.lineage.doc_id].append(snippet)
    for passages in documents.values():
        passages.sort(key=_seq)
    return Seen(
        dict(documents),
        _figures(client),
        _relations(client) if library.relations else frozenset(),
        (library.documents, library.active_chunks, library.facts, library.relations),
    )


def assert_whole(seen: Seen, state: State, chunks: Mapping[tuple[str, int], int]) -> None:
    """Every document is there with all of its text and nothing else.

    chunks: how many each revision has, of those whose outcome was told.
    """
    for doc_id, passages in seen.documents.items():
        revision, text = state.documents[doc_id]
        assert {passage.lineage.revision for passage in passages} == {revision}, doc_id
        assert [_seq(passage) for passage in passages] == list(range(len(passages))), doc_id
        assert len(passages) == chunks.get((doc_id, revision), len(passages)), doc_id
        covered = [False] * len(text)
        for passage in passages:
            span, payload = passage.lineage.span, passage.payload
            assert span is not None
            assert isinstance(payload, TextPassage)
            assert payload.text == text[span.start : span.end], passage.lineage.chunk_id
            covered[span.start : span.end] = [True] * (span.end - span.start)
        left = "".join(sign for sign, here in zip(text, covered, strict=True) if not here)
        assert not left.strip(), f"{doc_id}: no passage holds {left.strip()[:80]!r}"


def assert_exact(seen: Seen, client: Client) -> None:
    """Every passage is a citation that holds."""
    for passages in seen.documents.values():
        for passage in passages:
            assert client.verify(passage).verdict is CitationVerdict.EXACT, passage.lineage.chunk_id


def wait_embedded(client: Client, dies: Callable[[float], bool]) -> bool:
    """Until everything has its vector. False when the server died before: `dies` waits a moment for that."""
    patience = time.monotonic() + _LONGEST_WAIT
    while coverages := [library.embedding_coverage for library in client.list_libraries()]:
        if coverages == [1.0]:
            return True
        if dies(0.01):
            return False
        assert time.monotonic() < patience, f"the embedding stands still at {coverages}"
    return True


def answers(address: str) -> dict[str, bytes]:
    """Canonical streams of calls of every kind, by what is asked."""
    options = stream_pb2.CallOptions(reference_date="2026-01-31")  # else the day of asking stands in the answers
    with grpc.insecure_channel(address) as channel:
        narrative = narrative_pb2_grpc.NarrativeServiceStub(channel)
        metric = metric_pb2_grpc.MetricServiceStub(channel)
        graph = graph_pb2_grpc.GraphServiceStub(channel)
        calls: dict[str, Callable[[], Iterable[Message]]] = {}
        for mode in ("LEXICAL", "HYBRID", "VECTOR"):
            number = narrative_pb2.RetrievalMode.Value(f"RETRIEVAL_MODE_{mode}")
            for query in ("closed piers", "係留料と桟橋", "防波堤的檢查", "turnover of the harbour 貨物量"):
                request = narrative_pb2.NarrativeRetrieveRequest(options=options, query=query, top_k=40, mode=number)
                calls[f"{mode} {query}"] = partial(narrative.NarrativeRetrieve, request)
        queries = [metric_pb2.MetricQuery(metric=m, entity=e, period=p) for m, e, p in FIGURES_ASKED]
        for name in ("LATEST", "ALL"):
            version = metric_pb2.VersionPolicy.Value(f"VERSION_POLICY_{name}")
            asked = metric_pb2.QueryMetricRequest(options=options, queries=queries, versions=version)
            calls[f"figures {name}"] = partial(metric.QueryMetric, asked)
        around = graph_pb2.Neighborhood(node_ids=["entity:ACME"], max_hops=3)
        calls["relations"] = partial(
            graph.GraphTrace, graph_pb2.GraphTraceRequest(options=options, neighborhood=around)
        )
        return {name: canonical(call()) for name, call in calls.items()}


def _figures(client: Client) -> dict[FigureKey, str | None]:
    figures = client.query_metric([MetricQuery(*key) for key in FIGURES_ASKED]).collect()
    found: dict[FigureKey, str | None] = {}
    for key, outcome in zip(FIGURES_ASKED, figures.outcomes, strict=True):
        found[key] = None
        if isinstance(outcome.outcome, MetricFound):
            (snippet,) = figures.of(outcome)
            assert isinstance(snippet.payload, MetricFact)
            found[key] = snippet.payload.value
    return found


def _relations(client: Client) -> frozenset[Relation]:
    trace = client.neighborhood(["entity:ACME"], max_hops=3).collect()
    edges = [snippet.payload for snippet in trace.snippets]
    assert all(isinstance(edge, GraphEdge) for edge in edges)
    return frozenset(
        (edge.source.node_id, edge.relation, edge.target.node_id) for edge in edges if isinstance(edge, GraphEdge)
    )


def _seq(snippet: Snippet) -> int:
    return int(snippet.lineage.chunk_id.rpartition("#c")[2])
