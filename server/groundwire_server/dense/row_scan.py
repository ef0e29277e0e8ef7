"""One look at the rows for each search: alone through a few of them, or together with others through all of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic

import numpy as np
from numpy.typing import NDArray

from groundwire_server.dense.contenders import Q, Sweep
from groundwire_server.dense.shared_pass import SharedPass

__all__ = ["RowScan"]

PART_ROWS = 65_536  # between two looks at whether the call is still wanted: some milliseconds, also for 16 searches
# Below this share of the rows, a search goes through its own rows alone: others would bring it nothing.
GATHER_SHARE = 0.15
MOST_PASSES = 4  # at the same time: more would wait for the memory


@dataclass(frozen=True, slots=True, eq=False)
class _Member(Generic[Q]):
    quest: Q
    allowed: NDArray[np.bool_]


class RowScan(Generic[Q]):
    """Finds the rows of an index that may be among the best. Thread-safe.

    Args:
        sweep: how rows are looked at.
        rows: how many the index has.
    """

    def __init__(self, sweep: Sweep[Q], rows: int) -> None:
        self._sweep = sweep
        self._rows = rows
        parts = max(1, -(-rows // PART_ROWS))
        self._pass: SharedPass[_Member[Q]] = SharedPass(
            parts, self._through, lanes=min(MOST_PASSES, os.cpu_count() or 1)
        )

    def contenders(
        self, query: NDArray[np.float32], allowed: NDArray[np.bool_], depth: int, check: Callable[[], None]
    ) -> NDArray[np.int64]:
        """Of the allowed rows, bool [n], all that may be among the best `depth` (at least 1), ascending.

        Args:
            check: polled every few milliseconds; what it raises ends the search.
        """
        if self._rows <= PART_ROWS or np.count_nonzero(allowed) <= GATHER_SHARE * self._rows:
            return self.among(query, np.flatnonzero(allowed), depth, check)
        member = _Member(self._sweep.begin(query, depth), allowed)
        self._pass.run(member, check)
        return member.quest.rows()

    def among(
        self, query: NDArray[np.float32], rows: NDArray[np.int64], depth: int, check: Callable[[], None]
    ) -> NDArray[np.int64]:
        """Of these rows, ascending, all that may be among the best `depth`; otherwise like `contenders`."""
        quest = self._sweep.begin(query, depth)
        for start in range(0, len(rows), PART_ROWS):
            check()
            part = rows[start : start + PART_ROWS]
            self._sweep.advance([quest], part, np.ones((1, len(part)), np.bool_))
        return quest.rows()

    def _through(self, part: int, members: Sequence[_Member[Q]]) -> None:
        """Bring searches through a part of all rows."""
        start, stop = part * PART_ROWS, min(self._rows, (part + 1) * PART_ROWS)
        wanted = np.stack([member.allowed[start:stop] for member in members])
        self._sweep.advance([member.quest for member in members], _numbers(start, stop), wanted)


_counted = np.empty(0, np.int64)


def _numbers(start: int, stop: int) -> NDArray[np.int64]:
    """Row numbers from start to stop: counted once for all, since new memory costs more than what is read from it."""
    global _counted
    counted = _counted
    if len(counted) < stop:
        counted = np.arange(2 * stop)
        counted.flags.writeable = False
        _counted = counted
    return counted[start:stop]
