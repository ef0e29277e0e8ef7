"""How characters of a page are put into text: where lines join without a space, and figures that stand high."""

from __future__ import annotations

import re

from groundwire_server.text import is_cjk

__all__ = ["is_wide", "raised", "settle_raised"]

# Of notes there may be several (1,2), or of a table with a letter (3a); parts and powers have signs.
_FIGURES = re.compile(r"(?:[+=(−-]*[0-9](?:[0-9+=()−./*;–-]|, ?)*[a-z]?[)]?|[+=()−-]+)")
_RAISED = str.maketrans("0123456789+-−=()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾")
# Around figures that stand high, until it is known what stands before them; no text holds these controls otherwise.
_HIGH, _LOW = "\x0e", "\x0f"
_MARKED = re.compile(f"(?P<figure>[0-9])?{_HIGH}(?P<high>[^{_LOW}]*){_LOW}")


def is_wide(char: str) -> bool:
    """Whether it is of Chinese or Japanese, or their punctuation: no space stands between two of them.

    >>> [is_wide(char) for char in "漢カ。한a"]
    [True, True, True, False, False]
    """
    korean = "\uac00" <= char <= "\ud7a3"
    return (is_cjk(char) and not korean) or "\u3000" <= char <= "\u303f" or "\uff00" <= char <= "\uffef"


def raised(text: str) -> str:
    """Figures that are set high, marked as such; other text stays. `settle_raised` gives them their form."""
    return f"{_HIGH}{text}{_LOW}" if _FIGURES.fullmatch(text) else text


def settle_raised(text: str) -> str:
    """Figures that stand high, apart from a figure before them: the mark of a note must not make a number longer.

    Behind a letter they are what they look like; behind a figure that would be one with it as soon as it is normalised.

    >>> settle_raised("1,204,000" + raised("1") + raised("2") + " m" + raised("2"))
    '1,204,000^12 m²'
    """
    return _MARKED.sub(_settled, text.replace(_LOW + _HIGH, ""))


def _settled(match: re.Match[str]) -> str:
    figure, high = match["figure"] or "", match["high"]
    return f"{figure}^{high}" if figure else high.translate(_RAISED)
