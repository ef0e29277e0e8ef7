"""Other texts to search with, which a language model makes of a question: HyDE, RAG-Fusion, step-back."""

from groundwire_server.query.transform import (
    COMPONENT,
    MAX_QUERIES,
    MAX_QUERY_CHARS,
    MAX_REPLY_TOKENS,
    QueryText,
    Transform,
    Transformed,
    skipped,
)
from groundwire_server.query.transforms import HYDE, MAX_PASSAGE_CHARS, TRANSFORMS, make_transform

__all__ = [
    "COMPONENT",
    "HYDE",
    "MAX_PASSAGE_CHARS",
    "MAX_QUERIES",
    "MAX_QUERY_CHARS",
    "MAX_REPLY_TOKENS",
    "TRANSFORMS",
    "QueryText",
    "Transform",
    "Transformed",
    "make_transform",
    "skipped",
]
