"""Stores of relations: SQLite and networkx pass one suite, a stub and each fault of an adapter fails it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from groundwire_server.adjacency import Adjacency
from groundwire_server.errors import FailedPrecondition
from groundwire_server.evidence import Label
from groundwire_server.store import NetworkxGraphStore, SqliteStore
from groundwire_server.store.conformance import GRAPH_CHECKS, Check, Clock, GraphPlaces, make_edge, run_checks
from groundwire_server.store.rows import WriteCounts
from tests.store.places import sqlite_places


def networkx_places() -> Any:
    def place(clock: Clock) -> NetworkxGraphStore:
        return NetworkxGraphStore(clock)

    return place


@pytest.mark.parametrize("check", GRAPH_CHECKS, ids=lambda check: check.name)
@pytest.mark.parametrize("kind", ["sqlite", "networkx"])
def test_both_stores_pass(tmp_path: Path, kind: str, check: Check) -> None:
    places: GraphPlaces = sqlite_places(tmp_path) if kind == "sqlite" else networkx_places
    assert [failure.reason for failure in run_checks(places, [check])] == []


class Stub:
    """Takes everything and has nothing."""

    generation = 0

    def __init__(self, *_: object) -> None:
        pass

    @contextmanager
    def writer(self) -> Iterator[Stub]:
        yield self

    def put_edges(self, records: Any, **_: object) -> WriteCounts:
        return WriteCounts(len(list(records)), 0)

    def __getattr__(self, name: str) -> Any:
        return self if name == "reader" else lambda *_, **__: self if name == "reader" else []

    def __call__(self, *_: object) -> Stub:
        return self


def test_a_stub_fails_every_check() -> None:
    failures = run_checks(lambda: Stub, GRAPH_CHECKS)
    assert [failure.check.name for failure in failures] == [check.name for check in GRAPH_CHECKS]


def _lives_for_ever(row: Any, generation: int) -> bool:
    return bool(row.born <= generation)


FAULTS: list[tuple[str, Any, set[str]]] = [
    ("_Row.lives", _lives_for_ever, {"a_source_takes_its_relations_along", "a_changed_source_is_replaced"}),
    ("NetworkxReader._readable", lambda self, rows, _: [], {"an_edge_comes_out_as_it_went_in"}),
    ("NetworkxReader.retired_edges", lambda self, _: [], {"rows_of_edges_come_as_columns"}),
    ("NetworkxReader.has_node", lambda *_: True, {"nodes_are_what_edges_touch", "hidden_relations_do_not_exist"}),
    ("NetworkxWriter.undo", lambda self: None, {"a_change_of_relations_is_whole"}),
    ("NetworkxWriter._end", lambda self, row: None, {"a_source_takes_its_relations_along"}),
    ("_fault", lambda record: None, {"relations_without_utf8_are_refused"}),
    ("_order", lambda edge: ("", "", ""), {"sources_of_one_edge_share_its_id"}),
    ("_ends", lambda edge: (edge.edge_id,), {"relations_are_listed_in_order"}),
    (
        "NetworkxWriter.replace_edges",
        lambda self, source_doc, extractors, records, start=None: self.put_edges(records),
        {"what_an_extractor_found_is_replaced_whole", "the_edges_of_one_node_are_replaced_alone"},
    ),
]


@pytest.mark.parametrize(("target", "value", "names"), FAULTS)
def test_a_fault_is_caught(monkeypatch: pytest.MonkeyPatch, target: str, value: Any, names: set[str]) -> None:
    monkeypatch.setattr(f"groundwire_server.store.networkx_store.{target}", value)
    checks = [check for check in GRAPH_CHECKS if check.name in names]
    assert {failure.check.name for failure in run_checks(networkx_places, checks)} == names


def test_every_check_catches_something() -> None:
    assert {check.name for check in GRAPH_CHECKS} == {name for *_, names in FAULTS for name in names}


def test_a_copy_is_a_graph_for_networkx(tmp_path: Path) -> None:
    """What a clearance may read, with the ids that it has in the store; and a walk goes over either."""
    store = SqliteStore(tmp_path / "store.sqlite")
    with store.writer() as writer:
        writer.put_edges([make_edge("a", "b"), make_edge("b", "c", source_doc="x"), make_edge("c", "d")])
        writer.put_edges([make_edge("b", "z", label=Label.CONFIDENTIAL)])
    copy = NetworkxGraphStore.copy_of(store.reader(), Label.INTERNAL)
    assert nx.descendants(copy.graph, ("entity", "a")) == {("entity", each) for each in "bcd"}
    nodes = [("entity", each) for each in "abcd"]
    ours, theirs = (each.reader().edges(Label.INTERNAL, nodes, outgoing=True) for each in (store, copy))
    assert [(e.edge_id, e.record) for e in ours] == [(e.edge_id, e.record) for e in theirs]
    seen = []
    for name, each in (("sqlite", store), ("networkx", copy)):
        view = Adjacency(tmp_path / name, each).view(each.reader())
        sight = view.sight(Label.INTERNAL, each.reader().generation)
        seen.append((view.node_ids(sight.nodes), sorted(view.edge_ids(sight.edges)), sight.relations))
    assert seen[0] == seen[1]
    store.close()


def test_without_networkx_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(FailedPrecondition, match="networkx is not installed"):
        NetworkxGraphStore()
