"""What a hit is read with: its parent or its window (semantics 5; seed, "child hit expansion").

It is a stretch of the same revision of the same document as the hit, so that whoever may not read the one never reads
the other. It is context for a prompt and never cited.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from groundwire_server.evidence import Principal, Span, slice_text

if TYPE_CHECKING:
    from groundwire_server.library import Snapshot
    from groundwire_server.store import StoredChunk

__all__ = ["NO_CONTEXT", "Context", "ParentTexts"]


@dataclass(frozen=True, slots=True)
class Context:
    """For the prompt: the text, and its place. The text is empty where an earlier hit of the answer has brought it."""

    text: str = ""
    locator: str = ""


NO_CONTEXT = Context()


class ParentTexts:
    """Gives the hits of one library in one answer their parents, in the order of the hits, each parent once."""

    def __init__(self, snapshot: Snapshot, principal: Principal) -> None:
        self._snapshot = snapshot
        self._principal = principal
        self._brought: set[tuple[str, int, Span]] = set()

    def of(self, chunks: Sequence[StoredChunk]) -> list[Context]:
        """The context of each of some readable chunks that follow those of earlier calls; documents are read once."""
        first: dict[tuple[str, int], list[int]] = {}
        for place, chunk in enumerate(chunks):
            if chunk.parent_span is None:
                continue
            key = (chunk.doc_id, chunk.revision, chunk.parent_span)
            if key not in self._brought:
                self._brought.add(key)
                first.setdefault((chunk.doc_id, chunk.revision), []).append(place)
        texts: dict[int, str] = {}
        for (doc_id, revision), places in first.items():
            source = self._snapshot.reader.source_text(doc_id, revision, clearance=self._principal.clearance)
            for place in places:
                span = chunks[place].parent_span
                if source is not None and span is not None:
                    texts[place] = slice_text(source, span)
        return [
            NO_CONTEXT if chunk.parent_span is None else Context(texts.get(place, ""), chunk.parent_locator)
            for place, chunk in enumerate(chunks)
        ]
