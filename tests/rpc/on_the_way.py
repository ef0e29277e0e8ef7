"""Clients behind a proxy that fails: what they ask, and what they give out without what two calls may differ in."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from datetime import date
from typing import Any

from hypothesis import strategies as st

from groundwire import (
    Calculation,
    Client,
    MetricOutcomes,
    MetricQuery,
    Operation,
    Progress,
    Reconnecting,
    RetrievalTuning,
    SnippetBatch,
    StreamHeader,
    StreamSummary,
)
from tests.support.fault_proxy import REFUSED, Inside, Line, Way

__all__ = ["CALLS", "begin", "breaks", "breaks_of_ingests", "plain", "told"]

DAY = date(2025, 6, 30)
QUERIES = [
    MetricQuery(metric, entity, period)
    for metric, entity in (("population", "Japan"), ("revenue", "Acme"), ("人口", "日本"), ("x", "y"))
    for period in ("2019", "2020", "2021")
]
CALCULATIONS = [
    Calculation(Operation.DIFFERENCE, 2, 1),
    Calculation(Operation.RATIO, 1, 9),
    Calculation(Operation.RATIO, 2, 1),
]
MIXED = "What was the population of Japan in 2020, and why is Tokyo the capital?"
TWO = "Where does a fox sleep? Why do reports tell of rivers?"
CUT = RetrievalTuning(decomposition="rules")

CALLS: dict[str, Any] = {
    "retrieve": lambda client, **more: client.retrieve("report about rivers", top_k=50, **more),
    "retrieve ja": lambda client, **more: client.retrieve("日本の人口 東京", top_k=5, **more),
    "few tokens": lambda client, **more: client.retrieve("report about rivers", top_k=50, token_budget=300, **more),
    "traced": lambda client, **more: client.retrieve("rivers bread", top_k=20, explain="TRACE", **more),
    "ask traced": lambda client, **more: client.ask(TWO, top_k=20, tuning=CUT, explain="TRACE", **more),
    "metric": lambda client, **more: client.query_metric(QUERIES, calculations=CALCULATIONS, **more),
    "graph": lambda client, **more: client.neighborhood(["entity:JPN"], max_hops=3, **more),
    "compare": lambda client, **more: client.compare("population", "2020", ["Japan", "Asia"], **more),
    "ask": lambda client, **more: client.ask(MIXED, top_k=25, **more),
    "ask rivers": lambda client, **more: client.ask("Why do reports tell of rivers?", top_k=45, **more),
    "ask in parts": lambda client, **more: client.ask(TWO, top_k=30, tuning=CUT, **more),
}
"""Calls of every method that streams what it reads, with answers of several batches."""


def begin(client: Client, name: str, **more: Any) -> Any:
    """The stream of a call."""
    return CALLS[name](client, reference_date=DAY, **{"libraries": ["default"], **more})


def told(frames: Iterable[Any]) -> list[Any]:
    """What a client has given out, in order, piece by piece: where frames are cut is no part of an answer."""
    given: list[Any] = []
    for frame in frames:
        match frame:
            case Reconnecting() | Progress():
                pass
            case SnippetBatch(snippets=snippets, branch=branch):
                given += [(branch, each) for each in snippets]
            case MetricOutcomes(outcomes=outcomes, calculations=calculations, branch=branch):
                given += [(branch, each) for each in (*outcomes, *calculations)]
            case StreamHeader():
                given.append(dataclasses.replace(frame, request_id=""))
            case StreamSummary():
                given.append(dataclasses.replace(frame, timings=(), next=None))
            case _:
                given.append(frame)
    return given


def plain(whole: Any) -> Any:
    """A whole without what two calls may differ in."""
    header = dataclasses.replace(whole.header, request_id="")
    summary = dataclasses.replace(whole.summary, timings=(), next=None)
    return dataclasses.replace(whole, header=header, summary=summary)


_PLACES = st.one_of(
    st.integers(0, 12_000),
    st.builds(
        Inside,
        st.sampled_from(["DATA", "DATA", "DATA", "HEADERS", "WINDOW_UPDATE", "SETTINGS", "PING"]),
        st.integers(1, 12),
        st.sampled_from([0, 1, 5, 8, 9, 10, 14, 15, 60, 400, 1 << 20]),
    ),
)
# An ingest has some 500 KB to send, and what comes back is small.
_UP_PLACES = st.integers(200, 500_000) | st.integers(200, 3_000)


def breaks_of_ingests(most: int) -> st.SearchStrategy[list[Line]]:
    """Up to so many connections that break while something is put in, or are refused."""
    up = st.builds(Way, st.none() | _UP_PLACES, _ENDS, _DRIPS)
    return st.lists(st.builds(Line, up, _WAYS) | st.just(REFUSED), min_size=1, max_size=most)


_ENDS, _DRIPS = st.sampled_from(["reset", "end"]), st.sampled_from([1 << 16, 700])
_WAYS = st.builds(Way, st.none() | _PLACES, st.sampled_from(["reset", "end"]), st.sampled_from([1 << 16, 700, 33]))


def breaks(most: int) -> st.SearchStrategy[list[Line]]:
    """Up to so many connections that break somewhere, or are refused."""
    return st.lists(st.builds(Line, _WAYS, _WAYS) | st.just(REFUSED), min_size=1, max_size=most)
