"""A snapshot is one generation from first to last, whatever is written beside it; what nobody reads is freed."""

from __future__ import annotations

import gc
import threading
import weakref
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from groundwire_server.evidence import Call, CallOptions, Label, Principal
from groundwire_server.lexical import directory as directory_module
from groundwire_server.lexical import folder as folder_module
from groundwire_server.lexical.merge import merge_segments
from groundwire_server.lexical.segment import Segment
from groundwire_server.library import Library, Snapshot
from groundwire_server.store.conformance import make_document

CALL = Call(Principal("reader", Label.INTERNAL), CallOptions())


def opened(folder: Path) -> Library:
    return Library(folder, "lib", secret=b"secret")


def put(library: Library, number: int, text: str = "revenue") -> None:
    with library.writing() as writer:
        writer.replace_document(make_document(f"d{number}", f"{text} {number}\n\nshared words"))


def answer(snapshot: Snapshot) -> list[tuple[tuple[str, int, int], float, str]]:
    """Keys, scores and texts of all that is found."""
    found = snapshot.lexical.search(["revenue", "shared", "7"], snapshot.candidates(CALL))
    rows = found.rows.tolist()
    texts = [chunk.text for chunk in snapshot.chunks(rows)]
    return sorted(zip(map(snapshot.tie_key, rows), found.scores.tolist(), texts, strict=True))


