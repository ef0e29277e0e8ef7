"""What every read carries: options of the call, checked and in our own types."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Literal

from groundwire.v1 import stream_pb2
from groundwire_server.errors import ErrorReason
from groundwire_server.evidence import LANGUAGES, CallOptions, DegradationKind, EmptyFilterPolicy, ExplainLevel, Filter
from groundwire_server.rpc.decode_filter import decode_filter
from groundwire_server.rpc.decode_value import decode_day, decode_time
from groundwire_server.rpc.findings import Findings
from groundwire_server.rpc.request_id import MAX_REQUEST_ID, is_request_id

if TYPE_CHECKING:
    from groundwire_server.rpc.cursor import Cursor

__all__ = ["MAX_LIBRARIES", "decode_libraries", "decode_options"]

MAX_LIBRARIES = 32


def decode_options(
    message: stream_pb2.CallOptions,
    findings: Findings,
    *,
    request_id: str,
    own_budget: bool = False,
    cursor: Cursor | None = None,
) -> CallOptions:
    """The options of a read.

    Args:
        request_id: the id that the call goes by; it may come from metadata.
        own_budget: the request itself bounds the work, so strictness accepts that it is cut.
        cursor: what options.resume says; it knows from which day the stream has counted.
    """
    path = "options"
    if message.request_id and not is_request_id(message.request_id):
        findings.add(
            f"{path}.request_id",
            ErrorReason.VALUE_MALFORMED,
            f"must be 1 to {MAX_REQUEST_ID} printable ASCII characters",
        )
    known_at = decode_time(message.known_at, f"{path}.known_at", findings) if message.HasField("known_at") else None
    valid_at = decode_time(message.valid_at, f"{path}.valid_at", findings) if message.HasField("valid_at") else None
    given = decode_day(message.reference_date, f"{path}.reference_date", findings) if message.reference_date else None
    if given is None and cursor is not None:
        given = cursor.reference_date
    # As `Call.reference_day` has it: periods in filters count from the same day as those in questions.
    reference = given or (valid_at or datetime.now(UTC)).date()
    if message.language and message.language not in LANGUAGES:
        findings.add(
            f"{path}.language",
            ErrorReason.UNKNOWN_NAME,
            f"{message.language[:40]!r} is none of {', '.join(LANGUAGES)}",
        )
    soft_budget, token_budget = _soft_budget(message, findings), _token_budget(message, findings)
    _note_features(message, findings)
    return CallOptions(
        request_id=request_id,
        library_ids=decode_libraries(message.library_ids, f"{path}.library_ids", findings),
        filter=_filter(message, "filter", findings, reference),
        hint=_filter(message, "hint", findings, reference),
        on_empty=_on_empty(message, findings),
        known_at=known_at,
        valid_at=valid_at,
        explain=_explain(message, findings),
        forbid=_forbid(message, findings, own_budget or soft_budget is not None or token_budget > 0),
        language=message.language,
        reference_date=given,
        soft_budget=soft_budget,
        token_budget=token_budget,
        resume=None if cursor is None else cursor.resume,
    )


def decode_libraries(ids: Iterable[str], path: str, findings: Findings) -> tuple[str, ...]:
    """Ids of libraries, each once, in the order given."""
    unique = tuple(dict.fromkeys(ids))
    if len(unique) > MAX_LIBRARIES:
        findings.add(path, ErrorReason.VALUE_OUT_OF_RANGE, f"{len(unique)} libraries, at most {MAX_LIBRARIES}")
    for place, library_id in enumerate(unique[:MAX_LIBRARIES]):
        findings.required(f"{path}[{place}]", library_id)
    return unique


def _filter(
    message: stream_pb2.CallOptions, field: Literal["filter", "hint"], findings: Findings, reference: date
) -> Filter | None:
    if not message.HasField(field):
        return None
    return decode_filter(getattr(message, field), f"options.{field}", findings, reference)


def _on_empty(message: stream_pb2.CallOptions, findings: Findings) -> EmptyFilterPolicy:
    if not message.on_empty or not findings.known(
        "options.on_empty", message.on_empty, stream_pb2.EmptyFilterPolicy.DESCRIPTOR
    ):
        return EmptyFilterPolicy.RETRY_WITHOUT_MARKED
    return EmptyFilterPolicy(message.on_empty)


def _explain(message: stream_pb2.CallOptions, findings: Findings) -> ExplainLevel:
    if not message.explain or not findings.known(
        "options.explain", message.explain, stream_pb2.ExplainLevel.DESCRIPTOR
    ):
        return ExplainLevel.NONE
    return ExplainLevel(message.explain)


def _forbid(message: stream_pb2.CallOptions, findings: Findings, own_budget: bool) -> frozenset[DegradationKind]:
    """Kinds that the call does not accept: those it names, and by strictness all but what it asked for itself."""
    forbidden = set()
    for place, number in enumerate(message.forbid):
        if findings.known(f"options.forbid[{place}]", number, stream_pb2.DegradationKind.DESCRIPTOR, required=True):
            forbidden.add(DegradationKind(number))
    findings.known("options.strictness", message.strictness, stream_pb2.StrictnessPolicy.DESCRIPTOR)
    if message.strictness == stream_pb2.STRICTNESS_POLICY_FAIL_ON_DEGRADED:
        asked_for = set()
        if own_budget:
            asked_for.add(DegradationKind.BUDGET_CUT)
        if message.on_empty == stream_pb2.EMPTY_FILTER_POLICY_RETRY_WITHOUT_MARKED:
            asked_for.add(DegradationKind.FILTER_DROPPED)
        forbidden |= set(DegradationKind) - asked_for
    return frozenset(forbidden)


def _soft_budget(message: stream_pb2.CallOptions, findings: Findings) -> timedelta | None:
    if not message.HasField("soft_budget"):
        return None
    findings.uses("soft_budget")
    given = message.soft_budget
    if given.seconds < 0 or given.nanos < 0:
        findings.add("options.soft_budget", ErrorReason.VALUE_OUT_OF_RANGE, "is below 0")
        return None
    # More than a day bounds nothing: no call lasts as long.
    return timedelta(seconds=min(given.seconds, 86_400), microseconds=min(given.nanos, 999_999_999) // 1000)


def _token_budget(message: stream_pb2.CallOptions, findings: Findings) -> int:
    if message.token_budget < 0:
        findings.add("options.token_budget", ErrorReason.VALUE_OUT_OF_RANGE, f"{message.token_budget} is below 0")
        return 0
    if message.token_budget:
        findings.uses("token_budget")
    return message.token_budget


def _note_features(message: stream_pb2.CallOptions, findings: Findings) -> None:
    if message.explain == stream_pb2.EXPLAIN_LEVEL_TRACE:
        findings.uses("explain.trace")
