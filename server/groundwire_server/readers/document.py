"""What a reader makes of a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Protocol

from groundwire_server.errors import DocumentRefused
from groundwire_server.evidence import Attribute, Label, Period, Span
from groundwire_server.readers.places import PlaceMap

__all__ = ["Document", "ReadOptions", "ReadWarning", "Reader", "ReaderOutput", "RefusedPart", "Source", "WarningKind"]


class WarningKind(Enum):
    """What was not read as one would expect; names and numbers are those of `groundwire.v1.IngestWarningKind`."""

    METADATA_SKIPPED = 1
    """Something that the document says about itself (front matter, properties) was passed over or changed."""
    PAGE_WITHOUT_TEXT = 2
    """Pages or slides that show something and hold no text, e.g. scans."""
    PART_SKIPPED = 3
    """A part that is not read: a diagram, an embedded file, an attachment, a hidden sheet."""
    TEXT_UNCERTAIN = 4
    """Characters that the file does not tell for certain."""
    VALUE_MISSING = 5
    """A cell whose formula was never computed."""
    MORE = 6
    """There are more than are listed."""
    RELATIONS_LEFT_OUT = 7
    """A passage in which more relations stand than are kept of one."""


@dataclass(frozen=True, slots=True)
class ReadWarning:
    """Something that was not read as one would expect: where ("notes.md#line=3"), what, and of which kind."""

    locator: str
    message: str
    kind: WarningKind = WarningKind.METADATA_SKIPPED


@dataclass(frozen=True, slots=True)
class Document:
    """A file, or one document out of it, as text with a map back to the places in the file.

    text: decoded, byte order mark removed, otherwise untouched; its spans count code points.
    body: the stretch of text that is content; what is outside (front matter) is never cut into chunks.
    title: as the file gives it, for JSON lines possibly empty; a reader of files falls back on the file's name.
    label: the one that the file itself gives; None: it gives none.
    index_title: the title does not stand in the text, so it goes before it in what is indexed.
    raw_sha256, raw_bytes: of the bytes as they came.
    """

    doc_id: str
    title: str
    media_type: str
    text: str
    body: Span
    places: PlaceMap
    raw_sha256: bytes
    raw_bytes: int
    attributes: tuple[Attribute, ...] = ()
    label: Label | None = None
    valid_as_of: datetime | None = None
    index_title: bool = False
    warnings: tuple[ReadWarning, ...] = ()


@dataclass(frozen=True, slots=True)
class RefusedPart:
    """One document of a file that could not be read; the others of the file go on.

    doc_id: the document's own id where it could be read, else the file's.
    """

    doc_id: str
    error: DocumentRefused


ReaderOutput = Document | RefusedPart


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Bounds of reading, and how a period is parsed.

    max_bytes: of a file as it comes; max_unpacked_bytes: of what a packed file unpacks to, all its members together.
    max_members: files in a packed file. max_depth: elements within each other in XML and HTML.
    max_pages: pages, slides or sheets. max_text_chars: code points of the text that a reader makes.
    max_seconds, max_memory_bytes: of one file, for readers that work in a process of their own.
    parse_period: reads an attribute of the form {period = "FY2024"}; raises GroundwireError or ValueError when it
    cannot. None: such attributes are passed over with a warning.
    """

    max_bytes: int = 64 * 1024 * 1024
    max_unpacked_bytes: int = 256 * 1024 * 1024
    max_members: int = 10_000
    max_depth: int = 200
    max_pages: int = 5_000
    max_text_chars: int = 20_000_000
    max_seconds: float = 60.0
    max_memory_bytes: int = 2 * 1024 * 1024 * 1024
    parse_period: Callable[[str], Period] | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A file as it came. `charset` is empty where it is to be detected."""

    doc_id: str
    raw: bytes
    charset: str = ""
    options: ReadOptions = ReadOptions()


class Reader(Protocol):
    """Reads one kind of file."""

    @property
    def media_type(self) -> str:
        """The media type that its documents get."""
        ...

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Endings of file names that it reads, lower case, with their dot."""
        ...

    @property
    def aliases(self) -> tuple[str, ...]:
        """Further media types that it reads."""
        ...

    @property
    def isolated(self) -> bool:
        """Whether it works in a process of its own: code that a hostile file may crash, hang or swell."""
        ...

    def read(self, source: Source) -> list[ReaderOutput]:
        """The documents of a file in order.

        Raises:
            DocumentRefused: the file as a whole cannot be read.
        """
        ...
