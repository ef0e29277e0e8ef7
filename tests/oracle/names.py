"""Names as the contract reads them: the same after normalisation, or the same but for plural and order of words.

Words have a plural and an order; the proper name of a body has neither, and is at most turned round at a comma.

Nothing here knows the server. What it follows is said in sections 1 and 10 of the semantics: NFKC, case, invisible
characters, spacing and punctuation are no difference; a note in brackets at the end may be left out on a second try.
"""

from __future__ import annotations

import re
import unicodedata

__all__ = ["exact_key", "loose_key", "turned_key", "without_note"]

_INVISIBLE = re.compile("[\u200b-\u200f\u2060-\u2064\ufeff\u00ad\ufe00-\ufe0f\u180e]")
_BINDING = frozenset(["of", "per", "on", "in", "to", "by", "for", "from", "the", "as", "at", "with", "without", "over"])
_NOTE = re.compile(r"^(?P<name>.*\S)\s*[(\[（［【〔][^()\[\]（）［］【】〔〕]*[)\]）］】〕]\s*$", re.S)


def exact_key(text: str) -> str:
    """The words of a name with single blanks between them; none beside a character of Chinese or Japanese."""
    folded = unicodedata.normalize("NFKC", _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).casefold())
    words = "".join(each if unicodedata.category(each)[0] in "LMNS" else " " for each in folded).split()
    joined = ""
    for word in words:
        beside = joined and (_is_cjk(joined[-1]) or _is_cjk(word[0]))
        joined += word if not joined or beside else f" {word}"
    return joined


def loose_key(text: str) -> str:
    """The same for a name in the plural and with its words in another order.

    Where a small word binds them (cost of sales, revenue per head) their order is their meaning, and stays.
    """
    words = [_singular(word) for word in exact_key(text).split()]
    return " ".join(words if _BINDING.intersection(words) else sorted(words))


def turned_key(text: str) -> str:
    """The name of a body as a list writes it, turned round at its comma: Korea, Republic of = Republic of Korea."""
    last, comma, first = unicodedata.normalize("NFKC", text).partition(",")
    return exact_key(f"{first} {last}") if comma and "," not in first else exact_key(text)


def without_note(text: str) -> str | None:
    """The name before a note in brackets at its end; None where there is no such note, or nothing before it."""
    found = _NOTE.match(text)
    return found["name"] if found else None


def _is_cjk(character: str) -> bool:
    name = unicodedata.name(character, "")
    return name.startswith(("CJK ", "HIRAGANA", "KATAKANA", "HANGUL")) or character in "々〆ー"


def _singular(word: str) -> str:
    if not (word.isascii() and word.isalpha()) or len(word) < 4 or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    return word.removesuffix("s")
