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

from groundwire_server.errors import ErrorReason, Violation
from groundwire_server.evidence import (
    Call,
    CallOptions,
    Degradation,
    DegradationKind,
    EmptyFilterPolicy,
    Family,
    Filter,
    check_filter,
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
    """Every fault of filter and hint, against the attributes of the libraries that are read.

    With several libraries a predicate is at fault when none of them can test it: it keeps nothing of a library that
    does not have its attribute.
    """
    trees = (("options.filter", call.options.filter), ("options.hint", call.options.hint))
    return [fault for path, tree in trees if tree is not None for fault in _shared_faults(tree, schemas, path)]


def _shared_faults(tree: Filter, schemas: Sequence[dict[str, Family]], path: str) -> list[Violation]:
    if not schemas:
        return check_filter(tree, {}, path)
    per_library = [{_node(fault): fault for fault in check_filter(tree, schema, path)} for schema in schemas]
    shared = [node for node in per_library[0] if all(node in faults for faults in per_library)]
    everything = {name: family for schema in schemas for name, family in schema.items()}
    return [_tell(node, per_library, tree, everything, path) for node in shared]


def _node(fault: Violation) -> str:
    """Path of the node of the tree that is at fault: that of a predicate, without its field or operator."""
    head, predicate, _ = fault.field.rpartition(".predicate")
    return head + predicate if predicate else fault.field


def _tell(
    node: str, per_library: list[dict[str, Violation]], tree: Filter, everything: dict[str, Family], path: str
) -> Violation:
    """The fault as a library that has the attribute sees it; else with the attributes of all of them."""
    for faults in per_library:
        if faults[node].reason is not ErrorReason.FILTER_UNKNOWN_FIELD:
            return faults[node]
    return next(fault for fault in check_filter(tree, everything, path) if _node(fault) == node)
