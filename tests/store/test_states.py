"""What tells one state of a store from all others: the index beside it is about that state or is made anew."""

from __future__ import annotations

import shutil
from datetime import timedelta
from pathlib import Path

from groundwire_server.evidence import Label
from groundwire_server.store import SqliteStore
from groundwire_server.store.conformance import START, TickingClock, make_document


def put(store: SqliteStore, doc_id: str, text: str, label: Label = Label.INTERNAL) -> str:
    with store.writer() as writer:
        writer.replace_document(make_document(doc_id, text, label=label))
    return store.reader().state()


def test_a_store_knows_the_states_on_its_way(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.sqlite", now=TickingClock())
    empty = store.reader().state()
    states = [empty, *(put(store, "a", f"text {number}") for number in range(3))]
    assert len(set(states)) == 4
    assert all(map(store.was, states))
    assert store.reader(1).state() == states[1]
    assert not any(map(store.was, ["", "2:", "x", "9:0", f"1{states[1]}", states[2].replace("2:", "1:")]))
    store.close()
    again = SqliteStore(tmp_path / "store.sqlite")
    assert all(map(again.was, states))
    again.close()


def test_another_way_from_a_copy_leads_to_other_states(tmp_path: Path) -> None:
    """The same generation, at the same moment by the clock; only what was written is another."""
    path = tmp_path / "store.sqlite"
    store = SqliteStore(path, now=lambda: START)
    common = put(store, "a", "text")
    store.close()
    shutil.copy(path, tmp_path / "copy.sqlite")
    store, copy = SqliteStore(path, now=lambda: START), SqliteStore(tmp_path / "copy.sqlite", now=lambda: START)
    one, other = put(store, "b", "one", Label.RESTRICTED), put(copy, "b", "other", Label.RESTRICTED)
    assert copy.was(common)
    assert not copy.was(one)
    assert not store.was(other)
    store.close()
    copy.close()


def test_the_same_writes_at_another_time_are_another_state(tmp_path: Path) -> None:
    stores = [
        SqliteStore(tmp_path / f"{days}.sqlite", now=TickingClock(START + timedelta(days=days))) for days in (0, 1)
    ]
    first, second = (put(store, "a", "text") for store in stores)
    assert not stores[0].was(second)
    assert not stores[1].was(first)
    for store in stores:
        store.close()
