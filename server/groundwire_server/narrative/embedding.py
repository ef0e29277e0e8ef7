"""The vector of a query: made once for all libraries of a call, by the first of them that asks."""

from __future__ import annotations

import threading
import time
from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from groundwire_server.errors import Cause
from groundwire_server.evidence import PlanStep, StageTiming
from groundwire_server.narrative.vectors import embed_or_explain, model_name

if TYPE_CHECKING:
    from groundwire_server.dense import Embedder

__all__ = ["QueryEmbedding"]


class QueryEmbedding:
    """One query's vector, or why there is none. Safe for any thread; the others wait for the one that makes it."""

    def __init__(self, embedder: Embedder, query: str) -> None:
        self.embedder = embedder
        self._query = query
        self._lock = threading.Lock()
        self._outcome: NDArray[np.float32] | Cause | None = None
        self._elapsed = timedelta()
        self._ended = 0.0

    def outcome(self) -> NDArray[np.float32] | Cause:
        """The vector, or why there is none: a model may fail, and words still answer."""
        with self._lock:
            if self._outcome is None:
                started = time.perf_counter()
                self._outcome = embed_or_explain(lambda: self.embedder.embed_query(self._query))
                self._elapsed = timedelta(seconds=time.perf_counter() - started)
                self._ended = time.monotonic()
            return self._outcome

    @property
    def stage(self) -> tuple[PlanStep, StageTiming]:
        """How the plan and the times show it."""
        made = 0 if isinstance(self.outcome(), Cause) else 1
        timing = StageTiming("embed", self._elapsed, 1, made, ended=self._ended)
        return PlanStep("embed", model_name(self.embedder)), timing
