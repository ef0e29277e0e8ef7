"""A hybrid search asks its legs for their best rows alone, and ranks as if it had the score of every row.

The oracle has every score of both legs, as dictionaries, and puts them together row by row.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire_server.dense import HashEmbedder
from groundwire_server.evidence import (
    Attribute,
    Call,
    CallOptions,
    Filter,
    Label,
    Operator,
    Predicate,
    Snippet,
    Snippets,
)
from groundwire_server.glossary import Glossary
from groundwire_server.lexical import Bm25
from groundwire_server.library import LibraryConfig, Snapshot
from groundwire_server.narrative import (
    COSINE_SCALE,
    RRF_K,
    RetrievalMode,
    RetrievalParts,
    RetrievalTuning,
    RetrieveRequest,
    glossary_variants,
    retrieve,
)
from groundwire_server.security import local_principal
from groundwire_server.text import tokenize
from tests.support.libraries import Doc, make_library, new_document

EMBEDDER = HashEmbedder()
DEPTH = 7
GLOSSARY = """
[[metric]]
code = "REVENUE"
label = "revenue"
unit = "EUR"
synonyms = { en = ["turnover", "sales"], zh = ["收入"], ja = ["売上高"] }

[[entity]]
code = "ACME"
label = "Acme"
type = "company"
synonyms = { ja = ["アクメ"] }
"""
WORDS = (
    "revenue",
    "turnover",
    "sales",
    "売上高",
    "收入",
    "acme",
    "アクメ",
    "rose",
    "fell",
    "the",
    "the",
    "東京都",
    "🎉",
)
Scores = dict[int, float]


def documents() -> list[Doc]:
    chosen = np.random.default_rng(5)
    docs = []
    for number in range(60):
        text = " ".join(chosen.choice(WORDS, size=int(chosen.integers(1, 12))))
        label = Label.RESTRICTED if number % 9 == 0 else Label.INTERNAL
        docs.append(Doc(f"{number:02}.md", text, label=label, attributes=(Attribute("tenth", number % 10),)))
    return docs


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    """Some rows have no vector: they came after the last embedding."""
    docs = documents()
    library = make_library(
        tmp_path_factory.mktemp("complete"),
        docs[:50],
        glossary=Glossary.from_toml(GLOSSARY),
        embedder=EMBEDDER,
        config=LibraryConfig(vector_depth=DEPTH),
    )
    with library.writing() as writer:
        for doc in docs[50:]:
            writer.replace_document(new_document(doc))
    return library.snapshot()


def every_score(snapshot: Snapshot, text: str, call: Call) -> Scores:
    found = snapshot.lexical.search(tokenize(text), snapshot.candidates(call), parameters=Bm25(1.5, 0.75))
    return dict(zip(found.rows.tolist(), found.scores.tolist(), strict=True))


def best_first(scores: Scores, key: Callable[[int], tuple[str, int, int]]) -> list[int]:
    return sorted(scores, key=lambda row: (-scores[row], key(row)))[:DEPTH]


def expected(snapshot: Snapshot, texts: Sequence[str], call: Call, fusion: str) -> list[tuple[int, float, float]]:
    """(row, fused score, BM25) of every row of both lists, best first."""
    key = snapshot.tie_key
    lists = [every_score(snapshot, text, call) for text in texts]
    ceiling = max(lists[0].values(), default=0.0)
    place: dict[int, tuple[int, int]] = {}
    bm25: Scores = {}
    for number, scores in enumerate(lists):
        for rank, row in enumerate(best_first(scores, key)):
            place[row] = min(place.get(row, (rank, number)), (rank, number))
        highest = max(scores.values(), default=0.0)
        factor = ceiling / highest if 0 < ceiling < highest else 1.0
        for row, score in scores.items():
            bm25[row] = max(bm25.get(row, 0.0), score * factor)
    words = sorted(place, key=lambda row: place[row])[:DEPTH]

    vectors = snapshot.vectors
    assert vectors is not None
    candidates = np.flatnonzero(snapshot.candidates(call) & vectors.present)
    cosines = vectors.score(EMBEDDER.embed_query(texts[0]), candidates)
    cosine: Scores = dict(zip(candidates.tolist(), cosines.tolist(), strict=True))
    meaning = best_first(cosine, key)

    rows = {*words, *meaning}
    if fusion == "rrf":
        fused = {
            row: sum((1 / (RRF_K + ranked.index(row) + 1) for ranked in (words, meaning) if row in ranked), 0.0)
            for row in rows
        }
    else:
        known = [cosine[row] for row in words if row in cosine] or [cosine[row] for row in rows if row in cosine]
        typical = math.fsum(known) / len(known) if known else 0.0
        scale = COSINE_SCALE if known else 0.0
        best = math.sqrt(max((bm25.get(row, 0.0) for row in rows), default=0.0)) or 1.0
        fused = {row: bm25.get(row, 0.0) / best + scale * cosine.get(row, typical) for row in rows}
    order = sorted(rows, key=lambda row: (-fused[row], key(row)))
    return [(row, fused[row], bm25.get(row, 0.0)) for row in order]


@settings(max_examples=150)
@given(
    words=st.lists(st.sampled_from((*WORDS, "nowhere")), min_size=1, max_size=5),
    fusion=st.sampled_from(["linear", "rrf"]),
    variants=st.booleans(),
    tenth=st.none() | st.integers(0, 9),
    top_k=st.sampled_from([1, 3, 6]),
)
def test_the_ranking_is_that_of_all_scores(
    snapshot: Snapshot, words: list[str], fusion: str, variants: bool, tenth: int | None, top_k: int
) -> None:
    query = " ".join(words)
    chosen: Filter | None = None if tenth is None else Predicate("tenth", Operator.LTE, (tenth,))
    call = Call(local_principal(), CallOptions(filter=chosen))
    request = RetrieveRequest(
        query, top_k, RetrievalMode.HYBRID, RetrievalTuning(fusion=fusion, glossary_variants=variants)
    )
    frames = retrieve(request, call, [snapshot], RetrievalParts(embedder=EMBEDDER))
    found: list[Snippet] = [one for frame in frames if isinstance(frame, Snippets) for one in frame.snippets]
    texts = [query, *(glossary_variants(query, snapshot.glossary) if variants else ())]
    wanted = expected(snapshot, texts, call, fusion)[:top_k]
    assert [one.lineage.doc_id for one in found] == [snapshot.tie_key(row)[0] for row, _, _ in wanted]
    assert [(one.scores.fused, one.scores.bm25) for one in found if one.scores] == [each[1:] for each in wanted]
