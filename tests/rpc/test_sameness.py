"""Promise 4 over the wire: the same bytes after a restart and in any order; and hidden rows change nothing."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from groundwire.v1 import admin_pb2, graph_pb2, ingest_pb2, metric_pb2, narrative_pb2, router_pb2, stream_pb2
from tests.rpc.house import HIDDEN_TEXT, TEXTS, House, fact, facts, glossary, house
from tests.support.canonical import canonical

# The day is no part of what must be the same: a run may pass midnight.
TODAY = stream_pb2.CallOptions(reference_date="2025-06-30")
QUERIES = ["quick brown fox", "report about rivers", "日本の人口", "北京 首都", "price of bread 17"]
FIGURES = [("population", "Japan", "2020"), ("revenue", "Acme", "2020"), ("revenue", "Acme", "2021"), ("x", "y", "z")]


def everything(here: House) -> dict[str, bytes]:
    """Canonical bytes of many reads."""
    seen: dict[str, bytes] = {}
    for query in QUERIES:
        request = narrative_pb2.NarrativeRetrieveRequest(options=TODAY, query=query, top_k=30)
        seen[f"retrieve {query}"] = canonical(here.narrative.NarrativeRetrieve(request))
        seen[f"ask {query}"] = canonical(here.router.Ask(router_pb2.AskRequest(options=TODAY, question=query)))
    queries = [metric_pb2.MetricQuery(metric=m, entity=e, period=p) for m, e, p in FIGURES]
    seen["metric"] = canonical(here.metric.QueryMetric(metric_pb2.QueryMetricRequest(options=TODAY, queries=queries)))
    around = graph_pb2.Neighborhood(node_ids=["entity:JPN"], max_hops=3)
    seen["graph"] = canonical(here.graph.GraphTrace(graph_pb2.GraphTraceRequest(options=TODAY, neighborhood=around)))
    question = "What was the population of Japan in 2020, and why is Tokyo the capital?"
    seen["ask composite"] = canonical(here.router.Ask(router_pb2.AskRequest(options=TODAY, question=question)))
    described = here.metric.DescribeMetrics(metric_pb2.DescribeMetricsRequest())
    seen["terms"] = described.SerializeToString(deterministic=True)
    seen["libraries"] = here.admin.ListLibraries(admin_pb2.ListLibrariesRequest()).SerializeToString(deterministic=True)
    return seen


def learn(here: House, order: random.Random) -> None:
    """The same content in another order, in other portions."""
    texts = list(TEXTS.items())
    order.shuffle(texts)
    cut = order.randrange(1, len(texts))
    records = facts()
    rows = list(records.facts)
    order.shuffle(rows)
    steps: list[Any] = [
        lambda: here.store(dict(texts[:cut])),
        lambda: here.store(dict(texts[cut:])),
    ]
    order.shuffle(steps)
    for step in steps:
        step()
    here.admin.UpdateGlossary(admin_pb2.UpdateGlossaryRequest(library_id="default", put=glossary()))
    for row in rows:
        here.store_facts(ingest_pb2.FactRecords(facts=[row]))
    here.store_facts(ingest_pb2.FactRecords(relations=records.relations))


@pytest.mark.parametrize("seed", [1, 2])
def test_order_portions_and_restarts_change_nothing(tmp_path: Path, seed: int) -> None:
    with house(tmp_path / "one", secret="s") as here:
        learn(here, random.Random(0))
        first = everything(here)
    with house(tmp_path / "two", secret="s") as here:
        learn(here, random.Random(seed))
        second = everything(here)
    with house(tmp_path / "two", secret="s") as here:
        third = everything(here)
    for name, data in first.items():
        assert second[name] == data, name
        assert third[name] == data, name


@pytest.mark.parametrize("label", [ingest_pb2.LABEL_CONFIDENTIAL, ingest_pb2.LABEL_RESTRICTED])
def test_hidden_rows_change_nothing(tmp_path: Path, label: ingest_pb2.Label.ValueType) -> None:
    with house(tmp_path / "without", secret="s") as here:
        learn(here, random.Random(0))
        without = everything(here)
    with house(tmp_path / "with", secret="s") as here:
        here.store({f"hidden/{n}.txt": f"{HIDDEN_TEXT} fox report {n}" for n in range(5)}, label=label)
        learn(here, random.Random(0))
        here.store({"hidden/late.txt": "price of bread 17, quick brown fox"}, label=label)
        here.store_facts(
            ingest_pb2.FactRecords(
                facts=[
                    fact("population", "Japan", "2020", "1", unit="persons", source_doc="hidden.csv", label=label),
                    fact("x", "y", "2020", "1", unit="USD", source_doc="hidden.csv", label=label),
                ],
                relations=[
                    ingest_pb2.RelationRecord(
                        subject="JPN",
                        relation="parent_of",
                        object="HIDDEN",
                        object_kind="entity",
                        source_doc="hidden.jsonl",
                        locator="line=1",
                        label=label,
                    )
                ],
            )
        )
        hidden = everything(here)
    for name, data in without.items():
        assert hidden[name] == data, name
