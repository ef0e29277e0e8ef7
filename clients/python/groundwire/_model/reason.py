"""Reasons of errors, and why a part of an answer failed."""

from __future__ import annotations

from dataclasses import dataclass

from groundwire._model.named import NamedEnum

__all__ = ["Cause", "CauseDetail", "ErrorReason"]


class ErrorReason(NamedEnum):
    """Stable reasons of errors. UNSPECIFIED: the error has none, e.g. because no server answered."""

    UNSPECIFIED = 0
    INVALID_REQUEST = 1
    UNAUTHENTICATED = 2
    NOT_PERMITTED = 3
    UNKNOWN_LIBRARY = 4
    UNKNOWN_DOCUMENT = 5
    UNKNOWN_JOB = 6
    NO_EMBEDDER = 7
    NO_MODEL = 8
    INDEX_MISMATCH = 9
    DEGRADATION_FORBIDDEN = 10
    RESUME_MISMATCH = 11
    RESUME_SNAPSHOT_GONE = 12
    OVERLOADED = 13
    NOT_SERVING = 14
    LIBRARIES_UNREACHABLE = 15
    DEADLINE = 16
    READER_IDLE = 17
    STORAGE_FULL = 18
    STORE_VERSION = 19
    CONFLICTING_CHANGE = 20
    GLOSSARY_CONFLICT = 21
    INGEST_SEQUENCE_GAP = 22
    INGEST_ORDER = 23
    INGEST_ID_IN_USE = 24
    NOT_IMPLEMENTED = 25
    INTERNAL = 26
    MODEL_FAILED = 27

    VALUE_REQUIRED = 50
    VALUE_OUT_OF_RANGE = 51
    VALUE_MALFORMED = 52
    UNKNOWN_NAME = 53
    CONTRADICTION = 54
    FILTER_UNKNOWN_FIELD = 55
    FILTER_TYPE_MISMATCH = 56
    FILTER_EMPTY = 57
    FILTER_RANGE_REVERSED = 58
    FILTER_TOO_LARGE = 59
    UNKNOWN_NODE = 60

    DOCUMENT_UNSUPPORTED = 100
    DOCUMENT_BROKEN = 101
    DOCUMENT_ENCRYPTED = 102
    DOCUMENT_TOO_LARGE = 103
    DOCUMENT_NO_TEXT = 104
    DOCUMENT_HASH_MISMATCH = 105
    ATTRIBUTE_TYPE_MISMATCH = 106

    FACT_VALUE_MISSING = 110
    FACT_VALUE_MALFORMED = 111
    FACT_PERIOD_MALFORMED = 112
    FACT_UNIT_MISMATCH = 113
    FACT_FIELD_MISSING = 114
    RELATION_UNKNOWN_END = 115


@dataclass(frozen=True, slots=True)
class CauseDetail:
    """One fact about a cause."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a part of an answer failed; the whole call went on."""

    reason: ErrorReason
    message: str
    details: tuple[CauseDetail, ...] = ()
