"""The blocks of a page (headings, paragraphs, list items, rows of tables) in the order of its source."""

from __future__ import annotations

import re
from collections.abc import Mapping

from lxml import etree

from groundwire_server.readers.characters import is_wide
from groundwire_server.readers.grid import Grid
from groundwire_server.readers.html_tree import BLOCKS, Boilerplate, local_name, plain_content, raised_content
from groundwire_server.readers.text_builder import TextBuilder

__all__ = ["add_html"]

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLANKS = re.compile(r"[ \t\n\r\f]+")
# Stand for a line break and for blanks that stay, until the other blanks are put together.
_BREAK, _BLANK, _TAB = "\x01", "\x02", "\x03"
_KEPT = str.maketrans({"\n": _BREAK, "\r": None, " ": _BLANK, "\t": _TAB})
_SHOWN = str.maketrans({_BREAK: "\n", _BLANK: " ", _TAB: "\t"})
_MARKS = str.maketrans({_BREAK: None, _BLANK: None, _TAB: None})
_MAX_CELL_CHARS = 1000
_MAX_SPAN = 1000


def add_html(
    builder: TextBuilder,
    root: etree._Element,
    boilerplate: Boilerplate,
    place: Mapping[str, str | int] | None = None,
    *,
    level_shift: int = 0,
) -> int:
    """Add the blocks of an element to a text; returns how many there were.

    Args:
        builder: has an axis "para", on which each block is counted from 1, and "table" and "row" where rows of tables
            are to be named.
        boilerplate: what is left out.
        place: what else is to be named of each block, e.g. the part of a book.
        level_shift: added to the levels of headings.
    """
    return _Walk(builder, boilerplate, dict(place or {}), level_shift).through(root)


class _Walk:
    """The walk through a tree: pieces of the paragraph that is open, and what it stands in."""

    def __init__(
        self, builder: TextBuilder, boilerplate: Boilerplate, place: dict[str, str | int], level_shift: int
    ) -> None:
        self._builder = builder
        self._boilerplate = boilerplate
        self._place = place
        self._level_shift = level_shift
        self._pieces: list[str] = []
        self._level = 0
        self._close = False
        self._marker = ""  # the number of a list item whose text has not begun
        self._verbatim = 0
        self._lists: list[int] = []
        self._paragraphs = 0
        self._tables = 0

    def through(self, root: etree._Element) -> int:
        walk = etree.iterwalk(root, events=("start", "end"))
        for event, element in walk:
            name = local_name(element)
            if event == "end":
                self._leave(name)
                if element is not root:
                    self._take(element.tail)
            elif self._boilerplate.drops(element):
                walk.skip_subtree()
            elif name == "table" and (grid := _data_table(element)) is not None:
                self._add_table(element, grid)
                walk.skip_subtree()
            elif name == "sup":
                self._take(raised_content(element))
                walk.skip_subtree()
            else:
                self._enter(name, element)
                self._take(element.text)
        self._flush()
        return self._paragraphs

    def _enter(self, name: str, element: etree._Element) -> None:
        if name == "br":
            self._pieces.append(_BREAK)
            return
        if name not in BLOCKS:
            return
        self._flush()
        self._level = _HEADINGS.get(name, self._level)
        self._verbatim += name == "pre"
        if name in ("ul", "ol", "menu", "dir"):
            self._lists.append(_whole(element.get("start"), 1) if name == "ol" else 0)
        elif name == "li" and self._lists:
            self._close, self._marker = True, ""
            number = _whole(element.get("value"), self._lists[-1]) if self._lists[-1] else 0
            if number:
                self._lists[-1] = number + 1
                self._marker = f"{number}. "
        elif name == "dd":
            self._close = True

    def _leave(self, name: str) -> None:
        if name not in BLOCKS:
            return
        self._flush()
        self._level = 0 if name in _HEADINGS else self._level
        self._verbatim -= name == "pre"
        if name in ("ul", "ol", "menu", "dir") and self._lists:
            self._lists.pop()

    def _take(self, text: str | None) -> None:
        if text:
            text = text.translate(_MARKS)
            self._pieces.append(text.translate(_KEPT) if self._verbatim else text)

    def _flush(self) -> None:
        """End the paragraph that is open."""
        if not self._pieces:
            return
        text = shown("".join(self._pieces))
        self._pieces = []
        if not text:
            return
        level = self._level + self._level_shift if self._level else 0
        self._add(f"{self._marker}{text}", level=level, close=self._close)
        self._close, self._marker = False, ""

    def _add(self, text: str, *, level: int = 0, close: bool = False, **place: int) -> bool:
        added = self._builder.add(
            text, {**self._place, "para": self._paragraphs + 1, **place}, level=level, close=close
        )
        self._paragraphs += added
        return added

    def _add_table(self, table: etree._Element, grid: Grid) -> None:
        self._flush()
        self._tables += 1
        caption = table.find("{*}caption")
        if caption is not None:
            self._add(plain_content(caption))
        first = True
        for row, line in grid.lines():
            first = not self._add(line, close=not first, table=self._tables, row=row) and first


def shown(text: str) -> str:
    """Text as a page shows it: blanks put together, none around a line break nor where a line of Chinese goes on."""
    text = _BLANKS.sub(_one_blank, text)
    return re.sub(f" ?{_BREAK} ?", _BREAK, text).translate(_SHOWN).strip()


def _one_blank(match: re.Match[str]) -> str:
    """A space, or nothing where a line of Chinese or Japanese goes on in the next one."""
    text = match.string
    before, after = text[max(0, match.start() - 1) : match.start()], text[match.end() : match.end() + 1]
    return "" if "\n" in match[0] and before and after and is_wide(before) and is_wide(after) else " "


def _whole(text: str | None, otherwise: int) -> int:
    return int(text) if text and re.fullmatch(r"[0-9]{1,6}", text.strip()) else otherwise


def _data_table(table: etree._Element) -> Grid | None:
    """The cells of a table of data; None for one that only lays out a page: one column, or with blocks in its cells."""
    if (
        table.get("role") in ("presentation", "none")
        or next(table.iterdescendants("table", "{*}table"), None) is not None
    ):
        return None
    if any(local_name(element) in _HEADINGS for element in table.iterdescendants()):
        return None
    grid, has_heads = Grid(), False
    for row in table.iterdescendants("tr", "{*}tr"):
        cells = [cell for cell in row if local_name(cell) in ("td", "th")]
        heads = sum(local_name(cell) == "th" for cell in cells)
        is_head = bool(cells) and (heads == len(cells) or local_name(row.getparent()) == "thead")  # type: ignore[arg-type]
        has_heads = has_heads or heads > 0
        grid.next_row(is_head=is_head)
        for cell in cells:
            text = plain_content(cell)
            if len(text) > _MAX_CELL_CHARS:
                return None
            across = min(_whole(cell.get("colspan"), 1) or 1, _MAX_SPAN)
            grid.put(text, across, min(_whole(cell.get("rowspan"), 1) or 1, _MAX_SPAN))
    return grid if grid.columns > 1 or has_heads else None
