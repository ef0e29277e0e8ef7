"""The derived folder: the same index whatever happened to the files."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from groundwire_server.dense import VectorDirectory, VectorIndex, code_folder, encode, pack_vector
from groundwire_server.dense.vector_manifest import read_manifest, write_manifest
from groundwire_server.errors import ErrorReason, FailedPrecondition

DIM = 16
VERSION = "ab" * 32
CENTRE = np.linspace(-0.1, 0.1, DIM, dtype=np.float32)


def vectors(n: int, seed: int = 0) -> NDArray[np.float32]:
    rows = np.random.default_rng(seed).standard_normal((n, DIM))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows.astype(np.float32)


class Truth:
    """What the store would say, and which ranges it was asked for."""

    def __init__(self, matrix: NDArray[np.float32], present: NDArray[np.bool_]) -> None:
        self.matrix = matrix
        self.present = present
        self.asked: list[tuple[int, int]] = []

    def __call__(self, start: int, stop: int) -> Iterator[tuple[int, bytes | None]]:
        self.asked.append((start, stop))
        for row in range(start, stop):
            yield row, pack_vector(self.matrix[row]) if self.present[row] else None


def nothing(start: int, stop: int) -> Iterable[tuple[int, bytes | None]]:
    return ()


def directory(
    path: Path, version: str = VERSION, dim: int = DIM, centre: NDArray[np.float32] | None = None
) -> VectorDirectory:
    centre_of = None if centre is None else lambda: centre
    return VectorDirectory(path, model="tiny", version=version, dim=dim, centre_of=centre_of)


def contents(index: VectorIndex) -> list[bytes | None]:
    found = (index.vector(row) for row in range(index.rows))
    return [None if vector is None else vector.tobytes() for vector in found]


@pytest.fixture
def truth() -> Truth:
    return Truth(vectors(3000), np.random.default_rng(1).random(3000) < 0.9)


def test_load_fetches_everything_once(tmp_path: Path, truth: Truth) -> None:
    first = directory(tmp_path).load(3000, truth)
    assert truth.asked == [(0, 3000)]
    assert (first.present == truth.present).all()
    truth.present[:] = True
    directory(tmp_path).load(3000, truth)
    truth.asked.clear()
    again = directory(tmp_path).load(3000, truth)
    assert truth.asked == []
    assert contents(again) == [row.tobytes() for row in truth.matrix]


def test_catches_up_only_where_a_row_is_missing(tmp_path: Path, truth: Truth) -> None:
    truth.present[:] = True
    directory(tmp_path).load(2048, truth)
    truth.asked.clear()
    index = directory(tmp_path).load(3000, truth)
    assert truth.asked == [(2048, 3000)]
    assert index.present.all()


def test_vectors_of_rows_that_the_store_never_had_are_made_anew(tmp_path: Path, truth: Truth) -> None:
    other = Truth(vectors(3001)[1:], np.ones(3000, np.bool_))
    folder = directory(tmp_path)
    folder.load(2000, other, "1:other")
    folder.extend(3000, "2:other")
    folder.put(range(2000, 3000), other.matrix[2000:])
    folder.close()
    known = {"1:other", "1:own"}
    index = directory(tmp_path).load(3000, truth, "1:own", known.__contains__)
    assert truth.asked == [(0, 3000)]
    wanted = [row.tobytes() if here else None for row, here in zip(truth.matrix, truth.present, strict=True)]
    assert contents(index) == wanted
    truth.asked.clear()
    again = directory(tmp_path).load(3000, nothing, "2:own", known.__contains__)
    assert contents(again) == wanted


def test_old_indexes_stay_as_they_were(tmp_path: Path) -> None:
    matrix = vectors(2000)
    folder = directory(tmp_path)
    folder.load(10, nothing)
    seen: list[tuple[VectorIndex, list[bytes | None]]] = [(folder.index, contents(folder.index))]
    for rows in ([3, 1], [0], [9, 2, 4]):
        index = folder.put(rows, matrix[rows])
        seen.append((index, contents(index)))
    index = folder.extend(2000)
    seen.append((index, contents(index)))
    rest = [row for row in range(2000) if not index.present[row]]
    random.Random(1).shuffle(rest)
    index = folder.put(rest, matrix[rest])
    assert contents(index) == [row.tobytes() for row in matrix]
    folder.close()
    for old, before in seen:
        assert contents(old) == before
    assert folder.index is index


def test_any_order_and_batching_gives_the_same_index(tmp_path: Path) -> None:
    matrix = vectors(1500)
    found = []
    for seed in range(3):
        folder = directory(tmp_path / str(seed))
        folder.load(0, nothing)
        folder.extend(1500)
        rows = list(range(1500))
        random.Random(seed).shuffle(rows)
        size = (1500, 400, 77)[seed]
        for start in range(0, 1500, size):
            batch = rows[start : start + size]
            folder.put(batch, matrix[batch])
        found.append((contents(folder.index), contents(directory(tmp_path / str(seed)).load(1500, nothing))))
    assert found == [([row.tobytes() for row in matrix],) * 2] * 3


def _codes(index: VectorIndex) -> list[bytes]:
    codes = index.codes
    assert codes is not None
    arrays: list[NDArray[Any]] = [codes.rows.codes, codes.rows.steps]
    if codes.signs is not None:
        arrays += [codes.signs.centre, codes.signs.bits, codes.signs.marks]
    return [array.tobytes() for array in arrays]


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Signs from 2000 vectors on."""
    monkeypatch.setattr(code_folder, "SIGNS_FROM", 2000)


