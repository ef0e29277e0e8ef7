"""Walks over relations on the wire: paths that are verified again, sums with what is missing, what is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import grpc
import pytest

from groundwire.v1 import evidence_pb2, graph_pb2, ingest_pb2, metric_pb2, stream_pb2, tools_pb2, value_pb2
from groundwire_server.evidence import (
    Attribute,
    GraphEdge,
    GraphNode,
    GraphPath,
    Label,
    Lineage,
    Snippet,
    Trust,
    format_node_id,
)
from groundwire_server.rpc.encode_snippet import fill_snippet
from groundwire_server.rpc.stream import MAX_FRAME_BYTES
from groundwire_server.security import local_principal
from tests.rpc.house import House, furnish, house, snippets
from tests.rpc.serving import failure_of

CHAIN = [("A", "B"), ("B", "C"), ("A", "D"), ("D", "C"), ("A", "E")]


def told(here: House, **operation: Any) -> list[Any]:
    return list(here.graph.GraphTrace(graph_pb2.GraphTraceRequest(**operation)))


def relation(subject: str, target: str) -> ingest_pb2.RelationRecord:
    return ingest_pb2.RelationRecord(
        subject=subject,
        relation="parent_of",
        object=target,
        object_kind="entity",
        source_doc=f"{subject}.jsonl",
        locator="line=1",
    )


@pytest.fixture(scope="module")
def related(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with house(tmp_path_factory.mktemp("graph")) as here:
        furnish(here)
        here.store_facts(ingest_pb2.FactRecords(relations=[relation(*pair) for pair in (*CHAIN, ("ASIA", "KOR"))]))
        yield here


def test_what_is_below_and_above(related: House) -> None:
    below = snippets(told(related, closure={"node_ids": ["A"], "relations": ["parent_of"]}))
    assert [each.path.node_ids[-1] for each in below] == ["entity:B", "entity:D", "entity:E", "entity:C"]
    above = snippets(told(related, common_ancestors={"node_ids": ["B", "E"]}))
    assert [list(each.path.node_ids) for each in above] == [["entity:B", "entity:A"], ["entity:E", "entity:A"]]
    frames = told(related, paths={"from_id": "entity:E", "to_id": "entity:C", "direction": "DIRECTION_OUT"})
    assert [frame.WhichOneof("frame") for frame in frames] == ["header", "summary"]
    assert frames[-1].summary.end_reason == stream_pb2.END_REASON_EXHAUSTED
    assert [step.stage for step in frames[0].header.plan] == ["nodes", "walk", "exit"]


def test_a_bound_ends_the_stream(related: House) -> None:
    frames = told(
        related, closure={"node_ids": ["A"], "relations": ["parent_of"]}, budget={"max_nodes": 2, "max_edges": 100}
    )
    summary = frames[-1].summary
    assert summary.end_reason == stream_pb2.END_REASON_GRAPH_BUDGET
    assert [(each.kind, each.component) for each in summary.degradations] == [
        (stream_pb2.DEGRADATION_KIND_BUDGET_CUT, "nodes")
    ]


def test_a_sum_comes_with_its_operands_and_its_gaps(related: House) -> None:
    query = {"metric": "population", "entity": "Asia", "period": "2020"}
    frames = told(related, rollup={"query": query})
    outcome = next(frame for frame in frames if frame.WhichOneof("frame") == "outcomes").outcomes.outcomes[0]
    derived, *operands = snippets(frames)
    assert list(outcome.found.snippet_ids) == [derived.snippet_id]
    figure = derived.derived
    assert (figure.operation, figure.expression, figure.partial) == (evidence_pb2.OPERATION_ROLLUP, "sum", True)
    assert list(figure.operand_ids) == [each.snippet_id for each in operands]
    assert [each.fact.entity for each in operands] == ["JPN"]
    assert figure.value == operands[0].fact.value
    assert [(each.key.entity, each.reason) for each in figure.missing] == [
        ("KOR", evidence_pb2.MISSING_REASON_NOT_FOUND)
    ]
    assert (figure.missing_omitted, figure.operands_omitted) == (0, 0)


def test_entities_side_by_side(related: House) -> None:
    frames = told(related, compare={"metric": "population", "period": "2020", "entities": ["KOR", "Japan"]})
    outcomes: list[metric_pb2.MetricOutcome] = [
        each for frame in frames if frame.WhichOneof("frame") == "outcomes" for each in frame.outcomes.outcomes
    ]
    assert [each.WhichOneof("outcome") for each in outcomes] == ["unrecognized_param", "found"]
    assert [each.fact.entity for each in snippets(frames)] == ["JPN"]


@pytest.mark.parametrize(
    ("request_", "want"),
    [
        (
            {"paths": {"direction": 9, "choice": 9}},
            [
                ("paths.choice", "UNKNOWN_NAME"),
                ("paths.direction", "UNKNOWN_NAME"),
                ("paths.from_id", "VALUE_REQUIRED"),
                ("paths.to_id", "VALUE_REQUIRED"),
            ],
        ),
        (
            {"paths": {"to_id": "entity:JP", "pattern": ["parent_of"], "relations": ["parent_of"], "max_paths": 9999}},
            [
                ("paths.from_id", "VALUE_REQUIRED"),
                ("paths.max_paths", "VALUE_OUT_OF_RANGE"),
                ("paths.pattern", "CONTRADICTION"),
                ("paths.to_id", "UNKNOWN_NODE"),
            ],
        ),
        ({"paths": {"to_id": "entity:JPN"}}, [("paths.from_id", "VALUE_REQUIRED")]),
        (
            {"closure": {"max_depth": -1}},
            [
                ("closure.node_ids", "VALUE_REQUIRED"),
                ("closure.relations", "VALUE_REQUIRED"),
                ("closure.max_depth", "VALUE_OUT_OF_RANGE"),
            ],
        ),
        ({"common_ancestors": {"node_ids": ["JPN"]}}, [("common_ancestors.node_ids", "VALUE_REQUIRED")]),
        (
            {"rollup": {"max_operands": -1, "max_depth": -1}, "budget": {"max_nodes": -1}, "valid_in": "banana"},
            [
                ("rollup.query.metric", "VALUE_REQUIRED"),
                ("rollup.query.entity", "VALUE_REQUIRED"),
                ("rollup.query.period", "VALUE_REQUIRED"),
                ("rollup.max_depth", "VALUE_OUT_OF_RANGE"),
                ("rollup.max_operands", "VALUE_OUT_OF_RANGE"),
                ("budget.max_nodes", "VALUE_OUT_OF_RANGE"),
                ("valid_in", "VALUE_MALFORMED"),
            ],
        ),
        (
            {
                "rollup": {
                    "query": {"metric": "population", "entity": "Asia", "period": "2020"},
                    "max_operands": 10_001,
                    "relation": "nope",
                },
                "valid_in": "banana",
            },
            [
                ("rollup.max_operands", "VALUE_OUT_OF_RANGE"),
                ("valid_in", "VALUE_MALFORMED"),
                ("rollup.relation", "UNKNOWN_NAME"),
            ],
        ),
        (
            {"compare": {"metric": "x" * 513, "period": "2020", "entities": ["a", ""]}},
            [("compare.metric", "VALUE_OUT_OF_RANGE"), ("compare.entities[1]", "VALUE_REQUIRED")],
        ),
    ],
)
def test_what_is_wrong_is_named_at_once(related: House, request_: dict[str, Any], want: list[tuple[str, str]]) -> None:
    failure = failure_of(lambda: related.graph.GraphTrace(graph_pb2.GraphTraceRequest(**request_)))
    assert failure.code is grpc.StatusCode.INVALID_ARGUMENT
    assert [(field, reason) for field, reason, _ in failure.violations] == want


@pytest.mark.parametrize("count", [-1, 10_001])
def test_so_many_operands_are_never_sent(related: House, count: int) -> None:
    query = metric_pb2.MetricQuery(metric="population", entity="Asia", period="2020")
    request = graph_pb2.GraphTraceRequest(rollup=graph_pb2.Rollup(query=query, max_operands=count))
    failure = failure_of(lambda: related.graph.GraphTrace(request))
    words = f"{count} is not in 0..10000"
    assert failure.violations == [("rollup.max_operands", "VALUE_OUT_OF_RANGE", words)]


def test_a_path_can_be_verified_as_it_came(related: House) -> None:
    frames = told(
        related, paths={"from_id": "entity:A", "to_id": "entity:C", "choice": "PATH_CHOICE_ALL", "max_hops": 2}
    )
    found = snippets(frames)
    assert [list(each.path.node_ids) for each in found] == [
        ["entity:A", "entity:B", "entity:C"],
        ["entity:A", "entity:D", "entity:C"],
    ]
    first = found[0]
    assert [source.doc_id for edge in first.path.edges for source in edge.sources] == ["A.jsonl", "B.jsonl"]
    assert [member.doc_id for member in first.lineage.members] == ["A.jsonl", "B.jsonl"]
    assert first.trust == evidence_pb2.TRUST_CITABLE
    assert not first.HasField("scores")

    def verdicts() -> tuple[int, list[int]]:
        request = tools_pb2.VerifyCitationRequest(lineage=first.lineage, path=first.path)
        response = related.tools.VerifyCitation(request)
        return response.verdict, list(response.members)

    exact, superseded = tools_pb2.CITATION_VERDICT_EXACT, tools_pb2.CITATION_VERDICT_SUPERSEDED
    assert verdicts() == (exact, [exact, exact])
    related.ingest.WithdrawDocument(ingest_pb2.WithdrawDocumentRequest(library_id="default", doc_id="B.jsonl"))
    assert verdicts() == (superseded, [exact, superseded])
    first.path.edges[1].relation = "owns"
    assert verdicts() == (tools_pb2.CITATION_VERDICT_NOT_FOUND, [exact, tools_pb2.CITATION_VERDICT_NOT_FOUND])


def test_attributes_come_back_as_they_went_out_and_no_others_do(tmp_path: Path) -> None:
    values = [
        value_pb2.Value(decimal_value="51.0"),
        value_pb2.Value(int_value=7),
        value_pb2.Value(double_value=0.1),
        value_pb2.Value(bool_value=True),
        value_pb2.Value(string_value="大阪" * 512),
        value_pb2.Value(date_value="2024-02-29"),
        value_pb2.Value(period_value="FY2024"),
        value_pb2.Value(string_list_value=value_pb2.StringList(values=["a", "b"])),
    ]
    attributes = [value_pb2.Attribute(name=f"a{place}", value=value) for place, value in enumerate(values)]
    with house(tmp_path) as here:
        record = relation("A", "B")
        record.attributes.extend(attributes)
        here.store_facts(ingest_pb2.FactRecords(relations=[record]))
        (found,) = snippets(told(here, neighborhood={"node_ids": ["A"]}))
        assert list(found.edge.attributes) == attributes
        request = tools_pb2.VerifyCitationRequest(lineage=found.lineage, edge=found.edge)
        assert here.tools.VerifyCitation(request).verdict == tools_pb2.CITATION_VERDICT_EXACT
        for place, forged in ((0, value_pb2.Value(decimal_value="99")), (3, value_pb2.Value(int_value=1))):
            request.edge.CopyFrom(found.edge)
            request.edge.attributes[place].value.CopyFrom(forged)
            assert here.tools.VerifyCitation(request).verdict == tools_pb2.CITATION_VERDICT_NOT_FOUND


def test_the_longest_path_of_the_largest_edges_fits_into_a_frame() -> None:
    names = [f"n{number:03}" + "%" * 509 for number in range(65)]
    nodes = [GraphNode(format_node_id("entity", name), "entity", "名" * 512) for name in names]
    attributes = tuple(Attribute(f"a{number}", "x" * 900) for number in range(16))
    source = Lineage("default", doc_id="%" * 512, source_locator="名" * 4096, attributes=attributes)
    edges = tuple(
        GraphEdge(f"{number:032}", near, far, "r" * 512, "file", attributes=attributes, sources=(source,) * 3)
        for number, (near, far) in enumerate(pairwise(nodes))
    )
    path = GraphPath(edges, tuple(node.node_id for node in nodes))
    lineage = Lineage("default", members=(source,) * 100)
    snippet = Snippet("0" * 32, lineage, Trust.CITABLE, path, Label.INTERNAL)
    message = evidence_pb2.Snippet()
    fill_snippet(message, snippet, local_principal())
    assert message.ByteSize() < MAX_FRAME_BYTES - 1024
    assert len(message.path.edges) == 64
    assert len(message.lineage.members) + message.lineage.members_omitted == 100
    assert message.lineage.members
    small = GraphPath(edges[:2], path.node_ids[:3])
    message = evidence_pb2.Snippet()
    fill_snippet(message, replace(snippet, payload=small), local_principal())
    assert [len(edge.sources) for edge in message.path.edges] == [3, 3]
