"""What is wrong with the filters of a request that is refused anyway, so that all of its faults are told at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum

from groundwire_server.errors import Violation
from groundwire_server.evidence import Call, Family, Filter, check_filter_in_each
from groundwire_server.library import Snapshot

__all__ = ["Filtered", "filter_faults"]


class Filtered(Enum):
    """What the filter of a call tests attributes of."""

    PASSAGES = "passages"
    FIGURES = "figures"
    EDGES = "edges"
    EITHER = "passages or figures"


def filter_faults(
    what: Filtered, parts: Sequence[tuple[str, Filter]], call: Call, snapshots: Sequence[Snapshot]
) -> list[Violation]:
    """Names and types that no library can test, in the parts of filters that could be read, each with its path."""
    schemas = _schemas(what, call, snapshots)
    return [fault for path, tree in parts for fault in check_filter_in_each(tree, schemas, path)]


def _schemas(what: Filtered, call: Call, snapshots: Sequence[Snapshot]) -> list[Mapping[str, Family]]:
    own: Mapping[str, Family] = {}
    if what is Filtered.EDGES:
        from groundwire_server.graph import EDGE_ATTRIBUTES

        own = EDGE_ATTRIBUTES
    elif what is not Filtered.PASSAGES:
        from groundwire_server.metric import FACT_ATTRIBUTES

        own = FACT_ATTRIBUTES
    stored = [snapshot.attribute_schema(call.principal) for snapshot in snapshots]
    if what is Filtered.EITHER:
        return [own, *stored]
    return [{**each, **own} for each in stored] or [dict(own)]
