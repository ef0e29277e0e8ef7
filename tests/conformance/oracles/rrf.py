"""Reciprocal rank fusion as its formula stands in the paper (semantics 2). Imports nothing of the project."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["rrf"]


def rrf(rankings: Sequence[Sequence[str]], weights: Sequence[float], k: float) -> list[tuple[str, float]]:
    """Each id with its score, best first; equal scores by id."""
    scores: list[tuple[str, float]] = []
    for name in sorted({name for ranking in rankings for name in ranking}):
        score = 0.0
        for ranking, weight in zip(rankings, weights, strict=True):
            if name in ranking:
                distinct = [each for place, each in enumerate(ranking) if each not in ranking[:place]]
                score += weight / (k + distinct.index(name) + 1)
        scores.append((name, score))
    return sorted(scores, key=lambda pair: -pair[1])
