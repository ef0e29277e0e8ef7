"""Streams that are cut and gone on with: what must come of a cursor, made of what a whole stream is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf.message import Message

from groundwire.v1 import evidence_pb2, graph_pb2, metric_pb2, narrative_pb2, router_pb2, stream_pb2
from tests.rpc.house import House
from tests.rpc.serving import failure_of
from tests.support.canonical import canonical

__all__ = [
    "Cut",
    "ask",
    "cuts",
    "expected",
    "piece_counts",
    "refusal_of",
    "requests",
    "rest",
    "resumed",
    "snippet_ids",
    "token_of",
]

DAY = "2025-06-30"
QUESTION = "What was the population of Japan in 2020, and why is Tokyo the capital?"


def requests() -> dict[str, Message]:
    """Requests to every method that streams what it reads, with answers of several batches."""
    options = stream_pb2.CallOptions(reference_date=DAY)
    queries = [
        metric_pb2.MetricQuery(metric=metric, entity=entity, period=period)
        for metric, entity in (("population", "Japan"), ("revenue", "Acme"), ("人口", "日本"), ("x", "y"))
        for period in ("2019", "2020", "2021")
    ]
    calculations = [
        metric_pb2.Calculation(operation=evidence_pb2.OPERATION_DIFFERENCE, first=2, second=1),
        metric_pb2.Calculation(operation=evidence_pb2.OPERATION_RATIO, first=1, second=9),
        metric_pb2.Calculation(operation=evidence_pb2.OPERATION_RATIO, first=2, second=1),
    ]
    return {
        "retrieve": narrative_pb2.NarrativeRetrieveRequest(options=options, query="report about rivers", top_k=50),
        "retrieve ja": narrative_pb2.NarrativeRetrieveRequest(options=options, query="日本の人口 東京", top_k=5),
        "retrieve zh": narrative_pb2.NarrativeRetrieveRequest(options=options, query="北京 收入", top_k=5),
        "metric": metric_pb2.QueryMetricRequest(options=options, queries=queries, calculations=calculations),
        "graph": graph_pb2.GraphTraceRequest(
            options=options, neighborhood=graph_pb2.Neighborhood(node_ids=["entity:JPN"], max_hops=3)
        ),
        "compare": graph_pb2.GraphTraceRequest(
            options=options,
            compare=graph_pb2.Compare(metric="population", period="2020", entities=["Japan", "Asia"]),
        ),
        "ask": router_pb2.AskRequest(options=options, question=QUESTION, top_k=25),
        "ask rivers": router_pb2.AskRequest(options=options, question="Why do reports tell of rivers?", top_k=45),
    }


def ask(here: House, request: Message) -> Any:
    """The call of a request."""
    calls = {
        narrative_pb2.NarrativeRetrieveRequest: here.narrative.NarrativeRetrieve,
        metric_pb2.QueryMetricRequest: here.metric.QueryMetric,
        graph_pb2.GraphTraceRequest: here.graph.GraphTrace,
        router_pb2.AskRequest: here.router.Ask,
    }
    return calls[type(request)](request)  # type: ignore[operator]


def resumed(request: Any, token: bytes, **options: Any) -> Any:
    """The same request with a cursor."""
    again = type(request)()
    again.CopyFrom(request)
    again.options.resume.token = token
    for name, value in options.items():
        setattr(again.options, name, value)
    return again


def token_of(frame: Any) -> bytes:
    """The cursor behind a frame; empty where it has none."""
    kind = frame.WhichOneof("frame")
    if kind in ("batch", "outcomes"):
        return bytes(getattr(frame, kind).after.token)
    return bytes(frame.summary.next.token) if kind == "summary" else b""


@dataclass(frozen=True)
class Cut:
    """A stream after some of its frames: the last cursor, and how many pieces had come with it."""

    token: bytes
    counts: tuple[int, int, int]


def cuts(frames: Sequence[Any]) -> Iterator[Cut]:
    """Every place at which a stream may break and be gone on with."""
    for place, frame in enumerate(frames):
        if frame.WhichOneof("frame") in ("batch", "outcomes"):
            yield Cut(token_of(frame), piece_counts(frames[: place + 1]))


def piece_counts(frames: Sequence[Any]) -> tuple[int, int, int]:
    """Outcomes, calculations, snippets."""
    outcomes = [each.outcomes for each in frames if each.WhichOneof("frame") == "outcomes"]
    batches = [each.batch for each in frames if each.WhichOneof("frame") == "batch"]
    return (
        sum(len(each.outcomes) for each in outcomes),
        sum(len(each.calculations) for each in outcomes),
        sum(len(each.snippets) for each in batches),
    )


def expected(whole: Sequence[Any], counts: tuple[int, int, int]) -> bytes:
    """Canonical bytes of what is left of a whole stream: everything but the pieces that have come."""
    outcomes, calculations, snippets = counts
    left = []
    for frame in whole:
        kept = type(frame)()
        kept.CopyFrom(frame)
        kind = kept.WhichOneof("frame")
        if kind == "batch":
            gone = min(snippets, len(kept.batch.snippets))
            snippets -= gone
            del kept.batch.snippets[:gone]
            if not kept.batch.snippets:
                continue
        elif kind == "outcomes":
            gone = min(outcomes, len(kept.outcomes.outcomes))
            others = min(calculations, len(kept.outcomes.calculations))
            outcomes, calculations = outcomes - gone, calculations - others
            del kept.outcomes.outcomes[:gone]
            del kept.outcomes.calculations[:others]
            if not kept.outcomes.outcomes and not kept.outcomes.calculations:
                continue
        elif kind == "summary":
            kept.summary.returned -= counts[2]
        left.append(kept)
    return canonical(_joined_outcomes(left))


def rest(frames: Sequence[Any]) -> bytes:
    """Canonical bytes of what came, with outcomes joined as batches are."""
    return canonical(_joined_outcomes(frames))


def _joined_outcomes(frames: Sequence[Any]) -> list[Any]:
    """Where frames of outcomes are cut is no part of an answer either."""
    joined: list[Any] = []
    for frame in frames:
        kind = frame.WhichOneof("frame")
        if kind == "outcomes" and joined and joined[-1].WhichOneof("frame") == "outcomes":
            joined[-1].outcomes.outcomes.extend(frame.outcomes.outcomes)
            joined[-1].outcomes.calculations.extend(frame.outcomes.calculations)
            continue
        kept = type(frame)()
        kept.CopyFrom(frame)
        joined.append(kept)
    return joined


def snippet_ids(frames: Sequence[Any]) -> list[str]:
    """Of all batches, in order."""
    return [one.snippet_id for each in frames if each.WhichOneof("frame") == "batch" for one in each.batch.snippets]


def refusal_of(here: House, request: Message) -> tuple[grpc.StatusCode, str]:
    """Code and reason of a call that must fail."""
    seen = failure_of(lambda: list(ask(here, request)))
    return seen.code, seen.reason
