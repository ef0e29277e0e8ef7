"""What is made of a question: other texts to search with (HyDE, RAG-Fusion, step-back), and questions of its own."""

from groundwire_server.query.decompose import (
    DECOMPOSERS,
    DECOMPOSITION,
    MAX_SUB_QUESTIONS,
    Decomposed,
    Decomposer,
    make_decomposer,
    whole,
)
from groundwire_server.query.questions import split_questions
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
from groundwire_server.query.transforms import (
    CORRECTIVE,
    HYDE,
    MAX_PASSAGE_CHARS,
    TRANSFORMS,
    make_rewriter,
    make_transform,
)

__all__ = [
    "COMPONENT",
    "CORRECTIVE",
    "DECOMPOSERS",
    "DECOMPOSITION",
    "HYDE",
    "MAX_PASSAGE_CHARS",
    "MAX_QUERIES",
    "MAX_QUERY_CHARS",
    "MAX_REPLY_TOKENS",
    "MAX_SUB_QUESTIONS",
    "TRANSFORMS",
    "Decomposed",
    "Decomposer",
    "QueryText",
    "Transform",
    "Transformed",
    "make_decomposer",
    "make_rewriter",
    "make_transform",
    "skipped",
    "split_questions",
    "whole",
]