def maps_of(folder: Path) -> int:
    """Maps of segment files that this process has, those of removed files among them, as the kernel counts them."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    return sum(str(folder) in line and "segment-" in line for line in lines)


def test_a_reader_is_done_while_a_writer_stands_still(tmp_path: Path) -> None:
    """The writer is held in the midst of its transaction until the reader has its whole answer."""
    library = opened(tmp_path)
    put(library, 1)
    before = answer(library.snapshot())
    in_the_midst, let_go = threading.Event(), threading.Event()

    def write() -> None:
        with library.writing() as writer:
            writer.replace_document(make_document("d1", "other words"))
            in_the_midst.set()
            assert let_go.wait(60)

    writing = threading.Thread(target=write)
    writing.start()
    assert in_the_midst.wait(60)
    held = library.snapshot()
    assert answer(held) == before
    let_go.set()
    writing.join(60)
    assert answer(held) == before
    assert answer(library.snapshot()) != before
    library.close()


def test_writers_and_readers_are_done_while_a_merge_stands_still(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached, let_go = threading.Event(), threading.Event()

    def wait(segments: list[Segment]) -> Segment:
        reached.set()
        assert let_go.wait(60)
        return merge_segments(segments)

    monkeypatch.setattr(directory_module, "merge_segments", wait)
    library = opened(tmp_path)
    for number in range(4):
        put(library, number)
    assert reached.wait(60)
    held, before = library.snapshot(), answer(library.snapshot())
    for number in range(8):
        put(library, number, "revenue again")
    newest = answer(library.snapshot())
    assert len({key[0] for key, _, _ in newest}) == 8
    let_go.set()
    library.settle()
    merged = library.snapshot()
    assert len(merged.lexical.segments) < 12
    assert answer(merged) == newest
    assert answer(held) == before
    library.close()


def test_a_snapshot_of_the_same_generation_takes_the_merged_words(tmp_path: Path) -> None:
    library = opened(tmp_path)
    for number in range(3):
        put(library, number)
        library.settle()
    put(library, 3)
    mask = library.snapshot().candidates(CALL)
    library.settle()
    snapshot = library.snapshot()
    assert len(snapshot.lexical.segments) == 1
    assert snapshot.candidates(CALL) is mask  # what was found out about the generation stays known
    assert len(list((tmp_path / "index/lexical").glob("segment-*"))) == 1
    library.close()


def test_old_generations_are_freed_when_nobody_reads_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_module, "_MAPPED_ROWS", 1)
    library = opened(tmp_path)
    kept: list[tuple[Snapshot, list[tuple[tuple[str, int, int], float, str]]]] = []
    for number in range(40):
        put(library, number % 9, f"revenue {number}")
        library.settle()
        if number in (3, 21):
            kept.append((library.snapshot(), answer(library.snapshot())))
        segments = len(library.snapshot().lexical.segments)
        assert len(list((tmp_path / "index/lexical").glob("segment-*"))) == segments
    for snapshot, before in kept:
        assert answer(snapshot) == before
    lexical = [weakref.ref(snapshot.lexical) for snapshot, _ in kept]
    del kept, snapshot
    gc.collect()
    assert [each() for each in lexical] == [None, None]
    assert maps_of(tmp_path) == len(library.snapshot().lexical.segments)
    library.close()
    del library
    gc.collect()
    assert maps_of(tmp_path) == 0


def test_columns_come_from_their_file_and_the_rest_from_the_store(tmp_path: Path) -> None:
    """Whatever becomes of the file, and however far it lies behind, the columns are those of the store."""
    library = opened(tmp_path)
    with library.writing() as writer:
        for number in range(600):
            writer.replace_document(make_document(f"書/{number}", f"text {number}", label=list(Label)[number % 4]))
    library.close()
    file = tmp_path / "index/columns"
    assert file.exists()
    library = opened(tmp_path)
    put(library, 1)
    with library.writing() as writer:
        writer.withdraw_document("書/0")
    library.close()  # too little has changed to write the file again
    sound = file.read_bytes()
    expected = None
    for content in (sound, None, sound[:-1], bytes([*sound[:300], sound[300] ^ 1, *sound[301:]]), b"", sound):
        file.unlink(missing_ok=True)
        if content is not None:
            file.write_bytes(content)
        library = opened(tmp_path)
        columns = library.snapshot().columns
        held = {name: getattr(columns, name).tolist() for name in columns.__dataclass_fields__ if name != "rows"}
        expected = expected or held
        assert held == expected
        assert columns.tie_key(1) == ("書/1", 1, 0)
        library.close()


def test_columns_of_another_way_of_the_store_are_not_taken(tmp_path: Path) -> None:
    """A store restored from a copy: a label that was never given there must not let anything be read, nor hide it."""
    library = opened(tmp_path)
    put(library, 0)
    library.close()
    copy = (tmp_path / "store.sqlite").read_bytes()
    ways = []
    for label in (Label.PUBLIC, Label.CONFIDENTIAL):
        (tmp_path / "store.sqlite").write_bytes(copy)
        library = opened(tmp_path)
        with library.writing() as writer:
            for number in range(600):
                writer.replace_document(make_document(f"n{number}", "revenue", label=label))
        library.settle()
        ways.append(int(np.count_nonzero(library.snapshot().candidates(CALL))))
        library.close()
        library = opened(tmp_path)
        ways.append(int(np.count_nonzero(library.snapshot().candidates(CALL))))
        library.close()
    assert ways[0] == ways[1] > 600 > ways[2] == ways[3]


def test_a_library_that_nobody_holds_is_gone_at_once(tmp_path: Path) -> None:
    """A rehearsal lives in a folder of its own that goes with it."""
    library = opened(tmp_path)
    store = library.store
    gone = weakref.ref(library)
    gc.disable()
    try:
        del library
        assert gone() is None
    finally:
        gc.enable()
        store.close()


def test_an_earlier_state_is_read_as_it_was(tmp_path: Path) -> None:
    library = opened(tmp_path / "lib")
    kept: list[tuple[Snapshot, list[tuple[tuple[str, int, int], float, str]], str]] = []
    for number in range(6):
        put(library, number % 4, f"revenue{'' if number % 2 else ' 7'}")
        if number == 3:
            library.set_config(replace(library.config, description="other", k1=0.3))
        snapshot = library.snapshot()
        kept.append((snapshot, answer(snapshot), snapshot.snapshot_id(CALL.principal)))
    for held, found, snapshot_id in kept:
        again = library.at(held.generation)
        assert again is not None
        assert answer(again) == found
        assert again.snapshot_id(CALL.principal) == snapshot_id
        assert again.config == held.config
        assert again.pin(CALL.principal) == held.pin(CALL.principal)
    assert library.at(library.snapshot().generation) is library.snapshot()
    assert library.at(10**9) is None
    assert library.at(-1) is None
    pin = kept[0][0].pin(CALL.principal)
    with pytest.raises(ValueError, match="another content"):
        library.snapshot().without_vectors(pin, CALL.principal)
    library.close()
