"""The security gate: names that this deployment does not answer about (semantics 6).

It runs before data is touched, and again on every text that is made from a question. Matching is on the normal form
(NFKC, zero-width characters gone), blanks between CJK characters are looked through, and terms of spaced scripts need
word borders: full-width letters and invisible characters do not get by, and "Acmeville" is not "Acme".
"""

from __future__ import annotations

from collections.abc import Iterable

from groundwire_server.evidence import Refusal, RefusalReason, Span, make_refusal, slice_text
from groundwire_server.text import align, find_term, is_cjk, normalize

__all__ = ["SecurityGate"]


class SecurityGate:
    """Outside names of a deployment, and whether a text names one.

    Args:
        outside_names: competitors and the like; blank ones and repeats are passed over.
    """

    def __init__(self, outside_names: Iterable[str] = ()) -> None:
        named = {normalize(name).strip(): name for name in outside_names}
        self._names = tuple(name for normal, name in sorted(named.items()) if normal)

    def __bool__(self) -> bool:
        """Whether there is anything to look for."""
        return bool(self._names)

    def find(self, text: str, known: Iterable[Span] = ()) -> Span | None:
        """The first outside name within a text, or None.

        Args:
            known: where names of the glossary stand in the text. Inside Han the longest name wins: an outside name that
                is only a part of a longer known one is not named.
        """
        aligned = align(text)
        longer = tuple(known)
        hits = [span for name in self._names for span in find_term(aligned, name, across_blanks=True)]
        hits = [hit for hit in hits if not _is_part_of(hit, longer, text)]
        return min(hits, key=lambda hit: (hit.start, -hit.end), default=None)

    def refusal(self, text: str, language: str = "en", known: Iterable[Span] = ()) -> Refusal | None:
        """OUT_OF_SCOPE when the text names an outside name, else None."""
        return make_refusal(RefusalReason.OUT_OF_SCOPE, language) if self.find(text, known) is not None else None

    def passes(self, text: str) -> bool:
        """Whether a text that was made from a question names nothing outside."""
        return self.find(text) is None


def _is_part_of(hit: Span, longer: tuple[Span, ...], text: str) -> bool:
    name = slice_text(text, hit)
    if not (is_cjk(name[0]) and is_cjk(name[-1])):
        return False
    return any(
        span.start <= hit.start and hit.end <= span.end and span.end - span.start > hit.end - hit.start
        for span in longer
    )
