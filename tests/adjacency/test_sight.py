"""An adjacency of random relations, against a plain reading of the same rows: whatever was merged, saved or killed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire_server.adjacency import STATED_BY, Adjacency, AdjacencyView, Sight
from groundwire_server.adjacency import adjacency as module
from groundwire_server.evidence import Label, format_node_id
from groundwire_server.store import EdgeRecord, SqliteStore, Store

NODES = [("entity", code) for code in ("A", "a:b%", "日本", "😀", "B", "é", "é")] + [("metric", "A"), ("literal", "")]
DAYS = ["", "2019-01-01", "2020-06-30", "2021-12-31"]
RECORDS = st.builds(
    lambda source, target, relation, label, days, locator, extractor: EdgeRecord(
        source[0],
        source[1],
        relation,
        target[0],
        target[1],
        extractor,
        f"{locator}.jsonl",
        locator,
        days[0],
        days[1],
        label=label,
    ),
    st.sampled_from(NODES),
    st.sampled_from(NODES),
    st.sampled_from(["s", "r", "関係"]),
    st.sampled_from([Label.PUBLIC, Label.INTERNAL, Label.INTERNAL, Label.CONFIDENTIAL, Label.RESTRICTED]),
    st.sampled_from([(a, b) for a in DAYS for b in DAYS if not a or not b or a <= b]),
    st.sampled_from("12"),
    st.sampled_from(["file", "llm", "co_occurrence"]),
)
WRITES = st.lists(
    st.one_of(st.lists(RECORDS, min_size=1, max_size=12), st.sampled_from(["1.jsonl", "2.jsonl"])),
    min_size=1,
    max_size=6,
)
_DAY, _YEAR = (date(2020, 6, 30), date(2020, 6, 30)), (date(2018, 1, 1), date(2018, 12, 31))
CALLERS = [
    (Label.PUBLIC, None, True),
    (Label.INTERNAL, None, False),
    (Label.INTERNAL, _DAY, True),
    (Label.CONFIDENTIAL, _YEAR, False),
    (Label.RESTRICTED, None, True),
]


@pytest.fixture(autouse=True)
def merging_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few rows are enough to be merged."""
    monkeypatch.setattr(module, "_MOST_LOOKED_AT", 5)
    monkeypatch.setattr(module, "_MOST_WAITING", 9)
    monkeypatch.setattr(module, "_WORTH_KEEPING", 2)


def written(store: Store, writes: Sequence[list[EdgeRecord] | str]) -> Iterator[None]:
    """Each write in turn: relations, or a document that is withdrawn."""
    stated: set[str] = set()
    for write in writes:
        if isinstance(write, list):
            stated |= {record.source_doc for record in write}
        elif write not in stated:
            continue
        with store.writer() as writer:
            if isinstance(write, list):
                writer.put_edges(write)
            else:
                writer.withdraw_document(write)
        yield


class Plain:
    """What a caller sees, by reading every row."""

    def __init__(self, store: Store, generation: int, clearance: Label, span: tuple[date, date] | None, model: bool):
        self.edges: dict[str, tuple[str, str, str]] = {}
        self.rows: dict[str, list[int]] = {}
        for columns in store.reader(generation).edge_columns():
            for number in range(len(columns.edge_row)):
                if columns.label[number] > min(clearance, Label.CONFIDENTIAL) or columns.died[number] is not None:
                    continue
                if not model and columns.extractor[number] not in STATED_BY:
                    continue
                first, last = columns.valid_from[number], columns.valid_to[number]
                if span and ((first and first > span[1].isoformat()) or (last and last < span[0].isoformat())):
                    continue
                ends = [
                    format_node_id(columns.source_kind[number], columns.source[number]),
                    format_node_id(columns.target_kind[number], columns.target[number]),
                ]
                self.edges[columns.edge_id[number]] = (columns.relation[number], ends[0], ends[1])
                self.rows.setdefault(columns.edge_id[number], []).append(columns.edge_row[number])

    def order(self, edge_id: str) -> tuple[str, ...]:
        return (*self.edges[edge_id], edge_id)

    def steps(self, nodes: Sequence[str], sides: Sequence[bool], *, loops: bool) -> list[tuple[str, str, str]]:
        found = []
        for node in nodes:
            around = {
                (end if outgoing else start, self.order(edge_id))
                for edge_id, (_, start, end) in self.edges.items()
                for outgoing in sides
                if (start if outgoing else end) == node and (loops or start != end)
            }
            found += [(node, far, order[-1]) for far, order in sorted(around)]
        return found


