"""Fonts that a PDF names and does not hold: without their letters the library gives no text for some of the page."""

from __future__ import annotations

import ctypes
from typing import Any

__all__ = ["count_lost_texts"]

_NAME_BYTES = 128
_MAX_NESTING = 4
_NO_WIDTH = 1e-3
# The library has the letters of these itself, so that what takes no place in them is blank.
_ALWAYS_THERE = (b"Arial", b"Courier", b"Helvetica", b"Symbol", b"Times", b"ZapfDingbats")


def count_lost_texts(page: Any) -> int:
    """How many pieces of text of a page (`pypdfium2.PdfPage`) take no place, as the letters of their font are missing.

    pdfium leaves such pieces out of the text of the page: a letter that stands alone, a vertical line.
    """
    import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

    lost = 0
    for text in page.get_objects(filter=(pdfium.FPDF_PAGEOBJ_TEXT,), max_depth=_MAX_NESTING):
        left, _, right, _ = text.get_bounds()
        lost += right - left < _NO_WIDTH and _is_elsewhere(pdfium, text)
    return lost


def _is_elsewhere(pdfium: Any, text: Any) -> bool:
    """Whether the letters of a text are neither in the file nor in the library."""
    font = pdfium.FPDFTextObj_GetFont(text.raw)
    if not font or pdfium.FPDFFont_GetIsEmbedded(font):
        return False
    name = ctypes.create_string_buffer(_NAME_BYTES)
    pdfium.FPDFFont_GetBaseFontName(font, name, _NAME_BYTES)
    return not name.value.rpartition(b"+")[2].startswith(_ALWAYS_THERE)
