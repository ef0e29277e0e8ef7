"""Which edges of a library are derived of what it holds, and how they follow it (semantics 12).

Everything happens in the transaction of the change that it follows, so that no reader finds the one without the other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import groupby

from groundwire_server.evidence import Attribute, Label
from groundwire_server.glossary import Glossary
from groundwire_server.library import LibraryConfig
from groundwire_server.relations.from_facts import FACTS, REPORTS, entity_node, fact_edges
from groundwire_server.relations.from_glossary import GLOSSARY, GLOSSARY_FILE, HAS_MEMBER, glossary_edges
from groundwire_server.relations.from_metadata import METADATA, metadata_edges
from groundwire_server.relations.nodes import ENTITY
from groundwire_server.store import FactRecord, StoreReader, StoreWriter

__all__ = ["DerivedEdges"]

_VERSION = 1  # of what is derived; another one has it made anew when a library is opened
_DOCUMENTS_A_READ = 1000


@dataclass(frozen=True, slots=True)
class DerivedEdges:
    """The edges that a library's settings have derived, by its glossary.

    sources: "glossary", "metadata", "facts", or some of them.
    """

    sources: frozenset[str]
    glossary: Glossary

    @classmethod
    def of(cls, config: LibraryConfig, glossary: Glossary) -> DerivedEdges:
        """Those of a library."""
        return cls(config.derived_relations, glossary)

    @property
    def key(self) -> str:
        """What they hang on beside what comes in; another key, other edges."""
        return f"{_VERSION} {','.join(sorted(self.sources))} {self.glossary.content_hash}"

    def follow_document(
        self, writer: StoreWriter, doc_id: str, attributes: Collection[Attribute], label: Label
    ) -> None:
        """A document has come in or has changed."""
        if METADATA in self.sources:
            found = metadata_edges(doc_id, tuple(attributes), label, self.glossary)
            writer.replace_edges(doc_id, (METADATA,), found)

    def follow_facts(self, writer: StoreWriter, reader: StoreReader, records: Iterable[FactRecord]) -> None:
        """Figures have come in or have changed.

        Args:
            reader: the state before the transaction.
        """
        if FACTS not in self.sources:
            return
        touched = sorted({(record.source_doc, record.entity) for record in records})
        if any(self.glossary.relation_names.resolve(name)[1] for name in (REPORTS, HAS_MEMBER)):
            for source_doc in dict.fromkeys(source_doc for source_doc, _ in touched):
                self.follow_source(writer, source_doc)
            return
        spelt = self._spellings(reader, {entity for _, entity in touched})
        for source_doc, start in sorted(
            {(source_doc, entity_node(code, self.glossary)) for source_doc, code in touched}
        ):
            axes = [each for code in spelt[start[1]] for each in writer.fact_axes(source_doc=source_doc, entity=code)]
            writer.replace_edges(source_doc, (FACTS,), fact_edges(axes, self.glossary), start=start)

    def follow_source(self, writer: StoreWriter, source_doc: str) -> None:
        """What a source states was withdrawn, perhaps in part."""
        if FACTS in self.sources:
            found = fact_edges(writer.fact_axes(source_doc=source_doc), self.glossary)
            writer.replace_edges(source_doc, (FACTS,), found)

    def derive_all(self, writer: StoreWriter, reader: StoreReader) -> None:
        """Make everything anew: settings or glossary are others. What is equal stays as it is.

        Args:
            reader: the state before the transaction, which changes no document.
        """
        writer.replace_edges(
            GLOSSARY_FILE, (GLOSSARY,), glossary_edges(self.glossary) if GLOSSARY in self.sources else ()
        )
        after = ""
        while documents := reader.documents(after=after, limit=_DOCUMENTS_A_READ, clearance=None):
            after = documents[-1].doc_id
            for each in documents:
                if each.attributes:
                    kept = each.attributes if METADATA in self.sources else ()
                    found = metadata_edges(each.doc_id, kept, each.label, self.glossary)
                    writer.replace_edges(each.doc_id, (METADATA,), found)
        for source_doc, axes in groupby(writer.fact_axes(), key=lambda each: each.source_doc):
            writer.replace_edges(source_doc, (FACTS,), fact_edges(axes, self.glossary) if FACTS in self.sources else ())

    def _spellings(self, reader: StoreReader, touched: set[str]) -> dict[str, list[str]]:
        """By entity, the codes under which figures may stand for it: its own, and names that were none of its yet."""
        unknown = {code for code in reader.fact_codes(Label.CONFIDENTIAL, ENTITY) if code not in self.glossary.entities}
        spelt: dict[str, list[str]] = {}
        for code in sorted(touched | (unknown if len(self.glossary) else set())):
            spelt.setdefault(entity_node(code, self.glossary)[1], []).append(code)
        for code, codes in spelt.items():
            if code not in codes:
                codes.append(code)
        return spelt
