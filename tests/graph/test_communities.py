"""Communities: what hangs together, the same on every run, of what may be seen alone, with sentences of the sources."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from groundwire_server.errors import ErrorReason, InvalidRequest
from groundwire_server.evidence import (
    Call,
    CallOptions,
    DegradationKind,
    EmptyFilterPolicy,
    EndReason,
    GraphCommunity,
    Header,
    Label,
    Operator,
    Predicate,
    RefusalReason,
    Snippet,
    Snippets,
    Summary,
    Trust,
    slice_text,
    text_sha256,
)
from groundwire_server.glossary import EntityTerm, Glossary, Synonym
from groundwire_server.graph import Communities, TraceBudget, TraceRequest, trace
from groundwire_server.library import Snapshot
from groundwire_server.security import SecurityGate, local_principal
from groundwire_server.store import EdgeRecord
from tests.graph.graphs import edge
from tests.support.libraries import Doc, make_library

TWO = [
    *(edge(a, b) for a, b in ("AB", "BC", "CA", "AD", "BD", "CD")),
    *(edge(a, b) for a, b in ("WX", "XY", "YW")),
    edge("D", "W", "competes_with"),
]


def run(
    snapshot: Snapshot,
    *nodes: str,
    gate: SecurityGate | None = None,
    request: dict[str, Any] | None = None,
    **more: Any,
) -> tuple[Header, list[Snippet], Summary]:
    most, given_request = more.pop("most", 0), request or {}
    call = Call(local_principal(), CallOptions(**more))
    wanted = TraceRequest(Communities(nodes, most), **given_request)
    frames = list(trace(wanted, call, [snapshot], gate=gate or SecurityGate()))
    header, summary = frames[0], frames[-1]
    assert isinstance(header, Header)
    assert isinstance(summary, Summary)
    return header, [each for frame in frames if isinstance(frame, Snippets) for each in frame.snippets], summary


def members(snippets: Iterable[Snippet]) -> list[set[str]]:
    payloads = [each.payload for each in snippets]
    return [{node.label for node in each.nodes} for each in payloads if isinstance(each, GraphCommunity)]


def test_what_hangs_together_is_a_community_the_largest_first(tmp_path: Path) -> None:
    header, snippets, summary = run(make_library(tmp_path, edges=TWO).snapshot())
    assert members(snippets) == [set("ABCD"), set("WXY")]
    assert all(each.trust is Trust.CONTEXT_ONLY for each in snippets)
    assert [step.stage for step in header.plan] == ["nodes", "walk", "exit"]
    assert (summary.end_reason, summary.candidates) == (EndReason.EXHAUSTED, 2)
    sizes = [each.payload.size for each in snippets if isinstance(each.payload, GraphCommunity)]
    assert sizes == [4, 3]


def test_nodes_and_counts_pick_some(tmp_path: Path) -> None:
    snapshot = make_library(tmp_path, edges=TWO, glossary=Glossary([EntityTerm("W", "Wolfram")])).snapshot()
    assert [len(each) for each in members(run(snapshot, "Wolfram")[1])] == [3]
    _, snippets, summary = run(snapshot, most=1)
    assert members(snippets) == [set("ABCD")]
    assert summary.end_reason is EndReason.TOP_K


def test_the_order_of_coming_changes_nothing(tmp_path: Path) -> None:
    seen = []
    for number in range(3):
        edges = list(TWO)
        random.Random(number).shuffle(edges)
        seen.append(
            [
                (each.snippet_id, each.payload)
                for each in run(make_library(tmp_path / str(number), edges=edges).snapshot())[1]
            ]
        )
    assert seen[0] == seen[1] == seen[2]


def test_hidden_relations_are_not_there(tmp_path: Path) -> None:
    hidden = [edge(a, b, label=Label.CONFIDENTIAL) for a in "ABCD" for b in "WXYH"]
    alone = run(make_library(tmp_path / "alone", edges=TWO).snapshot())
    beside = run(make_library(tmp_path / "beside", edges=[*hidden, *TWO]).snapshot())
    assert [(each.snippet_id, each.payload) for each in alone[1]] == [
        (each.snippet_id, each.payload) for each in beside[1]
    ]
    assert alone[2].candidates == beside[2].candidates


def test_the_summary_is_made_of_sentences_that_stand_in_the_sources(tmp_path: Path) -> None:
    glossary = Glossary(
        [
            EntityTerm("A", "Alpha Works", (Synonym("アルファ", "ja"), Synonym("阿尔法", "zh"))),
            EntityTerm("B", "Beta"),
            EntityTerm("C", "Gamma"),
        ]
    )
    docs = [
        Doc("en.md", "Nothing here. Alpha Works owns Beta and Gamma. Beta sells to Gamma.", "EN"),
        Doc("ja.md", "アルファは古い。アルファはBetaを買った。"),
        Doc("zh.md", "阿尔法收购了Gamma。", label=Label.CONFIDENTIAL),
        Doc("unread.md", "Alpha Works, Beta and Gamma are one."),
    ]
    edges = [
        edge("A", "B", source_doc="en.md", locator="en.md#line=1"),
        edge("A", "C", source_doc="ja.md", locator="ja.md#line=1"),
        edge("B", "C", source_doc="zh.md", locator="zh.md#line=1"),
    ]
    snapshot = make_library(tmp_path, docs, edges=edges, glossary=glossary).snapshot()
    ((snippet,),) = [run(snapshot)[1]]
    assert isinstance(snippet.payload, GraphCommunity)
    assert snippet.payload.summary == "Alpha Works owns Beta and Gamma."
    texts = {doc.doc_id: doc.text for doc in docs}
    for source in snippet.lineage.members:
        assert source.span is not None
        quoted = slice_text(texts[source.doc_id], source.span)
        assert quoted in snippet.payload.summary.split("\n")
        assert source.text_sha256 == text_sha256(quoted)


def test_without_texts_the_sources_of_the_relations_are_cited(tmp_path: Path) -> None:
    (first, *_) = run(make_library(tmp_path, edges=TWO).snapshot())[1]
    assert isinstance(first.payload, GraphCommunity)
    assert first.payload.summary == ""
    assert {source.doc_id for source in first.lineage.members} == {"group.jsonl"}


def test_filters_days_and_hints_test_the_relations(tmp_path: Path) -> None:
    edges = [*TWO, edge("M", "N", "supplies", valid_from="2020-01-01", valid_to="2020-12-31")]
    snapshot = make_library(tmp_path, edges=edges).snapshot()
    supplies = Predicate("relation", Operator.EQ, ("supplies",))
    assert members(run(snapshot, filter=supplies)[1]) == [{"M", "N"}]
    assert {"M", "N"} not in members(run(snapshot, request={"valid_in": "2021"})[1])
    header, snippets, summary = run(snapshot, hint=Predicate("relation", Operator.EQ, ("nothing",)))
    assert len(snippets) == 3
    assert [each.kind for each in summary.degradations] == [DegradationKind.FILTER_DROPPED]
    assert header.hint_applied is None
    kept = run(
        snapshot,
        hint=Predicate("relation", Operator.EQ, ("nothing",)),
        on_empty=EmptyFilterPolicy.NEVER_WIDEN,
    )
    assert kept[1] == []


def test_a_bound_that_is_hit_is_told(tmp_path: Path) -> None:
    snapshot = make_library(tmp_path, edges=TWO).snapshot()
    for budget in (TraceBudget(max_edges=3), TraceBudget(max_nodes=3)):
        _, snippets, summary = run(snapshot, request={"budget": budget})
        assert summary.end_reason is EndReason.GRAPH_BUDGET
        assert [each.kind for each in summary.degradations] == [DegradationKind.BUDGET_CUT]
        assert len(snippets) >= 1


def test_every_fault_is_named_at_once(tmp_path: Path) -> None:
    snapshot = make_library(tmp_path, edges=TWO).snapshot()
    with pytest.raises(InvalidRequest) as raised:
        run(snapshot, "A", "nowhere", " ", most=1001, request={"valid_in": "soon"})
    assert [(each.field, each.reason) for each in raised.value.violations] == [
        ("communities.node_ids[2]", ErrorReason.VALUE_REQUIRED),
        ("communities.max_communities", ErrorReason.VALUE_OUT_OF_RANGE),
        ("valid_in", ErrorReason.VALUE_MALFORMED),
        ("communities.node_ids[1]", ErrorReason.UNKNOWN_NODE),
    ]


def test_an_outside_name_refuses_the_whole(tmp_path: Path) -> None:
    _, snippets, summary = run(make_library(tmp_path, edges=TWO).snapshot(), "Rival", gate=SecurityGate(["Rival"]))
    assert (snippets, summary.end_reason) == ([], EndReason.REFUSED)
    assert summary.refusal is not None
    assert summary.refusal.reason is RefusalReason.OUT_OF_SCOPE


def test_nothing_is_no_community(tmp_path: Path) -> None:
    _, snippets, summary = run(make_library(tmp_path).snapshot())
    assert (snippets, summary.end_reason) == ([], EndReason.EXHAUSTED)


pairs = st.lists(st.tuples(st.sampled_from("ABCDEFGH"), st.sampled_from("ABCDEFGH")), min_size=1, max_size=24)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pairs=pairs, hidden=pairs)
def test_communities_part_what_hangs_together(
    tmp_path_factory: pytest.TempPathFactory, pairs: Sequence[tuple[str, str]], hidden: Sequence[tuple[str, str]]
) -> None:
    """Against networkx: no node in two, each connected, and hardly looser than its own greedy communities."""
    edges: list[EdgeRecord] = [edge(a, b, locator=f"{n}") for n, (a, b) in enumerate(pairs)]
    dark = [edge(a, b, "owns", locator=f"h{n}", label=Label.RESTRICTED) for n, (a, b) in enumerate(hidden)]
    snapshot = make_library(tmp_path_factory.mktemp("leiden"), edges=[*edges, *dark]).snapshot()
    found = members(run(snapshot, most=100)[1])
    graph = nx.Graph()
    for a, b in set(pairs):
        if a != b:
            graph.add_edge(a, b, weight=graph.get_edge_data(a, b, {"weight": 0})["weight"] + 1)
    named = [node for each in found for node in each]
    assert len(named) == len(set(named))
    assert set(named) == set(graph)
    assert all(nx.is_connected(graph.subgraph(each)) for each in found)
    if graph.number_of_edges():
        greedy = nx.community.greedy_modularity_communities(graph, weight="weight")
        assert nx.community.modularity(graph, found) >= nx.community.modularity(graph, greedy) - 0.1
    assert [len(each) for each in found] == sorted((len(each) for each in found), reverse=True)
