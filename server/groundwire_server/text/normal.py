"""The normal form in which texts are compared. Stored text is never changed by it."""

from __future__ import annotations

import re
from unicodedata import normalize as unicode_normalize

from groundwire_server.text.scripts import IGNORABLE_CLASS

__all__ = ["normalize"]

# Full-width forms stand in nearly every Chinese text. Exchanged beforehand, they leave a text that needs no composing,
# which Unicode's quick check sees at once; the result is the same by definition of NFKC.
_WIDE = {chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)} | {"\u3000": " ", "\u2026": "..."}
_DROPPED_OR_WIDE = re.compile(f"[{IGNORABLE_CLASS}\u2026\u3000\uff01-\uff5e]")


def normalize(text: str) -> str:
    """The form in which two texts are compared: NFKC(casefold(NFKC(text))) without zero-width characters and
    variation selectors (semantics 1).

    They leave first, so that what stood around them meets as if they had never been there.

    >>> normalize("Ｒevenue ｶﾞｽ ﬁne Straße e\\u200d\\u0301")
    'revenue ガス fine strasse é'
    """
    if text.isascii():
        return text.lower()
    composed = unicode_normalize("NFKC", _DROPPED_OR_WIDE.sub(_narrow, text))
    folded = composed.casefold()
    return composed if folded == composed else unicode_normalize("NFKC", folded)


def _narrow(found: re.Match[str]) -> str:
    return _WIDE.get(found[0], "")
