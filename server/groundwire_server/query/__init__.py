"""What is made of a question before and while it is searched.

`transforms` makes other texts to search with (HyDE, RAG-Fusion, step-back), `decomposition` cuts it into questions of
its own, `filters` reads a filter out of it, `grades` judges whether what was found can carry an answer. Each is one
protocol, its conformance suite, and a few that keep it; `asking` is how any of them asks a language model. `filters`
and `grades` are imported where they are used: they know the glossary.
"""

from groundwire_server.query.asking import MAX_REPLY_TOKENS, StepResult
from groundwire_server.query.decomposition import (
    DECOMPOSERS,
    DECOMPOSITION,
    MAX_SUB_QUESTIONS,
    Decomposed,
    Decomposer,
    make_decomposer,
    split_questions,
    whole,
)
from groundwire_server.query.query_text import MAX_QUERY_CHARS, QueryText
from groundwire_server.query.transforms import (
    COMPONENT,
    CORRECTIVE,
    HYDE,
    MAX_PASSAGE_CHARS,
    MAX_QUERIES,
    TRANSFORMS,
    Transform,
    Transformed,
    make_rewriter,
    make_transform,
    skipped,
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
    "StepResult",
    "Transform",
    "Transformed",
    "make_decomposer",
    "make_rewriter",
    "make_transform",
    "skipped",
    "split_questions",
    "whole",
]
