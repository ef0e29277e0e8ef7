"""Behind the writes: files are checked after the first answers, segments merged and let go of, and nobody waits."""

from __future__ import annotations

import gc
import mmap
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from groundwire_server.lexical import LexicalDirectory, LexicalIndex, RebuildReason, Rebuilt
from groundwire_server.lexical import directory as directory_module
from groundwire_server.lexical import folder as folder_module
from groundwire_server.lexical.manifest import read_manifest, write_manifest
from groundwire_server.lexical.merge import merge_segments
from groundwire_server.lexical.segment import Segment
from groundwire_server.lexical.segment_file import file_stamp
from tests.lexical.test_directory import Store, appended, assert_answers, loaded, some_texts

UNCHECKED = "unchecked"


def rot(path: Path, at: int = -9) -> None:
    """Change a byte of a segment file in a way that the file system does not tell of: as a failing disk does."""
    content = bytearray(path.read_bytes())
    content[at] ^= 0x40
    path.write_bytes(content)
    manifest = read_manifest(path.parent)
    assert manifest is not None
    entries = [
        replace(entry, stamp=file_stamp(path)) if entry.file == path.name else entry for entry in manifest.segments
    ]
    write_manifest(path.parent, replace(manifest, segments=tuple(entries)))


def only_segment(folder: Path) -> Path:
    (path,) = folder.glob("segment-*")
    return path


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    """Merges wait here until they are let through."""
    held = Gate()

    def wait(segments: Sequence[Segment]) -> Segment:
        held.reached.set()
        assert held.open.wait(60)
        return merge_segments(segments)

    monkeypatch.setattr(directory_module, "merge_segments", wait)
    yield held
    held.open.set()


class Gate:
    def __init__(self) -> None:
        self.reached = threading.Event()
        self.open = threading.Event()


def due_for_a_merge(path: Path, gate: Gate) -> tuple[LexicalDirectory, list[str]]:
    """A directory whose segments are being merged, held at the gate."""
    folder = LexicalDirectory(path)
    folder.load(0, Store([]))
    texts = some_texts(4)
    for text in texts:
        folder.append([text])
    assert gate.reached.wait(60)
    return folder, texts


def test_writers_and_readers_pass_a_merge_that_stands_still(tmp_path: Path, gate: Gate) -> None:
    folder, texts = due_for_a_merge(tmp_path, gate)
    before = folder.index
    more = some_texts(9, seed=2)
    for text in more:
        folder.append([text])
    assert_answers(folder.index, [*texts, *more])
    assert_answers(before, texts)
    gate.open.set()
    folder.settle()
    assert len(folder.index.segments) < 13
    assert_answers(folder.index, [*texts, *more])
    assert_answers(loaded(tmp_path, [*texts, *more]).index, [*texts, *more])


def test_closing_waits_for_a_merge_and_saves_all(tmp_path: Path, gate: Gate) -> None:
    folder, texts = due_for_a_merge(tmp_path, gate)
    folder.append(["revenue"])
    closing = threading.Thread(target=folder.close)
    closing.start()
    gate.open.set()
    closing.join(60)
    assert not closing.is_alive()
    assert folder.unsaved_rows == 0
    again = LexicalDirectory(tmp_path)
    assert_answers(again.load(5, Store([*texts, "revenue"])), [*texts, "revenue"])
    assert again.report is not None
    assert again.report.kept == 5
    again.close()


def test_whoever_holds_an_index_is_told_of_another_of_the_same_rows(tmp_path: Path) -> None:
    told: list[LexicalIndex] = []
    folder = LexicalDirectory(tmp_path, lambda: told.append(folder.index))
    texts = some_texts(4)
    folder.load(0, Store([]))
    for text in texts:
        appended(folder, [text])
    assert [(index.rows, len(index.segments)) for index in told] == [(4, 1)]
    assert_answers(told[0], texts)
    folder.close()


def maps_of(path: Path) -> int:
    """Maps of segment files in this process, as the kernel counts them; files that are gone included."""
    return sum(str(path) in line for line in Path("/proc/self/maps").read_text().splitlines())


def test_what_nobody_reads_is_let_go_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_module, "_MAPPED_ROWS", 1)
    folder = LexicalDirectory(tmp_path)
    folder.load(0, Store([]))
    texts = some_texts(64)
    held: list[tuple[LexicalIndex, int]] = []
    for number, text in enumerate(texts, start=1):
        appended(folder, [text])
        if number in (5, 30):
            held.append((folder.index, number))
        segments = len(folder.index.segments)
        assert len(list(tmp_path.glob("segment-*"))) == segments
        gc.collect()
        kept = {id(segment) for index, _ in held for segment in index.segments}
        assert maps_of(tmp_path) <= len(kept | {id(segment) for segment in folder.index.segments})
    for index, rows in held:
        assert_answers(index, texts[:rows])
    watched = [weakref.ref(segment) for index, _ in held for segment in index.segments]
    del held, index
    gc.collect()
    assert sum(each() is not None for each in watched) <= len(folder.index.segments)
    assert maps_of(tmp_path) == len(folder.index.segments)
    folder.close()
    del folder
    gc.collect()
    assert maps_of(tmp_path) == 0


def test_files_that_nobody_touched_are_mapped_and_checked_later(tmp_path: Path) -> None:
    texts = some_texts(30)
    loaded(tmp_path, texts).close()
    folder = LexicalDirectory(tmp_path)
    assert_answers(folder.load(30, Store(texts)), texts)
    assert folder.report is not None
    assert (folder.report.kept, folder.report.unchecked) == (30, 30)
    assert (tmp_path / UNCHECKED).exists()
    folder.settle()
    assert not (tmp_path / UNCHECKED).exists()
    assert folder.report.rebuilt == ()
    folder.close()


