"""Names that the seeds gave to settings."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Alias", "alias_of"]


@dataclass(frozen=True, slots=True)
class Alias:
    """A name of the seeds. Without a `setting` only the values that mean "off" are accepted."""

    setting: str = ""
    feature: str = ""
    off: frozenset[str] = frozenset({"", "none", "off", "0", "false", "no"})


_ALIASES: dict[str, Alias] = {
    "RAGSPINE_RETRIEVAL_MODE": Alias("retrieval.mode"),
    "RAGSPINE_EMBEDDING": Alias("embedding.backend"),
    "RAGSPINE_EMBEDDING_BACKEND": Alias("embedding.backend"),
    "RAGSPINE_CHUNKER": Alias("ingest.chunker"),
    "RAGSPINE_RERANKER": Alias(feature="Reranking"),
    "RAGSPINE_POSTPROCESSOR": Alias(feature="Postprocessing"),
    "RAGSPINE_QUERY_TRANSFORM": Alias("retrieval.query_transform"),
    "RAGSPINE_QUERY_DECOMPOSE": Alias("retrieval.decomposition"),
    "RAGSPINE_ADAPTIVE": Alias("retrieval.adaptive"),
    "RAGSPINE_CORRECTIVE": Alias("retrieval.corrective"),
    "RAGSPINE_CONTEXTUAL": Alias("ingest.contextual"),
    "RAGSPINE_RAPTOR": Alias(feature="The summary tree"),
    "RAGSPINE_GRAPH_STORE": Alias(
        feature="Another graph store", off=frozenset({"", "default", "sqlite", "memory", "inprocess"})
    ),
    "RAGSPINE_RELATION_EXTRACTOR": Alias("ingest.relation_extractor"),
    "RAGSPINE_VISUAL_EMBEDDER": Alias(feature="Retrieval of page images"),
    "ASK_RAPTOR": Alias(feature="The summary tree"),
}


def alias_of(variable: str) -> Alias | None:
    """What a variable of the environment meant to the seeds; None: nothing."""
    if variable.startswith("RAGSPINE_RAPTOR"):
        return _ALIASES["RAGSPINE_RAPTOR"]
    return _ALIASES.get(variable)
