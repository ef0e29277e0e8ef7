"""The text of a paragraph of Word as it is shown: tracked changes taken as accepted, hidden text left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from groundwire_server.readers.characters import raised
from groundwire_server.readers.docx_numbers import W
from groundwire_server.readers.formulas import office_formula

__all__ = ["ParagraphText", "local"]

_LEFT_OUT = frozenset(
    {
        "annotationRef",
        "commentReference",
        "del",
        "delText",
        "fldData",
        "instrText",
        "moveFrom",
        "pPr",
        "rPr",
        "rt",
        "sdtPr",
    }
)
_SHOWN_AS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "\u2011", "softHyphen": "\u00ad"}
_NOTES = {"footnoteReference": "footnote", "endnoteReference": "endnote"}


class ParagraphText:
    """Takes the inline content of a paragraph apart.

    Attributes:
        text: what is shown; a note is "[1]" where it is referred to.
        boxes: bodies of text boxes that hang on the paragraph, in order.
        unread: names of the objects in it that hold no text here: "chart", "diagram", "object".

    Args:
        note: gives the mark of a note by its kind ("footnote", "endnote") and id.
    """

    def __init__(self, paragraph: Any, note: Callable[[str, str], str]) -> None:
        self.boxes: list[Any] = []
        self.unread: list[str] = []
        self._note = note
        self.text = "".join(self._inside(paragraph))

    def _inside(self, element: Any) -> Iterator[str]:
        for child in element:
            name = local(child)
            if name in _LEFT_OUT or (name == "r" and _is_hidden(child)):
                continue
            if name == "t":
                yield child.text or ""
            elif name == "r" and _is_raised(child):
                yield raised("".join(self._inside(child)))
            elif name == "oMath":
                yield office_formula(child)
            elif name in _SHOWN_AS:
                yield _SHOWN_AS[name]
            elif name in _NOTES:
                yield self._note(_NOTES[name], child.get(f"{W}id", ""))
            elif name == "AlternateContent":
                yield from self._inside(_alternative(child))
            elif name == "txbxContent":
                self.boxes.append(child)
            elif name in ("chart", "relIds"):
                self.unread.append("chart" if name == "chart" else "diagram")
            elif name == "OLEObject":
                self.unread.append("object")
            else:
                yield from self._inside(child)


def local(element: Any) -> str:
    """The name of an element without its namespace; empty for what is no element."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _alternative(element: Any) -> Any:
    """The first choice of several forms of one thing, else the one for programs that know none of them."""
    choices = [child for child in element if local(child) in ("Choice", "Fallback")]
    return choices[0] if choices else ()


def _is_raised(run: Any) -> bool:
    place = run.find(f"{W}rPr/{W}vertAlign")
    return place is not None and place.get(f"{W}val") == "superscript"


def _is_hidden(run: Any) -> bool:
    hidden = run.find(f"{W}rPr/{W}vanish")
    return hidden is not None and hidden.get(f"{W}val", "1") not in ("0", "false", "off")
