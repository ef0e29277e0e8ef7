"""From passages to ranked documents, with scores that keep the order in every evaluator."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from groundwire import Snippet

__all__ = ["DEPTH", "rank_documents"]

DEPTH = 100
_LEAST_STEP = 1e-9


def rank_documents(snippets: Iterable[Snippet]) -> dict[str, float]:
    """Up to 100 distinct documents in the order of the answer, each with the score of its best passage.

    An evaluator sorts by score anew, holds scores as 32-bit floats, and settles ties by id in an order of its own. So
    that the order we answered survives it, a score that as such a float is not below the one before is set to the next
    value that is: a tie becomes the least step down, everything else stays what it was.
    """
    ranked: dict[str, float] = {}
    last = np.float32(np.inf)
    for snippet in snippets:
        doc_id = snippet.lineage.doc_id
        if not doc_id or doc_id in ranked:  # a path of relations is of several
            continue
        if len(ranked) == DEPTH:
            break
        last = min(np.float32(_score(snippet)), _below(last))
        ranked[doc_id] = float(str(last))  # the shortest text that is this very float
    return ranked


def _below(score: np.float32) -> np.float32:
    """The next float that is lower, near zero by a step that no reader of decimals takes for zero."""
    return min(np.nextafter(score, np.float32(-np.inf)), np.float32(float(score) - _LEAST_STEP))


def _score(snippet: Snippet) -> float:
    """What the snippet was ranked by: the last stage that scored it."""
    scores = snippet.scores
    if scores is None:
        return -float(snippet.rank)
    ordered = (scores.rerank, scores.fused, scores.vector, scores.bm25)
    return next((score for score in ordered if score is not None), -float(snippet.rank))
