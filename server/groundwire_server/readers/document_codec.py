"""What a reader made of a file, as JSON: it comes from a process that a hostile file may have got hold of."""

from __future__ import annotations

import json
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.evidence import Attribute, Label, Span, Value
from groundwire_server.readers.document import Document, ReaderOutput, ReadWarning, RefusedPart, WarningKind
from groundwire_server.readers.places_codec import places_from_values, places_to_values

__all__ = ["decode_outputs", "decode_refusal", "encode_outputs", "encode_refusal"]


def encode_outputs(outputs: list[ReaderOutput]) -> bytes:
    """Documents and refused parts in order."""
    return _dump([_part(output) if isinstance(output, RefusedPart) else _document(output) for output in outputs])


def decode_outputs(raw: bytes) -> list[ReaderOutput]:
    """The inverse of `encode_outputs`. Raises ValueError, KeyError or TypeError when it is no such thing."""
    return [_read_part(each) if "refusal" in each else _read_document(each) for each in json.loads(raw)]


def encode_refusal(error: DocumentRefused) -> bytes:
    """Why a file as a whole cannot be read."""
    return _dump(_refusal(error))


def decode_refusal(raw: bytes) -> DocumentRefused:
    """The inverse of `encode_refusal`."""
    return _read_refusal(json.loads(raw))


def _dump(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _document(document: Document) -> dict[str, Any]:
    return {
        "doc_id": document.doc_id,
        "title": document.title,
        "media_type": document.media_type,
        "text": document.text,
        "body": [document.body.start, document.body.end],
        "places": places_to_values(document.places),
        "raw_sha256": document.raw_sha256.hex(),
        "raw_bytes": document.raw_bytes,
        "attributes": [[attribute.name, *_value(attribute.value)] for attribute in document.attributes],
        "label": None if document.label is None else int(document.label),
        "valid_as_of": None if document.valid_as_of is None else document.valid_as_of.isoformat(),
        "index_title": document.index_title,
        "warnings": [[each.locator, each.message, each.kind.value] for each in document.warnings],
    }


def _read_document(values: dict[str, Any]) -> Document:
    start, end = values["body"]
    label, valid_as_of = values["label"], values["valid_as_of"]
    return Document(
        doc_id=values["doc_id"],
        title=values["title"],
        media_type=values["media_type"],
        text=values["text"],
        body=Span(start, end),
        places=places_from_values(values["places"]),
        raw_sha256=bytes.fromhex(values["raw_sha256"]),
        raw_bytes=values["raw_bytes"],
        attributes=tuple(Attribute(name, _read_value(kind, value)) for name, kind, value in values["attributes"]),
        label=None if label is None else Label(label),
        valid_as_of=None if valid_as_of is None else datetime.fromisoformat(valid_as_of),
        index_title=values["index_title"],
        warnings=tuple(
            ReadWarning(locator, message, WarningKind(kind)) for locator, message, kind in values["warnings"]
        ),
    )


def _part(part: RefusedPart) -> dict[str, Any]:
    return {"doc_id": part.doc_id, "refusal": _refusal(part.error)}


def _read_part(values: dict[str, Any]) -> RefusedPart:
    return RefusedPart(values["doc_id"], _read_refusal(values["refusal"]))


def _refusal(error: DocumentRefused) -> list[Any]:
    return [error.reason.name, error.message, error.hint, error.details]


def _read_refusal(values: list[Any]) -> DocumentRefused:
    reason, message, hint, details = values
    return DocumentRefused(ErrorReason[reason], message, hint=hint, details=details)


def _value(value: Value) -> tuple[str, object]:
    """Of the types that a reader gives; periods come from front matter, which no process of its own reads."""
    match value:
        case datetime():
            return "instant", value.isoformat()
        case date():
            return "day", value.isoformat()
        case Decimal():
            return "decimal", str(value)
        case tuple():
            return "texts", list(value)
        case bool() | int() | str() | float():
            return "plain", value
    raise TypeError(f"{type(value).__name__} is no value of an attribute that a reader gives")


def _read_value(kind: str, value: Any) -> Value:
    match kind:
        case "instant":
            return datetime.fromisoformat(value)
        case "day":
            return date.fromisoformat(value)
        case "decimal":
            return Decimal(value)
        case "texts":
            return tuple(value)
    return value  # type: ignore[no-any-return]
