"""The index of one library on disk: opened, caught up, repaired and extended.

The store is the truth and this is derived from it. Whatever is missing, damaged, of another tokenizer or not about the
texts that the store has now is built again from the texts, and the results are the same. Files never change: new
segments are written first, then the manifest is replaced as a whole, then files that it no longer names are removed; a
process that dies between two of these steps leaves nothing that the next start does not put right.
"""

from __future__ import annotations

import errno
import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import numpy as np

from groundwire_server.lexical.build import build_postings
from groundwire_server.lexical.compiled import capped_lengths
from groundwire_server.lexical.durable import TEMPORARY_SUFFIX, sync_folder
from groundwire_server.lexical.index import LexicalIndex
from groundwire_server.lexical.manifest import FORMAT, Manifest, SegmentEntry, read_manifest, write_manifest
from groundwire_server.lexical.merge import merge_postings, merge_segments
from groundwire_server.lexical.postings import Postings, pack
from groundwire_server.lexical.segment import MAX_ROWS, Segment
from groundwire_server.lexical.segment_file import DamagedFile, map_segment, read_segment, write_segment
from groundwire_server.lexical.tiers import is_full, merge_start
from groundwire_server.text import TOKENIZER_ID

__all__ = ["LexicalDirectory", "LoadReport", "RebuildReason", "Rebuilt", "Texts"]

Texts = Callable[[int, int], Iterable[str]]
"""Texts of the rows from the first number up to, not including, the second; in row order."""

_SEGMENT_PREFIX = "segment-"
_BLOCK_ROWS = 4096
_BLOCK_CHARACTERS = 1 << 22


class RebuildReason(Enum):
    """Why rows were indexed again."""

    NO_INDEX = "there is no index"
    DAMAGED = "a file is missing or is not as it was written"
    OTHER_TOKENIZER = "made by another tokenizer"
    OTHER_FORMAT = "made in another format"
    OTHER_TEXTS = "not about the texts that the store has"


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """Rows [start, stop) were indexed again."""

    start: int
    stop: int
    reason: RebuildReason


@dataclass(frozen=True, slots=True)
class LoadReport:
    """What `load` found and did; numbers only, so it can be logged.

    Attributes:
        rows: rows of the index now.
        kept: rows whose segments were taken as they were.
        caught_up: rows that were not yet indexed.
        rebuilt: rows that had to be indexed again.
    """

    rows: int
    kept: int
    caught_up: int
    rebuilt: tuple[Rebuilt, ...]


@dataclass(slots=True)
class _Piece:
    """A segment in row order; `file` is empty while it is not on disk."""

    segment: Segment
    last_text_sha256: str
    file: str = ""
    sha256: str = ""

    def entry(self) -> SegmentEntry:
        return SegmentEntry(self.file, self.sha256, self.segment.size, self.last_text_sha256)


