"""From texts to chunks, each of them one slice of its text. One chunker a file; `CHUNKERS` lists them.

What they share: `cut` (pieces of what is too long), `packing` (paragraphs up to a budget), `measure` (code points or
tokens), `sentences`, `headings` and `sections` (borders and what lies between), `blocks` (tables and lists).
"""

from groundwire_server.chunking.book import BookChunker
from groundwire_server.chunking.chunk import (
    BUDGET_UNITS,
    DEFAULT_CHUNK_CHARS,
    DEFAULT_OVERLAP_CHARS,
    Budget,
    BudgetError,
    ChunkDraft,
    Chunker,
    Headings,
)
from groundwire_server.chunking.laws import LawsChunker
from groundwire_server.chunking.layout import LayoutChunker
from groundwire_server.chunking.measure import TextModel
from groundwire_server.chunking.paragraph import ParagraphChunker
from groundwire_server.chunking.parent_child import ParentChildChunker
from groundwire_server.chunking.qa import QaChunker
from groundwire_server.chunking.registry import (
    CHUNKER_ALIASES,
    CHUNKERS,
    chunker_name,
    cut_spec,
    make_chunker,
    needs_model,
)
from groundwire_server.chunking.semantic import SemanticChunker
from groundwire_server.chunking.sentence_window import SentenceWindowChunker
from groundwire_server.chunking.whole import WholeChunker

__all__ = [
    "BUDGET_UNITS",
    "CHUNKERS",
    "CHUNKER_ALIASES",
    "DEFAULT_CHUNK_CHARS",
    "DEFAULT_OVERLAP_CHARS",
    "BookChunker",
    "Budget",
    "BudgetError",
    "ChunkDraft",
    "Chunker",
    "Headings",
    "LawsChunker",
    "LayoutChunker",
    "ParagraphChunker",
    "ParentChildChunker",
    "QaChunker",
    "SemanticChunker",
    "SentenceWindowChunker",
    "TextModel",
    "WholeChunker",
    "chunker_name",
    "cut_spec",
    "make_chunker",
    "needs_model",
]
