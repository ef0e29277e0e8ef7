"""Stored figures and relations of a library as one caller may see them, for review and export."""

from __future__ import annotations

from typing import TYPE_CHECKING

from groundwire_server.engine.libraries import Libraries
from groundwire_server.errors import ErrorReason, NotPermitted
from groundwire_server.evidence import Principal, ReviewStatus
from groundwire_server.store import EdgePlace, FactPlace

if TYPE_CHECKING:
    from groundwire_server.graph import ListedEdge, RelationWish
    from groundwire_server.metric import FactWish, ListedFact

__all__ = ["RecordReads"]


class RecordReads:
    """Lists of what documents state. Any thread.

    Both methods raise UnknownResource (UNKNOWN_LIBRARY) and Unavailable (LIBRARIES_UNREACHABLE).
    """

    def __init__(self, libraries: Libraries) -> None:
        self._libraries = libraries

    def facts(
        self, library_id: str, wish: FactWish, principal: Principal, after: FactPlace | None, limit: int
    ) -> tuple[list[ListedFact], bool]:
        """Up to `limit` figures behind a place, and whether there are more.

        Raises:
            NotPermitted: figures that wait for review, without the right to write.
            InvalidRequest: UNKNOWN_NAME, nothing knows the metric or entity.
        """
        from groundwire_server.metric import list_facts

        snapshot = self._libraries.for_reading(library_id).snapshot()
        if wish.status is ReviewStatus.PENDING and not principal.may_write:
            raise NotPermitted(
                ErrorReason.NOT_PERMITTED,
                "ListFacts needs the right to write for figures that wait for review.",
                details={"method": "ListFacts", "library_id": library_id},
            )
        return list_facts(wish, snapshot, principal, after, limit)

    def relations(
        self, library_id: str, wish: RelationWish, principal: Principal, after: EdgePlace | None, limit: int
    ) -> tuple[list[ListedEdge], bool]:
        """Up to `limit` relations behind a place, and whether there are more."""
        from groundwire_server.graph import list_relations

        return list_relations(wish, self._libraries.for_reading(library_id).snapshot(), principal, after, limit)