def test_codes_follow_the_vectors_however_they_came(tmp_path: Path, few: None) -> None:
    matrix = vectors(3000)
    rng = np.random.default_rng(2)
    present = np.zeros(3000, np.bool_)
    folder = directory(tmp_path, centre=CENTRE)
    folder.load(3000, nothing)
    for batch in np.array_split(rng.permutation(3000)[:2700], 9):
        index = folder.put(batch.tolist(), matrix[batch])
        present[batch] = True
        centre = CENTRE if present.sum() >= 2000 else None
        assert _codes(index) == _codes(VectorIndex(matrix, present, VERSION, codes=encode(matrix, present, centre)))
    again = directory(tmp_path, centre=CENTRE).load(3000, nothing)
    assert _codes(again) == _codes(folder.index)


def _flip(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 3)
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 8]))


def _cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


@pytest.mark.parametrize("kind", ["i8", "steps", "bits", "marks"])
@pytest.mark.parametrize("harm", [_flip, _cut, Path.unlink])
def test_damaged_codes_are_made_again(
    tmp_path: Path, truth: Truth, few: None, kind: str, harm: Callable[[Path], None]
) -> None:
    sound = _codes(directory(tmp_path, centre=CENTRE).load(3000, truth))
    assert len(sound) == 5
    (path,) = tmp_path.glob(f"*.{kind}")
    harm(path)
    truth.asked.clear()
    assert _codes(directory(tmp_path, centre=CENTRE).load(3000, truth)) == sound
    before = path.stat().st_mtime_ns
    assert _codes(directory(tmp_path, centre=CENTRE).load(3000, truth)) == sound
    assert path.stat().st_mtime_ns == before


def test_a_folder_without_codes_gets_them(tmp_path: Path, truth: Truth, few: None) -> None:
    sound = _codes(directory(tmp_path, centre=CENTRE).load(3000, truth))
    manifest = read_manifest(tmp_path)
    assert manifest is not None
    write_manifest(tmp_path, replace(manifest, codes=None))
    for kind in ("i8", "steps", "bits", "marks"):
        next(tmp_path.glob(f"*.{kind}")).unlink()
    assert _codes(directory(tmp_path, centre=CENTRE).load(3000, truth)) == sound
    assert read_manifest(tmp_path) is not None


