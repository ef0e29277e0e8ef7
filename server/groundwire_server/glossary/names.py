"""When two spellings are one name: normal form, then spacing and punctuation, then plural and word order.

Nothing here is fuzzy: two names either have a key in common or they do not (semantics 10).
"""

from __future__ import annotations

import re
import unicodedata

from groundwire_server.text import is_cjk, normalize

__all__ = ["inverted", "inverted_keys", "name_key", "stem", "variant_keys", "without_note", "words_of"]

_NOTE = re.compile(r"\s*(?:\([^()]*\)|（[^（）]*）|\[[^\[\]]*\]|［[^［］]*］|【[^【】]*】|〔[^〔〕]*〕)\s*$")
_MEANINGFUL_PUNCTUATION = frozenset("%‰#")
# What `_is_part` takes of ASCII, in one pass; most names are written so.
_ASCII_WORD = re.compile(r"[0-9a-z$+<=>|~^`%#]+")
_DIRECTED = frozenset(
    word
    for line in (
        "to per of over from by less minus versus vs than in on for at before after with without under above below",
        "between into against excluding including as",
    )
    for word in line.split()
)
"""With one of these in a name its words cannot change places: debt to equity is not equity to debt."""


def words_of(text: str) -> list[str]:
    """Words of a name in normal form: runs of letters, marks, digits and symbols; a CJK run is one word.

    >>> words_of("R&D expense, net（売上高）")
    ['r', 'd', 'expense', 'net', '売上高']
    """
    normal = normalize(text)
    if normal.isascii():
        return _ASCII_WORD.findall(normal)
    words: list[str] = []
    open_word = ""
    for char in normal:
        if not _is_part(char):
            words.append(open_word)
            open_word = ""
        elif open_word and is_cjk(open_word[-1]) != is_cjk(char) and not unicodedata.category(char).startswith("M"):
            words.append(open_word)
            open_word = char
        else:
            open_word += char
    words.append(open_word)
    return [word for word in words if word]


def _is_part(char: str) -> bool:
    return char.isalnum() or char in _MEANINGFUL_PUNCTUATION or unicodedata.category(char)[0] in "MS" or is_cjk(char)


def name_key(text: str) -> str:
    """The name without spacing and punctuation; a blank stays between two digits, so that 1.5 is not 15.

    >>> name_key("Ｌong-Term  Debt") == name_key("LongTermDebt"), name_key("1.5 %")
    (True, '1 5%')
    """
    key = ""
    for word in words_of(text):
        key += f" {word}" if key and key[-1].isdigit() and word[0].isdigit() else word
    return key or normalize(text).strip()


def stem(word: str) -> str:
    """An English word without its plural ending; every other word as it is.

    >>> [stem(word) for word in ("assets", "companies", "losses", "basis", "eps", "売上")]
    ['asset', 'company', 'loss', 'basis', 'eps', '売上']
    """
    if len(word) < 4 or not (word.isascii() and word.isalpha()) or word == "news":
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zzes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def variant_keys(text: str) -> frozenset[str]:
    """Keys that plural and word-order variants of a name share with it.

    In order; with the parts around a single comma exchanged; and in any order, where no word gives a direction.

    >>> bool(variant_keys("Assets, Current") & variant_keys("current asset"))
    True
    >>> bool(variant_keys("debt to equity") & variant_keys("equity to debt"))
    False
    """
    words = words_of(text)
    stems = [stem(word) for word in words]
    keys = {"".join(stems)}
    turned = inverted(text)
    if turned:
        keys.add("".join(stem(word) for word in words_of(turned)))
    if not _DIRECTED.intersection(words):
        keys.add(" ".join(sorted(stems)))
    return frozenset(keys)


def inverted(text: str) -> str:
    """The name with the parts around its only comma exchanged; empty where it has none or several.

    >>> inverted("Korea, Republic of")
    'republic of korea'
    """
    head, comma, tail = (part.strip() for part in normalize(text).partition(","))
    return f"{tail} {head}" if comma and head and tail and "," not in tail else ""


def inverted_keys(text: str) -> frozenset[str]:
    """Keys that a name of its own shares with its inverted form. It has no plural, and its words keep their places."""
    return frozenset(name_key(form) for form in (text, inverted(text)) if form)


def without_note(text: str) -> str:
    """The name without a bracketed note at its end, or the name itself where it has none or is nothing else.

    >>> without_note("Receivables, net (Note 2)"), without_note("(Note 2)")
    ('Receivables, net', '(Note 2)')
    """
    return _NOTE.sub("", text) or text
