"""Relations that are asked for or sent in a wrong way: each fault is named, all of them at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from groundwire.v1 import admin_pb2, errors_pb2, glossary_pb2, graph_pb2, ingest_pb2, stream_pb2
from tests.bad_input.conftest import Tell
from tests.bad_input.table import Told, of_call, of_rows
from tests.rpc.house import Facts, House, fact, finish, house, start, term
from tests.rpc.serving import failure_of

REASONS = {value.number: value.name.removeprefix("ERROR_REASON_") for value in errors_pb2.ErrorReason.DESCRIPTOR.values}

AROUND = {"node_ids": ["entity:JPN"]}
BOTH_ENDS = {"from_id": "entity:ASIA", "to_id": "entity:JPN"}


@pytest.mark.parametrize(
    "request_fields",
    [
        {"neighborhood": {"node_ids": ["Japn"]}},
        {"paths": {"from_id": "entity:NOWHERE", "to_id": "Asja", "relations": ["likes", "parent_of"]}},
        {"paths": {"from_id": "Japan", "to_id": "entity:JPN"}},
        {"neighborhood": {**AROUND, "max_hops": 7}},
        {"paths": {**BOTH_ENDS, "max_hops": 99}},
        {"neighborhood": {**AROUND, "max_hops": -1}},
        {"paths": {**BOTH_ENDS, "pattern": ["parent_of"], "relations": ["parent_of"]}},
        {"neighborhood": AROUND, "valid_in": "soon"},
        {"neighborhood": AROUND, "valid_in": "2024", "options": {"valid_at": {"seconds": 1}}},
        {"neighborhood": AROUND, "budget": {"max_nodes": 10**9, "max_edges": -1}},
        {"closure": {"node_ids": ["entity:JPN"]}},
        {"common_ancestors": {"node_ids": ["entity:JPN"]}},
        {
            "neighborhood": {"node_ids": ["Japn", " "], "relations": ["likes"], "max_hops": 99},
            "valid_in": "someday",
            "budget": {"max_nodes": -1},
        },
    ],
    ids=[
        "slip_of_the_pen",
        "both_ends_and_a_relation",
        "one_node_twice",
        "too_many_hops",
        "too_long_a_path",
        "hops_below_0",
        "pattern_and_relations",
        "no_period",
        "two_times",
        "budget",
        "closure_of_no_relation",
        "ancestors_of_one",
        "all_at_once",
    ],
)
def test_a_walk(here: House, told: Tell, request_fields: dict[str, Any]) -> None:
    request = graph_pb2.GraphTraceRequest(**request_fields)
    told(of_call(failure_of(lambda: here.graph.GraphTrace(request))))


# ---- sums that are none


@pytest.fixture(scope="module")
def group(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A parent and two parts by the glossary; figures of theirs in unlike units, and of a metric that is no sum."""
    metric, entity = glossary_pb2.TERM_KIND_METRIC, glossary_pb2.TERM_KIND_ENTITY
    with house(Path(tmp_path_factory.mktemp("group")) / "data") as running:
        terms = [
            term(metric, "HEADS", metric={"additivity": glossary_pb2.ADDITIVITY_SUM}),
            term(metric, "SHARE", metric={"additivity": glossary_pb2.ADDITIVITY_NONE}),
            term(entity, "GROUP"),
            term(entity, "PART_A", entity={"parent_code": "GROUP"}),
            term(entity, "PART_B", entity={"parent_code": "GROUP"}),
        ]
        running.admin.UpdateGlossary(admin_pb2.UpdateGlossaryRequest(library_id="default", put=terms))
        rows = [
            fact(metric, part, "2024", value, unit=unit)
            for metric, part, value, unit in (
                ("HEADS", "PART_A", "5", "persons"),
                ("HEADS", "PART_B", "6", "robots"),
                ("SHARE", "PART_A", "7", "PERCENT"),
            )
        ]
        running.store_facts(ingest_pb2.FactRecords(facts=rows))
        yield running


@pytest.mark.parametrize(
    "operation",
    [
        {"rollup": {"query": {"metric": "SHARE", "entity": "GROUP", "period": "2024"}}},
        {"rollup": {"query": {"metric": "HEADS", "entity": "GROUP", "period": "2024"}}},
        {"compare": {"metric": "HEADS", "period": "2024", "entities": ["PART_A", "PART_B"]}},
    ],
    ids=["no_sum", "unlike_units", "unlike_units_side_by_side"],
)
def test_figures_that_do_not_go_together(group: House, told: Tell, operation: dict[str, Any]) -> None:
    frames = list(group.graph.GraphTrace(graph_pb2.GraphTraceRequest(**operation)))
    assert [frame.WhichOneof("frame") for frame in frames] == ["header", "summary"]  # and no figure
    refusal = frames[-1].summary.refusal
    name = stream_pb2.RefusalReason.Name(refusal.reason).removeprefix("REFUSAL_REASON_")
    told(Told("OK", f"refusal: {name}", refusal.text))