def test_without_a_centre_a_library_stays_without_signs(tmp_path: Path, truth: Truth, few: None) -> None:
    def broken() -> NDArray[np.float32]:
        raise RuntimeError("no")

    folder = VectorDirectory(tmp_path, model="tiny", version=VERSION, dim=DIM, centre_of=broken)
    index = folder.load(3000, truth)
    assert index.codes is not None
    assert index.codes.signs is None


def _delete_all(path: Path) -> None:
    for file in path.iterdir():
        file.unlink()


def _flip_in_vectors(path: Path) -> None:
    with next(path.glob("*.f32")).open("r+b") as file:
        file.seek(1500 * DIM * 4 + 5)
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 4]))


def _cut_vectors(path: Path) -> None:
    os.truncate(next(path.glob("*.f32")), 1100 * DIM * 4 + 2)


def _delete_vectors(path: Path) -> None:
    next(path.glob("*.f32")).unlink()


def _delete_manifest(path: Path) -> None:
    (path / "vectors.json").unlink()


def _spoil_manifest(path: Path) -> None:
    text = (path / "vectors.json").read_text()
    (path / "vectors.json").write_text(text.replace(VERSION, "cd" * 32))


def _cut_manifest(path: Path) -> None:
    os.truncate(path / "vectors.json", 100)


@pytest.mark.parametrize(
    "harm",
    [_delete_all, _flip_in_vectors, _cut_vectors, _delete_vectors, _delete_manifest, _spoil_manifest, _cut_manifest],
)
def test_damage_is_noticed_and_made_good(tmp_path: Path, truth: Truth, harm: Callable[[Path], None]) -> None:
    truth.present[:] = True
    sound = contents(directory(tmp_path).load(3000, truth))
    harm(tmp_path)
    truth.asked.clear()
    assert contents(directory(tmp_path).load(3000, truth)) == sound
    assert truth.asked
    truth.asked.clear()
    assert contents(directory(tmp_path).load(3000, truth)) == sound
    assert truth.asked == []
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".f32", ".i8", ".json", ".steps"]


def test_damage_costs_one_block_only(tmp_path: Path, truth: Truth) -> None:
    truth.present[:] = True
    directory(tmp_path).load(3000, truth)
    _flip_in_vectors(tmp_path)
    truth.asked.clear()
    directory(tmp_path).load(3000, truth)
    assert truth.asked == [(1024, 2048)]


def test_damage_that_the_store_cannot_mend_leaves_rows_without_a_vector(tmp_path: Path, truth: Truth) -> None:
    truth.present[:] = True
    directory(tmp_path).load(3000, truth)
    _flip_in_vectors(tmp_path)
    for _ in range(2):
        index = directory(tmp_path).load(3000, nothing)
        assert np.flatnonzero(~index.present).tolist() == list(range(1024, 2048))


def test_more_rows_than_the_store_has_are_not_believed(tmp_path: Path, truth: Truth) -> None:
    directory(tmp_path).load(3000, truth)
    other = Truth(vectors(100, seed=9), np.ones(100, np.bool_))
    assert contents(directory(tmp_path).load(100, other)) == [row.tobytes() for row in other.matrix]


@pytest.mark.parametrize(("version", "dim"), [("cd" * 32, DIM), (VERSION, DIM * 2)])
def test_another_model_is_refused(tmp_path: Path, truth: Truth, version: str, dim: int) -> None:
    directory(tmp_path).load(3000, truth)
    with pytest.raises(FailedPrecondition) as caught:
        directory(tmp_path, version, dim).load(3000, truth)
    assert caught.value.reason is ErrorReason.INDEX_MISMATCH
    assert caught.value.details["stored_version"] == VERSION
    assert caught.value.details["configured_version"] == version
    assert (caught.value.details["stored_dim"], caught.value.details["configured_dim"]) == (str(DIM), str(dim))
    assert directory(tmp_path).load(3000, truth).rows == 3000


