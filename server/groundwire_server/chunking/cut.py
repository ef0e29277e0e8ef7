"""Pieces of a stretch that is over the budget: at sentence ends, and where a sentence alone is too long, hard."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator

from groundwire_server.chunking.measure import Measure
from groundwire_server.evidence import Span

__all__ = ["Sentences", "cut_hard", "cut_long", "cut_units", "trimmed", "within"]

Sentences = Callable[[str], Iterable[Span]]
"""Cuts a text into sentences; the spans follow each other without a gap and cover it."""

# How far a hard cut steps back to keep what is read as one sign together.
MAX_STEP_BACK = 32
_JOINER = "\u200d"


def trimmed(text: str, start: int, end: int) -> Span:
    """The stretch without blanks at its ends; empty at `end` when it is blank.

    >>> trimmed("  a b ", 0, 6)
    Span(start=2, end=5)
    """
    stretch = text[start:end]
    left = start + len(stretch) - len(stretch.lstrip())
    return Span(left, max(left, start + len(stretch.rstrip())))


def cut_long(text: str, stretch: Span, most: int, measure: Measure, sentences: Sentences) -> list[Span]:
    """Stretches of at most `most` that hold all of it but blanks between them; none overlap.

    Sentences are put together while they fit; what is left of a sentence that was cut hard goes on with the next.
    """
    pieces: list[Span] = []
    current: Span | None = None
    for unit in cut_units(text, stretch, most, measure, sentences):
        if current is not None and measure.size(current.start, unit.end) <= most:
            current = Span(current.start, unit.end)
            continue
        if current is not None:
            pieces.append(current)
        current = unit
    if current is not None:
        pieces.append(current)
    return pieces


def cut_units(text: str, stretch: Span, most: int, measure: Measure, sentences: Sentences) -> Iterator[Span]:
    """Sentences, and pieces of those that are too long, without blanks at their ends."""
    for sentence in sentences(text[stretch.start : stretch.end]):
        unit = trimmed(text, stretch.start + sentence.start, stretch.start + sentence.end)
        if measure.size(unit.start, unit.end) <= most:
            if unit.end > unit.start:
                yield unit
        else:
            yield from cut_hard(text, unit, most, measure)


def cut_hard(text: str, span: Span, most: int, measure: Measure) -> Iterator[Span]:
    """Stretches of that length, the last one shorter; blanks at their ends are left out.

    A cut steps back, by at most 32 code points, so as not to part a sign from its combining marks, its variation
    selector, its skin tone or what a zero-width joiner ties to it, nor the two halves of a flag, nor CR from LF.
    """
    start = span.start
    while measure.size(start, span.end) > most and (reach := measure.reach(start, most)) < span.end:
        cut = _boundary(text, start, reach)
        piece = trimmed(text, start, cut)
        if piece.end > piece.start:
            yield piece
        start = cut
        while start < span.end and text[start].isspace():
            start += 1
    if span.end > start:
        yield Span(start, span.end)


def within(text: str, spans: Iterable[Span], most: int, measure: Measure, sentences: Sentences) -> Iterator[Span]:
    """The spans; one that is over the budget once it stands by itself is cut further.

    Only a single sign that is too long by itself stays so.
    """
    for span in spans:
        over = measure.exact(span.start, span.end) - most
        if over <= 0 or most == 1:
            yield span
            continue
        less = max(1, most - over)
        pieces = cut_long(text, span, less, measure, sentences)
        if pieces == [span]:
            pieces = list(cut_hard(text, span, max(1, less // 2), measure))
        yield from pieces if pieces == [span] else within(text, pieces, most, measure, sentences)


def _boundary(text: str, start: int, cut: int) -> int:
    """The last place at or before `cut` where no sign is parted; `cut` when there is none near."""
    for place in range(cut, max(start, cut - MAX_STEP_BACK - 1), -1):
        if not _parts_a_sign(text, start, place):
            return place
    return cut


def _parts_a_sign(text: str, start: int, place: int) -> bool:
    before, after = text[place - 1], text[place]
    if before == _JOINER or after == _JOINER:
        return True
    if before == "\r" and after == "\n":
        return True
    if unicodedata.category(after).startswith("M") or after in "\uff9e\uff9f" or "\U0001f3fb" <= after <= "\U0001f3ff":
        return True
    if "\u1160" <= after <= "\u11ff" and "\u1100" <= before <= "\u11ff":
        return True
    return _is_flag_letter(after) and _flag_letters_before(text, start, place) % 2 == 1


def _flag_letters_before(text: str, start: int, place: int) -> int:
    count = 0
    while place - count > start and _is_flag_letter(text[place - count - 1]):
        count += 1
    return count


def _is_flag_letter(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"
