"""The default embedder: a prepared ONNX model, run by onnxruntime.

onnxruntime and `tokenizers` are used directly, not through fastembed: both import in 0.1 s where fastembed takes 0.45 s
(HTTP and hub clients, an image library), a text is tokenised in the calling thread and not in a pool, and nothing here
could reach for the network. The vectors are the same: mean over the tokens, length one.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundwire_server.dense.kernel import unit_vector
from groundwire_server.dense.models.prepared import PreparedModel, find_model, prepare_hint
from groundwire_server.dense.models.registry import DEFAULT_MODEL
from groundwire_server.errors import ErrorReason, FailedPrecondition

__all__ = ["OnnxEmbedder"]

OUTPUT = "last_hidden_state"


class OnnxEmbedder:
    """A prepared model in memory. See `Embedder` for what it promises.

    Each run takes one text on one thread, the caller's: a vector is a function of its text, and as many texts are
    embedded at once as threads call.

    Raises:
        FailedPrecondition: NO_MODEL; the files are not those of the manifest, or cannot be loaded.
    """

    for_tests = False

    def __init__(self, model: PreparedModel) -> None:
        model.verify()
        self.name = model.spec.name
        self.version = model.version
        self.dim = model.spec.dim
        self.max_tokens = model.spec.max_tokens
        self._query_prefix = model.spec.query_prefix
        self._passage_prefix = model.spec.passage_prefix
        try:
            self._session = _load_session(model.model_file)
            # Last: it keeps the interpreter to itself for half a second, and whoever asks meanwhile waits. By now a
            # server that has just started has answered its first questions with words.
            self._tokenizer = _load_tokenizer(model.tokenizer_file)
        except Exception as error:  # both libraries raise types of their own making
            raise FailedPrecondition(
                ErrorReason.NO_MODEL,
                f"The prepared model {model.spec.name} ({model.variant}) cannot be loaded.",
                hint=prepare_hint(model.spec.name),
                details={"model": model.spec.name, "variant": model.variant},
            ) from error
        self._inputs = [given.name for given in self._session.get_inputs()]
        (self._last_token,) = self._tokenizer.encode("").ids[-1:]

    @classmethod
    def load(cls, name: str = DEFAULT_MODEL, *, variant: str | None = None, folder: Path | None = None) -> OnnxEmbedder:
        """The embedder of a model that has been prepared; never asks the network.

        Raises:
            InvalidRequest: unknown name or variant.
            FailedPrecondition: NO_MODEL; it has not been prepared, or is damaged.
        """
        model = find_model(name, variant, folder)
        if model is None:
            raise FailedPrecondition(
                ErrorReason.NO_MODEL,
                f"The model {name} is not on this machine.",
                hint=prepare_hint(name),
                details={"model": name},
            )
        return cls(model)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Vector of the model's query prefix and the text."""
        return self._embed(self._query_prefix + text)

    def embed_passage(self, text: str) -> NDArray[np.float32]:
        """Vector of the model's passage prefix and the text."""
        return self._embed(self._passage_prefix + text)

    def token_count(self, text: str) -> int:
        """Tokens of a passage with its prefix and marks, before it is cut to `max_tokens`."""
        return len(self._encode(self._passage_prefix + text))

    def token_starts(self, text: str) -> list[int]:
        """Offsets of the tokens of a text by itself, in code points, ascending; nothing is cut."""
        found = self._tokenizer.encode(_characters(text), add_special_tokens=False)
        return [start for start, _ in found.offsets]

    def _embed(self, text: str) -> NDArray[np.float32]:
        tokens = self._encode(text)
        if len(tokens) > self.max_tokens:
            tokens = [*tokens[: self.max_tokens - 1], self._last_token]
        ids = np.array([tokens], np.int64)
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        (states,) = self._session.run([OUTPUT], {name: given[name] for name in self._inputs})
        # Sums over the first axis add whole rows, one after the other: a fixed order.
        return unit_vector(np.add.reduce(states[0].astype(np.float64), axis=0) / len(tokens))

    def _encode(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(_characters(text)).ids)


def _characters(text: str) -> str:
    """The text with "?" for each lone surrogate, which is no character."""
    return text.encode("utf-8", "replace").decode()


def _load_tokenizer(path: Path) -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()  # cut here, so that the whole length is known
    tokenizer.no_padding()
    return tokenizer


def _load_session(path: Path) -> Any:
    # The runtime otherwise keeps events in the user's cache folder and sends them home. It reads this when it loads.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime  # type: ignore[import-untyped]

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
