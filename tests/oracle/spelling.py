"""How people write a name: the same name in other letters."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Callable

__all__ = ["misspell", "respell"]


def respell(draw: random.Random, name: str, *, words: bool = True, joints: bool = True) -> str:
    """A name as somebody else would write it; it must still be read as the same.

    `words`: it is made of common words, which have a plural and other orders; the name of a company has not.
    `joints`: its words may be joined by other signs than blanks.
    """
    ways: list[Callable[[str], str]] = [
        str,
        str,
        str.lower,
        str.upper,
        str.title,
        _full_width,
        _spaced,
        _invisible,
        _decomposed,
    ]
    if not words:
        ways += [_turned]
    if name.isascii():
        ways += [_without_commas, _noted]
        ways += [_underscored, _hyphenated] if joints else []
        if words and "&" not in name and "'" not in name and not any(each.isdigit() for each in name):
            ways += [_plural, _other_order]
    else:
        ways += [_blanks_inside, _noted_wide]
    made = name
    for _ in range(draw.choice((1, 1, 1, 2))):
        made = draw.choice(ways)(made) if made else name
        if made.casefold() != name.casefold() and draw.random() < 0.5:
            break
    return made


def misspell(draw: random.Random, name: str) -> str:
    """A name that is nearly another one."""
    if len(name) < 5:
        return name + "qz"
    place = draw.randrange(1, len(name) - 1)
    return draw.choice((name[:place] + "q" + name[place:], name[:place] + "qq" + name[place + 1 :], name + "q"))


def _full_width(name: str) -> str:
    return "".join(chr(ord(each) + 0xFEE0) if "!" <= each <= "~" else each for each in name)


def _spaced(name: str) -> str:
    return f"  {name.replace(' ', '   ')} "


def _invisible(name: str) -> str:
    return name[:1] + "\u200b" + name[1:]


def _decomposed(name: str) -> str:
    return unicodedata.normalize("NFD", name)


def _underscored(name: str) -> str:
    return name.replace(" ", "_")


def _hyphenated(name: str) -> str:
    return name.replace(" ", "-")


def _without_commas(name: str) -> str:
    return name.replace(",", "")


def _noted(name: str) -> str:
    return name if name.endswith(")") else f"{name} (as stated)"


def _noted_wide(name: str) -> str:
    return name if name.endswith("）") else f"{name}（注）"


def _plural(name: str) -> str:
    if not name.isascii() or not name[-1:].isalpha() or name[-1] in "sxzhSXZH":
        return name
    if name[-1] in "yY":
        return name if name[-2:-1].lower() in "aeiou" else name[:-1] + "ies"
    return name + "s"


def _other_order(name: str) -> str:
    words = name.split()
    if name.endswith(")"):
        return name  # a note stays at the end
    if {"of", "per", "on", "the"}.intersection(name.casefold().split()):
        return name  # cost of sales: the order is the meaning
    return " ".join(words[1:] + words[:1]) if len(words) > 1 and words[-1].isalpha() else name


def _turned(name: str) -> str:
    first, of, last = name.partition(" of ")
    return f"{last}, {first} of" if of and "," not in name and not name.endswith((")", "）")) else name


def _blanks_inside(name: str) -> str:
    return " ".join(name) if all(ord(each) > 0x2E7F for each in name) else name
