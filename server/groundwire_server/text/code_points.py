"""Tables by code point: what the matching form makes of it, and of which kind of token it is a part.

They let whole arrays of code points be tokenized without a pattern matcher. `tokenize` decides; the tables are read off
it, and a test holds both equal on hostile text.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from groundwire_server.text.scripts import CJK_CLASS, cjk_table, mark_classes
from groundwire_server.text.tokens import matching_form

__all__ = ["BETWEEN", "CJK", "CONTEXT", "LINE_END", "WORD", "CodePointTables", "code_point_tables"]

BETWEEN, WORD, CJK, LINE_END = range(4)
"""Kinds of code points: part of no token, of a word, of a CJK run; the first of these and ending a line."""
CONTEXT = 0xFFFFFFFF
"""Stands in `matching` where what becomes of a code point is not one code point whatever stands around it."""

_BASIC_PLANE = 0x10000
_LINE_ENDS = (0x0A, 0x0B, 0x0C, 0x0D, 0x85, 0x2028, 0x2029)


@dataclass(frozen=True, slots=True)
class CodePointTables:
    """What is known of code points.

    Attributes:
        matching: uint32[0x10000], the one code point that a code point is in matching form; `CONTEXT` where it depends
            on its neighbours, or is none or several.
        kinds: uint8[0x110000], of code points in matching form.
    """

    matching: NDArray[np.uint32]
    kinds: NDArray[np.uint8]


@cache
def code_point_tables() -> CodePointTables:
    """The tables of this interpreter's Unicode version; made at first need, in some 0.3 s."""
    return CodePointTables(_matching(), _kinds())


def _matching() -> NDArray[np.uint32]:
    single = [char for char in _characters(_BASIC_PLANE) if char not in "\0\n"]
    # A line feed between two keeps them from meeting.
    joined = "\n".join(single)
    forms = matching_form(joined).split("\n")
    parts = unicodedata.normalize("NFKD", joined).split("\n")
    joining = _joining(single)
    table = np.full(_BASIC_PLANE, CONTEXT, dtype=np.uint32)
    for char, form, decomposed in zip(single, forms, parts, strict=True):
        if len(form) == 1 and joining.isdisjoint((char, form, decomposed[0])):
            table[ord(char)] = ord(form)
    table[[0, 0x0A]] = 0, 0x0A
    table[0xAD] = CONTEXT  # a soft hyphen shows at the end of a line
    table[0x2026] = ord(".")  # three of them in truth, and none is part of a token
    table.setflags(write=False)
    return table


def _joining(single: list[str]) -> frozenset[str]:
    """Characters that may join the one before them, or change places with it."""
    found = {chr(code) for code in (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))}
    for char in single:
        pair = unicodedata.decomposition(char).split()
        if len(pair) == 2 and not pair[0].startswith("<"):
            found.add(chr(int(pair[1], 16)))
    found.update(char for char in single if unicodedata.combining(char))
    return frozenset(found)


def _characters(count: int) -> str:
    """All characters in order; a NUL for each half of a surrogate pair."""
    codes = np.arange(count, dtype="<u4")
    codes[0xD800:0xE000] = 0
    return codes.tobytes().decode("utf-32-le")


def _kinds() -> NDArray[np.uint8]:
    table = np.full(0x110000, BETWEEN, dtype=np.uint8)
    table[list(_LINE_ENDS)] = LINE_END
    for found in re.finditer(rf"(?:[^\W_{CJK_CLASS}]|[{mark_classes()[1]}])+", _characters(0x110000)):
        table[found.start() : found.end()] = WORD
    table[cjk_table()] = CJK
    table.setflags(write=False)
    return table
