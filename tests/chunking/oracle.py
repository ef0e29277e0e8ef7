"""The default chunker once more, in the plainest way there is. It imports nothing of the server's."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["paragraph_chunks"]

Stretch = tuple[int, int]


def paragraph_chunks(text: str, max_chars: int, overlap_chars: int) -> list[Stretch]:
    """(start, end) of each chunk."""
    chunks: list[Stretch] = []
    block: list[Stretch] = []
    for paragraph in _paragraphs(text):
        if paragraph[1] - paragraph[0] > max_chars:
            chunks += _pack(block, max_chars, overlap_chars)
            block = []
            chunks += _pieces(text, paragraph, max_chars)
        else:
            block.append(paragraph)
    return chunks + _pack(block, max_chars, overlap_chars)


def _paragraphs(text: str) -> list[Stretch]:
    found: list[Stretch] = []
    start = 0
    for end in range(len(text) + 1):
        if end == len(text) or text[end] in "\r\n":
            stretch = _strip(text, (start, end))
            if stretch is not None:
                found.append(stretch)
            start = end + 1
    return found


def _strip(text: str, stretch: Stretch) -> Stretch | None:
    start, end = stretch
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return (start, end) if start < end else None


def _pack(paragraphs: list[Stretch], max_chars: int, overlap_chars: int) -> list[Stretch]:
    """Paragraph numbers decide: a chunk is the run first..last, the next run starts where the overlap begins."""
    chunks: list[Stretch] = []
    first, fresh = 0, 0
    while fresh < len(paragraphs):
        last = fresh
        while first < fresh and paragraphs[last][1] - paragraphs[first][0] > max_chars:
            first += 1
        while last + 1 < len(paragraphs) and paragraphs[last + 1][1] - paragraphs[first][0] <= max_chars:
            last += 1
        end = paragraphs[last][1]
        chunks.append((paragraphs[first][0], end))
        fresh = last + 1
        while first <= last and end - paragraphs[first][0] > overlap_chars:
            first += 1
    return chunks


def _pieces(text: str, paragraph: Stretch, max_chars: int) -> list[Stretch]:
    units: list[Stretch] = []
    for sentence in _sentences(text, paragraph):
        while sentence is not None and sentence[1] - sentence[0] > max_chars:
            cut = _cut(text, sentence[0], sentence[0] + max_chars)
            piece = _strip(text, (sentence[0], cut))
            units += [piece] if piece else []
            sentence = _strip(text, (cut, sentence[1]))
        units += [sentence] if sentence else []
    pieces = [units[0]]
    for unit in units[1:]:
        if unit[1] - pieces[-1][0] <= max_chars:
            pieces[-1] = (pieces[-1][0], unit[1])
        else:
            pieces.append(unit)
    return pieces


def _sentences(text: str, paragraph: Stretch) -> list[Stretch | None]:
    found: list[Stretch | None] = []
    start, at = paragraph[0], paragraph[0]
    while at < paragraph[1]:
        if not _ends_here(text, at, paragraph):
            at += 1
            continue
        while at < paragraph[1] and _ends_here(text, at, paragraph):
            at += 1
        while at < paragraph[1] and text[at] in "\"'”’」』）》】〉])}":
            at += 1
        while at < paragraph[1] and text[at].isspace():
            at += 1
        found.append(_strip(text, (start, at)))
        start = at
    found.append(_strip(text, (start, paragraph[1])))
    return found


def _ends_here(text: str, at: int, paragraph: Stretch) -> bool:
    if text[at] == ".":
        before = at > paragraph[0] and re.fullmatch(r"\d", text[at - 1])
        after = at + 1 < paragraph[1] and re.fullmatch(r"\d", text[at + 1])
        return not (before and after)
    return text[at] in "。！？；!?;"


def _cut(text: str, start: int, cut: int) -> int:
    for back in range(33):
        place = cut - back
        if place <= start:
            break
        if not _parted(text[start:], place - start):
            return place
    return cut


def _parted(text: str, place: int) -> bool:
    left, right = text[place - 1], text[place]
    flags = len(re.findall(r"[\U0001f1e6-\U0001f1ff]*\Z", text[:place])[0])
    return (
        "\u200d" in (left, right)
        or unicodedata.category(right)[0] == "M"
        or right in "ﾞﾟ"
        or bool(re.match("[\U0001f3fb-\U0001f3ff]", right))
        or (bool(re.match("[\u1100-\u11ff]", left)) and bool(re.match("[\u1160-\u11ff]", right)))
        or (bool(re.match("[\U0001f1e6-\U0001f1ff]", right)) and flags % 2 == 1)
        or (left, right) == ("\r", "\n")
    )
