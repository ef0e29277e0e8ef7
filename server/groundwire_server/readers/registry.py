"""Which reader reads a file: by the media type that was given, else by its name, unless its content says otherwise."""

from __future__ import annotations

from pathlib import PurePosixPath

from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.readers.csv_table import CsvReader
from groundwire_server.readers.document import Reader, ReaderOutput, ReadOptions, Source
from groundwire_server.readers.docx import DocxReader
from groundwire_server.readers.email_message import EmailReader
from groundwire_server.readers.epub import EpubReader
from groundwire_server.readers.html import HtmlReader
from groundwire_server.readers.isolation import read_isolated
from groundwire_server.readers.json_lines import JsonLinesReader
from groundwire_server.readers.markdown import MarkdownReader
from groundwire_server.readers.pdf import PdfReader
from groundwire_server.readers.plain_text import PlainTextReader
from groundwire_server.readers.pptx import PptxReader
from groundwire_server.readers.xlsx import XlsxReader

__all__ = ["READERS", "can_read", "find_reader", "read_document"]

PLAIN_TEXT = PlainTextReader()
READERS: tuple[Reader, ...] = (
    PLAIN_TEXT,
    MarkdownReader(),
    JsonLinesReader(),
    CsvReader(),
    XlsxReader(),
    HtmlReader(),
    PdfReader(),
    DocxReader(),
    PptxReader(),
    EpubReader(),
    EmailReader(),
)

_OF_TYPE = {reader.media_type: reader for reader in READERS}
# The part that makes a packed file one of its kind; names of parts stand in it as they are.
_PARTS = {
    b"mimetypeapplication/epub+zip": "application/epub+zip",
    b"word/document.xml": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    b"ppt/presentation.xml": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    b"xl/workbook.xml": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}

# What a client sends that does not know; the name decides then.
_NOT_SAID = frozenset({"", "application/octet-stream", "binary/octet-stream"})


def read_document(
    doc_id: str, raw: bytes, media_type: str = "", charset: str = "", options: ReadOptions | None = None
) -> list[ReaderOutput]:
    """The documents in a file, in order: one of most files, one a line of JSON lines.

    Args:
        doc_id: path relative to the root of the ingest; its ending names the kind where `media_type` does not.
        raw: the content as it came.
        media_type: e.g. "text/markdown; charset=shift_jis"; empty: by name.
        charset: of a text; empty: that of the media type, else detected.
        options: bounds of reading; None: the defaults.

    Raises:
        DocumentRefused: DOCUMENT_TOO_LARGE, DOCUMENT_UNSUPPORTED (names the kinds that are read), DOCUMENT_NO_TEXT or
            DOCUMENT_BROKEN.
    """
    options = options or ReadOptions()
    if len(raw) > options.max_bytes:
        raise DocumentRefused(
            ErrorReason.DOCUMENT_TOO_LARGE,
            f"{doc_id}: {len(raw)} bytes are over the limit of {options.max_bytes}.",
            hint="Split the file, or raise limits.max_document_bytes.",
            details={"max_bytes": str(options.max_bytes)},
        )
    kind, _, parameters = media_type.partition(";")
    reader = find_reader(doc_id, kind)
    if kind.strip().casefold() in _NOT_SAID:
        reader = _by_content(raw) or reader
    source = Source(doc_id, raw, charset or _charset_parameter(parameters), options)
    return read_isolated(reader.media_type, source) if reader.isolated else reader.read(source)


def reads_apart(doc_id: str, raw: bytes, media_type: str = "") -> bool:
    """Whether `read_document` reads such a file in a process of its own, so that several at once use several cores."""
    kind = media_type.partition(";")[0]
    try:
        reader = find_reader(doc_id, kind)
    except DocumentRefused:
        return False
    if kind.strip().casefold() in _NOT_SAID:
        reader = _by_content(raw) or reader
    return reader.isolated


def find_reader(doc_id: str, media_type: str = "") -> Reader:
    """The reader for a media type, else for a name. A name without an ending is plain text.

    Raises:
        DocumentRefused: DOCUMENT_UNSUPPORTED, with the kinds that are read.
    """
    said = media_type.strip().casefold()
    if said not in _NOT_SAID:
        for reader in READERS:
            if said == reader.media_type or said in reader.aliases:
                return reader
        known = ", ".join(sorted(reader.media_type for reader in READERS))
        raise DocumentRefused(
            ErrorReason.DOCUMENT_UNSUPPORTED,
            f"{doc_id}: no reader for media type {said[:80]!r}; those read are {known}.",
            hint="Without a media type the name decides.",
            details={"field": "media_type", "media_type": said[:80]},
        )
    name = PurePosixPath(doc_id).name.casefold()
    fits = [(len(suffix), reader) for reader in READERS for suffix in reader.suffixes if name.endswith(suffix)]
    if fits:
        return max(fits, key=lambda fit: fit[0])[1]
    if not PurePosixPath(name).suffix:
        return PLAIN_TEXT
    suffix = PurePosixPath(name).suffix
    known = ", ".join(sorted(suffix for reader in READERS for suffix in reader.suffixes))
    raise DocumentRefused(
        ErrorReason.DOCUMENT_UNSUPPORTED,
        f"{doc_id}: no reader for {suffix[:40]!r}; those read are {known}.",
        hint="A text with another ending is read with media_type text/plain.",
        details={"suffix": suffix[:40]},
    )


def can_read(doc_id: str) -> bool:
    """Whether a file of this name has a reader, judged by its ending."""
    try:
        find_reader(doc_id)
    except DocumentRefused:
        return False
    return True


def _by_content(raw: bytes) -> Reader | None:
    """The reader of what a file surely is, by its first bytes and its parts; None: they tell nothing."""
    if raw.startswith(b"%PDF-"):
        return _OF_TYPE.get("application/pdf")
    if raw.startswith(b"PK\x03\x04"):
        return next((_OF_TYPE.get(kind) for part, kind in _PARTS.items() if part in raw), None)
    return None


def _charset_parameter(parameters: str) -> str:
    for parameter in parameters.split(";"):
        name, _, value = parameter.partition("=")
        if name.strip().casefold() == "charset":
            return value.strip().strip('"')
    return ""
