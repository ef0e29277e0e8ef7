"""Which libraries a call reads, for services that read all of them unless the call names some."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from groundwire_server.evidence import Call, Degradation, DegradationKind
from groundwire_server.library import Snapshot
from groundwire_server.narrative import Unreachable, choose_libraries, nobody_answers

__all__ = ["Reading", "chosen_libraries", "refuse_unreachable"]


@dataclass(frozen=True, slots=True)
class Reading:
    """Libraries at one state each, and one accepted degradation for each that does not answer."""

    snapshots: tuple[Snapshot, ...]
    degradations: tuple[Degradation, ...]


def chosen_libraries(call: Call, snapshots: Sequence[Snapshot], unreachable: Sequence[Unreachable]) -> Reading:
    """Those that the call names, else all.

    Raises:
        UnknownResource: the call names one that is not there.
        Unavailable: LIBRARIES_UNREACHABLE, none of them answers.
        FailedPrecondition: one does not answer, and the call forbids that.
    """
    chosen = choose_libraries("", call, snapshots, unreachable)
    if chosen.unreachable and not chosen.snapshots:
        raise nobody_answers(chosen.unreachable)
    lost = [
        call.accept(Degradation(DegradationKind.LIBRARY_UNREACHABLE, "library", each.library_id, each.cause))
        for each in chosen.unreachable
    ]
    return Reading(chosen.snapshots, tuple(lost))


def refuse_unreachable(library_id: str, unreachable: Sequence[Unreachable]) -> None:
    """Raises Unavailable (LIBRARIES_UNREACHABLE) when that library is there and does not answer."""
    lost = [each for each in unreachable if each.library_id == library_id]
    if lost:
        raise nobody_answers(lost)
