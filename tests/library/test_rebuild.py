"""Building anew what is derived, and the embedder that takes the place of another."""

from __future__ import annotations

import errno
import gc
import shutil
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from groundwire_server.dense import HashEmbedder
from groundwire_server.errors import ErrorReason, ResourceExhausted
from groundwire_server.evidence import Label, Principal, Span
from tests.support.libraries import Doc, embed_all, make_library, new_document


def chunks(count: int) -> Doc:
    """One document of that many chunks."""
    texts = [f"text {number:05} fox\n" for number in range(count)]
    length = len(texts[0])
    return Doc("many.txt", "".join(texts), spans=tuple(Span(n * length, (n + 1) * length) for n in range(count)))


def test_the_index_of_words_is_built_anew_beside_the_one_in_use(tmp_path: Path) -> None:
    library = make_library(tmp_path, [chunks(5000)])
    library.settle()
    held = library.snapshot()
    folder = library.folder / "index"
    before = {path.name for path in (folder / "lexical").iterdir()}
    rows: list[int] = []
    library.rebuild_words(rows.append)
    library.settle()
    assert rows[0] == 0
    assert rows == sorted(rows)
    everything = np.ones(held.rows, bool)
    fresh = library.snapshot()
    assert fresh.lexical is not held.lexical
    old, new = (each.lexical.search(["fox", "00017"], everything) for each in (held, fresh))
    assert new.rows.tolist() == old.rows.tolist()
    assert new.scores.tolist() == old.scores.tolist()
    assert {path.name for path in folder.iterdir()} == {"lexical"}
    assert {path.name for path in (folder / "lexical").iterdir()} == before
    with library.writing() as writer:
        writer.replace_document(new_document(Doc("late.txt", "a late fox")))
    library.close()
    again = make_library(tmp_path)
    assert again.snapshot().lexical.rows == 5001


def test_a_rebuild_that_is_broken_off_or_finds_no_room_leaves_all_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = make_library(tmp_path, [chunks(3000)])
    library.settle()
    folder = library.folder / "index"
    before = {path: path.read_bytes() for path in (folder / "lexical").iterdir()}
    held = library.snapshot()

    def stop(row: int) -> None:
        if row >= 2048:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        library.rebuild_words(stop)
    with monkeypatch.context() as patched:
        patched.setattr("groundwire_server.lexical.folder.write_segment", _no_room)
        with pytest.raises(ResourceExhausted) as refused:
            library.rebuild_words(lambda row: None)
    assert refused.value.reason is ErrorReason.STORAGE_FULL
    assert library.snapshot().lexical is held.lexical
    assert {path: path.read_bytes() for path in (folder / "lexical").iterdir()} == before
    assert {path.name for path in folder.iterdir()} == {"lexical"}


def _no_room(path: Path, segment: object) -> str:
    raise OSError(errno.ENOSPC, "no room")


def test_what_is_sound_on_the_disk_is_kept_and_the_rest_is_built(tmp_path: Path) -> None:
    library = make_library(tmp_path, [chunks(100)])
    library.settle()
    folder = library.folder / "index/lexical"
    sound = {path.name: path.stat().st_ino for path in folder.glob("segment-*")}
    library.rebuild_words(lambda row: None, keep_sound=True)
    assert {path.name: path.stat().st_ino for path in folder.glob("segment-*")} == sound
    for path in folder.glob("segment-*"):
        path.write_bytes(b"broken")
    library.rebuild_words(lambda row: None, keep_sound=True)
    library.close()
    again = make_library(tmp_path)
    assert again.snapshot().lexical.search(["fox"], np.ones(100, bool)).rows.tolist() == list(range(100))


def test_a_confirmation_follows_content_and_not_vectors(tmp_path: Path) -> None:
    reader = Principal("reader", Label.INTERNAL)
    library = make_library(tmp_path, [Doc("a.txt", "fox")], embedder=None)
    before = library.snapshot().content_id(reader)
    library.use_embedder(HashEmbedder())
    embed_all(library, HashEmbedder())
    with library.writing() as writer:
        writer.replace_document(new_document(Doc("hidden.txt", "secret", label=Label.CONFIDENTIAL)))
    assert library.snapshot().content_id(reader) == before
    with library.writing() as writer:
        writer.replace_document(new_document(Doc("b.txt", "dog")))
    assert library.snapshot().content_id(reader) != before


def test_the_embedder_that_replaced_another_stays_over_a_restart(tmp_path: Path) -> None:
    first, second = HashEmbedder(), HashEmbedder()
    second.version = "0" * 64
    library = make_library(tmp_path, [Doc("a.txt", "fox")], embedder=first)
    for embedder in (second, first):
        library.use_embedder(embedder, replace=True, anew=True)
        embed_all(library, embedder)
    library.close()
    again = make_library(tmp_path)
    again.use_embedder(first)
    assert list(again.rows_without_embedding()) == []


def test_vectors_of_another_library_or_of_a_lost_store_are_not_taken(tmp_path: Path) -> None:
    """As many rows under the same model: only the store can tell that they are of other texts."""
    embedder = HashEmbedder()
    folders = (tmp_path / "own", tmp_path / "other")
    for folder, word in zip(folders, ("fox", "crane"), strict=True):
        library = make_library(folder, [Doc(f"{n}.txt", f"{word} {n}") for n in range(8)], embedder=embedder)
        embed_all(library, embedder)
        library.close()
    own, other = (next(folder.rglob("index/vectors")) for folder in folders)
    shutil.rmtree(own)
    shutil.copytree(other, own)
    library = make_library(folders[0])
    library.use_embedder(embedder)
    vectors = library.snapshot().vectors
    assert vectors is not None
    for row in range(8):
        vector = vectors.vector(row)
        assert vector is not None
        assert vector.tobytes() == embedder.embed_passage(f"fox {row}").tobytes()


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="there is no list of open files")
def test_a_library_that_was_closed_holds_no_file_open(tmp_path: Path) -> None:
    library = make_library(tmp_path, [Doc("a.txt", "fox")], embedder=HashEmbedder())
    assert _open_files(tmp_path)
    library.close()
    del library
    gc.collect()
    assert _open_files(tmp_path) == []


def _open_files(folder: Path) -> list[Path]:
    found = []
    for each in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            found.append(each.readlink())
    return [path for path in found if path.is_relative_to(folder)]
