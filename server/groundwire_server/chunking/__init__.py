"""From texts to chunks, each of them one slice of its text. One chunker a file; `CHUNKERS` lists them."""

from groundwire_server.chunking.chunk import (
    DEFAULT_CHUNK_CHARS,
    DEFAULT_OVERLAP_CHARS,
    Budget,
    BudgetError,
    ChunkDraft,
    Chunker,
)
from groundwire_server.chunking.paragraph import ParagraphChunker
from groundwire_server.chunking.registry import CHUNKERS, make_chunker
from groundwire_server.chunking.whole import WholeChunker

__all__ = [
    "CHUNKERS",
    "DEFAULT_CHUNK_CHARS",
    "DEFAULT_OVERLAP_CHARS",
    "Budget",
    "BudgetError",
    "ChunkDraft",
    "Chunker",
    "ParagraphChunker",
    "WholeChunker",
    "make_chunker",
]
