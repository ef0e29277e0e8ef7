"""The lines of a page of PDF as its text layer has them, with where they stand and how large they are set."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from groundwire_server.readers.characters import raised

__all__ = ["Line", "PageText", "read_lines"]

# pdfium gives this for a hyphen at the end of a line, and leaves the end of the line out.
_LINE_HYPHEN = "\x02"
# Gaps between cells, in sizes of type: surely, and where they differ that much from those between words. Justified text
# in narrow columns comes near to the second.
_SURE_GAP, _CELL_GAP, _UNEVEN = 2.5, 1.2, 1.8
_MARK_CHARS = 4
_NAME_BYTES = 128
# Of the size of what is before them: figures that stand high are that small, and begin that far above its foot.
_SMALL, _HIGH = 0.85, 0.1


@dataclass(frozen=True, slots=True)
class Line:
    """One line.

    text: without blanks at its ends; a hyphen that breaks a word stays, and `hyphen` tells of it.
    left, right, base: in points from the lower left corner of the page. A line of vertical text lies as if the page
    were turned, so that "right" is further along the line and a smaller base is further on.
    size: height of the type. bold: its font says so. cells: gaps part it like the cells of a row.
    """

    text: str
    left: float
    right: float
    base: float
    size: float
    bold: bool = False
    hyphen: bool = False
    cells: bool = False


@dataclass(frozen=True, slots=True)
class PageText:
    """Lines of a page in the order of its text layer; chars, unmapped: how many, and how many say no character."""

    lines: tuple[Line, ...]
    width: float
    height: float
    chars: int
    unmapped: int


def read_lines(page: Any) -> PageText:
    """The text of a page (`pypdfium2.PdfPage`)."""
    import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

    width, height = page.get_size()
    text_page = page.get_textpage()
    try:
        handle = text_page.raw
        codes = [pdfium.FPDFText_GetUnicode(handle, index) for index in range(text_page.count_chars())]
        chars = _characters(codes)
        lines = [
            line
            for first, last, hyphen in _stretches(chars)
            if (line := _line(pdfium, handle, chars, first, last, hyphen=hyphen, height=height)) is not None
        ]
    finally:
        text_page.close()
    shown = [char for char in chars if char > " "]
    unmapped = sum(char == "\ufffd" or "\ue000" <= char <= "\uf8ff" for char in shown) + codes.count(0)
    return PageText(tuple(lines), width, height, len(shown), unmapped)


def _characters(codes: list[int]) -> list[str]:
    """One string a code, so that places keep their numbers: the second half of a character is empty."""
    chars = [chr(code) if 0 < code < 0x110000 else "" for code in codes]
    for index in range(len(codes) - 1):
        if 0xD800 <= codes[index] < 0xDC00 <= codes[index + 1] < 0xE000:
            chars[index] = chr(0x10000 + ((codes[index] - 0xD800) << 10) + (codes[index + 1] - 0xDC00))
            chars[index + 1] = ""
    return chars


def _stretches(chars: list[str]) -> Iterator[tuple[int, int, bool]]:
    """(first, behind the last, whether a hyphen ends it) of each line."""
    start = 0
    for index, char in enumerate(chars):
        if char == _LINE_HYPHEN:
            yield start, index + 1, True
            start = index + 1
        elif char in ("\r", "\n"):
            yield start, index, False
            start = index + 1
    yield start, len(chars), False


def _line(
    pdfium: Any, handle: Any, chars: list[str], first: int, last: int, *, hyphen: bool, height: float
) -> Line | None:
    shown = [index for index in range(first, last) if chars[index].strip()]
    if not shown:
        return None
    _raise_figures(pdfium, handle, chars, shown)
    boxes = {index: _box(pdfium, handle, index) for index in (shown[0], shown[len(shown) // 2], shown[-1])}
    start, middle, end = (boxes[index] for index in (shown[0], shown[len(shown) // 2], shown[-1]))
    text = "".join(chars[shown[0] : shown[-1] + 1]).replace(_LINE_HYPHEN, "-")
    bold = _is_bold(pdfium, handle, shown[len(shown) // 2])
    across = max(box[2] for box in boxes.values()) - min(box[0] for box in boxes.values())
    down = max(box[3] for box in boxes.values()) - min(box[1] for box in boxes.values())
    if len(shown) > 2 and down > 2 * across:
        centre = (middle[0] + middle[2]) / 2
        return Line(text, height - start[3], height - end[1], centre, max(middle[2] - middle[0], 1.0), bold, hyphen)
    size = max(middle[3] - middle[1], 1.0)
    gaps = _has_gaps(pdfium, handle, chars, shown, size)
    return Line(text, start[0], max(end[2], start[2]), middle[1], size, bold, hyphen, gaps)


def _raise_figures(pdfium: Any, handle: Any, chars: list[str], shown: list[int]) -> None:
    """Mark the figures that stand high and small beside other text: notes and powers."""
    begin = 0
    while begin < len(shown) and chars[shown[begin]].isdecimal() and shown[begin] == shown[0] + begin:
        begin += 1
    if 0 < begin < len(shown):
        _raise(pdfium, handle, chars, shown[:begin], shown[begin])
    beside = -1
    for before, index in pairwise(shown):
        if not chars[index].isdecimal() or index != before + 1:
            beside = -1
            continue
        beside = before if beside < 0 else beside
        _raise(pdfium, handle, chars, (index,), beside)


def _raise(pdfium: Any, handle: Any, chars: list[str], figures: Sequence[int], beside: int) -> None:
    size = pdfium.FPDFText_GetFontSize(handle, figures[0])
    if size >= _SMALL * pdfium.FPDFText_GetFontSize(handle, beside):
        return
    text, figure = _box(pdfium, handle, beside), _box(pdfium, handle, figures[0])
    if figure[1] > text[1] + _HIGH * (text[3] - text[1]):
        for index in figures:
            chars[index] = raised(chars[index])


def _has_gaps(pdfium: Any, handle: Any, chars: list[str], shown: list[int], size: float) -> bool:
    """Whether words stand as far apart as cells do; what follows a mark of a list does not count."""
    words, gaps = 0, list[float]()
    for before, after in pairwise(shown):
        if after == before + 1 or not "".join(chars[before + 1 : after]).isspace():
            continue
        words += 1
        if words == 1 and before - shown[0] < _MARK_CHARS and not chars[before].isalnum():
            continue
        gaps.append(_box(pdfium, handle, after)[0] - _box(pdfium, handle, before)[2])
    widest = max(gaps, default=0.0)
    return widest > _SURE_GAP * size or (widest > _CELL_GAP * size and (len(gaps) == 1 or widest > _UNEVEN * min(gaps)))


def _box(pdfium: Any, handle: Any, index: int) -> tuple[float, float, float, float]:
    """Left, bottom, right, top of the place that a character takes in its font; zeros where it takes none."""
    rect = pdfium.FS_RECTF()
    if not pdfium.FPDFText_GetLooseCharBox(handle, index, rect):
        return 0.0, 0.0, 0.0, 0.0
    return rect.left, rect.bottom, rect.right, rect.top


def _is_bold(pdfium: Any, handle: Any, index: int) -> bool:
    name, flags = ctypes.create_string_buffer(_NAME_BYTES), ctypes.c_int()
    pdfium.FPDFText_GetFontInfo(handle, index, name, _NAME_BYTES, flags)
    said = name.value.lower()
    return (
        b"bold" in said or b"black" in said or b"heavy" in said or pdfium.FPDFText_GetFontWeight(handle, index) >= 600
    )
