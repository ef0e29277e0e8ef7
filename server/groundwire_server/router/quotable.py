"""What of a passage can be quoted alone: sentences, rows of tables with their heads, questions with their answers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from groundwire_server.evidence import Span, slice_text
from groundwire_server.text import sentence_spans

__all__ = ["quotable_spans"]

_LONGEST = 400
_NO_SENTENCE = re.compile(r"#{1,6}\s|.*\|.*\|", re.DOTALL)  # a heading, a row of a table in Markdown
_QUESTION = re.compile(r"[?？][\"'”’」』）》】〉\])}]*\Z")
_INSIDE_WORD = re.compile(r"[a-zA-Z0-9]\.[a-zA-Z0-9]")
_LINE = re.compile(r"[^\n]+")
_BLOCK_END = re.compile(r"\n[ \t\r]*(?:\n|(?=[|#>]|[-*+] ))")  # a blank line, or the next row, heading or item


def quotable_spans(text: str) -> list[Span]:
    """The spans of a passage that say something alone, in order, without blanks around them and apart from each other.

    A row that a reader wrote with its heads (`readers.table_rows`) is one, its heads alone are none. A question says
    nothing alone: it goes with what follows it, and without that it is left out. So are headings and rows of Markdown.

    >>> text = "Zone; Price\\nZone: Airport; Price: 4.60\\n\\nIs it far? No. It is near."
    >>> [text[span.start : span.end] for span in quotable_spans(text)]
    ['Zone: Airport; Price: 4.60', 'Is it far? No.', 'It is near.']
    """
    found: list[Span] = []
    at = 0
    for row, heads in _rows(text):
        found += _answered(text, _sentences(text, at, row.start if heads is None else heads.start))
        found.append(row)
        at = row.end
    return found + _answered(text, _sentences(text, at, len(text)))


def _rows(text: str) -> Iterator[tuple[Span, Span | None]]:
    """Rows of tables, each with the line of its heads if that stands right before it."""
    before: Span | None = None
    for line in _LINE.finditer(text):
        keys = _keys(line.group())
        if len(keys) > 1:
            heads = before is not None and keys <= set(slice_text(text, before).strip().split("; "))
            yield _strip(text, line.span()), before if heads else None
            before = None
        else:
            before = Span(*line.span())


def _keys(line: str) -> set[str]:
    """The heads in a row as `row_text` writes it: `Region: EMEA; Q1: 12` has Region and Q1."""
    parts = line.strip().split("; ")
    return {head for head, colon, _ in (part.partition(": ") for part in parts) if colon} if len(parts) > 1 else set()


def _answered(text: str, spans: list[Span]) -> list[Span]:
    """Each question with what follows it; without headings, rows of Markdown, and questions that nothing follows."""
    found: list[Span] = []
    asked: Span | None = None
    for span in spans:
        if _NO_SENTENCE.match(text, span.start, span.end):
            asked = None
            continue
        whole = Span(asked.start, span.end) if asked and span.end - asked.start <= _LONGEST else span
        asked = whole if _QUESTION.search(text, whole.start, whole.end) else None
        if asked is None:
            found.append(whole)
    return found


def _sentences(text: str, start: int, end: int) -> list[Span]:
    """Sentences of a stretch. A new block ends one, as does any line end where one is very long."""
    found: list[Span] = []
    for whole in _whole_sentences(slice_text(text, Span(start, end))):
        at, last = start + whole.start, start + whole.end
        for gap in [*_BLOCK_END.finditer(text, at, last), None]:
            stop = last if gap is None else gap.start()
            found += _lines(text, at, stop) if stop - at > _LONGEST else [Span(at, stop)]
            at = stop if gap is None else gap.end()
    stripped = (_strip(text, (span.start, span.end)) for span in found)
    return [span for span in stripped if span.start < span.end]


def _whole_sentences(text: str) -> list[Span]:
    """Sentences; a dot between two Latin letters or digits (example.com, U.S.) ends none."""
    spans: list[Span] = []
    for span in sentence_spans(text):
        joined = bool(spans) and _INSIDE_WORD.fullmatch(text, span.start - 2, span.start + 1)
        if joined:
            spans[-1] = Span(spans[-1].start, span.end)
        else:
            spans.append(span)
    return spans


def _lines(text: str, start: int, end: int) -> list[Span]:
    return [Span(line.start(), line.end()) for line in _LINE.finditer(text, start, end)]


def _strip(text: str, span: tuple[int, int]) -> Span:
    start, end = span
    part = text[start:end]
    first = start + len(part) - len(part.lstrip())
    return Span(first, max(first, start + len(part.rstrip())))