def compare(store: Store, view: AdjacencyView, generation: int) -> None:
    """Everything that a sight tells, for every caller."""
    for clearance, span, model in CALLERS:
        plain = Plain(store, generation, clearance, span, model)
        first, last = span or (None, None)
        sight = view.sight(clearance, generation, first=first, last=last, include_unverified=model)
        ids = view.edge_ids(sight.edges)
        assert sorted(ids) == sorted(plain.edges)
        assert [ids[place] for place in sight.edge_order(sight.edges)] == sorted(plain.edges, key=plain.order)
        touched = sorted({end for _, *ends in plain.edges.values() for end in ends})
        assert view.node_ids(sight.nodes) == touched
        assert sight.relations == tuple(sorted({relation for relation, *_ in plain.edges.values()}))
        for edge, edge_id in zip(sight.edges.tolist(), ids, strict=True):
            assert sorted(sight.sources(np.array([edge]))) == sorted(plain.rows[edge_id])
        for kind, code in NODES:
            node = view.find(kind, code)
            there = node is not None and sight.touches(node)
            assert there is (format_node_id(kind, code) in touched)
            assert node is None or view.node(node) == (kind, code)
        _compare_steps(view, sight, plain)
        _compare_matrix(view, sight, plain, touched)


def _compare_steps(view: AdjacencyView, sight: Sight, plain: Plain) -> None:
    nodes = np.array([node for each in NODES if (node := view.find(*each)) is not None], np.int64)
    names = view.node_ids(nodes)
    none = np.zeros(len(view.relations), np.bool_)
    for along, against, sides in ((None, None, (True, False)), (None, none, (True,)), (none, None, (False,))):
        for loops in (False, True):
            steps = sight.steps(nodes, along=along, against=against, loops=loops)
            found = [
                (names[place], *named)
                for place, *named in zip(
                    steps.origin.tolist(), view.node_ids(steps.far), view.edge_ids(steps.edge), strict=True
                )
            ]
            assert found == plain.steps(names, sides, loops=loops)
    only = np.array([name == "r" for name in view.relations], np.bool_)
    steps = sight.steps(nodes, along=only, against=none)
    assert all(plain.edges[edge_id][0] == "r" for edge_id in view.edge_ids(steps.edge))


def _compare_matrix(view: AdjacencyView, sight: Sight, plain: Plain, touched: list[str]) -> None:
    nodes, starts, neighbours = sight.matrix()
    assert view.node_ids(nodes) == touched
    for place, name in enumerate(touched):
        met = [touched[n] for n in neighbours[starts[place] : starts[place + 1]]]
        ends = [(start, end) for _, start, end in plain.edges.values() if start != end]
        assert met == sorted([e for s, e in ends if s == name] + [s for s, e in ends if e == name])


@settings(max_examples=100)
@given(writes=WRITES, opened_at=st.integers(0, 6), held_at=st.integers(0, 6))
def test_a_sight_is_what_the_rows_say(
    tmp_path_factory: pytest.TempPathFactory, writes: list[list[EdgeRecord] | str], opened_at: int, held_at: int
) -> None:
    folder = tmp_path_factory.mktemp("adjacency")
    store = SqliteStore(folder / "store.sqlite")
    adjacency = Adjacency(folder / "relations", store)
    held: list[tuple[AdjacencyView, int]] = []
    for number, _ in enumerate(written(store, writes)):
        adjacency.follow(store.reader())
        if number == opened_at:
            adjacency.close()
            adjacency = Adjacency(folder / "relations", store)
        if number == held_at:
            held.append((adjacency.view(store.reader()), store.reader().generation))
    for view, generation in (*held, (adjacency.view(store.reader()), store.reader().generation)):
        compare(store, view, generation)
    adjacency.settle()
    view = adjacency.view(store.reader())
    compare(store, view, store.reader().generation // 2)
    adjacency.close()
    store.close()


def test_a_lone_surrogate_is_no_node(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.sqlite")
    view = Adjacency(tmp_path / "relations", store).view(store.reader())
    assert view.find("entity", "\ud800") is None
    assert view.find("entity", "A") is None
    assert (view.nodes, view.edges) == (0, 0)
    store.close()


def test_ids_that_share_their_first_half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hashes may meet: a node or an edge is found by all of its id."""
    monkeypatch.setattr("groundwire_server.adjacency.table.hash_ids", lambda ids: np.zeros(len(ids), np.uint64))
    monkeypatch.setattr("groundwire_server.adjacency.merge.hash_ids", lambda ids: np.zeros(len(ids), np.uint64))
    monkeypatch.setattr(
        "groundwire_server.store.sqlite.edges.make_edge_id",
        lambda record: f"{0:016x}{abs(hash((record.source, record.target, record.relation))) % 2**64:016x}",
    )
    store = SqliteStore(tmp_path / "store.sqlite")
    adjacency = Adjacency(tmp_path / "relations", store)
    base = EdgeRecord("entity", "A", "r", "entity", "B", "file", "f", "1")
    for number in range(4):
        with store.writer() as writer:
            writer.put_edges([replace(base, target=f"N{each}", locator=str(number)) for each in range(6 * number + 1)])
        adjacency.follow(store.reader())
        adjacency.settle()
    view = adjacency.view(store.reader())
    assert (view.nodes, view.edges) == (20, 19)
    assert all(view.find("entity", f"N{each}") is not None for each in range(19))
    generation = store.reader().generation
    compare(store, view, generation)
    adjacency.close()
    store.close()
