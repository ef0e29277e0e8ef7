"""A citation to check, and what became of it (tools.proto)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from groundwire_server.errors import ErrorReason, Violation
from groundwire_server.evidence import FactVersion, GraphEdge, GraphPath, Lineage, MetricFact

__all__ = ["NOT_FOUND", "CitationCheck", "CitationVerdict", "Claim", "VerifyRequest", "check_request"]

Claim = str | MetricFact | GraphEdge | GraphPath
"""A quotation, a figure, a relation, or a chain of relations."""


class CitationVerdict(IntEnum):
    """What became of a citation; numbers are those of `groundwire.v1.CitationVerdict`. Worse is higher."""

    EXACT = 1
    SUPERSEDED = 2
    NOT_FOUND = 3


@dataclass(frozen=True, slots=True)
class VerifyRequest:
    """A lineage as it was given out, and what it is said to hold. No claim: the passage is checked by its hash."""

    lineage: Lineage
    claim: Claim | None = None


@dataclass(frozen=True, slots=True)
class CitationCheck:
    """The verdict, and for one that is superseded where the same stands now; None: it stands there no more."""

    verdict: CitationVerdict
    active: Lineage | None = None
    active_version: FactVersion | None = None
    members: tuple[CitationVerdict, ...] = ()


NOT_FOUND = CitationCheck(CitationVerdict.NOT_FOUND)


def check_request(request: VerifyRequest) -> list[Violation]:
    """Everything that is wrong with a request at once."""
    lineage, claim = request.lineage, request.claim
    found: list[Violation] = []
    if not lineage.library_id:
        found.append(_needed("lineage.library_id"))
    if claim is None or isinstance(claim, str):
        found += _passage_faults(lineage, claim)
    elif isinstance(claim, MetricFact):
        found += [_needed(f"fact.{name}") for name in ("fact_id", "value") if not getattr(claim, name)]
    elif isinstance(claim, GraphEdge):
        found += [] if claim.edge_id else [_needed("edge.edge_id")]
    elif not claim.edges:
        found.append(_needed("path.edges"))
    else:
        found += [_needed(f"path.edges[{at}].edge_id") for at, edge in enumerate(claim.edges) if not edge.edge_id]
    return found


def _passage_faults(lineage: Lineage, quote: str | None) -> list[Violation]:
    found = [] if lineage.doc_id else [_needed("lineage.doc_id")]
    if lineage.revision < 1:
        words = f"{lineage.revision} is no revision; they count from 1"
        found.append(Violation("lineage.revision", ErrorReason.VALUE_OUT_OF_RANGE, words))
    span = lineage.span
    if span is not None and not 0 <= span.start < span.end:
        words = f"{span.start} to {span.end} is no stretch of text"
        found.append(Violation("lineage.span", ErrorReason.VALUE_OUT_OF_RANGE, words))
    if span is None and not lineage.source_locator and not lineage.chunk_id:
        found.append(Violation("lineage.span", ErrorReason.VALUE_REQUIRED, "or lineage.source_locator is needed"))
    if quote == "":
        found.append(_needed("quote"))
    if quote is None and len(lineage.text_sha256) != 32:
        words = "32 bytes are needed where nothing is claimed"
        found.append(Violation("lineage.text_sha256", ErrorReason.VALUE_REQUIRED, words))
    return found


def _needed(field: str) -> Violation:
    return Violation(field, ErrorReason.VALUE_REQUIRED, "is needed")
