"""How much of what a sentence says stands in a cited text: enough to see that one is of something else."""

from __future__ import annotations

import re

from groundwire_server.text import is_cjk, tokenize

__all__ = ["share_said"]

_FEWEST, _FEWEST_CJK = 4, 12
_NONE, _NONE_CJK = 2, 4
_EMPTY = frozenset(
    [
        "this",
        "that",
        "these",
        "those",
        "with",
        "from",
        "they",
        "them",
        "their",
        "there",
        "here",
        "have",
        "been",
        "were",
        "will",
        "would",
        "could",
        "should",
        "which",
        "when",
        "what",
        "where",
        "than",
        "then",
        "also",
        "more",
        "most",
        "some",
        "such",
        "into",
        "about",
        "after",
        "before",
        "other",
        "over",
        "only",
        "very",
        "just",
        "both",
        "each",
        "said",
        "says",
        "company",
    ]
)
_LATIN = re.compile(r"[a-z]{4,}")


def share_said(sentence: str, text: str, *, short: bool = False) -> float | None:
    """The share of the telling words of a sentence that the text has; None where that cannot be told: too few words,
    or another script. With `short`, a few words of which the text has none are 0.
    """
    words = _telling(sentence)
    cjk = sum(is_cjk(word[0]) for word in words) * 2 > len(words)
    few = len(words) < (_FEWEST_CJK if cjk else _FEWEST)
    if few and (not short or len(words) < (_NONE_CJK if cjk else _NONE)):
        return None
    known = _telling(text)
    same = sum(is_cjk(word[0]) == cjk for word in known) * 4 > len(known)
    if not known or not same:
        return None if known or few else 0.0
    share = sum(word in known for word in words) / len(words)
    return None if few and share else share


def _telling(text: str) -> frozenset[str]:
    tokens = tokenize(text)
    return frozenset(
        token
        for token in tokens
        if (is_cjk(token[0]) and len(token) > 1) or (_LATIN.fullmatch(token) is not None and token not in _EMPTY)
    )
