"""Paragraphs from the lines of a page, and the order in which they are read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median_low

from groundwire_server.readers.characters import is_wide, raised
from groundwire_server.readers.pdf_lines import Line

__all__ = ["Block", "page_blocks"]

# Marks that begin an item of a list: with a blank behind them, or full-width ones.
_ITEM = re.compile(
    r"(?:[•◦▪‣●○■□◆◇·*–—-]|\(?[0-9]{1,3}[.)]|\(?[a-zA-Z][.)])\s|[・①-⑳]|[(（][0-9０-９一二三四五六七八九十]{1,3}[)）]"
)
_FROM_RIGHT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]{3}")
_SENTENCE_END = ("。", "！", "？", ".", "!", "?", ":", "：", "」", "』", ")", "）")
_SAME_SIZE = 0.12
# Of the usual distance of lines: from here on it is the distance of paragraphs.
_GAP = 1.3
# Distances of lines, in sizes of type; wider ones are believed where there are many.
_LEADING, _WIDE_LEADING, _MANY_STEPS = 1.2, 1.6, 8
_INDENT_EMS = 0.7
# Of what stands beside it: how far off the line, how near without a space, how far to be another cell.
_SAME_LINE, _TOUCH, _CELL_GAP, _SMALL = 0.5, 0.12, 1.2, 0.85
_SHORT = 0.8
# Lines and blocks that one is compared with; pages that people read hold no more.
_NEAR_LINES, _NEAR_BLOCKS, _MOST_BLOCKS = 60, 60, 400
# Headers and footers: they may stand anywhere in the order of the layer.
_MARGIN = 0.06


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, a heading, an item of a list or a row of a table, as lines that follow one another."""

    lines: tuple[Line, ...]

    @property
    def text(self) -> str:
        """The lines as one paragraph.

        A line goes on behind a space, or without one in Chinese and Japanese; behind a hyphen that breaks a word it
        goes on in a new line, as printed, so that nobody has to guess whether the hyphen belongs to the word.
        """
        pieces = [self.lines[0].text]
        for above, line in pairwise(self.lines):
            wide = is_wide(above.text[-1]) and is_wide(line.text[0])
            pieces.append("\n" if above.hyphen else "" if wide else " ")
            pieces.append(line.text)
        return "".join(pieces)

    @property
    def left(self) -> float:
        return min(line.left for line in self.lines)

    @property
    def right(self) -> float:
        return max(line.right for line in self.lines)

    @property
    def top(self) -> float:
        return max(line.base + line.size for line in self.lines)

    @property
    def bottom(self) -> float:
        return min(line.base for line in self.lines)

    @property
    def size(self) -> float:
        return max(line.size for line in self.lines)

    @property
    def bold(self) -> bool:
        return all(line.bold for line in self.lines)


def page_blocks(lines: Sequence[Line], height: float) -> list[Block]:
    """The blocks of a page in reading order.

    The order of the text layer holds, as most programs write it, unless it goes back up within a column or to one
    further left; then columns are told by the gaps between them. Pages that are written from right to left keep theirs.
    """
    blocks = _paragraphs(_whole_lines(lines))
    return _by_place(blocks) if len(blocks) <= _MOST_BLOCKS and _goes_back(blocks, height) else blocks


def _paragraphs(lines: Sequence[Line]) -> list[Block]:
    leading = _usual_leading(lines)
    blocks: list[list[Line]] = []
    for number, line in enumerate(lines):
        near = lines[max(0, number - _NEAR_LINES) : number + _NEAR_LINES]
        if blocks and _goes_on(blocks[-1], line, near, leading):
            blocks[-1].append(line)
        else:
            blocks.append([line])
    return [Block(tuple(block)) for block in blocks]


def _usual_leading(lines: Sequence[Line]) -> float:
    """The distance of lines on the page, in sizes of type."""
    steps = [
        (above.base - below.base) / above.size
        for above, below in pairwise(lines)
        if _alike(above, below) and 0.5 < (above.base - below.base) / above.size < 2.5
    ]
    usual = median_low(steps) if steps else _LEADING
    return usual if usual <= _WIDE_LEADING or len(steps) >= _MANY_STEPS else _LEADING


