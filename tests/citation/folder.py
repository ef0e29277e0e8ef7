"""A folder of files of every kind that is edited, and what an independent oracle says of citations into it.

The oracle knows only what stood in the files: a list of texts a document and a list of values a figure, in the order in
which they were put in. It asks no store, no index and no server.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from groundwire import CitationVerdict, DocumentUpload, Label, Lineage
from groundwire_server.evidence import ChunkId, Locator
from groundwire_server.readers import read_document

__all__ = ["FILES", "File", "Folder", "History"]

FILES = Path(__file__).resolve().parents[1] / "readers" / "files"


@dataclass(frozen=True, slots=True)
class File:
    """What stands under a name: the bytes of a sample or of its own, how secret it is, how it is cut."""

    content: bytes
    label: Label = Label.INTERNAL
    chunker: str = "paragraph"

    @classmethod
    def sample(cls, name: str, chunker: str = "paragraph") -> File:
        return cls((FILES / name).read_bytes(), chunker=chunker)


@dataclass(slots=True)
class Told:
    """A document as one class of callers knows it: its revisions from 1 on, and which one answers (0: none)."""

    texts: list[str] = field(default_factory=list)
    active: int = 0


class History:
    """All revisions of all documents, as callers of one clearance count them."""

    def __init__(self, clearance: Label) -> None:
        self.clearance = clearance
        self._documents: dict[str, Told] = {}

    def put(self, doc_id: str, label: Label, text: str) -> None:
        """A new revision. One that is hidden ends the one before and is not counted."""
        told = self._documents.setdefault(doc_id, Told())
        told.active = 0
        if label <= self.clearance:
            told.texts.append(text)
            told.active = len(told.texts)

    def withdraw(self, doc_id: str) -> None:
        self._documents[doc_id].active = 0

    def text(self, lineage: Lineage) -> str | None:
        """The text that is cited, where this class has ever been able to read it."""
        told = self._documents.get(lineage.doc_id)
        if told is None or not 1 <= lineage.revision <= len(told.texts) or lineage.span is None:
            return None
        return told.texts[lineage.revision - 1][lineage.span.start : lineage.span.end]

    def verdict(self, lineage: Lineage, quote: str) -> CitationVerdict:
        """What became of a passage that was given out to this class."""
        if self.text(lineage) != quote:
            return CitationVerdict.NOT_FOUND
        active = self._documents[lineage.doc_id].active
        return CitationVerdict.EXACT if lineage.revision == active else CitationVerdict.SUPERSEDED

    def stands_again(self, lineage: Lineage, quote: str) -> bool:
        """Whether the quotation stands, word for word, in the revision that answers now."""
        told = self._documents[lineage.doc_id]
        return told.active > 0 and quote in told.texts[told.active - 1]

    def check_place(self, lineage: Lineage) -> None:
        """A citation names one place in all of its parts."""
        chunk = ChunkId.parse(lineage.chunk_id)
        assert (chunk.doc_id, chunk.revision) == (lineage.doc_id, lineage.revision)
        assert Locator.parse(lineage.source_locator).doc_id == lineage.doc_id


class Folder:
    """The files on the disk, what of them was put in, and the histories that follow from it."""

    def __init__(self, root: Path, *clearances: Label) -> None:
        self._root = root
        self._stored: dict[str, File] = {}
        self.files: dict[str, File] = {}
        self.histories = {clearance: History(clearance) for clearance in clearances}

    def change(self, doc_id: str, **parts: object) -> None:
        """Give a file other content, another label or another chunker."""
        self.files[doc_id] = replace(self.files[doc_id], **parts)  # type: ignore[arg-type]

    def rename(self, old: str, new: str) -> None:
        self.files[new] = self.files.pop(old)

    def gone(self) -> list[str]:
        """Documents whose files are there no more."""
        return sorted(self._stored.keys() - self.files.keys())

    def uploads(self) -> list[DocumentUpload]:
        """All files, written and read again, sorted by name."""
        return [self._upload(doc_id, file) for doc_id, file in sorted(self.files.items())]

    def take_over(self) -> set[str]:
        """Everything was put in: follow it. Returns the documents that have a new revision."""
        for doc_id in self.gone():
            del self._stored[doc_id]
            for history in self.histories.values():
                history.withdraw(doc_id)
        fresh = {doc_id for doc_id, file in self.files.items() if self._stored.get(doc_id) != file}
        for doc_id in sorted(fresh):
            file = self.files[doc_id]
            (read,) = read_document(doc_id, file.content)
            text = read.text  # type: ignore[union-attr]
            for history in self.histories.values():
                history.put(doc_id, file.label, text)
        self._stored = dict(self.files)
        return fresh

    def _upload(self, doc_id: str, file: File) -> DocumentUpload:
        path = self._root / doc_id
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.content)
        found = DocumentUpload.from_file(path, root=self._root)
        return replace(found, media_type="", label=file.label, chunker=file.chunker)
