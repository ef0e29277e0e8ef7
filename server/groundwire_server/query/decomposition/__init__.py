"""A question cut into questions of its own: by rules, or by a language model (semantics 7)."""

from groundwire_server.query.decomposition.decomposer import (
    DECOMPOSITION,
    MAX_SUB_QUESTIONS,
    Decomposed,
    Decomposer,
    whole,
)
from groundwire_server.query.decomposition.factory import DECOMPOSERS, make_decomposer
from groundwire_server.query.decomposition.split import split_questions

__all__ = [
    "DECOMPOSERS",
    "DECOMPOSITION",
    "MAX_SUB_QUESTIONS",
    "Decomposed",
    "Decomposer",
    "make_decomposer",
    "split_questions",
    "whole",
]
