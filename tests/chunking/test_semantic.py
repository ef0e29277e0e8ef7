from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from groundwire_server.chunking import SemanticChunker
from groundwire_server.chunking.semantic import MAX_SENTENCES
from groundwire_server.dense import HashEmbedder
from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.ingest import DocumentHead, DocumentRules, RefusedDocument, prepare_documents


class Angles:
    """Gives each sentence the direction that its last word names, in degrees."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed_passage(self, text: str) -> NDArray[np.float32]:
        self.asked.append(text)
        angle = np.deg2rad(float(text.rstrip(".。").rpartition(" ")[2]))
        return np.array([np.cos(angle), np.sin(angle)], np.float32)

    def token_starts(self, text: str) -> list[int]:
        raise AssertionError("the budget is in characters")


def cut(degrees: list[int], most: int = 480) -> list[str]:
    text = " ".join(f"Turn {each}." for each in degrees)
    return [chunk.text for chunk in SemanticChunker(most, 0, model=Angles()).chunk(text)]


def test_the_widest_tenth_of_the_steps_are_borders() -> None:
    # 20 steps: the 90th percentile lies between the second and the third widest, so that two are borders.
    degrees = [0, 1, 2, 3, 4, 5, 90, 91, 92, 93, 94, 95, 96, 97, 170, 171, 172, 173, 174, 175, 190]
    first, second, third = cut(degrees)
    assert (first.startswith("Turn 0."), second.startswith("Turn 90."), third.startswith("Turn 170.")) == (True,) * 3


def test_equal_steps_are_no_borders() -> None:
    assert len(cut([0, 0, 0, 0, 0])) == 1
    assert len(cut([0])) == len(cut([0, 90])) == 1


def test_what_is_between_borders_is_packed_up_to_the_budget() -> None:
    assert cut([0, 1, 2, 90], most=16) == ["Turn 0. Turn 1.", "Turn 2.", "Turn 90."]


def test_each_sentence_is_asked_once() -> None:
    model = Angles()
    SemanticChunker(model=model).chunk("Dr. Sato turns 1. He turns 2.\nTurn 3")
    assert model.asked == ["Dr. Sato turns 1.", "He turns 2.", "Turn 3"]


def test_a_text_of_too_many_sentences_is_refused_by_itself() -> None:
    long = "A.\n" * (MAX_SENTENCES + 1)
    with pytest.raises(DocumentRefused, match="20001 sentences"):
        SemanticChunker(model=HashEmbedder()).chunk(long)
    rules = DocumentRules(chunker="semantic", model=HashEmbedder)
    (refused,) = prepare_documents(DocumentHead("long.txt"), long.encode(), rules)
    assert isinstance(refused, RefusedDocument)
    assert refused.error.reason is ErrorReason.DOCUMENT_TOO_LARGE
    assert refused.error.message.startswith("long.txt: It has 20001 sentences")
