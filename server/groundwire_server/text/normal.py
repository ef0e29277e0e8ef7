"""The normal form in which texts are compared. Stored text is never changed by it."""

from __future__ import annotations

import re
from unicodedata import normalize as unicode_normalize

from groundwire_server.text.scripts import IGNORABLE_CLASS

__all__ = ["normalize"]

_IGNORABLE = re.compile(f"[{IGNORABLE_CLASS}]+")


def normalize(text: str) -> str:
    """The form in which two texts are compared: NFKC(casefold(NFKC(text))) without zero-width characters and
    variation selectors (semantics 1).

    They leave first, so that what stood around them meets as if they had never been there.

    >>> normalize("Ｒevenue ｶﾞｽ ﬁne Straße e\\u200d\\u0301")
    'revenue ガス fine strasse é'
    """
    if text.isascii():
        return text.lower()
    composed = unicode_normalize("NFKC", _IGNORABLE.sub("", text))
    folded = composed.casefold()
    return composed if folded == composed else unicode_normalize("NFKC", folded)
