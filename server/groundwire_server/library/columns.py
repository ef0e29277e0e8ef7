"""Chunks as columns: what restriction and ordering need of each, without asking the store.

All that can differ between two chunks of one revision is their place in it, so the columns are those of revisions, and
each chunk row knows its revision. Rows count from 0 in the order of chunk rows; dead and hidden ones are in them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groundwire_server.evidence import Label
from groundwire_server.store import RevisionSpan

__all__ = ["ALIVE", "ChunkColumns", "ColumnBuilder", "to_microseconds"]

ALIVE = np.iinfo(np.int64).max
_UNSAID = np.iinfo(np.int64).min
_Number = TypeVar("_Number", bound=np.generic)
_EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")


def to_microseconds(moment: datetime) -> int:
    """Microseconds since 1970."""
    elapsed = moment - _EPOCH
    return (elapsed.days * 86_400 + elapsed.seconds) * 1_000_000 + elapsed.microseconds


@dataclass(frozen=True, slots=True, eq=False)
class ChunkColumns:
    """Columns of the first `rows` chunks.

    Attributes:
        rows: chunks.
        revision_of: int32[rows], each chunk's place in the columns below.
        first_place: int64[revisions], row of the first chunk of a revision.
        first_chunk_row: int64[revisions], the store's chunk row of it.
        doc_ids: uint8, UTF-8 of the document ids, one behind the other.
        doc_id_ends: int64[revisions], where each of them ends.
        revision: int32[revisions], number of the revision within its document.
        label: uint8[revisions].
        born, died: int64[revisions], generations; `ALIVE` when it has not died. A death that a later generation brings
            may appear here too: it lies above every generation that a holder of these columns asks for. A revision that
            was purged died when it was born, for those who hold older columns too.
        valid_as_of: int64[revisions], microseconds since 1970; the lowest int64 where it does not say.
        key: uint64[revisions], hash of document and revision, the latter counted up to its own label.
    """

    rows: int
    revision_of: NDArray[np.int32]
    first_place: NDArray[np.int64]
    first_chunk_row: NDArray[np.int64]
    doc_ids: NDArray[np.uint8]
    doc_id_ends: NDArray[np.int64]
    revision: NDArray[np.int32]
    label: NDArray[np.uint8]
    born: NDArray[np.int64]
    died: NDArray[np.int64]
    valid_as_of: NDArray[np.int64]
    key: NDArray[np.uint64]

    @property
    def revisions(self) -> int:
        """How many revisions there are."""
        return len(self.first_place)

    def visible(self, clearance: Label, generation: int, valid_at: datetime | None = None) -> NDArray[np.bool_]:
        """bool[revisions]: readable under a clearance and alive at a generation; RESTRICTED never is."""
        strictest = min(clearance, Label.CONFIDENTIAL)
        kept = (self.label <= strictest) & (self.born <= generation) & (self.died > generation)
        if valid_at is not None:
            kept &= self.valid_as_of <= to_microseconds(valid_at)
        return kept

    def spread(self, revisions: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """bool[rows] from bool[revisions]."""
        return revisions[self.revision_of]

    def chunk_rows(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The store's chunk rows of rows."""
        place = self.revision_of[rows]
        return self.first_chunk_row[place] + (rows - self.first_place[place])

    def rows_of(self, chunk_rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Rows of the store's chunk rows; `rows` for those that come after the last one here."""
        if self.rows == 0:
            return np.zeros(len(chunk_rows), np.int64)
        place = np.searchsorted(self.first_chunk_row, chunk_rows, side="right") - 1
        known = chunk_rows <= self.chunk_rows(np.array([self.rows - 1], np.int64))
        return np.where(known, self.first_place[place] + chunk_rows - self.first_chunk_row[place], self.rows)

    def doc_id(self, place: int) -> str:
        """The document of a revision."""
        start = int(self.doc_id_ends[place - 1]) if place else 0
        return self.doc_ids[start : int(self.doc_id_ends[place])].tobytes().decode()

    def tie_key(self, row: int) -> tuple[str, int, int]:
        """(doc_id, revision, seq): the order of equal scores."""
        place = int(self.revision_of[row])
        return self.doc_id(place), int(self.revision[place]), int(row - self.first_place[place])

    def kept(self, generation: int) -> dict[str, NDArray[Any]]:
        """What `ColumnBuilder` goes on from, as it was at a generation: deaths that came later are left out."""
        starts = np.append(self.first_place, self.rows)
        return {
            "sizes": np.diff(starts).astype(np.int32),
            "first_chunk_row": self.first_chunk_row,
            "revision": self.revision,
            "label": self.label,
            "born": self.born,
            "died": np.where(self.died > generation, ALIVE, self.died),
            "valid_as_of": self.valid_as_of,
            "key": self.key,
            "doc_ids": self.doc_ids,
            "doc_id_ends": self.doc_id_ends,
        }

    def chunk_keys(self, rows: NDArray[np.int64]) -> NDArray[np.uint64]:
        """64-bit hashes of (doc_id, revision, seq), well mixed, so that a sum of them stands for a set of chunks."""
        place = self.revision_of[rows]
        seq = (rows - self.first_place[place]).astype(np.uint64)
        mixed: NDArray[np.uint64] = self.key[place] + (seq + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return mixed ^ (mixed >> np.uint64(31))


class _Growing(Generic[_Number]):
    """An array that is appended to. Views of it keep their length; what comes later lies beyond them."""

    def __init__(self, dtype: type[_Number], held: NDArray[_Number] | None = None) -> None:
        self._held: NDArray[_Number] = np.zeros(1024, dtype) if held is None else held
        self._length = 0 if held is None else len(held)

    def extend(self, values: ArrayLike, count: int) -> None:
        needed = self._length + count
        if needed > len(self._held):
            longer = np.zeros(max(needed, 2 * len(self._held)), self._held.dtype)
            longer[: self._length] = self._held[: self._length]
            self._held = longer
        self._held[self._length : needed] = values
        self._length = needed

    def set(self, places: NDArray[np.int64], values: ArrayLike) -> None:
        self._held[places] = values

    def view(self) -> NDArray[_Number]:
        view = self._held[: self._length]
        view.flags.writeable = False
        return view


class ColumnBuilder:
    """Follows a store and gives columns of what was there. Only one thread at a time may use it; its views are free.

    `kept` (`ChunkColumns.kept`) are columns of an earlier state to go on from; they are taken over, not copied.

    Births are appended. A death is written in place: whoever holds older columns asks for older generations, at which
    a row that dies later is alive either way.
    """

    def __init__(self, kept: Mapping[str, NDArray[Any]] | None = None) -> None:
        kept = kept or {}
        self._revision_of = _Growing(np.int32)
        self._first_place = _Growing(np.int64)
        self._first_chunk_row = _Growing(np.int64, kept.get("first_chunk_row"))
        self._revision = _Growing(np.int32, kept.get("revision"))
        self._label = _Growing(np.uint8, kept.get("label"))
        self._born = _Growing(np.int64, kept.get("born"))
        self._died = _Growing(np.int64, kept.get("died"))
        self._valid_as_of = _Growing(np.int64, kept.get("valid_as_of"))
        self._key = _Growing(np.uint64, kept.get("key"))
        self._doc_ids = _Growing(np.uint8, kept.get("doc_ids"))
        self._doc_id_ends = _Growing(np.int64, kept.get("doc_id_ends"))
        self._revisions = self._rows = self.last_chunk_row = 0
        if kept:
            self._count(kept["sizes"].astype(np.int64))

    @property
    def rows(self) -> int:
        """Chunks so far."""
        return self._rows

    @property
    def revisions(self) -> int:
        """Revisions so far."""
        return self._revisions

    def add(self, spans: Iterable[RevisionSpan]) -> None:
        """Append revisions whose chunk rows come after those that are here."""
        for some in _batches(spans, 4096):
            count = len(some)
            self._first_chunk_row.extend([span.first_row for span in some], count)
            self._revision.extend([span.revision for span in some], count)
            self._label.extend([int(span.label) for span in some], count)
            self._born.extend([span.born for span in some], count)
            self._died.extend([ALIVE if span.died is None else span.died for span in some], count)
            self._valid_as_of.extend([_valid_as_of(span) for span in some], count)
            self._key.extend(np.array([_key(span) for span in some], np.uint64), count)
            names = [span.doc_id.encode() for span in some]
            ends = len(self._doc_ids.view()) + np.cumsum(np.array([len(name) for name in names], np.int64))
            self._doc_ids.extend(np.frombuffer(b"".join(names), np.uint8), int(ends[-1]) - len(self._doc_ids.view()))
            self._doc_id_ends.extend(ends, count)
            self._count(np.array([span.chunks for span in some], np.int64))

    def _count(self, sizes: NDArray[np.int64]) -> None:
        """Rows for revisions of so many chunks, whose other columns are there."""
        if len(sizes) == 0:
            return
        count = len(sizes)
        places = np.arange(self._revisions, self._revisions + count, dtype=np.int32)
        ends = self._rows + np.cumsum(sizes)
        self._revision_of.extend(np.repeat(places, sizes), int(sizes.sum()))
        self._first_place.extend(ends - sizes, count)
        self._revisions += count
        self._rows = int(ends[-1])
        self.last_chunk_row = int(self._first_chunk_row.view()[-1] + sizes[-1] - 1)

    def retire(self, spans: Iterable[RevisionSpan]) -> int:
        """Note deaths and purges of revisions that are here; gives how many."""
        gone = list(spans)
        rows = np.array([span.first_row for span in gone], np.int64)
        places = np.searchsorted(self._first_chunk_row.view(), rows)
        self._died.set(places, [ALIVE if span.died is None else span.died for span in gone])
        self._valid_as_of.set(places, [_valid_as_of(span) for span in gone])  # those that were purged have none
        return len(gone)

    def view(self) -> ChunkColumns:
        """The columns as they are now."""
        return ChunkColumns(
            rows=self._rows,
            revision_of=self._revision_of.view(),
            first_place=self._first_place.view(),
            first_chunk_row=self._first_chunk_row.view(),
            doc_ids=self._doc_ids.view(),
            doc_id_ends=self._doc_id_ends.view(),
            revision=self._revision.view(),
            label=self._label.view(),
            born=self._born.view(),
            died=self._died.view(),
            valid_as_of=self._valid_as_of.view(),
            key=self._key.view(),
        )


def _batches(spans: Iterable[RevisionSpan], size: int) -> Iterable[list[RevisionSpan]]:
    some: list[RevisionSpan] = []
    for span in spans:
        some.append(span)
        if len(some) == size:
            yield some
            some = []
    if some:
        yield some


def _valid_as_of(span: RevisionSpan) -> int:
    return _UNSAID if span.valid_as_of is None else to_microseconds(span.valid_as_of)


def _key(span: RevisionSpan) -> int:
    digest = hashlib.blake2b(f"{span.number} {span.doc_id}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big")
