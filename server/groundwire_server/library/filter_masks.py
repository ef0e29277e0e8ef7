"""Candidates of filters that were asked for before: the same filter comes again and again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable

import numpy as np
from numpy.typing import NDArray

from groundwire_server.evidence import Label

__all__ = ["FilterMasks"]

_KEPT = 8  # for each clearance; each takes a byte a row


class FilterMasks:
    """Masks over the rows of one generation. Safe for any thread.

    Each clearance has masks of its own, as many as the others: what one class of callers asks for neither answers
    another nor makes it wait.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._masks: dict[Label, OrderedDict[Hashable, NDArray[np.bool_]]] = {}

    def get(self, clearance: Label, key: Hashable, make: Callable[[], NDArray[np.bool_]]) -> NDArray[np.bool_]:
        """The mask of a key, read-only: the very array that was given before as long as it is kept, else a new one.

        Args:
            key: equal for equal masks alone, under one clearance.
            make: what to keep; it runs without a lock, so that two may run at once.
        """
        with self._lock:
            kept = self._masks.setdefault(clearance, OrderedDict())
            if key in kept:
                kept.move_to_end(key)
                return kept[key]
        made = make()
        made.flags.writeable = False
        with self._lock:
            mask = kept.setdefault(key, made)
            kept.move_to_end(key)
            if len(kept) > _KEPT:
                kept.popitem(last=False)
        return mask
