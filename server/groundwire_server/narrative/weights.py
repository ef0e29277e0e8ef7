"""How much a word tells in the libraries that were read: BM25's idf over what the caller may read, and a background."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from groundwire_server.evidence import Call

if TYPE_CHECKING:
    from groundwire_server.library import Snapshot

__all__ = ["WordWeights"]

# A small library is a small sample of the language: as if so many texts without any of the words stood beside it.
# Otherwise a word that one text of two has would weigh nearly nothing, and one that none has everything.
_BACKGROUND_TEXTS = 1000


class WordWeights:
    """idf of tokens over several libraries together; each is counted once."""

    def __init__(self, snapshots: Sequence[Snapshot], call: Call) -> None:
        self._parts = [(snapshot.lexical, snapshot.candidates(call)) for snapshot in snapshots]
        self._rows = _BACKGROUND_TEXTS + sum(int(np.count_nonzero(candidates)) for _, candidates in self._parts)
        self._known: dict[str, float] = {}

    def of(self, token: str) -> float:
        """Above 0; highest for a word that no text has."""
        if token not in self._known:
            holding = sum(len(index.search([token], candidates)) for index, candidates in self._parts)
            self._known[token] = math.log(1 + (self._rows - holding + 0.5) / (holding + 0.5))
        return self._known[token]
