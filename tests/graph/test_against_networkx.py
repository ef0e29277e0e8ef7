"""Paths, closures and common ancestors of random graphs, against networkx on what may be seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire_server.evidence import EndReason, Operator, Predicate
from groundwire_server.graph import Closure, CommonAncestors, Direction, PathChoice, Paths
from groundwire_server.library import Snapshot
from groundwire_server.store import EdgeRecord
from tests.graph.graphs import EDGES, NODES, PERIODS, Ran, homes, oracle, run, visible
from tests.support.libraries import make_library

DIRECTIONS = st.sampled_from(Direction)
TWO = st.permutations(NODES).map(lambda nodes: nodes[:2])
SOME = st.lists(st.sampled_from(NODES), min_size=1, max_size=3, unique=True)


@contextmanager
def both(folders: pytest.TempPathFactory, edges: Sequence[EdgeRecord]) -> Iterator[tuple[Snapshot, Snapshot]]:
    """A library with all edges, and one without those that are hidden."""
    folder = folders.mktemp("graph")
    full = make_library(folder, edges=[*homes(), *edges], library_id="full")
    bare = make_library(folder, edges=[*homes(), *visible(edges)], library_id="bare")
    yield replace(full.snapshot(), library_id="default"), replace(bare.snapshot(), library_id="default")
    full.close()
    bare.close()


def asked(folders: pytest.TempPathFactory, edges: Sequence[EdgeRecord], operation: Any, **more: Any) -> Ran:
    """What both libraries answer, which is the same."""
    with both(folders, edges) as (full, bare):
        answer = run(full, operation, **more)
        assert answer.canonical() == run(bare, operation, **more).canonical()
    return answer


def in_order(graph: nx.MultiDiGraph, paths: Any) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Paths of networkx as (ids of nodes, ids of edges): fewest edges, nodes, edges."""
    found = []
    for path in paths:
        nodes = (path[0][0], *(end for _, end, _ in path))
        orders = tuple(graph.edges[step]["order"] for step in path)
        found.append((len(path), nodes, orders))
    return [(nodes, tuple(order[-1] for order in orders)) for _, nodes, orders in sorted(found)]


@settings(max_examples=25)
@given(
    edges=EDGES,
    ends=TWO,
    direction=DIRECTIONS,
    hops=st.integers(1, 6),
    period=PERIODS,
    relations=st.sampled_from(["rs", "r"]),
)
def test_all_paths(
    tmp_path_factory: pytest.TempPathFactory,
    edges: list[EdgeRecord],
    ends: list[str],
    direction: Direction,
    hops: int,
    period: str,
    relations: str,
) -> None:
    start, end = ends
    graph = oracle(edges, direction, period, relations)
    expected = in_order(graph, nx.all_simple_edge_paths(graph, f"entity:{start}", f"entity:{end}", cutoff=hops))
    wanted = Paths(
        start, end, tuple(relations), direction=direction, choice=PathChoice.ALL, max_hops=hops, max_paths=1000
    )
    with both(tmp_path_factory, edges) as libraries:
        for library in libraries:
            answer = run(library, wanted, valid_in=period)
            assert answer.steps == expected[:1000]
            for choice, most in ((PathChoice.SHORTEST, 1), (PathChoice.K_SHORTEST, 3)):
                fewer = run(library, replace(wanted, choice=choice, max_paths=3), valid_in=period)
                assert fewer.steps == expected[:most]
                full = choice is PathChoice.K_SHORTEST and len(expected) >= most
                assert fewer.summary.end_reason is (EndReason.TOP_K if full else EndReason.EXHAUSTED)


@settings(max_examples=25)
@given(
    edges=EDGES,
    ends=TWO,
    direction=DIRECTIONS,
    pattern=st.lists(st.sampled_from("rs"), min_size=1, max_size=4),
    period=PERIODS,
)
def test_paths_by_pattern(
    tmp_path_factory: pytest.TempPathFactory,
    edges: list[EdgeRecord],
    ends: list[str],
    direction: Direction,
    pattern: list[str],
    period: str,
) -> None:
    start, end = ends
    graph = oracle(edges, direction, period)
    paths = [
        path
        for path in nx.all_simple_edge_paths(graph, f"entity:{start}", f"entity:{end}", cutoff=len(pattern))
        if [graph.edges[step]["relation"] for step in path] == pattern
    ]
    wanted = Paths(start, end, pattern=tuple(pattern), direction=direction, choice=PathChoice.ALL, max_paths=1000)
    answer = asked(tmp_path_factory, edges, wanted, valid_in=period)
    assert answer.steps == in_order(graph, paths)[:1000]


def first_shortest(graph: nx.MultiDiGraph, starts: Sequence[str], cutoff: int | None) -> dict[str, tuple[str, ...]]:
    """The nodes of the shortest path to each node, of those the first by ids."""
    found: dict[str, tuple[str, ...]] = {}
    for start in starts:
        for node in nx.single_source_shortest_path_length(graph, start, cutoff=cutoff):
            best = min(map(tuple, nx.all_shortest_paths(graph, start, node)))
            held = found.get(node)
            if held is None or (len(best), best) < (len(held), held):
                found[node] = best
    return found


@settings(max_examples=25)
@given(edges=EDGES, starts=SOME, direction=DIRECTIONS, depth=st.integers(0, 4), period=PERIODS, filtered=st.booleans())
def test_closures(
    tmp_path_factory: pytest.TempPathFactory,
    edges: list[EdgeRecord],
    starts: list[str],
    direction: Direction,
    depth: int,
    period: str,
    filtered: bool,
) -> None:
    ids = [f"entity:{start}" for start in starts]
    graph = oracle(edges, direction, period)
    reached = first_shortest(graph, ids, depth or None)
    expected = {}
    for node, path in reached.items():
        if node in ids:
            continue
        expected[node] = path
        if filtered:  # by the shortest path whose last edge is an "s", round the node itself
            around = graph.copy()
            around.remove_node(node)
            befores = first_shortest(around, ids, depth - 1 if depth else None)
            ways = [
                (len(before), before)
                for last, before in befores.items()
                for key in graph.get_edge_data(last, node, default={})
                if graph.edges[last, node, key]["relation"] == "s"
            ]
            expected[node] = (*min(ways)[1], node) if ways else ()
    wanted = sorted(((len(path), node, path) for node, path in expected.items() if path))
    options = {"filter": Predicate("relation", Operator.EQ, ("s",))} if filtered else {}
    answer = asked(
        tmp_path_factory, edges, Closure(tuple(starts), ("r", "s"), direction, depth), valid_in=period, **options
    )
    assert [path.node_ids for path in answer.paths] == [path for _, _, path in wanted]
    assert answer.summary.end_reason is EndReason.EXHAUSTED


@settings(max_examples=25)
@given(edges=EDGES, nodes=st.lists(st.sampled_from(NODES), min_size=2, max_size=3, unique=True))
def test_common_ancestors(tmp_path_factory: pytest.TempPathFactory, edges: list[EdgeRecord], nodes: list[str]) -> None:
    up = oracle(edges, Direction.IN, relations="r")
    ids = [f"entity:{node}" for node in nodes]
    reached = [first_shortest(up, [node], None) for node in ids]
    above = set.intersection(*map(set, reached)) - set(ids)
    expected = sorted(
        (max(len(each[node]) for each in reached), sum(len(each[node]) for each in reached), node) for node in above
    )
    answer = asked(tmp_path_factory, edges, CommonAncestors(tuple(nodes), "r"))
    assert [path.node_ids for path in answer.paths] == [each[node] for _, _, node in expected for each in reached]
