"""Several libraries at once: each works by itself, and one that fails leaves while the others go on (semantics 4)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from groundwire_server.errors import (
    Cause,
    DeadlineExceeded,
    ErrorReason,
    GroundwireError,
    InvalidRequest,
)
from groundwire_server.evidence import Call, CallCancelled, Degradation, DegradationKind
from groundwire_server.narrative.concurrent import Failed, run_all
from groundwire_server.narrative.libraries import Unreachable, nobody_answers

if TYPE_CHECKING:
    from groundwire_server.library import Snapshot

__all__ = ["Reach"]

_log = logging.getLogger(__name__)

T = TypeVar("T")

# What is about the call and not about one library.
_OF_THE_CALL = (CallCancelled, DeadlineExceeded, InvalidRequest)


class Reach:
    """The libraries of a call that still answer.

    A library of its own that fails, fails the call with its own error. Of several, one that fails is reported, and
    when none is left the call is unavailable.

    Attributes:
        snapshots: those that answer, by library id.
        lost: those that do not, in the order in which they failed.
        degradations: one for each of those.

    Raises:
        Unavailable: LIBRARIES_UNREACHABLE, none is left.
        FailedPrecondition: one is unreachable, and the call forbids that.
    """

    def __init__(self, call: Call, snapshots: Sequence[Snapshot], unreachable: Sequence[Unreachable] = ()) -> None:
        self._call = call
        self._asked = len(snapshots) + len(unreachable)
        self.lost: list[Unreachable] = []
        self.snapshots = tuple(sorted(snapshots, key=lambda snapshot: snapshot.library_id))
        self.degradations: list[Degradation] = []
        for library in unreachable:
            self._report(library.library_id, library.cause)
        if self._asked and not self.snapshots:
            raise nobody_answers(self.lost)

    def each(self, work: Callable[[Snapshot], T]) -> dict[str, T]:
        """What the work gives for each library, side by side; keys are library ids, ascending."""
        outcomes = run_all([lambda snapshot=snapshot: work(snapshot) for snapshot in self.snapshots])  # type: ignore[misc]
        answered: dict[str, T] = {}
        for snapshot, outcome in zip(self.snapshots, outcomes, strict=True):
            if isinstance(outcome, Failed):
                if self._asked == 1 or isinstance(outcome.error, _OF_THE_CALL):
                    raise outcome.error
                self._report(snapshot.library_id, _cause(outcome.error, snapshot.library_id))
            else:
                answered[snapshot.library_id] = outcome
        self.snapshots = tuple(snapshot for snapshot in self.snapshots if snapshot.library_id in answered)
        if self._asked and not answered:
            raise nobody_answers(self.lost)
        return answered

    def _report(self, library_id: str, cause: Cause) -> None:
        self.lost.append(Unreachable(library_id, cause))
        lost = Degradation(DegradationKind.LIBRARY_UNREACHABLE, "library", library_id, cause)
        self.degradations.append(self._call.accept(lost))


def _cause(error: Exception, library_id: str) -> Cause:
    if isinstance(error, GroundwireError):
        return error.cause()
    _log.warning("library %s failed: %s", library_id, type(error).__name__)
    return Cause(ErrorReason.INTERNAL, "The library could not be read.", (("library_id", library_id),))
