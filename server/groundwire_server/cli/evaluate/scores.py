"""nDCG@10, Recall@5, Recall@100 and MRR@10 by ir-measures, with 95 % bootstrap intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click
import numpy as np

__all__ = ["MEASURES", "check_evaluator", "score_run", "summarize"]

MEASURES = {"nDCG@10": "ndcg_at_10", "R@5": "recall_at_5", "R@100": "recall_at_100", "RR@10": "mrr_at_10"}
_RESAMPLES = 2000
_SEED = 20261129
_DIGITS = 6


def check_evaluator() -> None:
    """Raises ClickException without ir-measures, before an hour is spent."""
    try:
        import ir_measures  # noqa: F401
    except ImportError:
        raise click.ClickException("scoring needs ir-measures: pip install 'groundwire-server[eval]'") from None


def score_run(
    qrels: Mapping[str, Mapping[str, int]], run: Mapping[str, Mapping[str, float]]
) -> dict[str, dict[str, float]]:
    """Each measure of each query by the names of MEASURES; a query without an answer counts as 0."""
    import ir_measures

    scores: dict[str, dict[str, float]] = {name: dict.fromkeys(qrels, 0.0) for name in MEASURES.values()}
    measures = [ir_measures.parse_measure(name) for name in MEASURES]
    for row in ir_measures.iter_calc(measures, qrels, {query: run.get(query, {}) for query in qrels}):
        scores[MEASURES[str(row.measure)]][row.query_id] = row.value
    return scores


def summarize(scores: Mapping[str, Mapping[str, float]], queries: Iterable[str]) -> dict[str, Any]:
    """Means over some queries, each with its interval, as the totals have them.

    The bootstrap is paired: measures, and runs on the same queries, are resampled alike, so that their differences may
    be compared resample by resample.

    Returns:
        queries: how many; then for each measure its mean, and as NAME_interval the two ends of 95 % of the means.
    """
    chosen = sorted(queries)
    values = np.array([[scores[name][query] for query in chosen] for name in scores])
    totals: dict[str, Any] = {"queries": len(chosen)}
    for name, mean, interval in zip(scores, values.mean(axis=1), _intervals(values), strict=True):
        totals[name] = round(float(mean), _DIGITS)
        totals[f"{name}_interval"] = [round(float(end), _DIGITS) for end in interval]
    return totals


def _intervals(values: np.ndarray[Any, np.dtype[np.float64]]) -> Sequence[Any]:
    """float64[measures, 2] of float64[measures, queries]: percentile bootstrap over queries, seeded."""
    chance = np.random.default_rng(_SEED)
    size = values.shape[1]
    means = np.array([values[:, chance.integers(0, size, size)].mean(axis=1) for _ in range(_RESAMPLES)])
    return list(np.percentile(means, (2.5, 97.5), axis=0).T)
