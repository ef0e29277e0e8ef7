"""States of libraries that are held: counted while somebody reads them, and let go with the call, however it ends."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from groundwire.v1 import graph_pb2, metric_pb2, narrative_pb2, router_pb2
from tests.rpc.house import House, furnish, house
from tests.rpc.serving import failure_of
from tests.rpc.telemetry.watching import scraped, series
from tests.support.eventually import eventually


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with house(Path(tmp_path_factory.mktemp("states")) / "data", telemetry__metrics_port=0) as here:
        furnish(here)
        yield here


@pytest.fixture
def uncollected() -> Iterator[None]:
    """What a cycle of references holds stays."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def held(here: House) -> float:
    return scraped(here.server.metrics)[series("groundwire_states_held")]


def write(here: House) -> None:
    """Make the newest state another one."""
    write.count += 1  # type: ignore[attr-defined]
    here.store({f"new/{write.count}.md": f"A new fox {write.count}."})  # type: ignore[attr-defined]


write.count = 0  # type: ignore[attr-defined]


def retrieve(here: House, **more: Any) -> Any:
    return here.narrative.NarrativeRetrieve(narrative_pb2.NarrativeRetrieveRequest(**more))


def cancelled(here: House) -> None:
    call = retrieve(here, query="report", top_k=200)
    next(call)
    call.cancel()


def refused(invoke: Callable[[House], Any]) -> Callable[[House], None]:
    def call(here: House) -> None:
        assert failure_of(lambda: invoke(here)).reason

    return call


_PREDICATE: Any = {"predicate": {"field": "nothing", "eq": {"string_value": "x"}}}
_UNKNOWN: Any = {"library_ids": ["never"]}
_QUERY = metric_pb2.MetricQuery(metric="population", entity="Japan", period="2020")
CALLS: dict[str, Callable[[House], Any]] = {
    "passages": lambda here: list(retrieve(here, query="fox")),
    "figures": lambda here: list(here.metric.QueryMetric(metric_pb2.QueryMetricRequest(queries=[_QUERY]))),
    "answer": lambda here: list(
        here.router.Ask(router_pb2.AskRequest(question="What was the population of Japan in 2020?"))
    ),
    "cancelled": cancelled,
    "no query": refused(lambda here: retrieve(here)),
    "no library": refused(lambda here: retrieve(here, query="fox", options=_UNKNOWN)),
    "no attribute": refused(lambda here: retrieve(here, query="fox", options={"filter": _PREDICATE})),
    "no embedder": refused(lambda here: retrieve(here, query="fox", mode=narrative_pb2.RETRIEVAL_MODE_HYBRID)),
    "no node": refused(
        lambda here: here.graph.GraphTrace(graph_pb2.GraphTraceRequest(neighborhood={"node_ids": ["entity:NO"]}))  # type: ignore[arg-type]
    ),
    "no figure": refused(lambda here: here.metric.QueryMetric(metric_pb2.QueryMetricRequest())),
}


def test_a_state_that_is_read_is_counted(watched: House) -> None:
    gc.collect()
    assert eventually(lambda: held(watched) == 0)
    (library,) = watched.server.engine._libraries.held()
    first = library.snapshot()
    write(watched)
    second = library.snapshot()
    write(watched)
    assert (first.generation < second.generation, held(watched)) == (True, 2)
    del first, second
    assert eventually(lambda: held(watched) == 0)


@pytest.mark.parametrize("name", CALLS)
def test_a_call_lets_go_of_its_state(watched: House, uncollected: None, name: str) -> None:
    CALLS[name](watched)
    write(watched)
    assert eventually(lambda: held(watched) == 0)
