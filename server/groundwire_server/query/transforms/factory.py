"""The transforms that there are (semantics 7): HyDE, RAG-Fusion, step-back; and the rewriter of the corrective loop."""

from __future__ import annotations

from groundwire_server.query.choice import choose, names_of
from groundwire_server.query.transforms.by_model import ModelTransform, first_passage, queries
from groundwire_server.query.transforms.transform import MAX_QUERIES, Transform

__all__ = ["CORRECTIVE", "HYDE", "TRANSFORMS", "make_rewriter", "make_transform"]

HYDE = "hyde"
CORRECTIVE = "corrective"
_REWRITER = ModelTransform(CORRECTIVE, queries, 1)
_ALL = (
    ModelTransform(HYDE, first_passage, 1, passages=True),
    ModelTransform("rag_fusion", queries, MAX_QUERIES - 1),
    ModelTransform("step_back", queries, 1),
)
TRANSFORMS: tuple[str, ...] = names_of(_ALL)


def make_transform(name: str) -> Transform:
    """A transform by name.

    Raises:
        InvalidRequest: a name that none has; it lists the valid ones.
    """
    return choose(_ALL, name, "query_transform")


def make_rewriter() -> Transform:
    """What writes another query after one that found too little; no call asks for it by name."""
    return _REWRITER
