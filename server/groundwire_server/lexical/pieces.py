"""Segments on their way into a folder: built from texts block by block, each with what tells its texts from others."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from groundwire_server import kernels
from groundwire_server.lexical.build import PostingsBuilder
from groundwire_server.lexical.manifest import SegmentEntry
from groundwire_server.lexical.postings import pack
from groundwire_server.lexical.segment import MAX_ROWS, Segment

__all__ = ["Piece", "Texts", "built", "counted", "text_sha256"]

Texts = Callable[[int, int], Iterable[str]]
"""Texts of the rows from the first number up to, not including, the second; in row order."""

_BLOCK_ROWS = 4096
_BLOCK_CHARACTERS = 1 << 22
_MANY_ROWS = 4096
_rows_built = 0


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """A segment in row order.

    Attributes:
        segment: its postings.
        last_text_sha256: of the UTF-8 of its last row's text.
        state: of the store when it had all of these rows (`StoreReader.state`).
        entry: its place on the disk; None while it has none.
    """

    segment: Segment
    last_text_sha256: str
    state: str
    entry: SegmentEntry | None = None


def built(texts: Iterable[str], state: str) -> Iterator[Piece]:
    """Segments of texts, full ones but for the last."""
    builder = PostingsBuilder()
    for block in _blocks(texts):
        builder.add(block)
        last = block[-1]
        if builder.rows == MAX_ROWS:
            yield Piece(pack(builder.finish()), text_sha256(last), state)
            builder = PostingsBuilder()
        _note(len(block))
    if builder.rows:
        yield Piece(pack(builder.finish()), text_sha256(last), state)


def _note(rows: int) -> None:
    """Many rows are indexed here, be it in small writes: the compiled kernels are worth loading."""
    global _rows_built
    _rows_built += rows
    if _rows_built >= _MANY_ROWS:
        kernels.searched()


def _blocks(texts: Iterable[str]) -> Iterator[list[str]]:
    """Texts in lists small enough to sort in memory, none across the border of a full segment."""
    block: list[str] = []
    characters = 0
    for number, text in enumerate(texts, start=1):
        block.append(text)
        characters += len(text)
        if len(block) == _BLOCK_ROWS or characters >= _BLOCK_CHARACTERS or number % MAX_ROWS == 0:
            yield block
            block, characters = [], 0
    if block:
        yield block


def counted(texts: Texts, start: int, stop: int) -> Iterator[str]:
    """The texts of rows [start, stop).

    Raises:
        ValueError: there are fewer or more.
    """
    given = 0
    for text in texts(start, stop) if start < stop else ():
        given += 1
        yield text
    if given != stop - start:
        raise ValueError(f"{given} texts for rows {start} to {stop}")


def text_sha256(text: str) -> str:
    """Of the UTF-8 of a text, in hex."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
