"""Clients behind a proxy that fails: what they ask, and what they give out without what two calls may differ in."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import date
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from groundwire import (
    Calculation,
    Client,
    GroundwireError,
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
from tests.client.both import KINDS
from tests.rpc.house import House
from tests.support.eventually import eventually
from tests.support.fault_proxy import REFUSED, FaultProxy, Inside, Line, Way, fault_proxy

__all__ = [
    "CALLS",
    "ORDINARY",
    "PATIENCE",
    "THOROUGH",
    "begin",
    "behind",
    "breaks",
    "breaks_of_ingests",
    "in_time",
    "nothing_left",
    "plain",
    "read",
    "short_pauses",
    "soon",
    "told",
]

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
_ENDS, _DRIPS = st.sampled_from(["reset", "end"]), st.sampled_from([1 << 16, 700, 33])
_WAYS = st.builds(Way, st.none() | _PLACES, _ENDS, _DRIPS)
# An ingest has some 500 KB to send, and what comes back is small.
_UP_PLACES = st.integers(200, 500_000) | st.integers(200, 3_000)
_UPS = st.builds(Way, st.none() | _UP_PLACES, _ENDS, st.sampled_from([1 << 16, 700]))


def breaks_of_ingests(most: int) -> st.SearchStrategy[list[Line]]:
    """Up to so many connections that break while something is put in, or are refused."""
    return st.lists(st.builds(Line, _UPS, _WAYS) | st.just(REFUSED), min_size=1, max_size=most)


def breaks(most: int) -> st.SearchStrategy[list[Line]]:
    """Up to so many connections that break somewhere, or are refused."""
    return st.lists(st.builds(Line, _WAYS, _WAYS) | st.just(REFUSED), min_size=1, max_size=most)


# ---- behind a proxy ------------------------------------------------------------------------------------------------

PATIENCE = 60.0
"""Seconds, where a hang is the alternative."""
ORDINARY = settings(max_examples=50, suppress_health_check=list(HealthCheck))
THOROUGH = settings(max_examples=400, suppress_health_check=list(HealthCheck))


def soon(attempt: int, _error: Exception) -> float:
    """A pause that grows, in place of those of the clients."""
    return 0.01 * 2.0**attempt


@contextmanager
def short_pauses() -> Iterator[None]:
    """Small batches, and clients that try again soon."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("groundwire_server.rpc.stream.MAX_BATCH_SNIPPETS", 4)
        patch.setattr("groundwire._operation.resumption.retry_delay", soon)
        patch.setattr("groundwire._ingest.run.retry_delay", soon)
        patch.setattr("groundwire._call._MOST_BACKOFF_MS", 100)
        yield


def nothing_left(served: House) -> bool:
    """Whether the server comes to hold nothing of any call."""
    return eventually(lambda: not any(served.server.leftovers.values()), 30)


@contextmanager
def behind(here: House, kind: str, *lines: Line, **options: Any) -> Iterator[tuple[FaultProxy, Client]]:
    """A client behind a proxy."""
    with fault_proxy(here.server.address, lines) as proxy, KINDS[kind](proxy.address, **options) as client:
        yield proxy, client


def read(stream: Any) -> tuple[list[Any], GroundwireError | None]:
    """What a stream gives out, and the error that it ends with."""
    frames: list[Any] = []
    try:
        frames.extend(stream)
    except GroundwireError as error:
        return frames, error
    return frames, None


def in_time(work: Any) -> Any:
    """What a function gives, where a hang is the alternative."""
    given_back: list[Any] = []
    thread = threading.Thread(target=lambda: given_back.append(work()), daemon=True)
    thread.start()
    thread.join(PATIENCE)
    assert not thread.is_alive(), "it hangs"
    return given_back[0]
