"""Neighbourhoods: what is found, in which order, within which bounds, and what never shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire_server.errors import (
    DeadlineExceeded,
    ErrorReason,
    FailedPrecondition,
    InvalidRequest,
    NotImplementedHere,
)
from groundwire_server.evidence import (
    AnyOf,
    Attribute,
    Call,
    CallCancelled,
    CallOptions,
    CancelToken,
    DegradationKind,
    EmptyFilterPolicy,
    EndReason,
    GraphEdge,
    Header,
    Label,
    Operator,
    Predicate,
    RefusalReason,
    Snippet,
    Snippets,
    Summary,
    Trust,
)
from groundwire_server.glossary import EntityTerm, Glossary, MetricTerm, Synonym
from groundwire_server.graph import Direction, Neighborhood, TraceBudget, TraceLimits, TraceRequest, trace
from groundwire_server.library import LibraryConfig, Snapshot
from groundwire_server.security import SecurityGate, local_principal
from groundwire_server.store import EdgeRecord
from tests.support.libraries import START, make_library


def edge(source: str, target: str, relation: str = "parent_of", **changes: object) -> EdgeRecord:
    record = EdgeRecord(
        source_kind="entity",
        source=source,
        relation=relation,
        target_kind="entity",
        target=target,
        extractor="file",
        source_doc="group.jsonl",
        locator=f"group.jsonl#line={ord(source[0]) + ord(target[0])}",
    )
    return replace(record, **changes)  # type: ignore[arg-type]


GLOSSARY = Glossary(
    [
        EntityTerm("ACME", label="Acme Group", synonyms=(Synonym("アクメ", "ja"),)),
        EntityTerm("ACME_JP", label="Acme Japan", synonyms=(Synonym("アクメ日本", "ja"), Synonym("twin", "en"))),
        MetricTerm("REVENUE", label="Revenue", synonyms=(Synonym("twin", "en"),)),
        EntityTerm("LONELY", label="Lonely Ltd"),
    ],
    ambiguous="report",
)
EDGES = [
    edge("ACME", "ACME_JP", locator="a", attributes=(Attribute("pct", Decimal("51.0")),)),
    edge("ACME", "ACME_JP", locator="b", source_doc="another.jsonl"),
    edge("ACME", "ACME_UK", valid_from="2015-04-01", valid_to="2019-12-31"),
    edge("ACME_JP", "ACME_OSAKA", attributes=(Attribute("pct", Decimal("100")),)),
    edge("ACME_OSAKA", "ACME", "competes_with"),
    edge("REVENUE", "ACME_JP", "mentions", source_kind="metric"),
    edge("ACME_JP", "a note, on #1", "says", target_kind="literal"),
    edge("ACME", "SECRET", label=Label.CONFIDENTIAL),
    edge("SECRET", "BEYOND"),
    edge("GHOST", "ACME", "haunts", label=Label.RESTRICTED),
    edge("ACME_UK", "MODEL", extractor="llm:tiny@1"),
]


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    folder = tmp_path_factory.mktemp("graph")
    return make_library(folder, edges=EDGES, glossary=GLOSSARY, config=LibraryConfig(ambiguous="report")).snapshot()


def run(
    snapshots: Snapshot | Sequence[Snapshot],
    *node_ids: str,
    relations: tuple[str, ...] = (),
    direction: Direction = Direction.BOTH,
    max_hops: int = 0,
    valid_in: str = "",
    budget: TraceBudget = TraceBudget(),  # noqa: B008
    include_unverified: bool = False,
    gate: SecurityGate | None = None,
    limits: TraceLimits | None = None,
    call: Call | None = None,
    **options: object,
) -> tuple[Header, list[Snippet], Summary]:
    request = TraceRequest(Neighborhood(node_ids, relations, direction, max_hops), include_unverified, valid_in, budget)
    call = call or Call(local_principal(), CallOptions(**options), now=lambda: START)  # type: ignore[arg-type]
    libraries = [snapshots] if isinstance(snapshots, Snapshot) else snapshots
    frames = list(trace(request, call, libraries, gate=gate or SecurityGate(), limits=limits or TraceLimits()))
    header, summary = frames[0], frames[-1]
    assert isinstance(header, Header)
    assert isinstance(summary, Summary)
    return header, [one for frame in frames if isinstance(frame, Snippets) for one in frame.snippets], summary


def triples(found: list[Snippet]) -> list[tuple[str, str, str]]:
    return [
        (
            one.payload.source.node_id.removeprefix("entity:"),
            one.payload.relation,
            one.payload.target.node_id.removeprefix("entity:"),
        )
        for one in found
        if isinstance(one.payload, GraphEdge)
    ]


def test_edges_come_nearest_first_then_by_relation_and_ids(snapshot: Snapshot) -> None:
    header, found, summary = run(snapshot, "ACME", max_hops=2)
    assert triples(found) == [
        ("ACME_OSAKA", "competes_with", "ACME"),
        ("ACME", "parent_of", "ACME_JP"),
        ("ACME", "parent_of", "ACME_UK"),
        ("metric:REVENUE", "mentions", "ACME_JP"),
        ("ACME_JP", "parent_of", "ACME_OSAKA"),
        ("ACME_JP", "says", "literal:a note%2C on %231"),
    ]
    assert (summary.end_reason, summary.candidates, summary.degradations) == (EndReason.EXHAUSTED, 6, ())
    assert [(step.stage, step.backend) for step in header.plan] == [
        ("nodes", "ids_and_names"),
        ("walk", "breadth_first"),
        ("exit", "snippets"),
    ]
    assert header.plan[1].detail == "hops=2,direction=both,max_nodes=100000,max_edges=100000"
    assert header.snapshots[0].snapshot_id == snapshot.snapshot_id(local_principal())


def test_an_edge_carries_all_of_its_sources(snapshot: Snapshot) -> None:
    _, found, _ = run(snapshot, "ACME", direction=Direction.OUT)
    (both,) = [one for one in found if "ACME_JP" in triples([one])[0]]
    assert isinstance(both.payload, GraphEdge)
    assert (both.lineage.doc_id, both.lineage.source_locator, both.lineage.library_id) == (
        "another.jsonl",
        "b",
        "default",
    )
    assert [(member.doc_id, member.source_locator) for member in both.lineage.members] == [("group.jsonl", "a")]
    assert (both.payload.source.label, both.payload.target.label) == ("Acme Group", "Acme Japan")
    assert (both.payload.extractor, both.trust, both.scores) == ("file", Trust.CITABLE, None)
    assert len(both.snippet_id) == 32
    assert triples(run(snapshot, "ACME", language="ja")[1])[0]
    _, japanese, _ = run(snapshot, "entity:ACME", direction=Direction.OUT, language="ja")
    assert isinstance(japanese[0].payload, GraphEdge)
    assert japanese[0].payload.source.label == "アクメ"


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("entity:ACME_OSAKA", "ACME_OSAKA"),
        ("ACME_OSAKA", "ACME_OSAKA"),
        ("acme_osaka", "ACME_OSAKA"),
        ("アクメ日本", "ACME_JP"),
        ("Ａｃｍｅ　Japan", "ACME_JP"),
        ("metric:REVENUE", "metric:REVENUE"),
        ("literal:a note%2C on %231", "literal:a note%2C on %231"),
        ("a note, on #1", "literal:a note%2C on %231"),
    ],
)
def test_nodes_are_named_by_id_or_by_name(snapshot: Snapshot, name: str, first: str) -> None:
    _, found, _ = run(snapshot, name)
    assert found
    assert all(first in (triple[0], triple[2]) for triple in triples(found))


def test_a_term_without_relations_is_a_node_with_nothing_around(snapshot: Snapshot) -> None:
    _, found, summary = run(snapshot, "Lonely Ltd", max_hops=3)
    assert (found, summary.end_reason) == ([], EndReason.EXHAUSTED)


def test_unknown_and_ambiguous_nodes_and_relations_are_named_at_once(snapshot: Snapshot) -> None:
    with pytest.raises(InvalidRequest) as raised:
        run(snapshot, "ACME_JB", "twin", "ACME", "entity:GHOST", relations=("sells", "owned_by", "haunts"))
    faults = {fault.field: (fault.reason, fault.description) for fault in raised.value.violations}
    assert list(faults) == [
        "neighborhood.node_ids[0]",
        "neighborhood.node_ids[1]",
        "neighborhood.node_ids[3]",
        "neighborhood.relations[0]",
        "neighborhood.relations[2]",
    ]
    assert faults["neighborhood.node_ids[0]"][0] is ErrorReason.UNKNOWN_NODE
    assert "entity:ACME_JP" in faults["neighborhood.node_ids[0]"][1]
    assert "entity:ACME_JP, metric:REVENUE" in faults["neighborhood.node_ids[1]"][1]
    # Hidden edges alone touch GHOST, so it is as unknown as any other name.
    assert "GHOST" not in faults["neighborhood.node_ids[3]"][1].replace("'entity:GHOST'", "")
    assert faults["neighborhood.relations[0]"] == (
        ErrorReason.UNKNOWN_NAME,
        "'sells' is none of competes_with, mentions, owned_by, parent_of, part_of, says, subsidiary_of",
    )


def test_all_violations_at_once(snapshot: Snapshot) -> None:
    with pytest.raises(InvalidRequest) as raised:
        run(
            snapshot,
            "",
            relations=(" ",),
            max_hops=7,
            valid_in="soon",
            budget=TraceBudget(-1, 100_001),
            valid_at=datetime(2020, 1, 1, tzinfo=UTC),
            filter=Predicate("colour", Operator.EQ, ("red",)),
            hint=AnyOf(()),
        )
    assert [(fault.field, fault.reason) for fault in raised.value.violations] == [
        ("neighborhood.node_ids[0]", ErrorReason.VALUE_REQUIRED),
        ("neighborhood.relations[0]", ErrorReason.VALUE_REQUIRED),
        ("neighborhood.max_hops", ErrorReason.VALUE_OUT_OF_RANGE),
        ("budget.max_nodes", ErrorReason.VALUE_OUT_OF_RANGE),
        ("budget.max_edges", ErrorReason.VALUE_OUT_OF_RANGE),
        ("valid_in", ErrorReason.CONTRADICTION),
        ("valid_in", ErrorReason.VALUE_MALFORMED),
        ("options.filter.predicate.field", ErrorReason.FILTER_UNKNOWN_FIELD),
        ("options.hint.any_of", ErrorReason.FILTER_EMPTY),
    ]
    with pytest.raises(InvalidRequest):
        run(snapshot)
    with pytest.raises(InvalidRequest):
        run(snapshot, *["ACME"] * 1001)


@pytest.mark.parametrize("name", ["elsewhere"])
def test_operations_that_are_not_built_say_so(snapshot: Snapshot, name: str) -> None:
    with pytest.raises(NotImplementedHere) as raised:
        list(trace(TraceRequest(name), Call(local_principal()), [snapshot]))
    assert raised.value.details == {"operation": f"graph.{name}"}


def test_directions_and_relations_are_followed(snapshot: Snapshot) -> None:
    owners = run(snapshot, "ACME_OSAKA", relations=("parent_of",), direction=Direction.IN, max_hops=6)[1]
    assert triples(owners) == [("ACME_JP", "parent_of", "ACME_OSAKA"), ("ACME", "parent_of", "ACME_JP")]
    below = run(snapshot, "ACME", relations=("parent_of",), direction=Direction.OUT, max_hops=6)[1]
    assert [target for _, _, target in triples(below)] == ["ACME_JP", "ACME_UK", "ACME_OSAKA"]
    # A name that stands for a relation read backwards walks it backwards.
    assert triples(run(snapshot, "ACME_OSAKA", relations=("owned_by",), direction=Direction.OUT, max_hops=6)[1]) == [
        ("ACME_JP", "parent_of", "ACME_OSAKA"),
        ("ACME", "parent_of", "ACME_JP"),
    ]
    assert run(snapshot, "ACME_OSAKA", relations=("part_of",), direction=Direction.IN)[1] == []


def test_edges_hold_in_a_period_or_on_a_day(snapshot: Snapshot) -> None:
    def below(**when: object) -> set[str]:
        found = run(snapshot, "ACME", relations=("parent_of",), direction=Direction.OUT, **when)[1]  # type: ignore[arg-type]
        return {target for _, _, target in triples(found)}

    assert below() == below(valid_in="2015") == below(valid_in="2019年") == {"ACME_JP", "ACME_UK"}
    assert below(valid_in="2014") == below(valid_in="2020Q1") == {"ACME_JP"}
    assert below(valid_in="2015-01-01/2015-03-31") == {"ACME_JP"}
    assert below(valid_at=datetime(2019, 12, 31, tzinfo=UTC)) == {"ACME_JP", "ACME_UK"}
    assert below(valid_at=datetime(2020, 1, 1, tzinfo=UTC)) == {"ACME_JP"}


def test_filters_test_edges_and_the_hint_is_dropped_once(snapshot: Snapshot) -> None:
    more = Predicate("pct", Operator.GTE, (Decimal(60),))
    header, found, _ = run(snapshot, "ACME_JP", filter=more)
    assert triples(found) == [("ACME_JP", "parent_of", "ACME_OSAKA")]
    assert header.filter_applied == more
    stated = Predicate("pct", Operator.PRESENT, (True,))
    _, found, _ = run(snapshot, "ACME", filter=stated, direction=Direction.OUT)
    assert [(one.lineage.source_locator, one.lineage.members) for one in found] == [("a", ())]
    by_doc = Predicate("doc_id", Operator.EQ, ("another.jsonl",))
    assert triples(run(snapshot, "ACME", filter=by_doc)[1]) == [("ACME", "parent_of", "ACME_JP")]
    nothing = Predicate("relation", Operator.EQ, ("nothing",))
    header, found, summary = run(snapshot, "ACME", hint=nothing)
    assert found
    assert header.hint_applied is None
    assert [each.kind for each in summary.degradations] == [DegradationKind.FILTER_DROPPED]
    assert run(snapshot, "ACME", hint=nothing, on_empty=EmptyFilterPolicy.NEVER_WIDEN)[1] == []
    with pytest.raises(FailedPrecondition):
        run(snapshot, "ACME", hint=nothing, forbid=frozenset({DegradationKind.FILTER_DROPPED}))


def test_what_a_model_said_is_left_out_unless_asked_for(snapshot: Snapshot) -> None:
    assert ("ACME_UK", "parent_of", "MODEL") not in triples(run(snapshot, "ACME_UK")[1])
    _, found, _ = run(snapshot, "ACME_UK", include_unverified=True)
    (said,) = [one for one in found if "MODEL" in triples([one])[0]]
    assert said.trust is Trust.MODEL_DERIVED_UNVERIFIED


@pytest.mark.parametrize(
    ("budget", "component"), [(TraceBudget(max_nodes=2), "nodes"), (TraceBudget(max_edges=2), "edges")]
)
def test_a_bound_that_is_hit_is_named_and_what_was_sent_holds(
    snapshot: Snapshot, budget: TraceBudget, component: str
) -> None:
    _, everything, _ = run(snapshot, "ACME", max_hops=3)
    _, found, summary = run(snapshot, "ACME", max_hops=3, budget=budget)
    assert summary.end_reason is EndReason.GRAPH_BUDGET
    assert [(each.kind, each.component) for each in summary.degradations] == [(DegradationKind.BUDGET_CUT, component)]
    assert 0 < len(found) < len(everything)
    assert set(triples(found)) < set(triples(everything))
    with pytest.raises(FailedPrecondition):
        run(snapshot, "ACME", max_hops=3, budget=budget, forbid=frozenset({DegradationKind.BUDGET_CUT}))


def test_the_gate_stands_before_the_graph(snapshot: Snapshot) -> None:
    header, found, summary = run(snapshot, "ＩＮＩＴＥＣＨ", gate=SecurityGate(["Initech"]))
    assert (found, header.snapshots, summary.end_reason) == ([], (), EndReason.REFUSED)
    assert summary.refusal is not None
    assert summary.refusal.reason is RefusalReason.OUT_OF_SCOPE


def test_time_travels(tmp_path: Path) -> None:
    library = make_library(tmp_path, edges=[edge("A", "B")])
    before = library.store.generations()[-1].committed_at
    with library.writing() as writer:
        writer.put_edges([edge("A", "C")])
    assert len(run(library.snapshot(), "A")[1]) == 2
    assert len(run(library.snapshot(), "A", known_at=before)[1]) == 1
    with pytest.raises(InvalidRequest):
        run(library.snapshot(), "C", known_at=before)


def test_several_libraries_are_read_together(tmp_path: Path, snapshot: Snapshot) -> None:
    other = make_library(tmp_path, edges=[edge("ACME", "ACME_DE")], library_id="other").snapshot()
    header, found, _ = run([other, snapshot], "ACME", direction=Direction.OUT)
    assert [state.library_id for state in header.snapshots] == ["default", "other"]
    assert triples(found) == [
        ("ACME", "parent_of", "ACME_DE"),
        *triples(run(snapshot, "ACME", direction=Direction.OUT)[1]),
    ]
    assert triples(run([other, snapshot], "ACME_DE")[1]) == [("ACME", "parent_of", "ACME_DE")]
    with pytest.raises(InvalidRequest):
        run([], "ACME")


def test_the_cancel_token_is_asked(snapshot: Snapshot) -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(CallCancelled):
        run(snapshot, "ACME", call=Call(local_principal(), cancel=token))
    with pytest.raises(DeadlineExceeded):
        run(snapshot, "ACME", call=Call(local_principal(), cancel=CancelToken(deadline=0.0)))


NODES = "ABCDEFGH"
RANDOM_EDGES = st.lists(
    st.builds(
        lambda source, target, relation, label, locator: edge(source, target, relation, label=label, locator=locator),
        st.sampled_from(NODES),
        st.sampled_from(NODES),
        st.sampled_from(["r", "s"]),
        st.sampled_from([Label.PUBLIC, Label.INTERNAL, Label.INTERNAL, Label.CONFIDENTIAL, Label.RESTRICTED]),
        st.sampled_from(["1", "2"]),
    ),
    max_size=16,
)


def strip(found: list[Snippet]) -> list[Snippet]:
    return [
        replace(
            one,
            lineage=replace(
                one.lineage,
                ingested_at=None,
                members=tuple(replace(member, ingested_at=None) for member in one.lineage.members),
            ),
        )
        for one in found
    ]


@settings(max_examples=60)
@given(edges=RANDOM_EDGES, start=st.sampled_from(NODES), hops=st.integers(1, 4), direction=st.sampled_from(Direction))
def test_a_walk_is_that_of_networkx_over_what_may_be_seen(
    tmp_path_factory: pytest.TempPathFactory, edges: list[EdgeRecord], start: str, hops: int, direction: Direction
) -> None:
    folder = tmp_path_factory.mktemp("walk")
    home = edge(start, start, "home")  # so that the start is always there
    # The last of equal sources wins, as in the store.
    latest = {(e.source, e.relation, e.target, e.locator): e for e in edges}
    visible = [home, *(e for e in latest.values() if e.label <= Label.INTERNAL)]
    full = make_library(folder, edges=[home, *edges], library_id="full")
    bare = make_library(folder, edges=visible, library_id="bare")
    seen = [
        run(replace(library.snapshot(), library_id="default"), start, max_hops=hops, direction=direction)
        for library in (full, bare)
    ]
    full.close()
    bare.close()
    assert strip(seen[0][1]) == strip(seen[1][1])
    assert replace(seen[0][2], timings=()) == replace(seen[1][2], timings=())

    graph = nx.MultiDiGraph()
    graph.add_edges_from((e.source, e.target, (e.relation, e.source, e.target)) for e in visible)
    away = {Direction.OUT: graph, Direction.IN: graph.reverse(), Direction.BOTH: graph.to_undirected()}[direction]
    distance = nx.single_source_shortest_path_length(away, start, cutoff=hops)
    expected = {}
    for e in visible:
        near = {
            Direction.OUT: [distance.get(e.source)],
            Direction.IN: [distance.get(e.target)],
            Direction.BOTH: [distance.get(e.source), distance.get(e.target)],
        }[direction]
        reached = [length + 1 for length in near if length is not None and length < hops]
        if reached:
            expected[e.source, e.relation, e.target] = min(reached)
    found = triples(seen[0][1])
    assert set(found) == set(expected)
    assert [expected[triple] for triple in found] == sorted(expected.values())
