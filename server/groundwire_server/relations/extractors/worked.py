"""How far an extractor has worked through a library, kept in the store with the edges that it found."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from types import MappingProxyType

from groundwire_server.evidence import Label
from groundwire_server.store import StoreReader, StoreWriter

__all__ = ["EVERYTHING", "Worked", "note_documents"]

_NAME = "extracted"
_NOTHING = "none"  # version of the extractor that every library has had from its start

EVERYTHING = (1 << 63) - 1
"""A chunk row behind all others: what comes from now on is worked on as it comes."""


@dataclass(frozen=True, slots=True)
class Worked:
    """Up to where the documents of each label have been worked on, in the order in which they were stored.

    Attributes:
        version: of the extractor that did it.
        rows: last first chunk row of a document, by label; a label that is missing has not been begun.
    """

    version: str = _NOTHING
    rows: MappingProxyType[Label, int] = field(
        default_factory=lambda: MappingProxyType(dict.fromkeys(Label, EVERYTHING))
    )

    @classmethod
    def read(cls, reader: StoreReader) -> Worked:
        """As the store has it; a library where nothing was ever to be found is done."""
        text = reader.meta(_NAME)
        if not text:
            return cls()
        held = json.loads(text)
        return cls(held["version"], MappingProxyType({Label[name]: row for name, row in held["rows"].items()}))

    @classmethod
    def not_begun(cls, version: str) -> Worked:
        """Nothing is done yet."""
        return cls(version, MappingProxyType({}))

    def write(self, writer: StoreWriter) -> None:
        """Keep it, with what else the transaction writes."""
        rows = {label.name: row for label, row in sorted(self.rows.items())}
        writer.set_meta(_NAME, json.dumps({"version": self.version, "rows": rows}))

    def row(self, label: Label) -> int:
        """The last row of a label that is done; 0: none is."""
        return self.rows.get(label, 0)

    def after(self, label: Label, row: int) -> Worked:
        """The same with the documents of a label done up to a row."""
        return Worked(self.version, MappingProxyType({**self.rows, label: row}))

    def done(self) -> Worked:
        """Nothing is left, and nothing will be: what comes is worked on as it comes."""
        return Worked(self.version)


def note_documents(writer: StoreWriter, reader: StoreReader, version: str | None) -> None:
    """Documents come in, with what an extractor of a version found in them; None: without anything, that comes later.

    What another one has done is not all that there is any more: a library that goes back to that one would take these
    documents for done. Of labels that no other document has, all is done with them.

    Args:
        reader: the state before the transaction.
    """
    worked = Worked.read(reader)
    if worked.version == version or (version is None and worked != Worked(worked.version)):
        return
    waiting = {span.label for span in reader.revision_spans(0) if span.died is None} if version is not None else Label
    done = {label: EVERYTHING for label in Label if label not in waiting}
    Worked(version or "", MappingProxyType(done)).write(writer)
