"""Who may come in: at most so many calls of a service at once; one more is told at once to come again.

A call holds its place until it has ended and its last work in a thread has, too: one that is given up by its client
makes room for the next only when it really costs nothing any more. So what waits for a thread is bounded, and with it
how long a call that was let in can take.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Mapping

from groundwire_server.errors import ErrorReason, ResourceExhausted
from groundwire_server.settings import LimitSettings

__all__ = ["WATCHES", "Admission", "Slot"]

WATCHES = "watches"
"""Calls that last as long as their client likes and cost next to nothing; also what no service of ours answers."""

_WATCHING = frozenset({"groundwire.v1.AdminService/WatchJob"})
_PACKAGE = "groundwire.v1."
_CROWDED_SECONDS = 1.0


class Slot:
    """A place. Free again when all who hold it have let go. Any thread may hold on and let go."""

    __slots__ = ("_admission", "_holders", "service")

    def __init__(self, admission: Admission, service: str) -> None:
        self._admission = admission
        self._holders = 1
        self.service = service

    def hold(self) -> None:
        """One more holds it."""
        with self._admission.lock:
            if self._holders == 0:
                self._admission.running[self.service] += 1
            self._holders += 1

    def let_go(self) -> None:
        """One less; the last one leaves the place to others."""
        with self._admission.lock:
            self._holders -= 1
            if self._holders == 0:
                self._admission.running[self.service] -= 1


class Admission:
    """The places of each service.

    Attributes:
        most: places, by service ("NarrativeService") and WATCHES.
        running: how many are taken.
        refused: how often there was none, since the start.
    """

    def __init__(self, limits: LimitSettings) -> None:
        self.most: Mapping[str, int] = {
            "NarrativeService": limits.max_narrative_calls,
            "MetricService": limits.max_metric_calls,
            "GraphService": limits.max_graph_calls,
            "RouterService": limits.max_router_calls,
            "ToolService": limits.max_tool_calls,
            "IngestService": limits.max_ingest_calls,
            "AdminService": limits.max_admin_calls,
            WATCHES: limits.max_watches,
        }
        self.running = dict.fromkeys(self.most, 0)
        self.refused = dict.fromkeys(self.most, 0)
        self.lock = threading.Lock()
        self._last_refusal = -math.inf

    @property
    def taken(self) -> int:
        """Places that are taken, of all services."""
        return sum(self.running.values())

    def crowded(self) -> bool:
        """Whether a call was refused within the last second. Any thread may ask."""
        return time.monotonic() - self._last_refusal < _CROWDED_SECONDS

    def enter(self, method: str) -> Slot:
        """A place for a call of a method ("groundwire.v1.MetricService/QueryMetric").

        Raises:
            ResourceExhausted: OVERLOADED, when all places of its service are taken.
        """
        service = self._service_of(method)
        with self.lock:
            if self.running[service] < self.most[service]:
                self.running[service] += 1
                return Slot(self, service)
            self.refused[service] += 1
            self._last_refusal = time.monotonic()
        raise ResourceExhausted(
            ErrorReason.OVERLOADED,
            "Too many calls at once.",
            hint="Try again a little later.",
            details={"service": service},
        )

    def _service_of(self, method: str) -> str:
        if method in _WATCHING:
            return WATCHES
        service = method.partition("/")[0].removeprefix(_PACKAGE)
        return service if service in self.most else WATCHES