def _goes_on(block: list[Line], line: Line, near: Sequence[Line], leading: float) -> bool:
    """Whether a line belongs to the paragraph before it."""
    above = block[-1]
    if above.hyphen:
        return True
    step = (above.base - line.base) / above.size
    if (
        not _alike(above, line)
        or above.bold != line.bold
        or above.cells
        or line.cells
        or not 0.4 < step <= leading * _GAP
    ):
        return False
    if min(above.right, line.right) <= max(above.left, line.left) or _ITEM.match(line.text):
        return False
    right = max((other.right for other in near if _overlap(above, other)), default=above.right)
    left = min(each.left for each in block)
    short = above.right - left < _SHORT * (right - left)
    indented = line.left - above.left > _INDENT_EMS * line.size
    if indented and (len(block) > 1 or short):
        return False
    return not (short and above.text.endswith(_SENTENCE_END))


def _whole_lines(lines: Sequence[Line]) -> list[Line]:
    """The lines as they are seen: pdfium ends one where a letter stands high or low, and between some cells."""
    whole: list[Line] = []
    for line in lines:
        before = whole[-1] if whole else line
        gap = line.left - before.right
        beside = abs(before.base - line.base) < _SAME_LINE * min(before.size, line.size) and gap > -0.3 * line.size
        if not whole or before.hyphen or not beside:
            whole.append(line)
            continue
        high = line.size < _SMALL * before.size and line.base > before.base
        between = "" if gap < _TOUCH * line.size else " "
        whole[-1] = replace(
            before,
            text=f"{before.text}{between}{raised(line.text) if high else line.text}",
            right=line.right,
            size=max(before.size, line.size),
            hyphen=line.hyphen,
            cells=before.cells or line.cells or gap > _CELL_GAP * line.size,
        )
    return whole


def _alike(above: Line, below: Line) -> bool:
    return abs(above.size - below.size) <= _SAME_SIZE * above.size


def _overlap(line: Line, other: Line) -> bool:
    """Whether two lines lie in one column."""
    shared = min(line.right, other.right) - max(line.left, other.left)
    return shared > 0.5 * min(line.right - line.left, other.right - other.left)


def _goes_back(blocks: Sequence[Block], height: float) -> bool:
    if any(_FROM_RIGHT.search(line.text) for block in blocks for line in block.lines):
        return False
    body = [block for block in blocks if _MARGIN * height < block.bottom and block.top < (1 - _MARGIN) * height]
    return any(
        after.bottom >= before.top - 0.5 * before.size and after.left < before.right for before, after in pairwise(body)
    )


def _by_place(blocks: Sequence[Block]) -> list[Block]:
    """From above to below; what stands side by side over more than a line column by column."""
    rest = sorted(blocks, key=lambda block: (-block.top, block.left))
    ordered: list[Block] = []
    while rest:
        taken = _columns(rest)
        if taken is None:
            ordered.append(rest.pop(0))
            continue
        ordered += taken
        gone = set(map(id, taken))
        rest = [block for block in rest if id(block) not in gone]
    return ordered


def _columns(rest: Sequence[Block]) -> list[Block] | None:
    """The longest run of blocks from above that a gap parts into two columns, the left one first; None: none."""
    best: tuple[list[Block], list[Block]] | None = None
    for count in range(2, min(len(rest), _NEAR_BLOCKS) + 1):
        run = rest[:count]
        gap = _gap(run)
        if gap is None:
            continue
        left = [block for block in run if block.right <= gap]
        right = [block for block in run if block.right > gap]
        if left and right and _share(left, right) >= 0.5:
            best = left, right
    return None if best is None else [*_by_place(best[0]), *_by_place(best[1])]


def _gap(blocks: Iterable[Block]) -> float | None:
    """A place that no block crosses, with blocks on both sides; None where there is none."""
    ordered = sorted(blocks, key=lambda block: block.left)
    reach = ordered[0].right
    for block in ordered[1:]:
        if block.left > reach:
            return (reach + block.left) / 2
        reach = max(reach, block.right)
    return None


def _share(left: Sequence[Block], right: Sequence[Block]) -> float:
    """How much of the shorter of two columns stands beside the other one."""
    tops = [max(block.top for block in side) for side in (left, right)]
    bottoms = [min(block.bottom for block in side) for side in (left, right)]
    beside = min(tops) - max(bottoms)
    shorter = min(top - bottom for top, bottom in zip(tops, bottoms, strict=True))
    return beside / shorter if shorter > 0 else 0.0
