"""Sentences by their closing marks."""

from __future__ import annotations

import re

from groundwire_server.evidence import Span

__all__ = ["sentence_spans"]

# Closing quotes and brackets, and the blanks behind them, stay with the sentence that they close.
_END = re.compile(r"(?:[。！？；!?;]|\.(?!(?<=\d\.)\d))+[\"'”’」』）》】〉\])}]*\s*")


def sentence_spans(text: str) -> list[Span]:
    """Sentences of a text; the spans follow each other without a gap and cover it.

    A sentence ends at 。！？；.!?; (seed); a dot between two digits ends nothing (semantics 1).

    >>> text = "It rose 3.5 %. 増えた。"
    >>> [text[span.start : span.end] for span in sentence_spans(text)]
    ['It rose 3.5 %. ', '増えた。']
    """
    spans: list[Span] = []
    start = 0
    for end in _END.finditer(text):
        spans.append(Span(start, end.end()))
        start = end.end()
    if start < len(text):
        spans.append(Span(start, len(text)))
    return spans
