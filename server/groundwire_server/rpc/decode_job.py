"""What is asked of jobs, from the wire."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from groundwire.v1 import admin_pb2
from groundwire_server.errors import ErrorReason
from groundwire_server.ingest import is_uuid
from groundwire_server.jobs import IndexPart, Job, JobPlace, JobState
from groundwire_server.rpc.findings import Findings
from groundwire_server.rpc.paging import Place

__all__ = ["as_page_place", "decode_job_state", "decode_parts", "decode_request_id", "from_page_place"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_BUILT = (IndexPart.LEXICAL, IndexPart.VECTORS, IndexPart.GRAPH)
# Each is a feature of the index that has to be there before it can be built anew.
_FEATURES = {
    IndexPart.REPRESENTATIONS: "index.representations",
    IndexPart.TREE: "index.tree",
    IndexPart.TREE_SUMMARIES: "index.tree",
}


def decode_parts(numbers: Iterable[int], findings: Findings) -> tuple[IndexPart, ...]:
    """Parts to build, each once; those that this server does not have are refused by name."""
    parts: list[IndexPart] = []
    for place, number in enumerate(numbers):
        if not findings.known(f"parts[{place}]", number, admin_pb2.IndexPart.DESCRIPTOR, required=True):
            continue
        part = IndexPart(number)
        if part in _FEATURES:
            findings.uses(_FEATURES[part])
        parts.append(part)
    return tuple(sorted({part for part in parts if part in _BUILT}))


def decode_job_state(number: int, findings: Findings) -> JobState | None:
    """The state that jobs are to have; None: any."""
    known = findings.known("state", number, admin_pb2.JobState.DESCRIPTOR)
    return JobState(number) if known and number else None


def decode_request_id(request_id: str, findings: Findings) -> str:
    """The id by which a repeat is known; "": every call counts."""
    if request_id and not is_uuid(request_id):
        findings.add("request_id", ErrorReason.VALUE_MALFORMED, f"{request_id[:64]!r} is no UUID")
    return request_id.lower()


def as_page_place(job: Job) -> Place:
    """The place of a job in a list, as page tokens keep it."""
    return (job.created_at - _EPOCH) // _MICROSECOND, job.job_id


def from_page_place(place: Place | None) -> JobPlace | None:
    """The place in a list that a page token keeps."""
    return None if place is None else (_EPOCH + int(place[0]) * _MICROSECOND, str(place[1]))
