"""Which documents a change of the settings leaves to be cut anew, kept in the store with the settings themselves."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from groundwire_server.chunking import CHUNKERS, cut_spec
from groundwire_server.evidence import Label
from groundwire_server.library.config import LibraryConfig
from groundwire_server.library.cut import Cut
from groundwire_server.store import StoreReader, StoreWriter

__all__ = ["Recut"]

_NAME = "recut"


@dataclass(frozen=True, slots=True)
class Recut:
    """What is left to do of earlier changes.

    Attributes:
        earlier: cuts (`LibraryConfig.cut`) that the settings had before, in which documents may still stand.
        asked: a job has been made of it; False: one is to be made.
        stuck: cuts in which documents of a label stand that could not be cut otherwise. Kept by label, so that those
            that a caller may not read change nothing for the others.
    """

    earlier: frozenset[str] = frozenset()
    asked: bool = True
    stuck: frozenset[tuple[str, Label]] = frozenset()

    @classmethod
    def read(cls, reader: StoreReader) -> Recut:
        """As the store has it."""
        text = reader.meta(_NAME)
        if not text:
            return cls()
        held = json.loads(text)
        stuck = frozenset((cut, Label(label)) for cut, label in held.get("stuck", ()))
        return cls(frozenset(held["earlier"]), held["asked"], stuck)

    def write(self, writer: StoreWriter) -> None:
        """Keep it, with what else the transaction writes."""
        held = {"earlier": sorted(self.earlier), "asked": self.asked, "stuck": sorted(self.stuck)}
        writer.set_meta(_NAME, json.dumps(held))

    def after(self, old: LibraryConfig, new: LibraryConfig) -> Recut:
        """What is left once the settings have changed; itself when they cut as before."""
        return self if new.cuts_like(old) else Recut(self.earlier | {old.cut}, asked=False, stuck=self.stuck)

    def once_done(self, refused: Iterable[tuple[str, Label]]) -> Recut:
        """What is left once all documents are cut anew but some, each given by its cut and label."""
        cuts = [(Cut.parse(cut), label) for cut, label in refused]
        return Recut(
            stuck=frozenset((cut.of_settings, label) for cut, label in cuts if self._is_of_library(cut, label))
        )

    def chunker(self, cut: str, label: Label, config: LibraryConfig) -> str | None:
        """Name of what cuts a document of a label anew that stands in a cut; None when it stands as it should.

        A document that came with a chunker of its own keeps it and takes the library's budget and headers. One whose
        chunker is not there any more stays as it is.
        """
        held = Cut.parse(cut)
        name = config.chunker if self._is_of_library(held, label) else held.name
        if name not in CHUNKERS:
            return None
        spec = cut_spec(name, config.chunk_chars, config.overlap_chars, config.budget_unit)
        return None if (spec, config.contextual) == (held.spec, held.contextual) else name

    def _is_of_library(self, cut: Cut, label: Label) -> bool:
        """Whether documents in that cut came without a chunker of their own."""
        return cut.of_settings in self.earlier or (cut.of_settings, label) in self.stuck
