"""The first stage: what the caller may read and the filters keep (semantics 3).

The hard filter always holds. The hint is dropped at most once, for all libraries together, when it leaves no candidate
that the hard filter would have left, and the call lets it be dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from groundwire_server.errors import Violation
from groundwire_server.evidence import (
    Call,
    CallOptions,
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

__all__ = ["Restricted", "check_filters", "readable_count", "restrict", "restrict_detail"]


@dataclass(frozen=True, slots=True, eq=False)
class Restricted:
    """Candidates of each library by its id, and the hint that is in force."""

    candidates: dict[str, NDArray[np.bool_]]
    hint: Filter | None
    degradations: tuple[Degradation, ...] = ()


def restrict(reach: Reach, call: Call) -> Restricted:
    """Candidates under the call's filters, which have been checked.

    Raises:
        FailedPrecondition: the hint would have to be dropped, and the call forbids that.
    """
    hint = call.options.hint
    kept = reach.each(lambda snapshot: snapshot.candidates(call, hint))
    if hint is None or call.options.on_empty is EmptyFilterPolicy.NEVER_WIDEN or _any(kept):
        return Restricted(kept, hint)
    widened = reach.each(lambda snapshot: snapshot.candidates(call))
    if not _any(widened):
        return Restricted(widened, hint)  # it is not the hint that leaves nothing
    dropped = call.accept(Degradation(DegradationKind.FILTER_DROPPED, "hint", dropped_filter=hint))
    return Restricted(widened, None, (dropped,))


def _any(masks: dict[str, NDArray[np.bool_]]) -> bool:
    return any(mask.any() for mask in masks.values())


def restrict_detail(call: Call, hint: Filter | None) -> str:
    """What bounds the candidates, for the plan."""
    options = call.options
    bounds = (
        ("readable", True),
        ("filter", options.filter is not None),
        ("hint", hint is not None),
        ("known_at", options.known_at is not None),
        ("valid_at", options.valid_at is not None),
    )
    return ",".join(name for name, holds in bounds if holds)


def readable_count(snapshot: Snapshot, call: Call) -> int:
    """How many chunks the caller could have read at the times of the call, filters aside."""
    options = CallOptions(known_at=call.options.known_at, valid_at=call.options.valid_at)
    return int(np.count_nonzero(snapshot.candidates(Call(call.principal, options))))


def check_filters(call: Call, schemas: Sequence[dict[str, Family]]) -> list[Violation]:
    """Every fault of filter and hint, against the attributes of the libraries that are read."""
    trees = (("options.filter", call.options.filter), ("options.hint", call.options.hint))
    return [fault for path, tree in trees if tree is not None for fault in check_filter_in_each(tree, schemas, path)]
