"""Whether a relation, or a chain of them, stands as its citation says (semantics 12)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from groundwire_server.citation.request import NOT_FOUND, CitationCheck, CitationVerdict
from groundwire_server.citation.titled import TITLES, verify_titled
from groundwire_server.evidence import GraphEdge, GraphPath, Lineage, Period, Principal, Value, format_node_id
from groundwire_server.store import StoredEdge

if TYPE_CHECKING:
    from groundwire_server.library import Snapshot

__all__ = ["verify_edge", "verify_path"]


def verify_edge(
    sources: Sequence[Lineage], claim: GraphEdge, snapshot: Snapshot, principal: Principal
) -> CitationCheck:
    """EXACT when the relation stands with every cited source, SUPERSEDED when it, or one of them, stood before.

    Who found it and its attributes, where they are claimed, are those of one of its sources.

    Args:
        sources: as they were given out; those that name no document say nothing.
    """
    if claim.extractor == TITLES:
        return verify_titled([source for source in sources if source.doc_id], claim, snapshot, principal)
    reader = snapshot.reader
    living = _stated(reader.edge(principal.clearance, claim.edge_id), claim, principal)
    gone = _stated(reader.retired_edge(principal.clearance, claim.edge_id), claim, principal)
    cited = {(source.doc_id, source.source_locator) for source in sources if source.doc_id}
    now, before = _places(living), _places(gone)
    said_now = any(_says(edge, claim) for edge in living)
    if said_now and cited <= now:
        return CitationCheck(CitationVerdict.EXACT)
    if not (said_now or any(_says(edge, claim) for edge in gone)) or not cited <= now | before:
        return NOT_FOUND
    return CitationCheck(CitationVerdict.SUPERSEDED, _lineage(living[0], snapshot.library_id) if living else None)


def verify_path(claim: GraphPath, snapshot: Snapshot, principal: Principal) -> CitationCheck:
    """The worst verdict of its edges, and each of them in order. Edges that do not hang together are no chain."""
    verdicts = tuple(verify_edge(edge.sources, edge, snapshot, principal).verdict for edge in claim.edges)
    if not _is_chain(claim):
        return CitationCheck(CitationVerdict.NOT_FOUND, members=verdicts)
    return CitationCheck(max(verdicts), members=verdicts)


def _is_chain(path: GraphPath) -> bool:
    """Whether the edges hang together, whichever way each points, over the nodes, where these are given."""
    ends = [{edge.source.node_id, edge.target.node_id} for edge in path.edges]
    if not path.node_ids:
        reached = ends[0]
        for pair in ends[1:]:
            reached = {other for node in reached & pair for other in (pair - {node} or pair)}
        return bool(reached)
    steps = [set(step) for step in zip(path.node_ids, path.node_ids[1:], strict=False)]
    return steps == ends


def _stated(edges: Sequence[StoredEdge], claim: GraphEdge, principal: Principal) -> list[StoredEdge]:
    """Readable sources that state the claimed relation between the claimed ends."""
    return [
        edge
        for edge in edges
        if principal.may_read(edge.record.label)
        and edge.record.relation == claim.relation
        and claim.valid_from in ("", edge.record.valid_from)
        and claim.valid_to in ("", edge.record.valid_to)
        and format_node_id(edge.record.source_kind, edge.record.source) == claim.source.node_id
        and format_node_id(edge.record.target_kind, edge.record.target) == claim.target.node_id
    ]


def _says(edge: StoredEdge, claim: GraphEdge) -> bool:
    """Whether a source has the attributes that are claimed, and was found by whom the claim says."""
    stated = {attribute.name: attribute.value for attribute in edge.record.attributes}
    return claim.extractor in ("", edge.record.extractor) and all(
        attribute.name in stated and _equal(stated[attribute.name], attribute.value) for attribute in claim.attributes
    )


def _equal(stated: Value, claimed: Value) -> bool:
    """A period is what it is called: its days hang on whose it is."""
    stated, claimed = (each.canonical if isinstance(each, Period) else each for each in (stated, claimed))
    return stated == claimed and isinstance(stated, bool) == isinstance(claimed, bool)


def _places(edges: Sequence[StoredEdge]) -> set[tuple[str, str]]:
    return {(edge.record.source_doc, edge.record.locator) for edge in edges}


def _lineage(edge: StoredEdge, library_id: str) -> Lineage:
    record = edge.record
    return Lineage(
        library_id=library_id,
        doc_id=record.source_doc,
        source_locator=record.locator,
        ingested_at=edge.recorded_at,
        attributes=tuple(sorted(record.attributes, key=lambda attribute: attribute.name)),
    )
