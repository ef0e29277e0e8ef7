"""Requests of NarrativeService, and what Ask shares with it. Bounds and names are checked by the narrative room."""

from __future__ import annotations

from groundwire.v1 import narrative_pb2
from groundwire_server.narrative import RetrievalMode, RetrievalTuning, RetrieveRequest
from groundwire_server.rpc.findings import Findings

__all__ = ["decode_mode", "decode_retrieve", "decode_tuning"]

_NOT_HERE = ("corrective", "tree", "graph", "adaptive")


def decode_retrieve(
    message: narrative_pb2.NarrativeRetrieveRequest, findings: Findings, default_mode: RetrievalMode
) -> RetrieveRequest:
    """A query with its stages."""
    return RetrieveRequest(
        query=message.query,
        top_k=message.top_k,
        mode=decode_mode(message.mode, findings, default_mode),
        tuning=decode_tuning(message.tuning, findings),
    )


def decode_mode(number: int, findings: Findings, default: RetrievalMode) -> RetrievalMode:
    """Which legs to search; the server's default where the call does not say."""
    if number == 0 or not findings.known("mode", number, narrative_pb2.RetrievalMode.DESCRIPTOR):
        return default
    return RetrievalMode(number)


def decode_tuning(message: narrative_pb2.RetrievalTuning, findings: Findings) -> RetrievalTuning:
    """Stages by name. A switch of a stage that is not built is noted as such; an unset one stays None."""
    for name in _NOT_HERE:
        if getattr(message, name):
            findings.uses(f"tuning.{name}")
    return RetrievalTuning(
        preset=message.preset,
        reranker=message.reranker,
        rerank_depth=message.rerank_depth,
        postprocessors=tuple(message.postprocessors),
        query_transform=message.query_transform,
        glossary_variants=message.glossary_variants if message.HasField("glossary_variants") else None,
        filter_extractor=message.filter_extractor,
        library_router=message.library_router,
        fusion=message.fusion,
        decomposition=message.decomposition,
    )
