"""The folder of an index: what stands in it, and how it comes to hold other segments.

Files never change: new segments are written first, then the manifest is replaced as a whole, then files that it no
longer names are removed. A process that dies between two of these steps leaves nothing that the next start does not put
right. One thread at a time may use a folder.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from enum import Enum
from pathlib import Path

from groundwire_server.lexical.durable import TEMPORARY_SUFFIX, sync_folder
from groundwire_server.lexical.manifest import FORMAT, Manifest, SegmentEntry, read_manifest, write_manifest
from groundwire_server.lexical.pieces import Piece
from groundwire_server.lexical.segment_file import (
    DamagedFile,
    check_segment,
    file_stamp,
    map_segment,
    read_segment,
    write_segment,
)
from groundwire_server.text import TOKENIZER_ID

__all__ = ["RebuildReason", "SegmentFolder"]

_SEGMENT_PREFIX = "segment-"
_UNCHECKED = "unchecked"
_MAPPED_ROWS = 4096  # smaller segments stay in memory when they are written: they are soon merged


class RebuildReason(Enum):
    """Why rows were indexed again."""

    NO_INDEX = "there is no index"
    DAMAGED = "a file is missing or is not as it was written"
    OTHER_TOKENIZER = "made by another tokenizer"
    OTHER_FORMAT = "made in another format"
    OTHER_TEXTS = "not about the texts that the store has"


class SegmentFolder:
    """Segments and the manifest that names them.

    Attributes:
        path: the folder; made when something is saved.
        saved: what the manifest names; None before it was read or where it has to be replaced.
        write_error: name of the error ("ENOSPC") of the last save; empty when it went well.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.saved: tuple[SegmentEntry, ...] | None = None
        self.write_error = ""
        self._next_number = 0
        self._check_all = False

    def read(self) -> tuple[tuple[SegmentEntry, ...], RebuildReason | None]:
        """What stands on disk, and why none of it can be used."""
        self._check_all = (self.path / _UNCHECKED).exists()
        reason = None
        try:
            manifest = read_manifest(self.path)
        except DamagedFile:
            manifest, reason = None, RebuildReason.DAMAGED
        else:
            if manifest is None:
                reason = RebuildReason.NO_INDEX
            elif manifest.format != FORMAT:
                reason = RebuildReason.OTHER_FORMAT
            elif manifest.tokenizer != TOKENIZER_ID:
                reason = RebuildReason.OTHER_TOKENIZER
        if manifest is None or reason is not None:
            self._next_number, self.saved = _next_free_number(self.path), None
            return (), reason
        self._next_number, self.saved = manifest.next_number, manifest.segments
        return manifest.segments, None

    def open(self, entry: SegmentEntry, *, check: bool = False, trust_stamp: bool = False) -> tuple[Piece, bool]:
        """Map a segment; whether its arrays were checked now, or are to be afterwards (`check`).

        They are checked now where `check` asks for it, where the file is not the one that was written, as far as the
        file system can tell, and where a process died that had not checked what it mapped.

        Args:
            trust_stamp: for one that does not own the folder: the mark of unchecked files is for the one that does.

        Raises:
            DamagedFile: the file is not as it was written.
        """
        path = self.path / entry.file
        stamp = file_stamp(path)
        checked = check or (self._check_all and not trust_stamp) or stamp != entry.stamp
        segment = read_segment(path, entry.sha256) if checked else map_segment(path, entry.head_sha256)
        return Piece(segment, entry.last_text_sha256, entry.state, replace(entry, stamp=stamp)), checked

    def is_sound(self, entry: SegmentEntry, stop: Callable[[], bool]) -> bool:
        """Whether a segment that was mapped unchecked is as it was written; True as well when `stop` ends it."""
        return check_segment(self.path / entry.file, entry.sha256, stop)

    def note_unchecked(self) -> bool:
        """Leave a mark that is gone once all is checked; whether there is one: who finds it checks all at once."""
        try:
            (self.path / _UNCHECKED).touch()
        except OSError:
            return False
        return True

    def forget_unchecked(self) -> None:
        """Take the mark away."""
        with suppress(OSError):
            (self.path / _UNCHECKED).unlink(missing_ok=True)

    def save(self, pieces: Sequence[Piece]) -> list[Piece]:
        """Bring the folder to the state of some pieces: segments, then the manifest, then nothing else.

        Gives the pieces as they are on disk now. Where the disk refuses, `write_error` tells, and those that it did not
        take come back as they were.
        """
        held = list(pieces)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            for place, piece in enumerate(held):
                if piece.entry is None:
                    held[place] = self._write(piece)
            entries = tuple(piece.entry for piece in held if piece.entry is not None)
            if entries != self.saved:
                write_manifest(self.path, Manifest(TOKENIZER_ID, self._next_number, entries))
                self.saved = entries
            self._remove_unnamed({entry.file for entry in entries})
            self.write_error = ""
        except OSError as error:
            self.write_error = errno.errorcode.get(error.errno or 0, "EIO")
        except DamagedFile:  # what was just written is gone again
            self.write_error = "EIO"
        return held

    def _write(self, piece: Piece) -> Piece:
        name = f"{_SEGMENT_PREFIX}{self._next_number:08d}"
        path = self.path / name
        sums = write_segment(path, piece.segment)
        self._next_number += 1
        size = piece.segment.size
        entry = SegmentEntry(
            name, sums.sha256, sums.head_sha256, file_stamp(path), size, piece.state, piece.last_text_sha256
        )
        mapped = map_segment(path, sums.head_sha256) if size >= _MAPPED_ROWS else piece.segment
        return replace(piece, segment=mapped, entry=entry)

    def _remove_unnamed(self, named: set[str]) -> None:
        """Remove what a merge replaced or a killed process left behind. Readers that map such a file keep it."""
        segments = {path for path in self.path.glob(f"{_SEGMENT_PREFIX}*") if path.name not in named}
        unnamed = segments | set(self.path.glob(f"*{TEMPORARY_SUFFIX}"))
        if unnamed:
            sync_folder(self.path)
        for path in unnamed:
            path.unlink()


def _next_free_number(folder: Path) -> int:
    """A segment number above all that are in use, for when no manifest tells it."""
    if not folder.is_dir():
        return 0
    numbers = [path.name.removeprefix(_SEGMENT_PREFIX) for path in folder.glob(f"{_SEGMENT_PREFIX}*")]
    return max((int(number) + 1 for number in numbers if number.isdecimal()), default=0)
