"""Tables, lists and fenced code within a section: each begins and ends a chunk, and stays whole where it fits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from groundwire_server.chunking.packing import Packer, paragraph_spans
from groundwire_server.chunking.sections import Section
from groundwire_server.evidence import Span

__all__ = ["cut_blocks"]

_LOOK = 400  # code points of a line that tell what it is
_ITEM = re.compile(
    r"(?:[-*+•◦▪‣・●○■□◆◇]\s"
    r"|[(\[（]?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})[.)）．、](?![\d０-９])\s?(?=\S)"
    r"|[（(][一二三四五六七八九十\d０-９]{1,3}[）)]"
    r"|[０-９]{1,3}[．、](?![０-９\d])"
    r"|[一二三四五六七八九十]{1,3}[、．]"
    r"|[①-⑳㈠-㈩])"
)
_FENCE = re.compile(r"`{3,}|~{3,}")
_LEADS_ON = (":", "：")


@dataclass(slots=True)
class _Block:
    """Paragraphs of one kind: "text", "table", "list" or "code"."""

    kind: str
    paragraphs: list[Span]


def cut_blocks(packer: Packer, section: Section) -> Iterator[Span]:
    """Chunks of a section.

    Paragraphs of text are packed as everywhere. A table, a list or fenced code is a chunk of its own; one over the
    budget is packed by its lines. The headings that it stands directly under, and a line before it that ends in a
    colon, go with it.
    """
    waiting: list[Span] = []
    for block in _blocks(packer.text, section):
        if block.kind == "text":
            waiting += block.paragraphs
            continue
        lead = _lead(packer, waiting, section.head_end)
        if len(waiting) > lead:
            yield from packer.pack(waiting[: len(waiting) - lead])
        lines = waiting[len(waiting) - lead :] + block.paragraphs
        whole = Span(lines[0].start, lines[-1].end)
        if packer.fits(whole.start, whole.end):
            yield from packer.pack([whole])
        else:
            yield from packer.pack(lines)
        waiting = []
    yield from packer.pack(waiting)


def _lead(packer: Packer, waiting: Sequence[Span], head_end: int) -> int:
    """How many of the paragraphs before a block go with it."""
    if not waiting or not packer.fits(waiting[-1].start, waiting[-1].end):
        return 0
    heads = next((place for place, each in enumerate(waiting) if each.end > head_end), len(waiting))
    if heads == len(waiting):
        return heads
    leads = packer.text[waiting[-1].start : waiting[-1].end].endswith(_LEADS_ON)
    return (len(waiting) if heads == len(waiting) - 1 else 1) if leads else 0


def _blocks(text: str, section: Section) -> Iterator[_Block]:
    """The paragraphs of a section by kind; neighbours of one kind are one block, those of another kind part them."""
    block: _Block | None = None
    paragraphs = list(paragraph_spans(text, section.span.start, section.span.end))
    for kind, paragraph in _kinds(text, paragraphs, section.head_end):
        if block is None or block.kind != kind:
            if block is not None:
                yield block
            block = _Block(kind, [])
        block.paragraphs.append(paragraph)
    if block is not None:
        yield block


def _kinds(text: str, paragraphs: Sequence[Span], head_end: int) -> Iterable[tuple[str, Span]]:
    """Each paragraph with its kind. A heading is text, whatever it looks like: "1. Method" is no item of a list."""
    fence = ""
    before: Span | None = None
    before_kind = ""
    shapes = [_shape(text, paragraph) if paragraph.end > head_end else "" for paragraph in paragraphs]
    for place, paragraph in enumerate(paragraphs):
        shape = shapes[place]
        if fence or shape == "code":
            kind = "code"
            opened = _FENCE.match(text, paragraph.start, paragraph.end)
            if not fence and opened is not None:
                fence = opened[0]
            elif fence and opened is not None and opened[0].startswith(fence):
                fence = ""
        elif shape in ("|", "\t") and _has_rows(text, paragraphs, shapes, place):
            kind = "table"
        elif shape == "item" or (before_kind == "list" and _goes_on(text, before, paragraph)):
            kind = "list"
        else:
            kind = "text"
        yield kind, paragraph
        before, before_kind = paragraph, kind


def _shape(text: str, paragraph: Span) -> str:
    """What a line looks like by itself: "code", "|", "\\t", "item" or ""."""
    line = text[paragraph.start : min(paragraph.end, paragraph.start + _LOOK)]
    if _FENCE.match(line):
        return "code"
    if "|" in line:
        return "|"
    if _ITEM.match(line):
        return "item"
    return "\t" if "\t" in line else ""


def _has_rows(text: str, paragraphs: Sequence[Span], shapes: Sequence[str], place: int) -> bool:
    """Whether a line with columns has another one directly before or behind it: one alone is no table."""
    pairs = ((place - 1, place), (place, place + 1))
    return any(
        first >= 0
        and second < len(paragraphs)
        and shapes[first] == shapes[second]
        and _adjacent(text, paragraphs[first], paragraphs[second])
        for first, second in pairs
    )


def _adjacent(text: str, one: Span, following: Span) -> bool:
    """Whether no blank line lies between two lines."""
    between = text[one.end : following.start]
    return between.count("\n") + between.count("\r") - between.count("\r\n") == 1


def _goes_on(text: str, before: Span | None, paragraph: Span) -> bool:
    """Whether a line continues an item: it follows directly and is indented."""
    return (
        before is not None
        and _adjacent(text, before, paragraph)
        and text[paragraph.start - 1 : paragraph.start] in (" ", "\t", "\u3000")
    )
