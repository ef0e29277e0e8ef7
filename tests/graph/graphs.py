"""Graphs for tests: edges in few words, random ones, and one operation run on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import networkx as nx
from hypothesis import strategies as st

from groundwire_server.evidence import (
    Call,
    CallOptions,
    GraphPath,
    Header,
    Label,
    MetricOutcome,
    Outcomes,
    Snippet,
    Snippets,
    Summary,
)
from groundwire_server.graph import Direction, TraceBudget, TraceLimits, TraceOperation, TraceRequest, trace
from groundwire_server.library import Snapshot
from groundwire_server.security import SecurityGate, local_principal
from groundwire_server.store import EdgeRecord
from groundwire_server.store.sqlite.edges import make_edge_id
from tests.support.libraries import START

NODES = "ABCDEF"
_VISIBLE = Label.INTERNAL


def edge(source: str, target: str, relation: str = "parent_of", **changes: Any) -> EdgeRecord:
    """An edge between entities."""
    record = EdgeRecord("entity", source, relation, "entity", target, "file", "group.jsonl", f"{source}{target}")
    return replace(record, **changes)


@dataclass(frozen=True)
class Ran:
    """What came of one operation."""

    header: Header
    snippets: list[Snippet]
    summary: Summary
    outcomes: tuple[MetricOutcome, ...] = ()

    @property
    def paths(self) -> list[GraphPath]:
        return [one.payload for one in self.snippets if isinstance(one.payload, GraphPath)]

    @property
    def nodes(self) -> list[str]:
        """The nodes of each path in one word, for nodes of one letter."""
        return ["".join(node.removeprefix("entity:") for node in path.node_ids) for path in self.paths]

    @property
    def steps(self) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
        """Ids of the nodes and of the edges of each path."""
        return [(path.node_ids, tuple(one.edge_id for one in path.edges)) for path in self.paths]

    def canonical(self) -> tuple[Any, ...]:
        """All that does not depend on the clock."""
        return [_timeless(one) for one in self.snippets], self.outcomes, replace(self.summary, timings=())


def run(
    snapshots: Snapshot | Sequence[Snapshot],
    operation: TraceOperation,
    *,
    valid_in: str = "",
    budget: tuple[int, int] = (0, 0),
    include_unverified: bool = False,
    gate: SecurityGate | None = None,
    limits: TraceLimits | None = None,
    **options: Any,
) -> Ran:
    """Run one operation to its end."""
    request = TraceRequest(operation, include_unverified, valid_in, TraceBudget(*budget))
    call = Call(local_principal(), CallOptions(**options), now=lambda: START)
    libraries = [snapshots] if isinstance(snapshots, Snapshot) else snapshots
    frames = list(trace(request, call, libraries, gate=gate or SecurityGate(), limits=limits or TraceLimits()))
    header, summary = frames[0], frames[-1]
    assert isinstance(header, Header)
    assert isinstance(summary, Summary)
    snippets = [one for frame in frames if isinstance(frame, Snippets) for one in frame.snippets]
    outcomes = tuple(one for frame in frames if isinstance(frame, Outcomes) for one in frame.outcomes)
    return Ran(header, snippets, summary, outcomes)


DAYS = st.sampled_from([("", ""), ("2019-01-01", ""), ("", "2020-06-30"), ("2020-01-01", "2020-12-31")])
LABELS = st.sampled_from([Label.PUBLIC, Label.INTERNAL, Label.INTERNAL, Label.CONFIDENTIAL, Label.RESTRICTED])
EDGES = st.lists(
    st.builds(
        lambda source, target, relation, label, days, locator: edge(
            source, target, relation, label=label, valid_from=days[0], valid_to=days[1], locator=locator
        ),
        st.sampled_from(NODES),
        st.sampled_from(NODES),
        st.sampled_from("rs"),
        LABELS,
        DAYS,
        st.sampled_from("12"),
    ),
    max_size=24,
)
PERIODS = st.sampled_from(["", "2018", "2019", "2020H2", "2021"])
_DAYS_OF = {
    "2018": ("2018-01-01", "2018-12-31"),
    "2020": ("2020-01-01", "2020-12-31"),
    "2019": ("2019-01-01", "2019-12-31"),
    "2020H2": ("2020-07-01", "2020-12-31"),
    "2021": ("2021-01-01", "2021-12-31"),
}


def homes() -> list[EdgeRecord]:
    """Edges that make every node and relation be there, and lead nowhere."""
    return [edge(node, node, relation) for node in NODES for relation in ("home", "r", "s")]


def visible(edges: Sequence[EdgeRecord]) -> list[EdgeRecord]:
    """What a store without the hidden rows would hold: of equal sources the last one wins."""
    latest = {(make_edge_id(one), one.locator): one for one in edges}
    return [one for one in latest.values() if one.label <= _VISIBLE]


def oracle(
    edges: Sequence[EdgeRecord], direction: Direction, valid_in: str = "", relations: Sequence[str] = "rs"
) -> nx.MultiDiGraph:
    """The same edges for networkx, each under its id, turned as they may be walked."""
    graph = nx.MultiDiGraph()
    graph.add_nodes_from(f"entity:{node}" for node in NODES)
    for one in visible(edges):
        first, last = _DAYS_OF.get(valid_in, ("0000", "9999"))
        if one.relation not in relations or one.source == one.target:
            continue
        if (one.valid_from and one.valid_from > last) or (one.valid_to and one.valid_to < first):
            continue
        key, ends = make_edge_id(one), (f"entity:{one.source}", f"entity:{one.target}")
        order = (one.relation, *ends, key)
        if direction is not Direction.IN:
            graph.add_edge(*ends, key=key, order=order, relation=one.relation)
        if direction is not Direction.OUT:
            graph.add_edge(*reversed(ends), key=key, order=order, relation=one.relation)
    return graph


def _timeless(snippet: Snippet) -> Snippet:
    lineage = snippet.lineage
    members = tuple(replace(member, ingested_at=None) for member in lineage.members)
    payload = snippet.payload
    if isinstance(payload, GraphPath):
        edges = tuple(
            replace(one, sources=tuple(replace(source, ingested_at=None) for source in one.sources))
            for one in payload.edges
        )
        payload = replace(payload, edges=edges)
    return replace(snippet, lineage=replace(lineage, ingested_at=None, members=members), payload=payload)