class LexicalDirectory:
    """A folder of segments and the manifest that names them.

    One process owns the folder, and one thread at a time loads or appends (a lock sees to it). Each gives a new
    immutable `LexicalIndex` over rows 0 .. rows - 1, in the order in which texts were given; readers keep the one that
    they have, as long as they like.

    A disk that refuses a write does not stop the index: its rows are searched from memory, `unsaved_rows` tells how
    many those are, and the next `append` tries again.

    Attributes:
        path: the folder; made when it is not there.
        report: what the last `load` found; None before.
        write_error: name of the error ("ENOSPC") that keeps rows unsaved; empty when all is well.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.report: LoadReport | None = None
        self.write_error = ""
        self._lock = threading.Lock()
        self._pieces: list[_Piece] = []
        self._next_number = 0
        self._saved: tuple[SegmentEntry, ...] | None = None
        self._lengths = np.zeros(0)
        self._capped = np.zeros(0, dtype=np.uint16)
        self._index: LexicalIndex | None = None

    @property
    def index(self) -> LexicalIndex:
        """The newest index.

        Raises:
            RuntimeError: nothing was loaded yet.
        """
        if self._index is None:
            raise RuntimeError("load() comes first")
        return self._index

    @property
    def unsaved_rows(self) -> int:
        """Rows at the end that are searched but not on disk; a restart indexes them again."""
        return max(0, self.index.rows - sum(entry.rows for entry in self._saved or ()))

    def load(self, n_rows: int, texts: Texts) -> LexicalIndex:
        """The index of rows 0 .. n_rows - 1: from disk as far as that is sound, from the texts for the rest.

        Checksums are verified, and the text of the last row of each segment. `report` tells what was done.

        Raises:
            ValueError: `texts` gives another number of texts than it was asked for.
        """
        with self._lock:
            self._index = None
            self._pieces = []
            self._lengths = np.zeros(0)
            self._capped = np.zeros(0, dtype=np.uint16)
            manifest, reason = self._read_manifest()
            self._next_number = manifest.next_number
            kept, rebuilt = self._take_pieces(manifest, n_rows, texts)
            self._saved = None if reason or rebuilt else manifest.segments
            covered = sum(piece.segment.size for piece in self._pieces)
            if reason is not None and n_rows:
                rebuilt.append(Rebuilt(0, n_rows, reason))
            self.report = LoadReport(n_rows, kept, 0 if reason else n_rows - covered, tuple(rebuilt))
            self._extend(_counted(texts, covered, n_rows))
            return self._publish(0)

    def append(self, texts: Iterable[str]) -> LexicalIndex:
        """The index with further rows at its end, saved as far as the disk takes it.

        An exception that comes out of `texts` leaves the index as it was.

        Raises:
            RuntimeError: nothing was loaded yet.
        """
        with self._lock:
            rows = self.index.rows
            pieces = list(self._pieces)
            try:
                self._extend(texts)
            except BaseException:
                self._pieces = pieces
                raise
            return self._publish(rows)

    def _read_manifest(self) -> tuple[Manifest, RebuildReason | None]:
        """What stands on disk, and why none of it can be used."""
        nothing = Manifest(TOKENIZER_ID, _next_free_number(self.path), ())
        try:
            manifest = read_manifest(self.path)
        except DamagedFile:
            return nothing, RebuildReason.DAMAGED
        if manifest is None:
            return nothing, RebuildReason.NO_INDEX
        if manifest.format != FORMAT:
            return nothing, RebuildReason.OTHER_FORMAT
        if manifest.tokenizer != TOKENIZER_ID:
            return nothing, RebuildReason.OTHER_TOKENIZER
        return manifest, None

    def _take_pieces(self, manifest: Manifest, n_rows: int, texts: Texts) -> tuple[int, list[Rebuilt]]:
        """Segments of the manifest that are sound, others built again; how many rows were kept, and what was built."""
        kept = start = 0
        rebuilt: list[Rebuilt] = []
        for entry in manifest.segments:
            stop = start + entry.rows
            piece, reason = self._sound_piece(entry, stop, n_rows, texts)
            if piece is not None:
                self._pieces.append(piece)
                kept += entry.rows
            elif start < n_rows:
                stop = min(stop, n_rows)
                self._pieces.extend(_built(_counted(texts, start, stop)))
                rebuilt.append(Rebuilt(start, stop, reason))
            start = stop
        return kept, rebuilt

    def _sound_piece(
        self, entry: SegmentEntry, stop: int, n_rows: int, texts: Texts
    ) -> tuple[_Piece | None, RebuildReason]:
        if stop > n_rows:
            return None, RebuildReason.OTHER_TEXTS
        try:
            segment = read_segment(self.path / entry.file, entry.sha256)
        except DamagedFile:
            return None, RebuildReason.DAMAGED
        (last,) = _counted(texts, stop - 1, stop)
        if _text_sha256(last) != entry.last_text_sha256:
            return None, RebuildReason.OTHER_TEXTS
        return _Piece(segment, entry.last_text_sha256, entry.file, entry.sha256), RebuildReason.DAMAGED

    def _extend(self, texts: Iterable[str]) -> None:
        """Add rows, merge what is due, save. Full segments are saved as they come: a killed catch-up keeps them."""
        for piece in _built(texts):
            self._pieces.append(piece)
            if is_full(piece.segment.size):
                self._save()
        start = merge_start([piece.segment.size for piece in self._pieces])
        if start < len(self._pieces):
            merged = merge_segments([piece.segment for piece in self._pieces[start:]])
            self._pieces[start:] = [_Piece(merged, self._pieces[-1].last_text_sha256)]
        self._save()

    def _save(self) -> None:
        """Bring the folder to the state of `_pieces`: segments, then the manifest, then nothing else."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            for piece in self._pieces:
                if not piece.file:
                    self._write(piece)
            entries = tuple(piece.entry() for piece in self._pieces)
            if entries != self._saved:
                write_manifest(self.path, Manifest(TOKENIZER_ID, self._next_number, entries))
                self._saved = entries
            self._remove_unnamed({entry.file for entry in entries})
            self.write_error = ""
        except OSError as error:
            self.write_error = errno.errorcode.get(error.errno or 0, "EIO")

    def _write(self, piece: _Piece) -> None:
        name = f"{_SEGMENT_PREFIX}{self._next_number:08d}"
        sha256 = write_segment(self.path / name, piece.segment)
        self._next_number += 1
        piece.segment = map_segment(self.path / name)
        piece.file, piece.sha256 = name, sha256

    def _remove_unnamed(self, named: set[str]) -> None:
        """Remove what a merge replaced or a killed process left behind. Readers that map such a file keep it."""
        segments = {path for path in self.path.glob(f"{_SEGMENT_PREFIX}*") if path.name not in named}
        unnamed = segments | set(self.path.glob(f"*{TEMPORARY_SUFFIX}"))
        if unnamed:
            sync_folder(self.path)
        for path in unnamed:
            path.unlink()

    def _publish(self, known: int) -> LexicalIndex:
        """The index of all pieces; the lengths of the first `known` rows are in place already."""
        segments = [piece.segment for piece in self._pieces]
        rows = sum(segment.size for segment in segments)
        if rows > len(self._lengths):
            # Room for as many again, so that small appends do not copy all lengths each time. Readers of older indexes
            # see only their own rows of the array, and those never change.
            grown = np.empty(2 * rows)
            grown[:known] = self._lengths[:known]
            capped = np.empty(2 * rows, dtype=np.uint16)
            capped[:known] = self._capped[:known]
            self._lengths, self._capped = grown, capped
        stop = rows
        for segment in reversed(segments):
            if stop <= known:
                break
            start = stop - segment.size
            first = max(start, known)
            self._lengths[first:stop] = segment.lengths[first - start :]
            self._capped[first:stop] = capped_lengths(self._lengths[first:stop])
            stop = start
        lengths = self._lengths[:rows]
        lengths.setflags(write=False)
        self._index = LexicalIndex(segments, lengths, self._capped[:rows])
        return self._index


