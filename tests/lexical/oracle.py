"""BM25 as semantics 2 writes it, over lists of tokens, in plain Python."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hypothesis import strategies as st

WORDS = [
    "revenue", "net", "income", "a", "the", "2024", "naïve", "売上", "売上高", "の", "高", "カー", "香港revenue",
    "한국", "inter-\nnational", "𠮷", "Привет", "x" * 40,
]  # fmt: skip


def bm25(
    query: Sequence[str], rows: Sequence[Sequence[str]], candidates: Sequence[int], k1: float = 1.5, b: float = 0.75
) -> list[tuple[int, float]]:
    """Rows with a score above 0, ascending, with their scores.

    The formula has the constants of k1 = 1.5 and b = 0.75 written out where those are asked for.
    """
    n = len(candidates)
    found: list[tuple[int, float]] = []
    if not n:
        return found
    average = sum(len(rows[row]) for row in candidates) / n
    distinct = list(dict.fromkeys(query))
    df = {term: sum(term in rows[row] for row in candidates) for term in distinct}
    for row in candidates:
        length = len(rows[row])
        score = 0.0
        for term in distinct:
            tf = rows[row].count(term)
            if not tf:
                continue
            qtf = query.count(term)
            idf = math.log(1 + (n - df[term] + 0.5) / (df[term] + 0.5))
            if (k1, b) == (1.5, 0.75):
                score += ((qtf * idf) * tf * 2.5) / (tf + 1.5 * (0.25 + 0.75 * length / average))
            else:
                score += ((qtf * idf) * tf * (k1 + 1)) / (tf + k1 * ((1 - b) + b * length / average))
        if score > 0:
            found.append((row, score))
    return found


def row_texts() -> st.SearchStrategy[list[str]]:
    """Texts of a few words each, some of them empty, some repeated."""
    word = st.sampled_from(WORDS)
    text = st.lists(word, max_size=8).map(" ".join) | st.builds(lambda w, n: f"{w} " * n, word, st.integers(1, 5))
    return st.lists(text, max_size=40)


def queries() -> st.SearchStrategy[str]:
    """Queries with known, unknown and repeated words."""
    return st.lists(st.sampled_from([*WORDS, "unknown", "無", "。"]), max_size=6).map(" ".join)