@pytest.mark.parametrize(
    "query",
    [
        {"metric": "HEDS", "entity": "GROUP", "period": "2024"},
        {"metric": "HEADS", "entity": "GROUP", "period": "soon"},
    ],
    ids=["metric", "period"],
)
def test_a_sum_of_what_nobody_knows(group: House, told: Tell, query: dict[str, str]) -> None:
    asked: Any = {"rollup": {"query": query}}
    frames = list(group.graph.GraphTrace(graph_pb2.GraphTraceRequest(**asked)))
    (outcome,) = [outcome for frame in frames for outcome in frame.outcomes.outcomes]
    unknown = outcome.unrecognized_param
    suggested = ", ".join(unknown.suggestions) or unknown.explanation
    told(Told("OK", f"{unknown.param}: {unknown.raw}", f"unrecognized_param; {suggested}"))


# ---- files


def file_of(here: House, head: dict[str, Any], raw: bytes) -> Told:
    """What becomes of a file."""
    part = Facts(
        part=ingest_pb2.FactPart(
            seq=1,
            file=ingest_pb2.FactFilePart(head=ingest_pb2.FactFileHead(**head), content=raw, last_part=True),
        )
    )
    frames = list(here.ingest.IngestFacts(iter([start(Facts), part, finish(Facts, 1)])))
    return of_rows([each for frame in frames for each in frame.rejected.rows], REASONS)


OWN = b"<data key='r'>owns</data>"
GRAPH = b"<graphml><key id='r' attr.name='relation'/><graph><node id='a'/>%s</graph></graphml>"
KNOWN = 'ends = "known"\n'


@pytest.mark.parametrize(
    ("head", "raw"),
    [
        ({"name": "f.graphml"}, GRAPH % b"<edge source='x' target='y'><data key='r'>owns</data></edge>"),
        ({"name": "f.graphml"}, GRAPH % b"<edge source='a' target='a'/>"),
        ({"name": "f.graphml"}, b"<svg/>"),
        ({"name": "f.graphml"}, b"<graphml><node"),
        ({"name": "f.graphml"}, b'<!DOCTYPE g [<!ENTITY a "b">]><graphml>&a;</graphml>'),
        (
            {"name": "f.graphml"},
            b"<graphml><key id='r' attr.name='relation'/><key id='x' attr.name='extractor'/><graph><node id='a'/>"
            b"<edge source='a' target='a'><data key='r'>owns</data><data key='x'>llm:m@1</data></edge>"
            b"</graph></graphml>",
        ),
        (
            {"name": "f.csv", "mapping_toml": KNOWN},
            b"subject,relation,object\nJapn,parent_of,Asja\nAsia,parent_of,Japan\nX,parent_of,Y\n",
        ),
        (
            {"name": "f.csv"},
            b"subject,relation,object,object_type,valid_from,valid_to\n,owns,profit,metric,2021-01-01,2020-01-01\n",
        ),
        ({"name": "f.csv", "form": "relations_csv"}, b"child,mother\nA,B\n"),
        ({"name": "f.csv", "form": "relations_csv"}, b"subject,relation,object,object\nA,r,B,C\n"),
        ({"name": "f.csv", "form": "relations_csv"}, b"subject,relation,object\nA,r,B,C\n"),
        (
            {"name": "f.csv", "form": "relations_csv", "mapping_toml": 'ends = "some"\n[columns]\nsubjekt = "a"\n'},
            b"subject,relation,object\nA,r,B\n",
        ),
    ],
    ids=[
        "ends_that_are_no_nodes",
        "edge_without_a_relation",
        "no_graphml",
        "broken_xml",
        "entity",
        "found_by_a_model",
        "unknown_ends",
        "all_faults_of_a_row",
        "columns_missing",
        "column_twice",
        "wider_than_its_heading",
        "mapping",
    ],
)
def test_a_file_of_relations(here: House, told: Tell, head: dict[str, Any], raw: bytes) -> None:
    told(file_of(here, head, raw))


def test_relations_from_what_is_not_there(here: House, told: Tell) -> None:
    library: Any = {"library_id": "third", "settings": [{"name": "relations_from", "value": "tea leaves"}]}
    request = admin_pb2.SaveLibraryRequest(library=library)
    told(of_call(failure_of(lambda: here.admin.SaveLibrary(request))))
