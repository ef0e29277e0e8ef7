"""Whether a filter can be tested where several libraries are read at once (semantics 3, 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from groundwire_server.errors import ErrorReason, Violation
from groundwire_server.evidence.filter import Filter, check_filter
from groundwire_server.evidence.value import Family

__all__ = ["check_filter_in_each"]


def check_filter_in_each(
    tree: Filter, schemas: Sequence[Mapping[str, Family]], path: str = "options.filter"
) -> list[Violation]:
    """Every fault of a filter, against the attributes of each library that is read.

    A predicate is at fault when none of them can test it: it keeps nothing of a library that does not have its
    attribute, or has it with values of another family.
    """
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
