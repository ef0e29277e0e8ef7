"""The places of a text that is stored: the same map as when its file was read, from the text alone."""

from __future__ import annotations

from groundwire_server.evidence import Span
from groundwire_server.readers.document import ReadOptions
from groundwire_server.readers.front_matter import split_front_matter
from groundwire_server.readers.headings import heading_paths
from groundwire_server.readers.markdown import MarkdownReader, find_headings
from groundwire_server.readers.places import PlaceMap, places_by_line
from groundwire_server.readers.plain_text import PlainTextReader

__all__ = ["place_stored_text", "places_follow"]


def places_follow(media_type: str) -> bool:
    """Whether the places of a text of this kind follow from the text, so that they need not be kept beside it."""
    return media_type in (PlainTextReader.media_type, MarkdownReader.media_type)


def place_stored_text(doc_id: str, media_type: str, text: str) -> tuple[Span, PlaceMap] | None:
    """The stretch that is content, and where its spans lie; None for a kind whose places do not follow from the text.

    A line of JSON lines is stored as plain text, and its places are the lines of its own text.
    """
    if media_type == PlainTextReader.media_type:
        return Span(0, len(text)), places_by_line(text)
    if media_type == MarkdownReader.media_type:
        start = split_front_matter(doc_id, text, ReadOptions()).body_start
        return Span(start, len(text)), places_by_line(text, heading_paths(list(find_headings(text, start))))
    return None
