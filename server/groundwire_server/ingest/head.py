"""What a client says about a document or a file of figures, and its form in the store while the rest is on its way."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.evidence import Attribute, Label, Period, PeriodKind, Value
from groundwire_server.readers import BUILT_IN_ATTRIBUTES

__all__ = [
    "DocumentHead",
    "FactFileHead",
    "check_doc_id",
    "check_head",
    "decode_document_head",
    "decode_fact_file_head",
    "encode_document_head",
    "encode_fact_file_head",
]

MAX_ID_BYTES = 512
_ATTRIBUTE_NAME = re.compile(r"[a-z0-9_]{1,64}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class DocumentHead:
    """What is known about a document before it is read. Empty, and None for the label: not said.

    attributes: they win over those in the file itself, the label only where it is the stricter one.
    content_sha256: of the whole content, checked on arrival.
    chunker: by name; empty: the library's.
    fault: what of the head could not be read at all; the document is refused with it. Empty: nothing.
    """

    doc_id: str
    title: str = ""
    media_type: str = ""
    charset: str = ""
    label: Label | None = None
    valid_as_of: datetime | None = None
    attributes: tuple[Attribute, ...] = ()
    content_sha256: bytes = b""
    chunker: str = ""
    fault: str = ""


@dataclass(frozen=True, slots=True)
class FactFileHead:
    """What is known about a file of figures or relations.

    name: becomes source_doc of rows that name none. form: "jsonl", "csv" or "relations_jsonl"; empty: by name.
    mapping_toml: columns, and relation names, in TOML. label: of rows that say none.
    """

    name: str
    form: str = ""
    mapping_toml: str = ""
    label: Label | None = None


def check_head(head: DocumentHead) -> None:
    """Raises DocumentRefused (INVALID_REQUEST) that names every fault of a head."""
    faults = [*_id_faults(head.doc_id), *([head.fault] if head.fault else [])]
    if _CONTROL.search(head.title):
        faults.append("title holds control characters")
    if head.content_sha256 and len(head.content_sha256) != 32:
        faults.append(f"content_sha256 has {len(head.content_sha256)} bytes, not 32")
    names = [attribute.name for attribute in head.attributes]
    for name in dict.fromkeys(names):
        if not _ATTRIBUTE_NAME.fullmatch(name):
            faults.append(f"attribute {name[:64]!r} is not 1 to 64 of a-z, 0-9, underscore")
        elif name in BUILT_IN_ATTRIBUTES:
            faults.append(f"attribute {name} is built in and cannot be given")
        elif names.count(name) > 1:
            faults.append(f"attribute {name} is given {names.count(name)} times")
    if faults:
        raise DocumentRefused(ErrorReason.INVALID_REQUEST, f"The head cannot be used: {'; '.join(faults)}.")


def check_doc_id(doc_id: str, field: str = "doc_id") -> None:
    """Raises DocumentRefused (INVALID_REQUEST) when it is no id: 1 to 512 bytes of UTF-8, no control characters.

    Args:
        field: where it stands.
    """
    faults = _id_faults(doc_id, field)
    if faults:
        what = "document" if field == "doc_id" else "file"
        raise DocumentRefused(
            ErrorReason.INVALID_REQUEST, f"The {what} cannot be named: {'; '.join(faults)}.", details={"field": field}
        )


def _id_faults(doc_id: str, field: str = "doc_id") -> list[str]:
    if not doc_id:
        return [f"{field} is empty"]
    length = len(doc_id.encode("utf-8", "surrogatepass"))
    faults = [] if length <= MAX_ID_BYTES else [f"{field} has {length} bytes, at most {MAX_ID_BYTES}"]
    if _CONTROL.search(doc_id):
        faults.append(f"{field} holds control characters")
    return faults


def encode_document_head(head: DocumentHead) -> bytes:
    """A head as the store keeps it while its content is on the way."""
    content = [
        head.doc_id,
        head.title,
        head.media_type,
        head.charset,
        None if head.label is None else int(head.label),
        None if head.valid_as_of is None else head.valid_as_of.isoformat(),
        [[attribute.name, *_encode_value(attribute.value)] for attribute in head.attributes],
        head.content_sha256.hex(),
        head.chunker,
        head.fault,
    ]
    return json.dumps(content, separators=(",", ":")).encode()


def decode_document_head(raw: bytes) -> DocumentHead:
    """The inverse of `encode_document_head`.

    >>> head = DocumentHead("a.md", attributes=(Attribute("price", Decimal("1.50")),))
    >>> decode_document_head(encode_document_head(head)) == head
    True
    """
    doc_id, title, media_type, charset, label, valid_as_of, attributes, sha256, chunker, fault = json.loads(raw)
    return DocumentHead(
        doc_id,
        title,
        media_type,
        charset,
        None if label is None else Label(label),
        None if valid_as_of is None else datetime.fromisoformat(valid_as_of),
        tuple(Attribute(name, _decode_value(kind, value)) for name, kind, value in attributes),
        bytes.fromhex(sha256),
        chunker,
        fault,
    )


def encode_fact_file_head(head: FactFileHead) -> bytes:
    """A head as the store keeps it while its content is on the way."""
    label = None if head.label is None else int(head.label)
    return json.dumps([head.name, head.form, head.mapping_toml, label], separators=(",", ":")).encode()


def decode_fact_file_head(raw: bytes) -> FactFileHead:
    """The inverse of `encode_fact_file_head`."""
    name, form, mapping_toml, label = json.loads(raw)
    return FactFileHead(name, form, mapping_toml, None if label is None else Label(label))


def _encode_value(value: Value) -> tuple[str, object]:
    if isinstance(value, bool | str | int):
        return "plain", value
    if isinstance(value, float):
        return "float", value.hex()
    if isinstance(value, Decimal):
        return "decimal", str(value)
    if isinstance(value, datetime):
        return "instant", value.isoformat()
    if isinstance(value, date):
        return "day", value.isoformat()
    if isinstance(value, Period):
        return "period", [value.canonical, value.kind.value, value.first.isoformat(), value.last.isoformat()]
    return "texts", list(value)


def _decode_value(kind: str, value: str | bool | int | list[str]) -> Value:
    if isinstance(value, list):
        if kind == "texts":
            return tuple(value)
        canonical, period_kind, first, last = value
        return Period(canonical, PeriodKind(period_kind), date.fromisoformat(first), date.fromisoformat(last))
    match kind:
        case "float":
            return float.fromhex(str(value))
        case "decimal":
            return Decimal(str(value))
        case "instant":
            return datetime.fromisoformat(str(value))
        case "day":
            return date.fromisoformat(str(value))
        case _:
            return value
