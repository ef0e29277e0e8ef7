"""The states that a call reads: the newest ones, or those at which a stream began that it goes on with."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from groundwire_server.errors import Aborted, Cause, ErrorReason, GroundwireError, Unavailable, UnknownResource
from groundwire_server.evidence import Call, Pin, Principal
from groundwire_server.library import Library, Snapshot
from groundwire_server.narrative import Unreachable, nobody_answers

__all__ = ["pin_states", "snapshot_gone", "state_of", "still_unreachable"]


def snapshot_gone(library_id: str) -> Aborted:
    """The error of a stream that cannot go on as it began."""
    return Aborted(
        ErrorReason.RESUME_SNAPSHOT_GONE,
        "The state at which this stream began is there no more.",
        hint="Ask anew.",
        details={"library_id": library_id},
    )


def pin_states(call: Call, snapshots: list[Snapshot], unreachable: list[Unreachable]) -> None:
    """Tell a call what it reads, where it wants to know."""
    if call.pinned is None:
        return
    principal = call.principal

    def pins() -> tuple[Pin, ...]:
        return (*(each.pin(principal) for each in snapshots), *(Pin(each.library_id) for each in unreachable))

    call.pinned(pins)


def state_of(
    pin: Pin, principal: Principal, find: Callable[[str], Library], *, by_meaning: bool, embedder_loads: bool
) -> Snapshot:
    """A library as it was for a caller when it was pinned.

    What the caller may not see has no part in it: where all else is as it was, that is the newest state.

    Args:
        find: the library with an id.
        by_meaning: vectors were searched, so that the same rows must have one.
        embedder_loads: there will be vectors in a moment.

    Raises:
        Aborted: RESUME_SNAPSHOT_GONE, the library, its settings, something that was purged, or vectors.
        Unavailable: the library does not answer, or its vectors are not there yet.
    """
    try:
        library = find(pin.library_id)
    except UnknownResource:
        raise snapshot_gone(pin.library_id) from None
    except GroundwireError as error:
        raise nobody_answers([Unreachable(pin.library_id, error.cause())]) from None
    waits = False
    for state in _states(library, pin, principal):
        if state.snapshot_id(principal) == pin.snapshot_id:
            return state
        if state.content_id(principal) == pin.content_id:
            if not by_meaning:
                return state.without_vectors(pin, principal)
            waits = waits or (embedder_loads and state.vectors is None)
    if waits:
        raise Unavailable(ErrorReason.NOT_SERVING, "The embedder is loading.", details={"phase": "starting"})
    raise snapshot_gone(pin.library_id)


def still_unreachable(pin: Pin, find: Callable[[str], Library], description: str | None) -> Unreachable:
    """A library that did not answer when a stream began has no part in what is left of it either."""
    cause = Cause(ErrorReason.LIBRARIES_UNREACHABLE, "The library did not answer when the stream began.")
    try:
        find(pin.library_id)
    except GroundwireError as error:
        cause = error.cause()
    return Unreachable(pin.library_id, cause, description)


def _states(library: Library, pin: Pin, principal: Principal) -> Iterator[Snapshot]:
    """Where the content of a pin may be: as it is now, then as it was."""
    yield library.snapshot()
    earlier = library.at(pin.generation)
    # What was purged is not even known to have been there: no state before that can be told as it was.
    if earlier is not None and not earlier.stored.purged_since(principal.clearance):
        yield earlier