def test_a_rotten_file_is_found_behind_the_first_answers(tmp_path: Path) -> None:
    texts = some_texts(30)
    loaded(tmp_path, texts).close()
    rot(only_segment(tmp_path))
    told = threading.Event()
    folder = LexicalDirectory(tmp_path, told.set)
    folder.load(30, Store(texts))
    folder.settle()
    assert told.is_set()
    assert folder.report is not None
    assert (folder.report.kept, folder.report.rebuilt) == (0, (Rebuilt(0, 30, RebuildReason.DAMAGED),))
    assert_answers(folder.index, texts)
    folder.close()
    again = loaded(tmp_path, texts)
    assert again.report is not None
    assert (again.report.kept, again.report.rebuilt) == (30, ())
    again.close()


def test_a_rotten_header_is_found_before_anything_is_mapped(tmp_path: Path) -> None:
    texts = some_texts(30)
    loaded(tmp_path, texts).close()
    for at in (3, 9, 40):
        rot(only_segment(tmp_path), at)
        folder = LexicalDirectory(tmp_path)
        assert_answers(folder.load(30, Store(texts)), texts)
        assert folder.report is not None
        assert folder.report.rebuilt == (Rebuilt(0, 30, RebuildReason.DAMAGED),)
        folder.close()


def test_rot_does_not_pass_into_another_file(tmp_path: Path) -> None:
    """What is due to be merged is checked first."""
    texts = some_texts(4)
    folder = loaded(tmp_path, texts[:1])
    for text in texts[1:3]:
        appended(folder, [text])
    folder.close()
    victim = sorted(tmp_path.glob("segment-*"))[1]
    rot(victim)
    folder = LexicalDirectory(tmp_path)
    folder.load(3, Store(texts))
    folder.append(texts[3:])
    folder.settle()
    assert folder.report is not None
    assert folder.report.rebuilt == (Rebuilt(1, 2, RebuildReason.DAMAGED),)
    assert len(folder.index.segments) == 1
    assert_answers(folder.index, texts)
    folder.close()
    again = LexicalDirectory(tmp_path)
    assert_answers(again.load(4, Store(texts), check=True), texts)
    assert again.report is not None
    assert (again.report.kept, again.report.unchecked) == (4, 0)
    again.close()


def test_who_died_before_all_was_checked_checks_all_at_the_next_start(tmp_path: Path) -> None:
    texts = some_texts(30)
    loaded(tmp_path, texts).close()
    rot(only_segment(tmp_path))
    (tmp_path / UNCHECKED).touch()
    folder = LexicalDirectory(tmp_path)
    assert_answers(folder.load(30, Store(texts)), texts)
    assert folder.report is not None
    assert folder.report.rebuilt == (Rebuilt(0, 30, RebuildReason.DAMAGED),)
    assert not (tmp_path / UNCHECKED).exists()
    folder.close()


def test_whoever_asks_has_all_checked_at_once(tmp_path: Path) -> None:
    texts = some_texts(30)
    loaded(tmp_path, texts).close()
    rot(only_segment(tmp_path))
    folder = LexicalDirectory(tmp_path)
    assert_answers(folder.load(30, Store(texts), check=True), texts)
    folder.close()


def test_a_copy_is_checked_once(tmp_path: Path) -> None:
    """Another place, other stamps: a restored folder is read as a whole, and then known."""
    texts = some_texts(30)
    loaded(tmp_path, texts).close()
    path = only_segment(tmp_path)
    path.write_bytes(path.read_bytes())
    for unchecked in (0, 30):
        folder = LexicalDirectory(tmp_path)
        folder.load(30, Store(texts))
        assert folder.report is not None
        assert (folder.report.kept, folder.report.unchecked) == (30, unchecked)
        folder.close()


@pytest.mark.parametrize("known", [{"1"}, set[str]()], ids=["the first segment", "none"])
def test_segments_of_a_state_that_the_store_never_was_in_are_built_anew(tmp_path: Path, known: set[str]) -> None:
    """A store restored from a copy that then took another way: the last texts may be the same, what is before not."""
    knows: Callable[[str], bool] = known.__contains__
    folder = LexicalDirectory(tmp_path)
    folder.load(3, Store(["a", "revenue", "c"]), "1")
    folder.append(["revenue", "last"], "2")
    folder.close()
    texts = ["a", "revenue", "c", "net income", "last"] if known else ["b", "revenue", "c", "net income", "last"]
    folder = LexicalDirectory(tmp_path)
    assert_answers(folder.load(5, Store(texts), "2, otherwise", knows), texts)
    assert folder.report is not None
    assert folder.report.kept == (3 if known else 0)
    assert all(one.reason is RebuildReason.OTHER_TEXTS for one in folder.report.rebuilt)
    folder.close()
    folder = LexicalDirectory(tmp_path)
    folder.load(5, Store(texts), "3", {"1", "2, otherwise"}.__contains__)
    assert folder.report is not None
    assert folder.report.kept == 5
    folder.close()


def test_no_map_is_read_to_check_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Checking reads beside the map: memory of the process does not grow by the index."""
    texts = some_texts(30)
    loaded(tmp_path, texts).close()
    folder = LexicalDirectory(tmp_path)
    folder.load(30, Store(texts))
    monkeypatch.setattr(mmap, "mmap", None)
    folder.settle()
    assert folder.report is not None
    assert folder.report.rebuilt == ()
    folder.close()