def _built(texts: Iterable[str]) -> Iterator[_Piece]:
    """Segments of texts, full ones but for the last."""
    blocks: list[Postings] = []
    rows = 0
    for block in _blocks(texts):
        blocks.append(build_postings(block))
        rows += len(block)
        last = _text_sha256(block[-1])
        if rows == MAX_ROWS:
            yield _Piece(pack(merge_postings(blocks)), last)
            blocks, rows = [], 0
    if blocks:
        yield _Piece(pack(merge_postings(blocks)), last)


def _blocks(texts: Iterable[str]) -> Iterator[list[str]]:
    """Texts in lists small enough to sort in memory, none across the border of a full segment."""
    block: list[str] = []
    characters = 0
    for number, text in enumerate(texts, start=1):
        block.append(text)
        characters += len(text)
        if len(block) == _BLOCK_ROWS or characters >= _BLOCK_CHARACTERS or number % MAX_ROWS == 0:
            yield block
            block, characters = [], 0
    if block:
        yield block


def _counted(texts: Texts, start: int, stop: int) -> Iterator[str]:
    """The texts of rows [start, stop).

    Raises:
        ValueError: there are fewer or more.
    """
    given = 0
    for text in texts(start, stop) if start < stop else ():
        given += 1
        yield text
    if given != stop - start:
        raise ValueError(f"{given} texts for rows {start} to {stop}")


def _text_sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _next_free_number(folder: Path) -> int:
    """A segment number above all that are in use, for when no manifest tells it."""
    if not folder.is_dir():
        return 0
    numbers = [path.name.removeprefix(_SEGMENT_PREFIX) for path in folder.glob(f"{_SEGMENT_PREFIX}*")]
    return max((int(number) + 1 for number in numbers if number.isdecimal()), default=0)
