"""Every operation, over the same relations in any order and any batches, merged or not, in memory or from the file;
under a bound, with hidden rows and without.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire_server.adjacency import adjacency
from groundwire_server.evidence import MetricQuery
from groundwire_server.glossary import Additivity, Glossary, MetricTerm
from groundwire_server.graph import (
    Closure,
    CommonAncestors,
    Direction,
    Neighborhood,
    PathChoice,
    Paths,
    Rollup,
    TraceOperation,
)
from groundwire_server.library import Library
from groundwire_server.store import EdgeRecord
from groundwire_server.store.sqlite.edges import make_edge_id
from tests.graph.graphs import EDGES, NODES, PERIODS, homes, run, visible
from tests.graph.test_figures import fact
from tests.support.libraries import make_library

GLOSSARY = Glossary([MetricTerm("REVENUE", additivity=Additivity.SUM)])
FACTS = [fact(node, f"{place}.5") for place, node in enumerate(NODES)]
DIRECTIONS = st.sampled_from(Direction)
NODE = st.sampled_from(NODES)
OPERATIONS: st.SearchStrategy[TraceOperation] = st.one_of(
    st.builds(lambda node, way, hops: Neighborhood((node,), (), way, hops), NODE, DIRECTIONS, st.integers(1, 4)),
    st.builds(lambda node, way, depth: Closure((node,), ("r", "s"), way, depth), NODE, DIRECTIONS, st.integers(0, 4)),
    st.builds(
        lambda ends, way, hops: Paths(
            ends[0], ends[1], direction=way, choice=PathChoice.ALL, max_hops=hops, max_paths=50
        ),
        st.permutations(NODES),
        DIRECTIONS,
        st.integers(1, 5),
    ),
    st.builds(lambda nodes: CommonAncestors(tuple(nodes[:2]), "r"), st.permutations(NODES)),
    st.builds(lambda node, depth: Rollup(MetricQuery("REVENUE", node, "2020"), "r", depth), NODE, st.integers(0, 3)),
)
BUDGETS = st.sampled_from([(0, 0), (0, 0), (3, 0), (0, 4), (2, 3)])


def told(library: Library, operation: TraceOperation, **more: Any) -> tuple[Any, ...]:
    return run(replace(library.snapshot(), library_id="default"), operation, **more).canonical()


def batches(edges: Sequence[EdgeRecord], size: int) -> list[list[EdgeRecord]]:
    return [list(edges[at : at + size]) for at in range(0, len(edges), size)]


@settings(max_examples=50)
@given(edges=EDGES, operation=OPERATIONS, period=PERIODS, budget=BUDGETS, size=st.integers(1, 8), shuffled=st.randoms())
def test_what_is_told_hangs_on_the_relations_alone(
    tmp_path_factory: pytest.TempPathFactory,
    edges: list[EdgeRecord],
    operation: TraceOperation,
    period: str,
    budget: tuple[int, int],
    size: int,
    shuffled: Any,
) -> None:
    folder = tmp_path_factory.mktemp("determinism")
    more = {"valid_in": period, "budget": budget}
    latest = [*homes(), *({(make_edge_id(one), one.locator): one for one in edges}.values())]
    whole = make_library(folder, edges=latest, facts=FACTS, glossary=GLOSSARY, library_id="whole")
    expected = told(whole, operation, **more)
    whole.close()
    bare = make_library(folder, edges=visible(latest), facts=FACTS, glossary=GLOSSARY, library_id="bare")
    assert told(bare, operation, **more) == expected
    bare.close()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(adjacency, "_MOST_LOOKED_AT", 6)
        patch.setattr(adjacency, "_MOST_WAITING", 6)
        patch.setattr(adjacency, "_WORTH_KEEPING", 1)
        shuffled.shuffle(latest)
        parts = make_library(folder, facts=FACTS, glossary=GLOSSARY, library_id="parts")
        for batch in batches(latest, size):
            with parts.writing() as writer:
                writer.put_edges(batch)
            parts.snapshot().relations()
        assert told(parts, operation, **more) == expected
        parts.settle()
        assert told(parts, operation, **more) == expected
        parts.close()
        again = Library(folder / "parts", "parts", secret=b"secret of the tests")
        assert told(again, operation, **more) == expected
        again.close()
