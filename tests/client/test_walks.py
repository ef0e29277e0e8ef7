"""Walks over the relation graph, and tools, over a socket."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import grpc
import pytest

import groundwire
from groundwire import Client, PathChoice, TraceBudget
from groundwire.v1 import evidence_pb2, graph_pb2, stream_pb2, tools_pb2
from tests.client.both import Connect
from tests.client.serving import serving


@pytest.mark.parametrize(
    ("walk", "operation", "fields"),
    [
        (
            lambda client: client.paths("entity:A", "Acme", relations=["owns"], direction="out", max_hops=3),
            "paths",
            {"from_id": "entity:A", "to_id": "Acme", "relations": ["owns"], "direction": 1, "choice": 1, "max_hops": 3},
        ),
        (
            lambda client: client.paths("A", "B", pattern=["owns", "owns"], choice=PathChoice.ALL, max_paths=9),
            "paths",
            {"from_id": "A", "to_id": "B", "pattern": ["owns", "owns"], "direction": 3, "choice": 3, "max_paths": 9},
        ),
        (
            lambda client: client.closure(["A"], ["parent_of"], direction="in", max_depth=2),
            "closure",
            {"node_ids": ["A"], "relations": ["parent_of"], "direction": 2, "max_depth": 2},
        ),
        (
            lambda client: client.common_ancestors(["A", "B"], relation="part_of"),
            "common_ancestors",
            {"node_ids": ["A", "B"], "relation": "part_of"},
        ),
        (
            lambda client: client.rollup("population", "Asia", "2020", channel="retail", max_depth=2),
            "rollup",
            {
                "query": {"metric": "population", "entity": "Asia", "period": "2020", "channel": "retail"},
                "max_depth": 2,
            },
        ),
        (
            lambda client: client.derivation("margin", "Acme", "2020"),
            "derivation",
            {"query": {"metric": "margin", "entity": "Acme", "period": "2020"}},
        ),
        (
            lambda client: client.compare("population", "2020", ["JPN", "CHN"]),
            "compare",
            {"metric": "population", "period": "2020", "entities": ["JPN", "CHN"]},
        ),
    ],
)
def test_what_is_asked_of_the_graph(
    connect: Connect, walk: Callable[[Client], Any], operation: str, fields: dict[str, Any]
) -> None:
    seen: list[graph_pb2.GraphTraceRequest] = []
    path = evidence_pb2.GraphPath(edges=[{"edge_id": "e"}], node_ids=["entity:A", "entity:B"])
    snippet = evidence_pb2.Snippet(snippet_id="s", rank=1, path=path)
    frames = [
        graph_pb2.GraphTraceResponse(header=stream_pb2.StreamHeader(request_id="g")),
        graph_pb2.GraphTraceResponse(batch=stream_pb2.SnippetBatch(snippets=[snippet])),
        graph_pb2.GraphTraceResponse(summary=stream_pb2.StreamSummary(returned=1)),
    ]

    def method(request: graph_pb2.GraphTraceRequest, context: grpc.ServicerContext) -> Any:
        seen.append(request)
        return iter(frames)

    with serving(GraphTrace=method) as address, connect(address) as client:
        trace = walk(client).collect()
    assert isinstance(trace.snippets[0].payload, groundwire.GraphPath)
    (request,) = seen
    assert request.WhichOneof("operation") == operation
    asked = getattr(request, operation)
    assert asked == type(asked)(**fields)
    assert not request.HasField("budget")


def test_bounds_of_a_walk(connect: Connect) -> None:
    seen: list[graph_pb2.GraphTraceRequest] = []

    def method(request: graph_pb2.GraphTraceRequest, context: grpc.ServicerContext) -> Any:
        seen.append(request)
        yield graph_pb2.GraphTraceResponse(header=stream_pb2.StreamHeader())
        yield graph_pb2.GraphTraceResponse(summary=stream_pb2.StreamSummary())

    with serving(GraphTrace=method) as address, connect(address) as client:
        client.closure(
            ["A"], ["owns"], valid_in="2024", include_unverified=True, budget=TraceBudget(max_edges=5), libraries=["l"]
        ).collect()
        with pytest.raises(TypeError, match=r"nodes is a list: \['A'\]"):
            client.neighborhood("A")
    (request,) = seen
    assert (request.valid_in, request.include_unverified, request.budget.max_edges) == ("2024", True, 5)
    assert list(request.options.library_ids) == ["l"]


def test_tools_are_listed(connect: Connect) -> None:
    seen: list[tools_pb2.ListToolsRequest] = []

    def method(request: tools_pb2.ListToolsRequest, context: grpc.ServicerContext) -> Any:
        seen.append(request)
        return tools_pb2.ListToolsResponse(tools=[{"name": "ask", "definition_json": "{}"}], etag="e1")

    with serving(ListTools=method) as address, connect(address) as client:
        tools = client.list_tools(libraries=["lib"], form="openai", language="ja")
    assert tools == groundwire.ToolList((groundwire.ToolDescription("ask", definition_json="{}"),), "e1")
    assert (seen[0].form, seen[0].language, list(seen[0].library_ids)) == (tools_pb2.TOOL_FORM_OPENAI, "ja", ["lib"])
