"""A BERT encoder in plain numpy, float64, straight from the data file: the oracle for the ONNX graphs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundwire_server.dense.models.weights_file import WeightsFile

Array = NDArray[np.float64]


def plain_states(weights: WeightsFile, tokens: list[int]) -> Array:
    """Last hidden states [tokens, hidden]."""
    hidden, heads = weights.shape.hidden, weights.shape.heads
    words = weights.blocks("emb.word").dense()[tokens].astype(np.float64)
    positions = weights.floats("emb.pos").reshape(-1, hidden)[: len(tokens)]
    state = _norm(weights, "emb.ln", words + positions + weights.floats("emb.type")[:hidden])
    for layer in range(weights.shape.layers):
        at = f"l{layer}."
        query, key, value = (
            _linear(weights, at + part, state).reshape(len(tokens), heads, -1).swapaxes(0, 1) for part in "qkv"
        )
        weight = query @ key.swapaxes(1, 2) / math.sqrt(hidden // heads)
        weight = np.exp(weight - weight.max(axis=-1, keepdims=True))
        attended = (weight / weight.sum(axis=-1, keepdims=True)) @ value
        attended = attended.swapaxes(0, 1).reshape(len(tokens), hidden)
        state = _norm(weights, at + "aln", state + _linear(weights, at + "ao", attended))
        inner = _linear(weights, at + "fi", state)
        inner = 0.5 * inner * (1 + np.vectorize(math.erf)(inner / math.sqrt(2)))
        state = _norm(weights, at + "oln", state + _linear(weights, at + "fo", inner))
    return state


def _linear(weights: WeightsFile, name: str, given: Array) -> Array:
    product: Array = given @ weights.blocks(name + ".w").dense().T.astype(np.float64) + weights.floats(name + ".b")
    return product


def _norm(weights: WeightsFile, name: str, given: Any) -> Array:
    centred = given - given.mean(axis=-1, keepdims=True)
    scaled = centred / np.sqrt(np.square(centred).mean(axis=-1, keepdims=True) + weights.shape.epsilon)
    normed: Array = scaled * weights.floats(name + ".w") + weights.floats(name + ".b")
    return normed
