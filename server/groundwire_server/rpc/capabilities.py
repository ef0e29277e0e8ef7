"""What works: one table of features. What is not in it as built is refused with NOT_IMPLEMENTED, never passed over.

Methods are the other half; they stand where their handlers do (`services.build`). A test calls every method and uses
every feature, and compares what happens with what GetServerInfo says.
"""

from __future__ import annotations

__all__ = ["BUILT", "NEEDS_EMBEDDER", "NEEDS_MODEL", "NOT_BUILT", "is_built"]

BUILT: frozenset[str] = frozenset(
    {
        "answer.extractive",
        "answer.none",
        "explain.plan",
        "explain.trace",
        "filter",
        "forbid",
        "glossary.relations",
        "graph.closure",
        "graph.common_ancestors",
        "graph.communities",
        "graph.compare",
        "graph.derivation",
        "graph.neighborhood",
        "graph.paths",
        "graph.rollup",
        "hint",
        "index.contextual_header",
        "index.relation_extractor",
        "ingest.resume",
        "ingest.withdraw_records",
        "known_at",
        "library.attributes",
        "library.reindex",
        "library.tuning",
        "metric.calculations",
        "metric.versions",
        "resume",
        "retrieval.lexical",
        "route.soft_budget",
        "soft_budget",
        "token_budget",
        "tuning.adaptive",
        "tuning.corrective",
        "tuning.decomposition",
        "tuning.filter_extractor",
        "tuning.graph",
        "tuning.preset",
        "valid_at",
    }
)

# Built, and they work while the server has an embedder; without one the call says NO_EMBEDDER.
NEEDS_EMBEDDER: frozenset[str] = frozenset({"retrieval.hybrid", "retrieval.vector"})

# Built, and they work while the server has a language model; without one the call says NO_MODEL, as its error or as the
# cause of a degradation.
NEEDS_MODEL: frozenset[str] = frozenset({"answer.model", "tuning.query_transform"})

# Each is something that a request can ask for today: a field, an operation, a value.
NOT_BUILT: frozenset[str] = frozenset(
    {
        "index.representations",
        "index.tree",
        "tuning.postprocessors",
        "tuning.reranker",
        "tuning.tree",
    }
)


def is_built(feature: str) -> bool:
    """Whether a feature works.

    Raises:
        KeyError: it stands in no table, so nobody has decided.
    """
    if feature in NOT_BUILT:
        return False
    if feature not in BUILT | NEEDS_EMBEDDER | NEEDS_MODEL:
        raise KeyError(feature)
    return True
