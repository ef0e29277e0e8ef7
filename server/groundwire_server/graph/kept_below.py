"""What lies below entities, kept for the sums over the same relations that come after the first one."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from groundwire_server.adjacency import Sight
from groundwire_server.metric import Below

__all__ = ["Kept", "KeptBelow", "kept_below"]

# Of one sight: parts of some 100 bytes.
_MOST_KEPT = 100_000


@dataclass(frozen=True, slots=True)
class KeptBelow:
    """What a whole walk found, and the nodes that it visited and edges that it looked at."""

    below: Sequence[Below]
    nodes: int
    edges: int


class Kept:
    """Walks of one sight, those that were asked for last. For any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._walks: OrderedDict[Hashable, KeptBelow] = OrderedDict()
        self._parts = 0

    def get(self, asked: Hashable) -> KeptBelow | None:
        """The walk that was asked for like this."""
        with self._lock:
            if asked in self._walks:
                self._walks.move_to_end(asked)
            return self._walks.get(asked)

    def put(self, asked: Hashable, walk: KeptBelow) -> None:
        """Keep a walk in the place of those that were asked for least lately."""
        if len(walk.below) > _MOST_KEPT:
            return
        with self._lock:
            if asked not in self._walks:
                self._walks[asked] = walk
                self._parts += len(walk.below) + 1
            while self._parts > _MOST_KEPT:
                _, gone = self._walks.popitem(last=False)
                self._parts -= len(gone.below) + 1


_KEPT: WeakKeyDictionary[Sight, Kept] = WeakKeyDictionary()
_LOCK = threading.Lock()


def kept_below(sight: Sight) -> Kept:
    """The walks that are kept of a sight; gone with it."""
    with _LOCK:
        return _KEPT.setdefault(sight, Kept())
