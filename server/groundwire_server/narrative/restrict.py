"""The first stage: what the caller may read and the filters keep (semantics 3).

The hard filter always holds. The hint is dropped at most once, for all libraries together, when it leaves no candidate
that the hard filter would have left, and the call lets it be dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from groundwire_server.errors import Violation
from groundwire_server.evidence import (
    AnyOf,
    Call,
    Degradation,
    DegradationKind,
    EmptyFilterPolicy,
    Family,
    Filter,
    check_filter_in_each,
)
from groundwire_server.narrative.reach import Reach

if TYPE_CHECKING:
    from groundwire_server.library import Snapshot

__all__ = ["Restricted", "check_filters", "restrict", "restrict_detail", "together"]


@dataclass(frozen=True, slots=True, eq=False)
class Restricted:
    """What each library is searched for, by its id, and the hint that is in force.

    Attributes:
        hinted: the libraries that a hint is in force in.
        candidates: bool[rows].
        kept: how many candidates there are.
        readable: how many there would be without filters.
    """

    candidates: dict[str, NDArray[np.bool_]]
    kept: dict[str, int]
    readable: dict[str, int]
    hint: Filter | None
    hinted: frozenset[str] = frozenset()
    degradations: tuple[Degradation, ...] = ()


def restrict(reach: Reach, call: Call, extracted: Mapping[str, Filter] = MappingProxyType({})) -> Restricted:
    """Candidates under the call's filters, which have been checked.

    Args:
        extracted: hints by library, where the call has none of its own. All are dropped together.

    Raises:
        FailedPrecondition: the hint would have to be dropped, and the call forbids that.
    """
    own = call.options.hint
    hints = extracted if own is None else {each.library_id: own for each in reach.snapshots}
    bounds = reach.each(lambda snapshot: _bounds(snapshot, call, hints.get(snapshot.library_id)))
    hints = {library_id: hints[library_id] for library_id in bounds if library_id in hints}
    hint = together(hints.values()) if own is None else own
    hinted = frozenset(hints)
    if hint is None or call.options.on_empty is EmptyFilterPolicy.NEVER_WIDEN or _any(bounds):
        return _restricted(bounds, hint, hinted)
    widened = reach.each(lambda snapshot: _bounds(snapshot, call, None))
    if not _any(widened):
        return _restricted(widened, hint, hinted)  # it is not the hint that leaves nothing
    dropped = call.accept(Degradation(DegradationKind.FILTER_DROPPED, "hint", dropped_filter=hint))
    return _restricted(widened, None, degradations=(dropped,))


def together(hints: Iterable[Filter | None]) -> Filter | None:
    """Several hints as one, in their order, each once; None: there is none."""
    found: list[Filter] = []
    for hint in hints:
        if hint is not None and all(repr(hint) != repr(each) for each in found):  # as values, 1 and True are equal
            found.append(hint)
    if not found:
        return None
    return found[0] if len(found) == 1 else AnyOf(tuple(found))


_Bounds = tuple[NDArray[np.bool_], int, int]


def _bounds(snapshot: Snapshot, call: Call, hint: Filter | None) -> _Bounds:
    """Candidates, how many they are, and how many the caller could have read at the times of the call."""
    call.cancel.check("restrict")
    candidates = snapshot.candidates(call, hint)
    kept = int(np.count_nonzero(candidates))
    if hint is None and call.options.filter is None:
        return candidates, kept, kept
    unfiltered = replace(call, options=replace(call.options, filter=None))
    return candidates, kept, int(np.count_nonzero(snapshot.candidates(unfiltered)))


def _restricted(
    bounds: dict[str, _Bounds],
    hint: Filter | None,
    hinted: frozenset[str] = frozenset(),
    degradations: tuple[Degradation, ...] = (),
) -> Restricted:
    return Restricted(
        {library_id: candidates for library_id, (candidates, _, _) in bounds.items()},
        {library_id: kept for library_id, (_, kept, _) in bounds.items()},
        {library_id: readable for library_id, (_, _, readable) in bounds.items()},
        hint,
        hinted,
        degradations,
    )


def _any(bounds: dict[str, _Bounds]) -> bool:
    return any(kept for _, kept, _ in bounds.values())


def restrict_detail(call: Call, *, hinted: bool) -> str:
    """What bounds the candidates, for the plan."""
    options = call.options
    bounds = (
        ("readable", True),
        ("filter", options.filter is not None),
        ("hint", hinted),
        ("known_at", options.known_at is not None),
        ("valid_at", options.valid_at is not None),
    )
    return ",".join(name for name, holds in bounds if holds)


def check_filters(call: Call, schemas: Sequence[dict[str, Family]]) -> list[Violation]:
    """Every fault of filter and hint, against the attributes of the libraries that are read."""
    trees = (("options.filter", call.options.filter), ("options.hint", call.options.hint))
    return [fault for path, tree in trees if tree is not None for fault in check_filter_in_each(tree, schemas, path)]
