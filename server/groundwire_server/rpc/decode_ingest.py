"""What comes in on the ingest streams: openings, heads, records. A bad document or row is refused by itself."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, date, datetime

from groundwire.v1 import evidence_pb2, ingest_pb2
from groundwire_server.errors import ErrorReason, RowRefused
from groundwire_server.evidence import Label, Principal, ReviewStatus
from groundwire_server.ingest import DocumentHead, FactFields, FactFileHead, IngestOpening, RelationFields
from groundwire_server.readers import WarningKind
from groundwire_server.rpc.decode_value import decode_attributes, decode_dimensions, decode_time
from groundwire_server.rpc.findings import Findings
from groundwire_server.security import LOCAL_NAME

__all__ = [
    "decode_document_head",
    "decode_fact_file_head",
    "decode_facts",
    "decode_label",
    "decode_opening",
    "decode_relations",
]


def decode_opening(
    message: ingest_pb2.IngestStart, principal: Principal, findings: Findings, *, has_warnings: bool
) -> IngestOpening:
    """How an ingest is opened. The library must be named.

    Args:
        has_warnings: it is one of documents; figures come with no warnings that could refuse them.
    """
    findings.required("start.library_id", message.library_id)
    if message.refuse_warnings and not has_warnings:
        findings.add("start.refuse_warnings", ErrorReason.CONTRADICTION, "is for documents; figures have no warnings")
    kinds = [
        number
        for place, number in enumerate(message.refuse_warnings)
        if findings.known(
            f"start.refuse_warnings[{place}]", number, ingest_pb2.IngestWarningKind.DESCRIPTOR, required=True
        )
    ]
    return IngestOpening(
        ingest_id=message.ingest_id,
        resume_after_seq=message.resume_after_seq,
        validate_only=message.validate_only,
        clearance=principal.clearance,
        refuse_warnings=frozenset(map(WarningKind, kinds)),
        owner="" if principal.name == LOCAL_NAME else json.dumps([principal.tenant, principal.name]),
    )


def decode_label(number: int) -> Label | None:
    """The label; None where none is said. A number that the server does not know is RESTRICTED (ingest.proto)."""
    if number == ingest_pb2.LABEL_UNSPECIFIED:
        return None
    return Label(number) if number in ingest_pb2.Label.values() else Label.RESTRICTED


def decode_document_head(message: ingest_pb2.DocumentHead) -> DocumentHead:
    """What is known about a document. Names and lengths are for the ingest to check.

    A value that cannot be read makes `fault`: this document is refused with it, and the others go on.
    """
    findings = Findings()
    valid_as_of = None
    if message.HasField("valid_as_of"):
        valid_as_of = decode_time(message.valid_as_of, "valid_as_of", findings)
    attributes = decode_attributes(list(message.attributes), "attributes", findings, _today())
    return DocumentHead(
        doc_id=message.doc_id,
        title=message.title,
        media_type=message.media_type,
        charset=message.charset,
        label=decode_label(message.label),
        valid_as_of=valid_as_of,
        attributes=attributes,
        content_sha256=message.content_sha256,
        chunker=message.chunker,
        fault="; ".join(f"{each.field} {each.description}" for each in findings.violations),
    )


def decode_fact_file_head(message: ingest_pb2.FactFileHead) -> FactFileHead:
    """What is known about a file of figures or relations."""
    return FactFileHead(message.name, message.form, message.mapping_toml, decode_label(message.label))


def decode_facts(messages: Iterable[ingest_pb2.FactRecord]) -> list[FactFields | RowRefused]:
    """Figures as they were sent; one whose values cannot be read is refused by itself."""
    return [_fact(message) for message in messages]


def _fact(message: ingest_pb2.FactRecord) -> FactFields | RowRefused:
    findings = Findings()
    findings.known("review_status", message.review_status, evidence_pb2.ReviewStatus.DESCRIPTOR)
    times = {
        name: decode_time(getattr(message, name), name, findings)
        for name in ("valid_as_of", "filed_at")
        if message.HasField(name)
    }
    dimensions = decode_dimensions(list(message.dimensions), "dimensions", findings)
    attributes = decode_attributes(list(message.attributes), "attributes", findings, _today())
    refused = _refused(findings)
    if refused is not None:
        return refused
    return FactFields(
        metric=message.metric,
        entity=message.entity,
        period=message.period,
        channel=message.channel,
        dimensions=dimensions,
        value=message.value,
        unit=message.unit,
        decimals=message.decimals if message.HasField("decimals") else None,
        source_doc=message.source_doc,
        locator=message.locator,
        as_written=message.as_written,
        valid_as_of=times.get("valid_as_of"),
        filed_at=times.get("filed_at"),
        review_status=ReviewStatus(message.review_status) if message.review_status else ReviewStatus.AUTO_APPROVED,
        author=message.author,
        reason=message.reason,
        label=decode_label(message.label),
        attributes=attributes,
        withdraw=message.withdraw,
    )


def decode_relations(messages: Iterable[ingest_pb2.RelationRecord]) -> list[RelationFields | RowRefused]:
    """Relations as they were sent; one whose values cannot be read is refused by itself."""
    return [_relation(message) for message in messages]


def _relation(message: ingest_pb2.RelationRecord) -> RelationFields | RowRefused:
    findings = Findings()
    attributes = decode_attributes(list(message.attributes), "attributes", findings, _today())
    refused = _refused(findings)
    if refused is not None:
        return refused
    return RelationFields(
        subject=message.subject,
        relation=message.relation,
        object=message.object,
        subject_kind=message.subject_kind,
        object_kind=message.object_kind,
        valid_from=message.valid_from,
        valid_to=message.valid_to,
        source_doc=message.source_doc,
        locator=message.locator,
        attributes=attributes,
        label=decode_label(message.label),
        withdraw=message.withdraw,
    )


def _refused(findings: Findings) -> RowRefused | None:
    """The first fault of a row. Raises NotImplementedHere for a feature that is not there: that is about the client."""
    if findings.violations:
        first = findings.violations[0]
        return RowRefused(first.reason, f"{first.field} {first.description}.", column=first.field, value="")
    findings.settle()
    return None


def _today() -> date:
    return datetime.now(UTC).date()
