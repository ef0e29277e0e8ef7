"""VerifyCitation: does a citation that was once given out still hold (tools.proto)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from groundwire_server.citation.figure import verify_figure
from groundwire_server.citation.passage import verify_passage
from groundwire_server.citation.relation import verify_edge, verify_path
from groundwire_server.citation.request import NOT_FOUND, CitationCheck, VerifyRequest, check_request
from groundwire_server.errors import InvalidRequest
from groundwire_server.evidence import GraphEdge, MetricFact, Principal

if TYPE_CHECKING:
    from groundwire_server.library import Snapshot

__all__ = ["verify_citation"]


def verify_citation(request: VerifyRequest, principal: Principal, snapshots: Sequence[Snapshot]) -> CitationCheck:
    """The verdict on a citation.

    What never stood there, was purged, or may not be read by the caller looks alike: NOT_FOUND. So does a library that
    is not there.

    Args:
        snapshots: every library that the caller may read.

    Raises:
        InvalidRequest: the citation lacks what is needed to check it; every violation at once.
    """
    faults = check_request(request)
    if faults:
        raise InvalidRequest(faults)
    lineage, claim = request.lineage, request.claim
    snapshot = next((each for each in snapshots if each.library_id == lineage.library_id), None)
    if snapshot is None:
        return NOT_FOUND
    if claim is None or isinstance(claim, str):
        return verify_passage(lineage, claim, snapshot, principal)
    if isinstance(claim, MetricFact):
        return verify_figure(lineage, claim, snapshot.reader, snapshot.fact_names, principal)
    if isinstance(claim, GraphEdge):
        sources = (lineage, *lineage.members)
        return verify_edge(sources, claim, snapshot, principal)
    return verify_path(claim, snapshot, principal)
