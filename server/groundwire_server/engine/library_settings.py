"""Settings of a library as a caller may change them: what was read can be saved again, and nothing else is lost."""

from __future__ import annotations

from dataclasses import dataclass, replace

from groundwire_server.engine.info import LibraryInfo
from groundwire_server.errors import Aborted, ErrorReason, InvalidRequest, Violation
from groundwire_server.evidence import AttributeType, Principal
from groundwire_server.jobs import Job
from groundwire_server.library import LibraryConfig, Snapshot

__all__ = ["LibraryUpdate", "check_unchanged", "settled_config"]


@dataclass(frozen=True, slots=True)
class LibraryUpdate:
    """A library as it is now, or as it would be, and the job that brings its documents up to its settings."""

    library: LibraryInfo
    job: Job | None = None


def check_unchanged(snapshot: Snapshot, snapshot_id: str, principal: Principal) -> None:
    """Raises Aborted (CONFLICTING_CHANGE) when the library is not in the state that the caller has read."""
    if snapshot_id and snapshot.snapshot_id(principal) != snapshot_id:
        raise Aborted(
            ErrorReason.CONFLICTING_CHANGE,
            f"The library {snapshot.library_id} has changed since it was read.",
            hint="Read it and try again.",
            details={"library_id": snapshot.library_id, "snapshot_id": snapshot_id},
        )


def settled_config(wished: LibraryConfig, snapshot: Snapshot, principal: Principal) -> LibraryConfig:
    """The settings that come of a caller's wish.

    An attribute that stands in the wish as the caller reads it, by its first use, is not declared by that: who reads
    less than the caller would learn its name.

    Raises:
        InvalidRequest: an attribute is declared to hold something else than the caller has found in it.
    """
    in_use = snapshot.reader.attribute_schema(principal.clearance)
    before = dict(snapshot.config.attributes)
    declared: list[tuple[str, AttributeType]] = []
    faults: list[Violation] = []
    for name, kind in wished.attributes:
        used = in_use.get(name)
        if used is not None and used is not kind.family:
            why = f"{name} holds {used.value} already; valid: {', '.join(_types_of(used.value))}"
            faults.append(Violation(f"library.attributes.{name}", ErrorReason.CONTRADICTION, why))
        elif name in before or used is None or AttributeType.of(used) is not kind:
            declared.append((name, kind))
    if faults:
        raise InvalidRequest(faults)
    return replace(wished, attributes=tuple(declared))


def _types_of(family: str) -> list[str]:
    return [kind.name for kind in AttributeType if kind.family.value == family]
