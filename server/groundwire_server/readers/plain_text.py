"""Plain text: one document, places are lines."""

from __future__ import annotations

import hashlib
from pathlib import PurePosixPath

from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.evidence import Span
from groundwire_server.readers.document import Document, ReaderOutput, ReadWarning, Source, WarningKind
from groundwire_server.readers.encoding import decode
from groundwire_server.readers.places import places_by_line

__all__ = ["PlainTextReader", "decode_source", "file_title", "refuse_blank"]

NO_CONTENT = "Leave it out, or send it once it holds text."


class PlainTextReader:
    """Reads text in any charset that can be told; the title is the file's name."""

    media_type = "text/plain"
    suffixes = (".txt", ".text", ".log", ".rst", ".adoc", ".org", ".tex")
    aliases = ("text/x-rst", "text/x-log", "text/asciidoc", "text/x-tex")
    isolated = False

    def read(self, source: Source) -> list[ReaderOutput]:
        """One document. Raises DocumentRefused when it is no text or blank."""
        text, doubts = decode_source(source)
        refuse_blank(source.doc_id, text)
        document = Document(
            doc_id=source.doc_id,
            title=file_title(source.doc_id),
            media_type=self.media_type,
            text=text,
            body=Span(0, len(text)),
            places=places_by_line(text),
            raw_sha256=hashlib.sha256(source.raw).digest(),
            raw_bytes=len(source.raw),
            warnings=doubts,
        )
        return [document]


def decode_source(source: Source) -> tuple[str, tuple[ReadWarning, ...]]:
    """The text of a file, and a warning where its charset was guessed and is in doubt. Raises as `decode` does."""
    decoded = decode(source.doc_id, source.raw, source.charset)
    if not decoded.doubt:
        return decoded.text, ()
    return decoded.text, (ReadWarning(source.doc_id, decoded.doubt, WarningKind.TEXT_UNCERTAIN),)


def file_title(doc_id: str) -> str:
    """The file's name without its last suffix, or the whole id where there is no name.

    >>> file_title("reports/2024/annual.report.txt")
    'annual.report'
    """
    return PurePosixPath(doc_id).stem or doc_id


def refuse_blank(doc_id: str, text: str) -> None:
    """Raises DocumentRefused (DOCUMENT_NO_TEXT) when a text is empty or blank."""
    if not text.strip():
        what = "is empty" if not text else "holds blanks only"
        raise DocumentRefused(ErrorReason.DOCUMENT_NO_TEXT, f"{doc_id}: the file {what}.", hint=NO_CONTENT)
