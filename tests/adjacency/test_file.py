"""The file of an adjacency: what is damaged, of another store or gone is made again, and answers the same."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from groundwire_server.adjacency import Adjacency
from groundwire_server.adjacency import adjacency as module
from groundwire_server.adjacency.file import KeptTable, read_table, write_table
from groundwire_server.adjacency.table import Table
from groundwire_server.errors import GroundwireError
from groundwire_server.evidence import Label
from groundwire_server.store import EdgeColumns, EdgeRecord, SqliteStore, Store
from groundwire_server.store.sqlite.reader import SqliteReader

BASE = EdgeRecord("entity", "A", "parent_of", "entity", "B", "file", "a.jsonl", "1")


@pytest.fixture(autouse=True)
def keeping_little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_WORTH_KEEPING", 1)


def put(store: Store, *codes: str) -> None:
    with store.writer() as writer:
        writer.put_edges([replace(BASE, target=code, locator=code, source_doc=f"{code}.jsonl") for code in codes])


def seen(adjacency: Adjacency, store: Store) -> list[str]:
    """What A is the parent of."""
    view = adjacency.view(store.reader())
    sight = view.sight(Label.INTERNAL, store.reader().generation)
    return [node.removeprefix("entity:") for node in view.node_ids(view.target(sight.edges))]


def closed(folder: Path, *codes: str) -> Path:
    """A library of some relations, whose adjacency is saved."""
    store = SqliteStore(folder / "store.sqlite")
    put(store, *codes)
    adjacency = Adjacency(folder / "relations", store)
    assert sorted(seen(adjacency, store)) == sorted(codes)
    adjacency.close()
    store.close()
    assert read_table(folder / "relations") is not None
    return folder / "relations"


def test_the_file_is_taken_and_the_rest_read_from_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = closed(tmp_path, "B", "C")
    store = SqliteStore(tmp_path / "store.sqlite")
    put(store, "D")
    with store.writer() as writer:
        writer.withdraw_document("B.jsonl")
    before = path.read_bytes()
    asked: list[int] = []
    columns = SqliteReader.edge_columns

    def noted(reader: SqliteReader, row: int = 0) -> Iterator[EdgeColumns]:
        asked.append(row)
        return columns(reader, row)

    monkeypatch.setattr(SqliteReader, "edge_columns", noted)
    adjacency = Adjacency(path, store)
    assert sorted(seen(adjacency, store)) == ["C", "D"]
    assert asked == [2]
    assert path.read_bytes() == before  # the death is noted in a map of our own
    store.close()


@pytest.mark.parametrize("place", [0, 20, 90, 300, -70, -1])
def test_a_byte_that_is_another(tmp_path: Path, place: int) -> None:
    path = closed(tmp_path, "B", "C")
    raw = bytearray(path.read_bytes())
    raw[place] ^= 1
    path.write_bytes(raw)
    assert read_table(path) is None
    store = SqliteStore(tmp_path / "store.sqlite")
    assert sorted(seen(Adjacency(path, store), store)) == ["B", "C"]
    store.close()


@pytest.mark.parametrize("length", [0, 5, 60, 100, 500])
def test_a_file_that_is_cut_off(tmp_path: Path, length: int) -> None:
    path = closed(tmp_path, "B", "C")
    path.write_bytes(path.read_bytes()[:length])
    assert read_table(path) is None
    store = SqliteStore(tmp_path / "store.sqlite")
    assert sorted(seen(Adjacency(path, store), store)) == ["B", "C"]
    store.close()


def test_no_file_and_a_folder_in_its_place(tmp_path: Path) -> None:
    path = closed(tmp_path, "B")
    path.unlink()
    path.mkdir()
    store = SqliteStore(tmp_path / "store.sqlite")
    adjacency = Adjacency(path, store)
    assert seen(adjacency, store) == ["B"]
    put(store, "C")
    assert sorted(seen(adjacency, store)) == ["B", "C"]
    adjacency.close()
    store.close()


def test_a_store_that_went_another_way(tmp_path: Path) -> None:
    """A copy of the store that was put back and written to: the file is about a state that this store never had."""
    store = SqliteStore(tmp_path / "store.sqlite")
    put(store, "B")
    store.close()
    shutil.copy(tmp_path / "store.sqlite", tmp_path / "copy.sqlite")
    path = tmp_path / "relations"
    for name, code in (("store.sqlite", "C"), ("copy.sqlite", "D")):
        store = SqliteStore(tmp_path / name)
        put(store, code)
        adjacency = Adjacency(path, store)
        assert sorted(seen(adjacency, store)) == ["B", code]
        adjacency.close()
        store.close()


def test_a_disk_that_takes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError("no space")

    monkeypatch.setattr("groundwire_server.adjacency.file.os.replace", refuse)
    monkeypatch.setattr(module, "_MOST_LOOKED_AT", 1)
    store = SqliteStore(tmp_path / "store.sqlite")
    put(store, "B", "C", "D")
    adjacency = Adjacency(tmp_path / "relations", store)
    assert sorted(seen(adjacency, store)) == ["B", "C", "D"]
    adjacency.settle()
    put(store, "E")
    assert sorted(seen(adjacency, store)) == ["B", "C", "D", "E"]
    adjacency.close()
    assert list(tmp_path.glob("*relations*")) == []
    store.close()


def test_a_view_outlives_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_LOOKED_AT", 1)
    path = closed(tmp_path, "B", "C")
    store = SqliteStore(tmp_path / "store.sqlite")
    adjacency = Adjacency(path, store)
    view, then = adjacency.view(store.reader()), store.reader()
    put(store, "D", "E")
    with store.writer() as writer:
        writer.withdraw_document("B.jsonl")
    assert sorted(seen(adjacency, store)) == ["C", "D", "E"]
    adjacency.settle()
    adjacency.close()
    path.unlink()
    sight = view.sight(Label.INTERNAL, then.generation)
    assert sorted(view.node_ids(view.target(sight.edges))) == ["entity:B", "entity:C"]
    store.close()


def test_an_empty_table_comes_back(tmp_path: Path) -> None:
    kept = KeptTable(Table.empty(), "0:", 3, 0)
    write_table(tmp_path / "relations", kept)
    back = read_table(tmp_path / "relations")
    assert back is not None
    assert (back.generation, back.table.nodes, back.table.edges, back.table.days) == (3, 0, 0, ("",))


def test_a_store_that_cannot_be_read_leaves_all_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = SqliteStore(tmp_path / "store.sqlite")
    put(store, "B")
    adjacency = Adjacency(tmp_path / "relations", store)
    seen(adjacency, store)
    reader = store.reader()
    put(store, "C")

    def broken(*_: object) -> None:
        raise OSError("gone")

    newer = store.reader()
    monkeypatch.setattr(newer, "retired_edges", broken, raising=False)
    with pytest.raises((OSError, GroundwireError)):
        adjacency.view(newer)
    assert sorted(seen(adjacency, store)) == ["B", "C"]
    assert adjacency.view(reader) is adjacency.view(store.reader())
    store.close()
