"""The index of words of a library that another process writes: its segments, mapped, and the rows behind them.

The other process saves rows soon after it has stored them, and merges segments at any time. This one reads its manifest
when that is another one, maps the segments that it has not mapped yet, and indexes the rows that no segment has, in
memory. Nothing is written, and results are those of the other process, since they do not depend on segments.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from groundwire_server.lexical.folder import SegmentFolder
from groundwire_server.lexical.index import LexicalIndex
from groundwire_server.lexical.lengths import RowLengths
from groundwire_server.lexical.manifest import MANIFEST_NAME, SegmentEntry
from groundwire_server.lexical.merge import merge_segments
from groundwire_server.lexical.pieces import Piece, Texts, built, counted, text_sha256
from groundwire_server.lexical.segment import MAX_ROWS
from groundwire_server.lexical.segment_file import DamagedFile, file_stamp

__all__ = ["FollowedWords"]

# A file that the manifest names may be gone when it is opened: merged meanwhile, and then there is a newer manifest.
_ATTEMPTS = 4
_MOST_IN_MEMORY = 16  # pieces, before they become one


class FollowedWords:
    """One thread at a time may follow; readers keep the index that they have as long as they like.

    A file that the file system calls unchanged is mapped by its stamp and header, as at a start of the process that
    writes, which checks it as a whole and puts another in place of one that is damaged.

    Args:
        path: folder of the index.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp: str | None = None
        self._mapped: list[Piece] = []
        self._pieces: list[Piece] = []
        self._lengths = RowLengths()
        self._index = LexicalIndex([])

    @property
    def index(self) -> LexicalIndex:
        """The newest index."""
        return self._index

    @property
    def mapped_rows(self) -> int:
        """Rows of the segments that the manifest names."""
        return _rows(self._mapped)

    def look(self) -> bool:
        """Whether there is another manifest than at the last look. Its segments are mapped then.

        To be called before the state of the store is read that is followed: a manifest never names what the store does
        not have yet.
        """
        for _ in range(_ATTEMPTS):
            stamp = self._manifest_stamp()
            if stamp == self._stamp:
                return False
            mapped, whole = self._map()
            if whole:
                break
        if not whole and self._mapped:
            return False  # what is mapped stays sound, and the next manifest is on its way
        self._stamp, self._mapped = stamp, mapped
        return True

    def follow(self, rows: int, texts: Texts, state: str, knows: Callable[[str], bool]) -> None:
        """Bring the index to the rows of a state of the store.

        Args:
            rows: that the store has; never fewer than before.
            texts: theirs.
            state: of the store.
            knows: whether the store was ever in a state.
        """
        mapped = self._sound(rows, texts, knows)
        covered = _rows(mapped)
        kept = _behind(self._pieces, covered)
        pieces = [*mapped, *kept]
        pieces += built(counted(texts, _rows(pieces), rows), state)
        pieces = [*mapped, *_together(pieces[len(mapped) :])]
        if pieces == self._pieces and self._index.rows == rows:
            return
        known = _common_rows(self._pieces, pieces)
        if known < self._index.rows:
            self._lengths, known = RowLengths(), 0  # those who read an older index have the arrays of that one
        segments = [piece.segment for piece in pieces]
        self._index = LexicalIndex(segments, *self._lengths.of(segments, known))
        self._pieces = pieces

    def _manifest_stamp(self) -> str:
        try:
            return file_stamp(self._path / MANIFEST_NAME)
        except DamagedFile:
            return ""

    def _map(self) -> tuple[list[Piece], bool]:
        """The segments that the manifest names, up to the first that is not as it was written; whether all are."""
        folder = SegmentFolder(self._path)
        entries, fault = folder.read()
        known = {_key(piece.entry): piece for piece in self._mapped if piece.entry is not None}
        pieces: list[Piece] = []
        for entry in entries:
            piece = known.get(_key(entry))
            if piece is None:
                with suppress(DamagedFile):
                    piece, _ = folder.open(entry, trust_stamp=True)
            if piece is None:
                return pieces, False
            pieces.append(piece)
        return pieces, fault is None

    def _sound(self, rows: int, texts: Texts, knows: Callable[[str], bool]) -> list[Piece]:
        """Mapped segments of texts that the store has, up to the first that is not."""
        sound: list[Piece] = []
        stop = 0
        held = {id(piece) for piece in self._pieces}
        for piece in self._mapped:
            stop += piece.segment.size
            if stop > rows:
                break
            if id(piece) not in held:
                if not knows(piece.state):
                    break
                (last,) = counted(texts, stop - 1, stop)
                if text_sha256(last) != piece.last_text_sha256:
                    break
            sound.append(piece)
        return sound


def _key(entry: SegmentEntry | None) -> tuple[str, str]:
    return ("", "") if entry is None else (entry.file, entry.sha256)


def _rows(pieces: Sequence[Piece]) -> int:
    return sum(piece.segment.size for piece in pieces)


def _behind(pieces: Sequence[Piece], covered: int) -> list[Piece]:
    """Those in memory that begin right where others end, without a gap."""
    kept: list[Piece] = []
    start = 0
    for piece in pieces:
        if piece.entry is None and start == covered + _rows(kept):
            kept.append(piece)
        start += piece.segment.size
    return kept


def _together(pieces: Sequence[Piece]) -> list[Piece]:
    """Pieces in memory as few, where they are many: what writes them may be away, or its disk be full."""
    if len(pieces) <= _MOST_IN_MEMORY or _rows(pieces) > MAX_ROWS:
        return list(pieces)
    merged = merge_segments([piece.segment for piece in pieces])
    return [Piece(merged, pieces[-1].last_text_sha256, pieces[-1].state)]


def _common_rows(before: Sequence[Piece], after: Sequence[Piece]) -> int:
    rows = 0
    for one, other in zip(before, after, strict=False):
        if one is not other:
            break
        rows += one.segment.size
    return rows
