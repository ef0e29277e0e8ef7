"""The graphs compute what the data file says."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from groundwire_server.dense.models.encoder_graph import ARITHMETICS, encoder_model
from groundwire_server.dense.models.tokenizer_file import tokenizer_json
from groundwire_server.dense.models.weights_file import WeightsFile
from groundwire_server.dense.onnx_embedder import _load_session
from tests.dense.plain_encoder import plain_states
from tests.dense.tiny_model import HIDDEN, PIECES, data_file


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> WeightsFile:
    path = tmp_path_factory.mktemp("weights") / "tiny.bin"
    path.write_bytes(data_file())
    return WeightsFile(path)


def _run(model: bytes, tokens: list[int], folder: Path) -> NDArray[np.float32]:
    path = folder / "model.onnx"
    path.write_bytes(model)
    (states,) = _load_session(path).run(["last_hidden_state"], {"input_ids": np.array([tokens])})
    return np.asarray(states[0])


@pytest.mark.parametrize(("arithmetic", "cosine"), [("q4", 0.9995), ("int8", 0.998)])
@pytest.mark.parametrize("length", [2, 9, 64])
def test_states_are_those_of_a_plain_encoder(
    weights: WeightsFile, arithmetic: str, cosine: float, length: int, tmp_path: Path
) -> None:
    tokens = np.random.default_rng(length).integers(0, len(PIECES), length).tolist()
    states = _run(encoder_model(weights, arithmetic, {}), tokens, tmp_path)
    expected = plain_states(weights, tokens)
    assert states.shape == (length, HIDDEN)
    cosines = (states * expected).sum(axis=1) / np.linalg.norm(states, axis=1) / np.linalg.norm(expected, axis=1)
    assert cosines.min() > cosine


@pytest.mark.parametrize("arithmetic", ARITHMETICS)
def test_conversion_gives_the_same_bytes_twice(weights: WeightsFile, arithmetic: str, tmp_path: Path) -> None:
    again = tmp_path / "again.bin"
    again.write_bytes(data_file())
    made = [encoder_model(given, arithmetic, {"a": "1"}) for given in (weights, WeightsFile(again))]
    assert made[0] == made[1]
    assert encoder_model(weights, arithmetic, {"a": "2"}) != made[0]
    tokenizers = [tokenizer_json(given.vocabulary, 64) for given in (weights, WeightsFile(again))]
    assert tokenizers[0] == tokenizers[1]


def test_vocabulary_and_characters(weights: WeightsFile) -> None:
    assert list(weights.vocabulary.pieces) == PIECES
    assert weights.vocabulary.scores[:3] == (0.0, -1.0, -2.0)
    assert weights.vocabulary.characters == {"\u200d": " ", "Ａ": "A"}
    assert (weights.vocabulary.bos, weights.vocabulary.eos, weights.vocabulary.unknown) == (0, 2, 3)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("", ["<s>", "</s>"]),
        ("Ａb", ["<s>", "▁", "A", "b", "</s>"]),
        ("b\u200db", ["<s>", "▁", "b", "▁", "b", "</s>"]),
        ("b \n\t b", ["<s>", "▁", "b", "▁", "b", "</s>"]),
        ("か\u3099", ["<s>", "▁", "が", "</s>"]),
        ("</s>", ["<s>", "</s>", "</s>"]),
    ],
)
def test_tokens(weights: WeightsFile, text: str, pieces: list[str]) -> None:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(tokenizer_json(weights.vocabulary, 64).decode())
    assert tokenizer.encode(text).tokens == pieces


def test_the_tokenizer_file_is_plain_json(weights: WeightsFile) -> None:
    document = json.loads(tokenizer_json(weights.vocabulary, 64))
    assert document["truncation"]["max_length"] == 64
    assert len(document["model"]["vocab"]) == len(PIECES)


@pytest.mark.parametrize("spoil", [lambda data: b"NOPE" + data[4:], lambda data: data[:300]])
def test_a_file_of_another_layout_is_refused(spoil: Callable[[bytes], bytes], tmp_path: Path) -> None:
    path = tmp_path / "tiny.bin"
    path.write_bytes(spoil(data_file()))
    with pytest.raises((ValueError, struct.error)):
        WeightsFile(path)
