"""Paths, closures and common ancestors: what a path carries, what bounds it, what is refused."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from groundwire_server.errors import ErrorReason, FailedPrecondition, InvalidRequest
from groundwire_server.evidence import (
    Attribute,
    DegradationKind,
    EndReason,
    Label,
    Operator,
    Predicate,
    RefusalReason,
    Trust,
)
from groundwire_server.glossary import EntityTerm, Glossary, RelationTerm, Synonym
from groundwire_server.graph import Closure, CommonAncestors, Direction, PathChoice, Paths, TraceLimits
from groundwire_server.library import Snapshot
from groundwire_server.security import SecurityGate
from tests.graph.graphs import edge, run
from tests.support.libraries import make_library

US, UK = (Attribute("seat", "US"),), (Attribute("seat", "UK"),)
GLOSSARY = Glossary(
    [
        EntityTerm("A", label="Alpha Holding", synonyms=(Synonym("アルファ", "ja"),)),
        RelationTerm("competes_with", symmetric=True, synonyms=(Synonym("競合", "ja"),)),
        RelationTerm("controlled_by", inverse_of="parent_of", synonyms=(Synonym("held by", "en"),)),
    ]
)
# A - B - D - F and A - C - D are a diamond; F owns A again; X is hidden, and so is the short way over it.
EDGES = [
    edge("A", "B", attributes=US),
    edge("A", "C", attributes=UK, valid_from="2020-01-01"),
    edge("B", "D", attributes=UK),
    edge("B", "D", locator="again", attributes=UK),
    edge("C", "D", attributes=US),
    edge("D", "F", attributes=US, locator="again"),
    edge("F", "A", attributes=US),
    edge("A", "X", label=Label.CONFIDENTIAL),
    edge("X", "F", label=Label.RESTRICTED),
    edge("B", "E", "competes_with"),
    edge("D", "M", extractor="llm:tiny@1"),
    edge("M", "N"),
]


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    return make_library(tmp_path_factory.mktemp("graph"), edges=EDGES, glossary=GLOSSARY).snapshot()


def test_a_path_shows_each_edge_with_its_sources(snapshot: Snapshot) -> None:
    ran = run(snapshot, Paths("A", "D", direction=Direction.OUT))
    (snippet,), (path,) = ran.snippets, ran.paths
    assert path.node_ids == ("entity:A", "entity:B", "entity:D")
    assert [(one.source.label, one.relation, one.target.node_id) for one in path.edges] == [
        ("Alpha Holding", "parent_of", "entity:B"),
        ("B", "parent_of", "entity:D"),
    ]
    assert [[(each.doc_id, each.source_locator) for each in one.sources] for one in path.edges] == [
        [("group.jsonl", "AB")],
        [("group.jsonl", "BD"), ("group.jsonl", "again")],
    ]
    assert path.edges[0].attributes == US
    lineage = snippet.lineage
    assert (lineage.library_id, lineage.doc_id) == ("default", "")
    assert [member.source_locator for member in lineage.members] == ["AB", "BD", "again"]
    assert (snippet.trust, snippet.scores, len(snippet.snippet_id)) == (Trust.CITABLE, None, 32)
    # The same place is one source of the whole chain.
    (longer,) = run(snapshot, Paths("A", "F", direction=Direction.OUT, relations=("parent_of",))).snippets
    assert [member.source_locator for member in longer.lineage.members] == ["AB", "BD", "again"]


def test_the_shortest_is_the_first_by_ids_and_the_next_ones_follow(snapshot: Snapshot) -> None:
    def found(choice: PathChoice, **fields: object) -> list[str]:
        return run(snapshot, Paths("A", "F", choice=choice, **fields)).nodes  # type: ignore[arg-type]

    assert found(PathChoice.SHORTEST) == ["AF"]
    assert found(PathChoice.SHORTEST, direction=Direction.OUT) == ["ABDF"]
    assert found(PathChoice.K_SHORTEST, direction=Direction.OUT, max_paths=5) == ["ABDF", "ACDF"]
    assert found(PathChoice.ALL) == ["AF", "ABDF", "ACDF"]
    assert found(PathChoice.ALL, max_hops=2) == ["AF"]
    assert found(PathChoice.ALL, direction=Direction.IN) == ["AF"]


def test_a_pattern_goes_step_by_step_and_inverse_names_go_back(snapshot: Snapshot) -> None:
    def found(start: str, end: str, *pattern: str, direction: Direction = Direction.OUT) -> list[str]:
        return run(snapshot, Paths(start, end, pattern=pattern, direction=direction, choice=PathChoice.ALL)).nodes

    assert found("D", "A", "owned_by", "owned_by") == ["DBA", "DCA"]
    assert found("D", "A", "controlled_by", "held by") == ["DBA", "DCA"]
    assert found("D", "A", "owned_by", "parent_of") == []
    assert found("A", "D", "owned_by", "owned_by", direction=Direction.IN) == ["ABD", "ACD"]
    assert found("A", "E", "parent_of", "competes_with") == ["ABE"]
    # What holds in both directions is walked either way, whatever the direction.
    assert found("E", "D", "競合", "parent_of") == ["EBD"]
    assert found("A", "F", "parent_of") == []
    assert found("A", "F", "parent_of", direction=Direction.BOTH) == ["AF"]


def test_hidden_nodes_are_neither_crossed_nor_known(snapshot: Snapshot) -> None:
    assert run(snapshot, Paths("A", "F", direction=Direction.OUT)).nodes == ["ABDF"]
    with pytest.raises(InvalidRequest) as raised:
        run(snapshot, Paths("X", "entity:X"))
    assert [fault.field for fault in raised.value.violations] == ["paths.from_id", "paths.to_id"]
    assert run(snapshot, Closure(("A",), ("parent_of",))).nodes == ["AB", "AC", "ABD", "ABDF"]


def test_edges_that_a_model_derived_are_crossed_on_demand_and_marked(snapshot: Snapshot) -> None:
    assert run(snapshot, Paths("D", "N", direction=Direction.OUT)).paths == []
    (snippet,) = run(snapshot, Paths("D", "N", direction=Direction.OUT), include_unverified=True).snippets
    assert snippet.trust is Trust.MODEL_DERIVED_UNVERIFIED


def test_edges_hold_when_the_call_says(snapshot: Snapshot) -> None:
    every = Paths("A", "D", direction=Direction.OUT, choice=PathChoice.ALL)
    assert run(snapshot, every, valid_in="2019").nodes == ["ABD"]
    assert run(snapshot, every, valid_in="2020").nodes == ["ABD", "ACD"]
    assert run(snapshot, every, valid_at=datetime(2019, 12, 31, tzinfo=UTC)).nodes == ["ABD"]
    assert run(snapshot, every, filter=Predicate("seat", Operator.EQ, ("US",))).nodes == []


def test_a_closure_crosses_what_fails_the_filter(snapshot: Snapshot) -> None:
    below = Closure(("A",), ("parent_of",))
    in_us = Predicate("seat", Operator.EQ, ("US",))
    # D is led to from B by an edge that fails, from C by one that passes.
    assert run(snapshot, below, filter=in_us).nodes == ["AB", "ACD", "ABDF"]
    assert run(snapshot, below, filter=in_us, valid_in="2019").nodes == ["AB", "ABDF"]
    assert run(snapshot, Closure(("A",), ("parent_of",), max_depth=1), filter=in_us).nodes == ["AB"]
    assert run(snapshot, below, hint=Predicate("seat", Operator.EQ, ("FR",))).nodes == ["AB", "AC", "ABD", "ABDF"]


def test_a_closure_goes_round_a_node_to_an_edge_that_passes(tmp_path: Path) -> None:
    """The shortest way to B leads over N; N itself is reached from B by the only edge that passes."""
    edges = [edge("S", "N"), edge("N", "B"), edge("S", "X"), edge("X", "Y"), edge("Y", "B"), edge("B", "N", "owns")]
    library = make_library(tmp_path, edges=edges).snapshot()
    owned = Predicate("relation", Operator.EQ, ("owns",))
    around = [tuple(f"entity:{code}" for code in "SXYBN")]
    for depth, expected in ((0, around), (4, around), (3, [])):
        ran = run(library, Closure(("S",), ("parent_of", "owns"), Direction.OUT, depth), filter=owned)
        assert [path.node_ids for path in ran.paths] == expected
        assert ran.summary.end_reason is EndReason.EXHAUSTED
    cut = run(library, Closure(("S",), ("parent_of", "owns")), filter=owned, budget=(0, 6))
    assert (cut.paths, cut.summary.end_reason) == ([], EndReason.GRAPH_BUDGET)


def test_a_closure_leaves_out_where_it_starts(snapshot: Snapshot) -> None:
    assert run(snapshot, Closure(("D", "A"), ("parent_of",))).nodes == ["AB", "AC", "DF"]
    assert run(snapshot, Closure(("F",), ("owned_by",))).nodes == ["FD", "FDB", "FDC", "FDBA"]


def test_common_ancestors_come_nearest_first(snapshot: Snapshot) -> None:
    assert run(snapshot, CommonAncestors(("B", "C"))).nodes == ["BA", "CA", "BAF", "CAF", "BAFD", "CAFD"]
    assert run(snapshot, CommonAncestors(("C", "B"), "owned_by")).nodes[:2] == ["CD", "BD"]
    assert run(snapshot, CommonAncestors(("B", "E"))).paths == []


def test_bounds_are_named_and_what_was_sent_is_the_beginning(snapshot: Snapshot) -> None:
    every = Paths("A", "F", choice=PathChoice.ALL)
    cut = run(snapshot, every, budget=(0, 5))
    assert cut.nodes == ["AF"]
    assert cut.summary.end_reason is EndReason.GRAPH_BUDGET
    assert [(one.kind, one.component) for one in cut.summary.degradations] == [(DegradationKind.BUDGET_CUT, "edges")]
    few = run(snapshot, Paths("A", "F", choice=PathChoice.ALL, max_paths=2))
    assert (few.nodes, few.summary.end_reason) == (["AF", "ABDF"], EndReason.GRAPH_BUDGET)
    assert [one.component for one in few.summary.degradations] == ["paths"]
    nodes = run(snapshot, Closure(("A",), ("parent_of",)), budget=(3, 0))
    assert (nodes.nodes, [one.component for one in nodes.summary.degradations]) == (["AB", "AC"], ["nodes"])
    with pytest.raises(FailedPrecondition):
        run(snapshot, every, budget=(0, 5), forbid=frozenset({DegradationKind.BUDGET_CUT}))
    none = run(snapshot, Paths("E", "N", direction=Direction.OUT))
    assert (none.paths, none.summary.end_reason, none.summary.candidates) == ([], EndReason.EXHAUSTED, 0)


def test_a_long_chain_is_cut_by_depth(tmp_path: Path) -> None:
    chain = [edge(f"n{at:03}", f"n{at + 1:03}") for at in range(80)]
    library = make_library(tmp_path, edges=chain).snapshot()
    ran = run(library, Closure(("n000",), ("parent_of",)))
    assert len(ran.paths) == 64
    assert [one.component for one in ran.summary.degradations] == ["depth"]
    whole = run(library, Closure(("n040",), ("parent_of",)))
    assert (len(whole.paths), whole.summary.end_reason) == (40, EndReason.EXHAUSTED)


def test_all_violations_at_once(snapshot: Snapshot) -> None:
    def faults(operation: object, **more: object) -> list[tuple[str, ErrorReason]]:
        with pytest.raises(InvalidRequest) as raised:
            run(snapshot, operation, **more)  # type: ignore[arg-type]
        return [(fault.field, fault.reason) for fault in raised.value.violations]

    assert faults(Paths("", "Z", ("sells",), ("parent_of", " "), max_hops=7, max_paths=-1), valid_in="soon") == [
        ("paths.from_id", ErrorReason.VALUE_REQUIRED),
        ("paths.pattern[1]", ErrorReason.VALUE_REQUIRED),
        ("paths.max_hops", ErrorReason.VALUE_OUT_OF_RANGE),
        ("paths.max_paths", ErrorReason.VALUE_OUT_OF_RANGE),
        ("paths.pattern", ErrorReason.CONTRADICTION),
        ("valid_in", ErrorReason.VALUE_MALFORMED),
        ("paths.to_id", ErrorReason.UNKNOWN_NODE),
        ("paths.relations[0]", ErrorReason.UNKNOWN_NAME),
    ]
    assert faults(Paths("A", "Alpha Holding")) == [("paths.to_id", ErrorReason.CONTRADICTION)]
    assert faults(Paths("A", "B", pattern=("parent_of",) * 7)) == [("paths.pattern", ErrorReason.VALUE_OUT_OF_RANGE)]
    assert faults(Paths("A", "B", pattern=("parent_of",) * 3, max_hops=2)) == [
        ("paths.max_hops", ErrorReason.CONTRADICTION)
    ]
    assert faults(Closure((), (), max_depth=-1)) == [
        ("closure.node_ids", ErrorReason.VALUE_REQUIRED),
        ("closure.relations", ErrorReason.VALUE_REQUIRED),
        ("closure.max_depth", ErrorReason.VALUE_OUT_OF_RANGE),
    ]
    assert faults(CommonAncestors(("A",), "sells")) == [
        ("common_ancestors.node_ids", ErrorReason.VALUE_REQUIRED),
        ("common_ancestors.relation", ErrorReason.UNKNOWN_NAME),
    ]


def test_several_libraries_are_walked_each_by_itself(tmp_path: Path, snapshot: Snapshot) -> None:
    other = make_library(tmp_path, edges=[edge("A", "F"), edge("Q", "A")], library_id="other").snapshot()
    ran = run([other, snapshot], Paths("A", "F", direction=Direction.OUT, choice=PathChoice.K_SHORTEST, max_paths=2))
    assert ran.nodes == ["AF", "ABDF"]
    assert [one.lineage.library_id for one in ran.snippets] == ["other", "default"]
    assert run([other, snapshot], Paths("Q", "D")).paths == []  # no path leads over two libraries
    assert ran.summary.end_reason is EndReason.TOP_K


def test_the_gate_stands_before_the_graph(snapshot: Snapshot) -> None:
    ran = run(snapshot, Paths("A", "ＩＮＩＴＥＣＨ"), gate=SecurityGate(["Initech"]))
    assert ran.summary.refusal is not None
    assert ran.summary.refusal.reason is RefusalReason.OUT_OF_SCOPE


def test_the_order_of_writing_changes_nothing(tmp_path: Path) -> None:
    answers = []
    for name, edges in (("one", EDGES), ("two", EDGES[::-1])):
        library = make_library(tmp_path / name, edges=edges, glossary=GLOSSARY).snapshot()
        wanted = Paths("A", "F", choice=PathChoice.ALL)
        answers.append([run(library, wanted).canonical(), run(library, Closure(("B",), ("parent_of",))).canonical()])
    assert answers[0] == answers[1]


def test_a_hop_limit_of_the_server_bounds_a_path(snapshot: Snapshot) -> None:
    limits = TraceLimits(max_hops=2)
    assert run(snapshot, Paths("A", "F", direction=Direction.OUT), limits=limits).paths == []
    assert len(run(snapshot, Closure(("A",), ("parent_of",)), limits=limits).paths) == 4
