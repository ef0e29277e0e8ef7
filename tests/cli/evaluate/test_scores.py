"""Means against figures computed by hand, and intervals that compare runs."""

from __future__ import annotations

import math

import pytest

from groundwire_server.cli.evaluate.scores import score_run, summarize


def test_measures_computed_by_hand() -> None:
    qrels = {"first": {"a": 1}, "third": {"c": 1, "x": 1}, "graded": {"a": 2, "b": 1}, "none": {"a": 1}}
    run = {
        "first": {"a": 3.0, "b": 2.0},
        "third": {"a": 3.0, "b": 2.0, "c": 1.0},
        "graded": {"b": 3.0, "a": 2.0},
        "none": {},
    }
    scores = score_run(qrels, run)
    ideal_of_two = 1 + 1 / math.log2(3)
    graded = (1 + 2 / math.log2(3)) / (2 + 1 / math.log2(3))
    assert scores["ndcg_at_10"] == pytest.approx(
        {"first": 1, "third": (1 / math.log2(4)) / ideal_of_two, "graded": graded, "none": 0}
    )
    assert scores["recall_at_100"] == {"first": 1, "third": 0.5, "graded": 1, "none": 0}
    assert scores["mrr_at_10"] == pytest.approx({"first": 1, "third": 1 / 3, "graded": 1, "none": 0})
    totals = summarize(scores, ["first", "none"])
    assert totals["queries"] == 2
    assert totals["recall_at_100"] == 0.5
    assert totals["recall_at_100_interval"] == [0.0, 1.0]


def test_an_interval_holds_its_mean_and_narrows_with_more_queries() -> None:
    def width(count: int) -> float:
        scores = {"m": {f"q{number:04}": float(number % 2) for number in range(count)}}
        totals = summarize(scores, scores["m"])
        low, high = totals["m_interval"]
        assert low <= totals["m"] == 0.5 <= high
        return float(high - low)

    # The normal approximation: 2 * 1.96 * 0.5 / sqrt(n).
    assert width(400) == pytest.approx(0.098, rel=0.08)
    assert width(1600) == pytest.approx(0.049, rel=0.08)


def test_measures_and_runs_are_resampled_alike() -> None:
    """A run that is better by the same on every query is better by the same on every resample."""
    one = {f"q{number}": (number % 7) / 10 for number in range(50)}
    scores = {"one": one, "other": {query: value + 0.25 for query, value in one.items()}}
    totals = summarize(scores, one)
    again = summarize({"other": scores["other"]}, reversed(list(one)))
    low, high = totals["one_interval"]
    assert totals["other_interval"] == pytest.approx([low + 0.25, high + 0.25], abs=2e-6)
    assert again["other_interval"] == totals["other_interval"]


def test_one_query_has_an_interval_too() -> None:
    assert summarize({"m": {"q": 0.25}}, ["q"])["m_interval"] == [0.25, 0.25]
