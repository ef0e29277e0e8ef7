"""What goes in: documents, figures, relations, and files of them."""

from __future__ import annotations

import mimetypes
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

from groundwire._model.figure import ReviewStatus
from groundwire._model.named import NamedEnum
from groundwire._model.value import Attribute, Dimension

__all__ = ["DocumentUpload", "FactFile", "FactRecord", "FileContent", "Label", "RelationRecord"]

_BLOCK = 256 * 1024


class Label(NamedEnum):
    """Sensitivity, on the way in only: no answer carries one. UNSPECIFIED: the library's default."""

    UNSPECIFIED = 0
    PUBLIC = 1
    INTERNAL = 2
    CONFIDENTIAL = 3
    RESTRICTED = 4


@dataclass(frozen=True, slots=True)
class FileContent:
    """The bytes of a file, read block by block when they are sent."""

    path: Path

    def __iter__(self) -> Iterator[bytes]:
        with self.path.open("rb") as file:
            while block := file.read(_BLOCK):
                yield block


@dataclass(frozen=True, slots=True)
class DocumentUpload:
    """A document to store. `content` is its bytes, or blocks of them that are read once, in order.

    `doc_id` is its path relative to the root of the ingest. An empty `content_sha256` is computed where the bytes are
    at hand. Attributes win over those in the file itself.
    """

    doc_id: str
    content: bytes | Iterable[bytes]
    title: str = ""
    media_type: str = ""
    charset: str = ""
    label: Label = Label.UNSPECIFIED
    valid_as_of: datetime | date | None = None
    attributes: tuple[Attribute, ...] = ()
    content_sha256: bytes = b""
    chunker: str = ""

    @classmethod
    def from_file(cls, path: Path | str, *, root: Path | str | None = None) -> DocumentUpload:
        """The document that a file holds; its id is the path below `root`, or else the file's name."""
        path = Path(path)
        name = path.relative_to(root) if root is not None else Path(path.name)
        media_type = mimetypes.guess_type(path.name)[0] or ""
        return cls(name.as_posix(), FileContent(path), media_type=media_type)


@dataclass(frozen=True, slots=True)
class FactRecord:
    """A figure to store. `value` is exact: a Decimal, an int, or decimal text; floats are refused.

    Its key is metric, entity, period, channel, dimensions, unit and source_doc; another value for the same key is a new
    version. `withdraw` takes the figure of that key back (then without a value).
    """

    metric: str
    entity: str
    period: str
    value: str | Decimal | int
    source_doc: str
    locator: str
    channel: str = ""
    dimensions: tuple[Dimension, ...] = ()
    unit: str = ""
    decimals: int | None = None
    as_written: str = ""
    valid_as_of: datetime | date | None = None
    filed_at: datetime | date | None = None
    review_status: ReviewStatus = ReviewStatus.UNSPECIFIED
    author: str = ""
    reason: str = ""
    label: Label = Label.UNSPECIFIED
    attributes: tuple[Attribute, ...] = ()
    withdraw: bool = False


@dataclass(frozen=True, slots=True)
class RelationRecord:
    """A relation to store, read from subject to object. Days are ISO text."""

    subject: str
    relation: str
    object: str
    source_doc: str
    locator: str
    subject_kind: str = ""
    object_kind: str = ""
    valid_from: str = ""
    valid_to: str = ""
    attributes: tuple[Attribute, ...] = ()
    label: Label = Label.UNSPECIFIED
    withdraw: bool = False


@dataclass(frozen=True, slots=True)
class FactFile:
    """A file of figures or relations that the server reads. `form`: "jsonl", "csv" ...; empty: by name."""

    name: str
    content: bytes | Iterable[bytes]
    form: str = ""
    mapping_toml: str = ""
    label: Label = Label.UNSPECIFIED

    @classmethod
    def from_file(cls, path: Path | str, *, form: str = "", mapping_toml: str = "") -> FactFile:
        """The file at a path, under its own name."""
        path = Path(path)
        return cls(path.name, FileContent(path), form=form, mapping_toml=mapping_toml)
