"""Which parts of a stored text made it match."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from groundwire_server.evidence import Span
from groundwire_server.text.align import align
from groundwire_server.text.scripts import is_cjk
from groundwire_server.text.tokens import has_broken_line, patterns_for, show_soft_hyphens

__all__ = ["highlight_spans"]


def highlight_spans(text: str, query_tokens: Collection[str]) -> list[Span]:
    """Parts of `text` that share tokens with a query: ascending, not overlapping, in code points of `text`.

    Single CJK characters of a longer query word are left out: 益 of 収益 is no help to the eye in 利益. They count for
    BM25 all the same.

    >>> from groundwire_server.text import tokenize
    >>> highlight_spans("Net ﬁnance, 収益と利益", tokenize("finance 収益"))
    [Span(start=4, end=10), Span(start=12, end=14)]
    """
    wanted = frozenset(query_tokens)
    within_pairs = {character for token in wanted if len(token) == 2 and is_cjk(token[0]) for character in token}
    aligned = align(show_soft_hyphens(text))
    spans: list[Span] = []
    for start, end in _matches(aligned.normal, wanted - within_pairs):
        span = aligned.span(start, end)
        if spans and span.start < spans[-1].end:
            # Two matches met in one cluster, or a pair began inside the pair before it.
            span = Span(spans[-1].start, max(span.end, spans.pop().end))
        spans.append(span)
    return spans


def _matches(normal: str, wanted: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Positions of wanted tokens in a text in normal form, by start."""
    patterns = patterns_for(normal)
    broken_line = has_broken_line(normal)
    for run in (patterns.pieces if broken_line else patterns.runs).finditer(normal):
        found, start = run.group(), run.start()
        if is_cjk(found[0]):
            for at, character in enumerate(found):
                if found[at : at + 2] in wanted:
                    yield start + at, start + min(at + 2, len(found))
                elif character in wanted:
                    yield start + at, start + at + 1
        elif found in wanted:
            yield run.span()
        elif broken_line:
            parts = list(patterns.words.finditer(found))
            if "".join(part.group() for part in parts) in wanted:
                yield run.span()
            else:
                yield from ((start + p.start(), start + p.end()) for p in parts if p.group() in wanted)
