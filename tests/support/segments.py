"""Segments of the inverted index, from texts."""

from __future__ import annotations

from collections.abc import Sequence

from groundwire_server.lexical.build import build_postings
from groundwire_server.lexical.postings import pack
from groundwire_server.lexical.segment import Segment


def build_segment(texts: Sequence[str]) -> Segment:
    """The segment of some texts, one row each, as the index makes it of what comes in."""
    return pack(build_postings(texts))
