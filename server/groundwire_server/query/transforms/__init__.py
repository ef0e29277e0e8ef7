"""Texts that are made of a question and searched with beside it: HyDE, RAG-Fusion, step-back (semantics 7)."""

from groundwire_server.query.transforms.by_model import MAX_PASSAGE_CHARS
from groundwire_server.query.transforms.factory import CORRECTIVE, HYDE, TRANSFORMS, make_rewriter, make_transform
from groundwire_server.query.transforms.transform import COMPONENT, MAX_QUERIES, Transform, Transformed, skipped

__all__ = [
    "COMPONENT",
    "CORRECTIVE",
    "HYDE",
    "MAX_PASSAGE_CHARS",
    "MAX_QUERIES",
    "TRANSFORMS",
    "Transform",
    "Transformed",
    "make_rewriter",
    "make_transform",
    "skipped",
]
