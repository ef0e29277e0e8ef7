"""Writes tokens.json and bm25.json, from the oracles and nothing else: `python -m tests.conformance.lexical_vectors`.

Each vector is plain JSON, so that an implementation in any language can be held against it. Scores are float64, printed
with as many digits as name each exactly one; `ln` is that of the C library.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from tests.lexical.oracle import bm25
from tests.text.oracle import PIECES, tokens

FOLDER = Path(__file__).parent

TEXTS = [
    "",
    "Revenue rose 3.5 % in FY2024 (FY2023: 1,234).",
    "snake_case camelCase it's non-GAAP",
    "2024年度の売上高は1,000億円でした。",
    "ニューヨーク・タイムズ ｶﾞｽ代 コーヒー 時々 々",
    "营业收入增长12%，净利润下降；香港revenue",
    "禰󠄀豆子 𠮷野家 〇二 ㈱ ㍻",
    "매출은 10% 증가했다 \u1112\u1161\u11ab\u1100\u116e\u11a8",
    "Straße STRASSE ﬁnance Ｒｅｖｅｎｕｅ İstanbul ǅ",
    "na\u00efve nai\u0308ve re\u200bvenue co\u00adoperate",
    "Привет ΣΊΣΥΦΟΣ العربية हिन्दी สวัสดี",
    "👩‍👩‍👧 ❤️ 1️⃣ 𝐀𝟙 ½ x² ①",
    "an inter-\nnational and a trans\u00ad\r\nconti-\u2028nental firm, 1990-\n2000, 日-\n本, left-  \t\n  over",
    "か\u3099く あ\u3099 漢\u0301 \u0301 a\u0301\u0301",
]

CORPUS = [
    "Net revenue was 3.5 billion; net income fell.",
    "売上高は増加し、純利益は減少した。",
    "营业收入增长，净利润下降。",
    "revenue revenue revenue " + "costs " * 300,
    "",
    "香港revenue 香港",
    "Revenue of the year 2024, revenue of the year 2023",
    "コーヒーの売上",
]

SEARCHES: list[dict[str, Any]] = [
    {"name": "one word", "query": "revenue"},
    {"name": "order and repetition of terms", "query": "year revenue net year 2024"},
    {"name": "japanese", "query": "売上高は"},
    {"name": "chinese, with words that no row holds", "query": "营业收入 unknown 无"},
    {"name": "statistics of the candidates only", "query": "revenue net", "candidates": [0, 4, 6]},
    {"name": "more occurrences than a byte holds", "query": "costs costs revenue"},
    {"name": "a candidate without tokens", "query": "revenue", "candidates": [4]},
    {"name": "no candidate", "query": "revenue", "candidates": []},
    {"name": "no token", "query": "。 - _"},
    {"name": "other parameters", "query": "revenue of 売上", "k1": 0.9, "b": 0.4},
    {"name": "no saturation, no length", "query": "revenue of 売上", "k1": 0.0, "b": 0.0},
]


def token_vectors() -> list[dict[str, Any]]:
    """Texts with their tokens."""
    chosen = random.Random(2)
    mixed = ["".join(chosen.choices([piece for piece in PIECES if piece != "\ud800"], k=9)) for _ in range(60)]
    return [{"text": text, "tokens": tokens(text)} for text in [*TEXTS, *mixed]]


def bm25_vectors() -> dict[str, Any]:
    """A corpus, and searches with every row that has a score."""
    rows = [tokens(text) for text in CORPUS]
    cases = []
    for search in SEARCHES:
        case = {"candidates": list(range(len(rows))), "k1": 1.5, "b": 0.75, **search}
        found = bm25(tokens(case["query"]), rows, case["candidates"], case["k1"], case["b"])
        cases.append({**case, "expected": [{"row": row, "score": score} for row, score in found]})
    return {"rows": CORPUS, "cases": cases}


def main() -> None:
    """Write both files."""
    for name, vectors in (("tokens", token_vectors()), ("bm25", bm25_vectors())):
        text = json.dumps(vectors, ensure_ascii=True, indent=1)
        (FOLDER / f"{name}.json").write_text(text + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
