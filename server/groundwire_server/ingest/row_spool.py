"""Rows of a file between reading and writing: in memory while they are few, in a temporary file when they are many.

A file is read to its end before anything of it is stored, for two of its rows may contradict each other.
"""

from __future__ import annotations

import contextlib
import hashlib
import pickle
import tempfile
import weakref
from array import array
from collections.abc import Iterator
from decimal import Decimal
from typing import IO

import numpy as np

from groundwire_server.errors import ErrorReason, RowRefused
from groundwire_server.evidence import ReviewStatus
from groundwire_server.store.rows import FactRecord, make_fact_id

__all__ = ["FactRow", "RowSpool"]

FactRow = tuple[int, FactRecord | RowRefused]
"""The number of a row, and its figure or why there is none."""

_Fault = tuple[int, str, str, str]

_IN_MEMORY = 8 << 20
_BATCH = 1000
_LISTED = 5
_NEVER = "-"


class RowSpool:
    """Takes rows in order and gives them back once, those refused that contradict each other.

    Rows of one key and source with different values, filed at one time, are all refused: none of them can be picked. A
    value that waits for review contradicts none that does not.
    """

    def __init__(self) -> None:
        self._packed: list[bytes] = []
        self._size = 0
        self._file: IO[bytes] | None = None
        self._batch: list[object] = []
        self._keys = array("Q")  # two words of the key, one of the value, one of the row, for each figure
        self._either_way: set[int] = set()

    def add(self, row: FactRow, *, either_way: bool = False) -> None:
        """Take a row.

        Args:
            either_way: another decimal mark would make another number of its value.
        """
        number, record = row
        if isinstance(record, FactRecord):
            self._batch.append((number, record))
            self._keys.extend(_words(number, record))
            if either_way:
                self._either_way.add(number)
        else:
            self._batch.append((number, [_packed(fault) for fault in (record, *record.further)]))
        if len(self._batch) >= _BATCH:
            self._write()

    def rows(self, *, refuse_either_way: str = "") -> Iterator[FactRow]:
        """All rows in order, once.

        Args:
            refuse_either_way: why those are refused whose value may be read in two ways; empty: they are not.
        """
        self._write()
        refused = self._contradictions()
        self._keys = array("Q")
        told: set[int] = set()
        for number, content in self._read():
            if not isinstance(content, FactRecord):
                yield number, RowRefused.of([_unpacked(fault) for fault in content])
            elif number in refused:
                if number not in told:
                    told.add(number)
                    yield number, _contradicted(content, refused[number])
            elif refuse_either_way and number in self._either_way:
                value = content.as_written or content.value
                yield (
                    number,
                    RowRefused(ErrorReason.FACT_VALUE_MALFORMED, refuse_either_way, column="value", value=value),
                )
            else:
                yield number, content

    def _write(self) -> None:
        if not self._batch:
            return
        packed = pickle.dumps(self._batch, protocol=pickle.HIGHEST_PROTOCOL)
        self._batch = []
        self._size += len(packed)
        if self._file is None and self._size <= _IN_MEMORY:
            self._packed.append(packed)
            return
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - it lives until the rows are read
            weakref.finalize(self, self._file.close)
            self._file.writelines(self._packed)
            self._packed = []
        self._file.write(packed)

    def _read(self) -> Iterator[tuple[int, FactRecord | list[_Fault]]]:
        for packed in self._packed:
            yield from pickle.loads(packed)
        if self._file is not None:
            self._file.seek(0)
            with self._file as file, contextlib.suppress(EOFError):
                while True:
                    yield from pickle.load(file)

    def _contradictions(self) -> dict[int, list[int]]:
        """Rows that contradict others, each with all that do."""
        if not self._keys:
            return {}
        table = np.frombuffer(self._keys, dtype=np.uint64).reshape(-1, 4)
        order = np.lexsort((table[:, 1], table[:, 0]))
        table = table[order]
        same = np.all(table[1:, :2] == table[:-1, :2], axis=1)
        group = np.concatenate(([0], np.cumsum(~same)))
        differs = same & (table[1:, 2] != table[:-1, 2])
        bad = np.unique(group[1:][differs])
        found: dict[int, list[int]] = {}
        for each in bad.tolist():
            first, last = np.searchsorted(group, [each, each + 1]).tolist()
            numbers = sorted({int(number) for number in table[first:last, 3]})
            found |= dict.fromkeys(numbers, numbers)
        return found


def _packed(fault: RowRefused) -> _Fault:
    return fault.reason.value, fault.message, fault.column, fault.value


def _unpacked(fault: _Fault) -> RowRefused:
    reason, message, column, value = fault
    return RowRefused(ErrorReason(reason), message, column=column, value=value)


def _words(number: int, record: FactRecord) -> tuple[int, int, int, int]:
    filed = _NEVER if record.filed_at is None else record.filed_at.isoformat()
    pending = record.review_status is ReviewStatus.PENDING
    key = hashlib.blake2b(f"{make_fact_id(record)} {filed} {pending}".encode(), digest_size=16).digest()
    value = hashlib.blake2b(str(_plain(record.value)).encode(), digest_size=8).digest()
    return int.from_bytes(key[:8]), int.from_bytes(key[8:]), int.from_bytes(value), number


def _plain(value: str) -> str:
    """Equal for equal numbers, however many zeros they end in."""
    if "." in value:
        value = value.rstrip("0").rstrip(".")
    return "0" if not Decimal(value) else value


def _contradicted(record: FactRecord, numbers: list[int]) -> RowRefused:
    listed = ", ".join(str(number) for number in numbers[:_LISTED]) + (" ..." if len(numbers) > _LISTED else "")
    why = (
        "One metric, entity, period, channel, unit and source has different values, and it is not said which was filed"
        f" later: {'rows' if len(numbers) > 1 else 'row'} {listed}."
    )
    return RowRefused(ErrorReason.CONTRADICTION, why, column="value", value=record.value)