@pytest.mark.parametrize(
    "packed", [b"", b"1234", pack_vector(np.full(DIM, 1, np.float32)), pack_vector(np.full(DIM, np.nan, np.float32))]
)
def test_a_stored_vector_of_another_kind_is_refused(tmp_path: Path, packed: bytes) -> None:
    with pytest.raises(FailedPrecondition) as caught:
        directory(tmp_path).load(2, lambda start, stop: [(1, packed)])
    assert caught.value.reason is ErrorReason.INDEX_MISMATCH


def test_what_put_refuses(tmp_path: Path) -> None:
    folder = directory(tmp_path)
    with pytest.raises(RuntimeError):
        _ = folder.index
    folder.load(5, nothing)
    matrix = vectors(5)
    folder.put([1], matrix[1:2])
    folder.put([1, 2], matrix[1:3])  # the same vector again is no change
    with pytest.raises(ValueError, match="another vector"):
        folder.put([1], matrix[3:4])
    with pytest.raises(ValueError, match="distinct"):
        folder.put([0, 0], matrix[:2])
    for row in (-1, 5):
        with pytest.raises(ValueError, match="below 5"):
            folder.put([row], matrix[:1])
    with pytest.raises(ValueError, match="length one"):
        folder.put([0], 2 * matrix[:1])
    with pytest.raises(ValueError, match="length one"):
        folder.put([0], np.full((1, DIM), np.nan, np.float32))
    with pytest.raises(ValueError, match="float32"):
        folder.put([0], matrix[:1].astype(np.float64))
    with pytest.raises(ValueError, match="rows"):
        folder.extend(4)
    folder.put([], matrix[:0])
    folder.put([4], np.zeros((1, DIM), np.float32))
    assert np.flatnonzero(folder.index.present).tolist() == [1, 2, 4]


def test_readers_beside_a_writer(tmp_path: Path) -> None:
    matrix = vectors(1200)
    folder = directory(tmp_path)
    folder.load(1200, nothing)
    wrong: list[int] = []
    done = threading.Event()

    def read() -> None:
        everything = np.ones(1200, np.bool_)
        while not done.is_set():
            index = folder.index
            hits = index.search(matrix[7], everything, 5, int)
            rows = np.flatnonzero(index.present)
            scores = index.score(matrix[7], rows)
            best = rows[np.lexsort((rows, -scores))][:5]
            if best.tolist() != hits.rows.tolist() or (index.present[7] and hits.rows[0] != 7):
                wrong.append(len(rows))

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for start in range(0, 1200, 40):
        batch = list(range(start, start + 40))
        folder.put(batch, matrix[batch])
    done.set()
    for reader in readers:
        reader.join()
    assert wrong == []


WRITER = """
import sys
from pathlib import Path
sys.path.insert(0, {root!r})
from tests.dense.test_vector_directory import directory, nothing, vectors
matrix = vectors(4000)
folder = directory(Path({path!r}))
index = folder.load(4000, nothing)
left = [row for row in range(4000) if not index.present[row]]
for start in range(0, len(left), 16):
    batch = left[start : start + 16]
    folder.put(batch, matrix[batch])
    print(*batch, flush=True)
"""


def test_killed_at_any_moment_nothing_that_counts_is_lost(tmp_path: Path) -> None:
    matrix = vectors(4000)
    code = WRITER.format(root=str(Path(__file__).resolve().parents[2]), path=str(tmp_path))
    acknowledged: set[int] = set()
    for attempt in range(6):
        writer = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        assert writer.stdout is not None
        stop_after = random.Random(attempt).randrange(1, 40)
        for number, line in enumerate(writer.stdout):
            acknowledged.update(map(int, line.split()))
            if number == stop_after:
                writer.send_signal(signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        index = directory(tmp_path).load(4000, nothing)
        present = set(np.flatnonzero(index.present).tolist())
        assert acknowledged <= present
        assert all(index.vector(row).tobytes() == matrix[row].tobytes() for row in present)  # type: ignore[union-attr]
