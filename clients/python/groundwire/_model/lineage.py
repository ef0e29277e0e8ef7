"""The way back to the place in the source."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from groundwire._model.value import Attribute, Span

__all__ = ["Lineage"]


@dataclass(frozen=True, slots=True)
class Lineage:
    """Where a snippet comes from. Empty texts, 0 and None mean: does not apply.

    `span` is the place of the quoted text within the stored source text of this revision, `source_locator` the same
    place for people ("report.pdf#page=3,para=2-4"). `members` are further sources, `members_omitted` how many more
    there are. Times are UTC.
    """

    library_id: str
    doc_id: str = ""
    revision: int = 0
    title: str = ""
    chunk_id: str = ""
    source_locator: str = ""
    span: Span | None = None
    heading: str = ""
    parent_id: str = ""
    parent_locator: str = ""
    valid_as_of: datetime | None = None
    ingested_at: datetime | None = None
    text_sha256: bytes = b""
    members: tuple[Lineage, ...] = ()
    attributes: tuple[Attribute, ...] = ()
    members_omitted: int = 0
