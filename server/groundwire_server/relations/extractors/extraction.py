"""What an extractor is given, what it finds, and the one protocol of all of them (semantics 12)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from groundwire_server.evidence import Label, Span

__all__ = ["Check", "Extraction", "FoundRelation", "Passage", "RelationExtractor", "SourceDocument"]

Check = Callable[[], None]
"""Called now and then by work that takes long; what it raises ends the work."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk: `text` is the source text at `span`, `locator` its place for people ("notes.md#line=3-5")."""

    text: str
    span: Span
    locator: str


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """A document as an extractor reads it: its chunks in order. They may overlap."""

    doc_id: str
    label: Label
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class FoundRelation:
    """A relation, read from source to target, and what it stands on.

    Attributes:
        source, target: kind and code of a node.
        relation: its name.
        span: what states it, in code points of the source text; within the passage.
        passage: number of the passage, from 0.
    """

    source: tuple[str, str]
    relation: str
    target: tuple[str, str]
    span: Span
    passage: int


@dataclass(frozen=True, slots=True)
class Extraction:
    """What was found in a document, in an order that is always the same.

    Attributes:
        relations: each once a place.
        left_out: how many more stand there than are kept, by number of the passage.
        dropped: how many of a model's relations were not taken, by reason.
        unread: numbers of passages that could not be worked on; others have theirs.
    """

    relations: tuple[FoundRelation, ...] = ()
    left_out: Mapping[int, int] = field(default_factory=dict)
    dropped: Mapping[str, int] = field(default_factory=dict)
    unread: tuple[int, ...] = ()


class RelationExtractor(Protocol):
    """Finds relations in documents. Thread-safe; equal documents give equal relations unless a model is asked.

    Attributes:
        name: as in the settings and in the edges that it finds.
        version: what its findings depend on beside the document; another version may find others.
        unverified: a model derives what it finds.
        clearance: the strictest label that it may be shown. RESTRICTED is shown to none.
        immediate: it is quick and asks nobody, so that what it finds is stored together with the document.
        parallel: documents that it may be given at a time, since it waits for somebody; 1: one after the other.
    """

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def unverified(self) -> bool: ...

    @property
    def clearance(self) -> Label: ...

    @property
    def immediate(self) -> bool: ...

    @property
    def parallel(self) -> int: ...

    def extract(self, document: SourceDocument, check: Check = ...) -> Extraction:
        """What one document states, and nothing of a document that it may not be shown.

        Args:
            check: called now and then; what it raises ends the work.

        Raises:
            GroundwireError: what it needs does not work at all now; a passage alone is `Extraction.unread`.
        """
        ...
