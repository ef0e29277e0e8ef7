"""How characters of a page are put into text: where lines join without a space, and figures that stand high."""

from __future__ import annotations

import re

from groundwire_server.text import is_cjk

__all__ = ["is_wide", "raised"]

_FIGURES = re.compile(r"[0-9+=()−-]+")
_RAISED = str.maketrans("0123456789+-−=()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾")


def is_wide(char: str) -> bool:
    """Whether it is of Chinese or Japanese, or their punctuation: no space stands between two of them.

    >>> [is_wide(char) for char in "漢カ。한a"]
    [True, True, True, False, False]
    """
    korean = "\uac00" <= char <= "\ud7a3"
    return (is_cjk(char) and not korean) or "\u3000" <= char <= "\u303f" or "\uff00" <= char <= "\uffef"


def raised(text: str) -> str:
    """Figures that are set high, as such: what was 10 to the sixth must not read as one hundred and six.

    >>> "10" + raised("6"), raised("th")
    ('10⁶', 'th')
    """
    return text.translate(_RAISED) if _FIGURES.fullmatch(text) else text
