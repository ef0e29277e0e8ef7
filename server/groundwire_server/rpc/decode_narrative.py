"""Requests of NarrativeService, and what Ask shares with it. Bounds and names are checked by the narrative room."""

from __future__ import annotations

from collections.abc import Iterable

from groundwire.v1 import narrative_pb2
from groundwire_server.narrative import RetrievalMode, RetrievalTuning, RetrieveRequest, mode_of_preset
from groundwire_server.rpc.findings import Findings

__all__ = ["decode_mode", "decode_retrieve", "decode_tuning"]

# Switches and names of stages that the contract knows and that are not built. A name that nobody knows is refused by
# the narrative room, with those that are there.
_NOT_HERE = ("tree",)
_NAMES_NOT_HERE: dict[str, frozenset[str]] = {
    "reranker": frozenset({"auto", "ce", "colbert", "cross_encoder", "listwise", "maxsim", "splade"}),
    "postprocessors": frozenset({"compress", "fold_duplicates", "lost_in_middle", "mmr"}),
}


def decode_retrieve(
    message: narrative_pb2.NarrativeRetrieveRequest, findings: Findings, default_mode: RetrievalMode
) -> RetrieveRequest:
    """A query with its stages."""
    return RetrieveRequest(
        query=message.query,
        top_k=message.top_k,
        mode=decode_mode(message.mode, findings, mode_of_preset(message.tuning.preset, default_mode)),
        tuning=decode_tuning(message.tuning, findings) if message.HasField("tuning") else RetrievalTuning(),
    )


def decode_mode(number: int, findings: Findings, default: RetrievalMode) -> RetrievalMode:
    """Which legs to search; the server's default where the call does not say."""
    if number == 0 or not findings.known("mode", number, narrative_pb2.RetrievalMode.DESCRIPTOR):
        return default
    return RetrievalMode(number)


def decode_tuning(message: narrative_pb2.RetrievalTuning, findings: Findings) -> RetrievalTuning:
    """Stages by name. What asks for a stage that is not built is noted as such and left out; unset stays None."""
    for name in _NOT_HERE:
        if getattr(message, name):
            findings.uses(f"tuning.{name}")
    return RetrievalTuning(
        preset=message.preset,
        reranker=_name(message, "reranker", findings),
        rerank_depth=message.rerank_depth if message.reranker not in _NAMES_NOT_HERE["reranker"] else 0,
        postprocessors=_postprocessors(message.postprocessors, findings),
        query_transform=message.query_transform,
        glossary_variants=message.glossary_variants if message.HasField("glossary_variants") else None,
        filter_extractor=message.filter_extractor,
        corrective=message.corrective if message.HasField("corrective") else None,
        corrective_judge=message.corrective_judge,
        library_router=message.library_router,
        fusion=message.fusion,
        graph=message.graph if message.HasField("graph") else None,
        decomposition=message.decomposition,
        adaptive=message.adaptive if message.HasField("adaptive") else None,
    )


def _name(message: narrative_pb2.RetrievalTuning, field: str, findings: Findings) -> str:
    name: str = getattr(message, field)
    if name not in _NAMES_NOT_HERE[field]:
        return name
    findings.uses(f"tuning.{field}")
    return ""


def _postprocessors(names: Iterable[str], findings: Findings) -> tuple[str, ...]:
    """The names that are not of the contract's, for the narrative room to judge."""
    given = tuple(names)
    if any(name in _NAMES_NOT_HERE["postprocessors"] for name in given):
        findings.uses("tuning.postprocessors")
        return ()
    return given
