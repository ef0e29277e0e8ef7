"""The vectors hold for this implementation, and they are what the oracles say today."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from groundwire_server.lexical import Bm25, LexicalIndex
from groundwire_server.lexical.build import build_segment
from groundwire_server.text import tokenize
from tests.conformance.lexical_vectors import FOLDER, bm25_vectors, token_vectors

TOKENS = json.loads((FOLDER / "tokens.json").read_text(encoding="ascii"))
BM25 = json.loads((FOLDER / "bm25.json").read_text(encoding="ascii"))


def test_the_files_are_current() -> None:
    assert token_vectors() == TOKENS
    assert bm25_vectors() == BM25


@pytest.mark.parametrize("vector", TOKENS, ids=[str(number) for number in range(len(TOKENS))])
def test_tokens(vector: dict[str, Any]) -> None:
    assert tokenize(vector["text"]) == vector["tokens"]


@pytest.mark.parametrize("case", BM25["cases"], ids=[case["name"] for case in BM25["cases"]])
def test_scores(case: dict[str, Any]) -> None:
    index = LexicalIndex([build_segment(BM25["rows"])])
    candidates = np.zeros(index.rows, dtype=np.bool_)
    candidates[case["candidates"]] = True
    found = index.search(tokenize(case["query"]), candidates, parameters=Bm25(case["k1"], case["b"]))
    rows = zip(found.rows.tolist(), found.scores.tolist(), strict=True)
    assert [{"row": row, "score": score} for row, score in rows] == case["expected"]
