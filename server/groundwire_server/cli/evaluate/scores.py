"""nDCG@10, Recall@100 and MRR@10 by ir-measures, with 95 % bootstrap intervals."""

from __future__ import annotations

import random
import statistics
from collections.abc import Iterable
from dataclasses import dataclass

import click

__all__ = ["Interval", "mean_with_interval", "score_run"]

MEASURES = {"nDCG@10": "ndcg_at_10", "R@100": "recall_at_100", "RR@10": "mrr_at_10"}
_RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and where 95 % of the means of resampled queries lie."""

    mean: float
    low: float
    high: float


def score_run(qrels: dict[str, dict[str, int]], run: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """Per measure and query; a query without an answer counts as 0. Raises ClickException without ir-measures."""
    try:
        import ir_measures
    except ImportError:
        raise click.ClickException(
            "scoring needs ir-measures: pip install 'groundwire-server[eval]', or --run FILE alone"
        ) from None
    scores: dict[str, dict[str, float]] = {name: dict.fromkeys(qrels, 0.0) for name in MEASURES.values()}
    measures = [ir_measures.parse_measure(name) for name in MEASURES]
    for row in ir_measures.iter_calc(measures, qrels, {query: run.get(query, {}) for query in qrels}):
        scores[MEASURES[str(row.measure)]][row.query_id] = row.value
    return scores


def mean_with_interval(values: Iterable[float]) -> Interval:
    """Percentile bootstrap over queries, seeded, so that the same run gives the same interval."""
    drawn = list(values)
    if not drawn:
        return Interval(0.0, 0.0, 0.0)
    chance = random.Random(20261129)
    means = sorted(statistics.fmean(chance.choices(drawn, k=len(drawn))) for _ in range(_RESAMPLES))
    return Interval(statistics.fmean(drawn), means[int(0.025 * _RESAMPLES)], means[int(0.975 * _RESAMPLES) - 1])
