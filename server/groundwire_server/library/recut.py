"""Which documents a change of the settings leaves to be cut anew, kept in the store with the settings themselves."""

from __future__ import annotations

import json
from dataclasses import dataclass

from groundwire_server.chunking import CHUNKERS, Chunker, make_chunker
from groundwire_server.library.config import LibraryConfig
from groundwire_server.store import StoreReader, StoreWriter

__all__ = ["Recut"]

_NAME = "recut"


@dataclass(frozen=True, slots=True)
class Recut:
    """What is left to do of earlier changes.

    Attributes:
        earlier: cuts (`LibraryConfig.cut`) that the settings had before, in which documents may still stand.
        asked: a job has been made of it; False: one is to be made.
    """

    earlier: frozenset[str] = frozenset()
    asked: bool = True

    @classmethod
    def read(cls, reader: StoreReader) -> Recut:
        """As the store has it."""
        text = reader.meta(_NAME)
        if not text:
            return cls()
        held = json.loads(text)
        return cls(frozenset(held["earlier"]), held["asked"])

    def write(self, writer: StoreWriter) -> None:
        """Keep it, with what else the transaction writes."""
        writer.set_meta(_NAME, json.dumps({"earlier": sorted(self.earlier), "asked": self.asked}))

    def after(self, old: LibraryConfig, new: LibraryConfig) -> Recut:
        """What is left once the settings have changed; itself when they cut as before."""
        return self if new.cuts_like(old) else Recut(self.earlier | {old.cut}, asked=False)

    def chunker(self, cut: str, config: LibraryConfig) -> Chunker | None:
        """What cuts a document anew that stands in a cut; None when it stands as it should.

        A document that came with a chunker of its own keeps it and takes the library's budget. One whose chunker is
        not there any more stays as it is.
        """
        name = config.chunker if cut in self.earlier else cut.partition("(")[0]
        if name not in CHUNKERS:
            return None
        chunker = make_chunker(name, config.chunk_chars, config.overlap_chars)
        return None if chunker.spec == cut else chunker
