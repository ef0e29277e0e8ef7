"""Codes of a library's vectors on disk, beside them: what a search reads first.

They follow from the vectors, block by block of 1024 rows, and are written before the manifest that counts the vectors.
Nothing waits for the disk here: a block whose checksum in the manifest does not fit is made again from its vectors.
"""

from __future__ import annotations

import logging
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundwire_server.dense.record_file import RecordFile
from groundwire_server.dense.row_codes import RowCodes, encode_rows
from groundwire_server.dense.sign_codes import BLOCK_ROWS, SignCodes, encode_signs

__all__ = ["SIGNS_FROM", "CodeFolder", "CodeState", "Codes", "encode"]

_log = logging.getLogger(__name__)
SIGNS_FROM = 100_000  # rows with a vector; below, nobody asks for signs


@dataclass(frozen=True, slots=True, eq=False)
class Codes:
    """What an index may read instead of vectors; `signs` only where there are many rows and a centre."""

    rows: RowCodes
    signs: SignCodes | None


def encode(matrix: NDArray[np.float32], present: NDArray[np.bool_], centre: NDArray[np.float32] | None = None) -> Codes:
    """Codes in memory of the present rows of a matrix [n, dim]; with signs where there is a centre."""
    rows, dim = matrix.shape
    blocks = -(-rows // BLOCK_ROWS)
    codes = np.zeros((blocks * BLOCK_ROWS, dim), np.int8)
    steps = np.zeros((blocks * BLOCK_ROWS, 2), np.float32)
    bits = np.zeros((blocks, -(-dim // 64), BLOCK_ROWS), np.uint64)
    marks = np.zeros((blocks, 2, BLOCK_ROWS), np.int32)
    for block in range(blocks):
        vectors = _vectors(block, matrix, present)
        made = encode_rows(vectors)
        codes[_rows(block)], steps[_rows(block)] = made.codes, made.steps
        if centre is not None:
            bits[block], marks[block] = encode_signs(vectors, centre)
    signs = None if centre is None else SignCodes(centre, bits, marks)
    return Codes(RowCodes(codes[:rows], steps[:rows]), signs)


@dataclass(frozen=True, slots=True, eq=False)
class CodeState:
    """What the manifest keeps: name of the files, checksum of each block, centre of the signs (None: no signs)."""

    name: str
    checksums: tuple[int, ...]
    centre: NDArray[np.float32] | None


class CodeFolder:
    """One writer's view of the code files. Raises OSError.

    Args:
        path: the folder.
        dim: length of a vector.
        centre_of: gives the model's centre, asked once when there are `SIGNS_FROM` vectors; None: no signs are made.
    """

    def __init__(self, path: Path, dim: int, centre_of: Callable[[], NDArray[np.float32]] | None) -> None:
        self._path = path
        self._dim = dim
        self._words = -(-dim // 64)
        self._centre_of = centre_of
        self._centre: NDArray[np.float32] | None = None
        self._checksums: list[int] = []
        self._files: dict[str, RecordFile] = {}
        self._name = ""

    @property
    def state(self) -> CodeState:
        """For the manifest."""
        return CodeState(self._name, tuple(self._checksums), self._centre)

    def open(
        self, name: str, state: CodeState | None, matrix: NDArray[np.float32], present: NDArray[np.bool_]
    ) -> list[int]:
        """Open the files of that name, make good what is not as it should be, and say which blocks that were."""
        self.close()
        self._name, self._checksums, self._centre = name, [], None
        if state is not None and state.name == name:
            self._checksums, self._centre = list(state.checksums), state.centre
        self._files = {
            "codes": RecordFile(self._path / f"{name}.i8", "i1", (self._dim,)),
            "steps": RecordFile(self._path / f"{name}.steps", "<f4", (2,)),
        }
        self._open_signs()
        blocks = range(-(-len(present) // BLOCK_ROWS))
        wrong = [block for block in blocks if present[_rows(block)].any() and not self._sound(block)]
        return self.update(wrong, matrix, present)

    def update(self, blocks: Iterable[int], matrix: NDArray[np.float32], present: NDArray[np.bool_]) -> list[int]:
        """Make the codes of blocks whose rows have changed, and say which were made."""
        changed = list(blocks)
        if self._centre is None and self._centre_of is not None and np.count_nonzero(present) >= SIGNS_FROM:
            self._centre = self._ask_centre(self._centre_of)
        if self._centre is not None and "bits" not in self._files:
            self._open_signs()
            changed = [block for block in range(-(-len(present) // BLOCK_ROWS)) if present[_rows(block)].any()]
        for block in changed:
            self._encode(block, matrix, present)
        return changed

    def map(self, rows: int) -> Codes:
        """Codes of the first rows, read-only."""
        blocks = -(-rows // BLOCK_ROWS)
        self._grow(blocks)
        signs = None
        if self._centre is not None:
            bits, marks = self._files["bits"].map(blocks), self._files["marks"].map(blocks)
            signs = SignCodes(self._centre, bits, marks)
        codes, steps = (self._files[kind].map(blocks * BLOCK_ROWS)[:rows] for kind in ("codes", "steps"))
        return Codes(RowCodes(codes, steps), signs)

    def close(self) -> None:
        """Mappings stay usable."""
        for file in self._files.values():
            file.close()
        self._files = {}

    def _ask_centre(self, centre_of: Callable[[], NDArray[np.float32]]) -> NDArray[np.float32] | None:
        self._centre_of = None
        try:
            return centre_of()
        except Exception as error:  # noqa: BLE001 - a runtime of models raises types of its own making
            _log.warning("the centre of a model is not known, its vectors stay without signs: %s", type(error).__name__)
            return None

    def _open_signs(self) -> None:
        if self._centre is not None:
            shape = (self._words, BLOCK_ROWS)
            self._files["bits"] = RecordFile(self._path / f"{self._name}.bits", "<u8", shape)
            self._files["marks"] = RecordFile(self._path / f"{self._name}.marks", "<i4", (2, BLOCK_ROWS))

    def _grow(self, blocks: int) -> None:
        for kind, file in self._files.items():
            file.grow(blocks * (BLOCK_ROWS if kind in ("codes", "steps") else 1))

    def _sound(self, block: int) -> bool:
        if block >= len(self._checksums):
            return False
        need = {kind: (block + 1) * (BLOCK_ROWS if kind in ("codes", "steps") else 1) for kind in self._files}
        if any(file.records < need[kind] for kind, file in self._files.items()):
            return False
        found = {kind: file.map(need[kind])[-(need[kind] // (block + 1)) :] for kind, file in self._files.items()}
        return _checksum(found.values()) == self._checksums[block]

    def _encode(self, block: int, matrix: NDArray[np.float32], present: NDArray[np.bool_]) -> None:
        vectors = _vectors(block, matrix, present)
        rows = encode_rows(vectors)
        made: dict[str, NDArray[Any]] = {"codes": rows.codes, "steps": rows.steps}
        if self._centre is not None:
            bits, marks = encode_signs(vectors, self._centre)
            made |= {"bits": bits[None], "marks": marks[None]}
        for kind, records in made.items():
            first = block * len(records)
            self._files[kind].write(np.arange(first, first + len(records)), records)
        self._checksums += [0] * (block + 1 - len(self._checksums))
        self._checksums[block] = _checksum(made.values())


def _vectors(block: int, matrix: NDArray[np.float32], present: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Those of a block, zero where there is none."""
    here = present[_rows(block)]
    vectors = np.zeros((BLOCK_ROWS, matrix.shape[1]), np.float32)
    vectors[: len(here)][here] = matrix[_rows(block)][here]
    return vectors


def _rows(block: int) -> slice:
    return slice(block * BLOCK_ROWS, (block + 1) * BLOCK_ROWS)


def _checksum(arrays: Iterable[NDArray[Any]]) -> int:
    checksum = 0
    for array in arrays:
        checksum = zlib.crc32(np.ascontiguousarray(array).data, checksum)
    return checksum
