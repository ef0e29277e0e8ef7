"""The blocks of a page (headings, paragraphs, list items, rows of tables) in the order of its source."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lxml import etree

from groundwire_server.readers.characters import is_wide
from groundwire_server.readers.docx_numbers import chinese, han, letters, roman
from groundwire_server.readers.grid import Grid
from groundwire_server.readers.html_tree import BLOCKS, Boilerplate, local_name, plain_content, set_content
from groundwire_server.readers.text_builder import TextBuilder

__all__ = ["add_html"]

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLANKS = re.compile(r"[ \t\n\r\f]+")
# Stand for a line break and for blanks that stay, until the other blanks are put together.
_BREAK, _BLANK, _TAB = "\x01", "\x02", "\x03"
_KEPT = str.maketrans({"\n": _BREAK, "\r": None, " ": _BLANK, "\t": _TAB})
_SHOWN = str.maketrans({_BREAK: "\n", _BLANK: " ", _TAB: "\t"})
_MARKS = str.maketrans({_BREAK: None, _BLANK: None, _TAB: None})
_LIST_STYLE = re.compile(r"(?:^|;)\s*list-style(?:-type)?\s*:\s*([a-z-]+)", re.IGNORECASE)
_NUMBER_FORMS: Mapping[str, Callable[[int], str]] = {
    "A": letters,
    "I": roman,
    "a": lambda number: letters(number).lower(),
    "i": lambda number: roman(number).lower(),
    "upper-alpha": letters,
    "upper-latin": letters,
    "upper-roman": roman,
    "lower-alpha": lambda number: letters(number).lower(),
    "lower-latin": lambda number: letters(number).lower(),
    "lower-roman": lambda number: roman(number).lower(),
    "cjk-ideographic": han,
    "japanese-informal": han,
    "simp-chinese-informal": chinese,
    "trad-chinese-informal": chinese,
}
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


@dataclass(slots=True)
class _Numbers:
    """How the items of a list are counted.

    form: the number of an item as it is shown; None: items have none.
    coming: the number of the next item. step: -1 where they count down.
    """

    form: Callable[[int], str] | None
    coming: int = 1
    step: int = 1

    def next(self, said: str | None) -> str:
        """What stands before the next item, which may say its number itself."""
        if self.form is None:
            return ""
        number = _whole(said, self.coming)
        self.coming = number + self.step
        return f"{self.form(number)}. "


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
        self._lists: list[_Numbers] = []
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
            elif (known := set_content(element, name)) is not None:
                self._take(known)
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
            self._lists.append(_numbers(name, element))
        elif name == "li" and self._lists:
            self._close, self._marker = True, ""
            self._marker = self._lists[-1].next(element.get("value"))
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


def _numbers(name: str, element: etree._Element) -> _Numbers:
    """How a list is counted, as its attributes and its own style say."""
    if name != "ol":
        return _Numbers(None)
    style = _LIST_STYLE.search(element.get("style", ""))
    kind = style[1].lower() if style else (element.get("type") or "1").strip()
    if kind == "none":
        return _Numbers(None)
    down = element.get("reversed") is not None
    items = sum(local_name(child) == "li" for child in element) if down else 1
    return _Numbers(_NUMBER_FORMS.get(kind, str), _whole(element.get("start"), items), -1 if down else 1)


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
