"""Budgets in the tokens of the real model."""

from __future__ import annotations

import pytest

from groundwire_server.chunking import CHUNKERS, make_chunker
from groundwire_server.dense import OnnxEmbedder
from tests.support.real_model import real_model

TEXTS = (
    "The quick brown fox jumps over the lazy dog. " * 40,
    "Antidisestablishmentarianism" * 60,
    "日本の売上高は増えた。東京は首都である。" * 40,
    "国债收益率上升。" * 90 + "\n" + "收入" * 300,
    "e\u0301 👩\u200d👩\u200d👧 ﷺ\r\n\t" * 60,
)


@pytest.mark.model
@pytest.mark.parametrize("name", [name for name in CHUNKERS if name not in ("whole", "semantic")])
def test_each_chunk_has_at_most_so_many_tokens(name: str) -> None:
    model = OnnxEmbedder(real_model())
    marks = model.token_count("")
    for text in TEXTS:
        for most in (8, 64):
            chunks = make_chunker(name, most, most // 4, "tokens", model).chunk(text)
            for chunk in chunks:
                assert text[chunk.span.start : chunk.span.end] == chunk.text
                assert len(model.token_starts(chunk.text)) <= most
                assert model.token_count(chunk.text) <= most + marks
            if name == "paragraph":  # and the budget is used: chunks are no smaller than they have to be
                assert len(chunks) <= 2 + 2 * len(model.token_starts(text)) / most


@pytest.mark.model
def test_meaning_parts_what_does_not_belong_together() -> None:
    bread = "Bread is baked from flour and water. The dough rises in a warm kitchen. The baker opens the hot oven."
    rates = "The central bank raised interest rates. Bond yields climbed to a new high. Investors sold their shares."
    chunks = make_chunker("semantic", model=OnnxEmbedder(real_model())).chunk(f"{bread} {rates}")
    assert [chunk.text for chunk in chunks] == [bread, rates]
