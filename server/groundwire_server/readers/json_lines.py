"""JSON lines: each line is one document (doc_id, title, text, meta, label). Lines end at LF and nowhere else."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any, NoReturn

from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.evidence import Label, Span
from groundwire_server.readers.document import Document, ReaderOutput, ReadOptions, ReadWarning, RefusedPart, Source
from groundwire_server.readers.metadata import Metadata, read_metadata
from groundwire_server.readers.places import places_by_line
from groundwire_server.readers.plain_text import NO_CONTENT

__all__ = ["JsonLinesReader"]

_GZIP = b"\x1f\x8b"
_PACK_ANEW = "Pack it anew, or send it as it is."
_WINDOW = 1 << 20
_BESIDE_META = ("label", "sensitivity", "valid_as_of")
_TOP_LEVEL = frozenset({"doc_id", "title", "text", "meta", *_BESIDE_META})


class JsonLinesReader:
    """Reads documents out of `.jsonl` and `.jsonl.gz`; a line that cannot be read is refused by itself.

    The title stands beside the text, so it is indexed with it and stays out of it.
    """

    media_type = "application/jsonl"
    suffixes = (".jsonl", ".jsonl.gz", ".ndjson")
    aliases = ("application/x-ndjson", "application/x-jsonlines", "application/jsonlines")
    isolated = False

    def read(self, source: Source) -> list[ReaderOutput]:
        """One output a line with content, in order. Raises DocumentRefused when no line can be told."""
        raw = _unpack(source) if source.raw.startswith(_GZIP) else source.raw
        raw = raw.removeprefix(b"\xef\xbb\xbf")
        outputs: list[ReaderOutput] = []
        lines_by_id: dict[str, int] = {}
        for number, line in _lines(raw):
            try:
                document = _read_line(source, number, line)
                if document.doc_id in lines_by_id:
                    earlier = lines_by_id[document.doc_id]
                    raise _refused(source, number, f"doc_id {document.doc_id[:80]!r} stands in line {earlier} already")
                lines_by_id[document.doc_id] = number
                outputs.append(document)
            except DocumentRefused as error:
                outputs.append(RefusedPart(source.doc_id, error))
        if not outputs:
            raise DocumentRefused(
                ErrorReason.DOCUMENT_NO_TEXT, f"{source.doc_id}: the file holds no line.", hint=NO_CONTENT
            )
        return outputs


def _unpack(source: Source) -> bytes:
    """The content of a gzip file, in bounded steps so that a bomb is noticed before it is unpacked."""
    most = source.options.max_unpacked_bytes
    unpacked, packed = bytearray(), source.raw
    while packed:
        stream = zlib.decompressobj(wbits=31)
        while not stream.eof:
            try:
                piece = stream.decompress(packed, _WINDOW)
            except zlib.error:
                raise DocumentRefused(
                    ErrorReason.DOCUMENT_BROKEN, f"{source.doc_id}: the gzip file is broken.", hint=_PACK_ANEW
                ) from None
            unpacked += piece
            if len(unpacked) > most:
                raise DocumentRefused(
                    ErrorReason.DOCUMENT_TOO_LARGE,
                    f"{source.doc_id}: unpacked it is over {most} bytes.",
                    hint="Split the file; each line is a document of its own.",
                    details={"max_unpacked_bytes": str(most)},
                )
            packed = stream.unconsumed_tail
            if not piece and not packed and not stream.eof:
                raise DocumentRefused(
                    ErrorReason.DOCUMENT_BROKEN, f"{source.doc_id}: the gzip file is cut off.", hint=_PACK_ANEW
                )
        packed = stream.unused_data
    return bytes(unpacked)


def _lines(raw: bytes) -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(raw.split(b"\n"), 1):
        if line.strip():
            yield number, line


def _read_line(source: Source, number: int, line: bytes) -> Document:
    try:
        record = json.loads(line.decode("utf-8"), parse_float=Decimal, parse_constant=_no_number)
    except UnicodeDecodeError:
        raise _refused(source, number, "it is no UTF-8") from None
    except (ValueError, RecursionError):
        raise _refused(source, number, "it is no JSON") from None
    if not isinstance(record, dict):
        raise _refused(source, number, "it is no JSON object")
    doc_id, text = _text(source, number, record, "doc_id"), _text(source, number, record, "text")
    title = _text(source, number, record, "title", needed=False)
    if not text.strip():
        raise _refused(source, number, "text is blank", ErrorReason.DOCUMENT_NO_TEXT)
    metadata = _metadata(source, number, record, source.options)
    return Document(
        doc_id=doc_id,
        title=title or metadata.title,
        media_type="text/plain",
        text=text,
        body=Span(0, len(text)),
        places=places_by_line(text),
        raw_sha256=hashlib.sha256(line).digest(),
        raw_bytes=len(line),
        attributes=metadata.attributes,
        label=metadata.label,
        valid_as_of=metadata.valid_as_of,
        index_title=True,
        warnings=tuple(ReadWarning(f"{source.doc_id}#line={number}", message) for message in metadata.warnings),
    )


def _metadata(source: Source, number: int, record: dict[str, Any], options: ReadOptions) -> Metadata:
    meta = record.get("meta")
    if meta is not None and not isinstance(meta, dict):
        raise _refused(source, number, "meta is no object")
    _refuse_surrogates(source, number, "meta", meta)
    beside: dict[str, object] = {name: record[name] for name in _BESIDE_META if name in record}
    inside, outside = read_metadata(meta or {}, options.parse_period), read_metadata(beside)
    warnings = [
        f"field {name[:64]!r} is none of {', '.join(sorted(_TOP_LEVEL))} and was passed over"
        for name in record
        if name not in _TOP_LEVEL
    ]
    labels = [label for label in (inside.label, outside.label) if label is not None]
    label: Label | None = max(labels) if labels else None
    return replace(
        inside,
        label=label,
        valid_as_of=outside.valid_as_of or inside.valid_as_of,
        warnings=(*warnings, *outside.warnings, *inside.warnings),
    )


def _text(source: Source, number: int, record: dict[str, Any], field: str, *, needed: bool = True) -> str:
    value = record.get(field)
    if value is None and not needed:
        return ""
    if value is None:
        raise _refused(source, number, f"{field} is missing")
    if not isinstance(value, str):
        raise _refused(source, number, f"{field} is no text")
    if needed and not value:
        reason = ErrorReason.DOCUMENT_NO_TEXT if field == "text" else ErrorReason.DOCUMENT_BROKEN
        raise _refused(source, number, f"{field} is empty", reason)
    _refuse_surrogates(source, number, field, value)
    if "\x00" in value:
        raise _refused(source, number, f"{field} holds a NUL character")
    return value


def _refuse_surrogates(source: Source, number: int, field: str, value: object) -> None:
    """JSON can name half a character (\\ud800); no text can hold it."""
    try:
        json.dumps(value, ensure_ascii=False, default=str).encode("utf-8")
    except UnicodeEncodeError:
        raise _refused(source, number, f"{field} holds half a character (a lone surrogate)") from None
    except RecursionError:
        raise _refused(source, number, f"{field} is nested too deeply") from None


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)


def _refused(
    source: Source, number: int, why: str, reason: ErrorReason = ErrorReason.DOCUMENT_BROKEN
) -> DocumentRefused:
    return DocumentRefused(
        reason,
        f"{source.doc_id}, line {number}: {why}.",
        hint='A line is {"doc_id": "...", "title": "...", "text": "...", "meta": {...}}.',
        details={"line": str(number)},
    )
