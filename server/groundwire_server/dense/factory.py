"""Embedders by name."""

from __future__ import annotations

from pathlib import Path

from groundwire_server.dense.embedder import Embedder
from groundwire_server.dense.hash_embedder import HashEmbedder
from groundwire_server.dense.models.prepared import find_model
from groundwire_server.dense.models.registry import DEFAULT_MODEL, KNOWN_MODELS
from groundwire_server.dense.onnx_embedder import OnnxEmbedder
from groundwire_server.dense.query_cache import QueryCache
from groundwire_server.errors import ErrorReason, FailedPrecondition, InvalidRequest, NotImplementedHere

__all__ = ["EMBEDDER_NAMES", "make_embedder"]

_ONNX_NAMES = ("onnx", "fastembed", "minilm")
_EXTRAS = {
    "st": "sentence-transformers",
    "sentence-transformers": "sentence-transformers",
    "qwen3": "sentence-transformers",
}
EMBEDDER_NAMES = (
    "auto",
    *_ONNX_NAMES,
    *(spec.name for spec in KNOWN_MODELS),
    "none",
    "deterministic",
    *_EXTRAS,
    "openai",
)


def make_embedder(
    name: str, *, variant: str | None = None, folder: Path | None = None, query_cache: int = 1024
) -> Embedder | None:
    """The embedder of that name, or None for a server that only searches by words (formats.md, alias values).

    `onnx`, and the seeds' `fastembed` and `minilm`, is the default model; a model may also be named itself. `auto` is
    the default model where it is prepared, else None. `none` is None. `deterministic` is the hash embedder, for tests.
    `folder` holds the prepared models (default: GROUNDWIRE_MODELS, the user's cache); `query_cache` vectors of queries
    are kept. Nothing here asks the network.

    Raises:
        InvalidRequest: unknown name; the valid ones are listed.
        FailedPrecondition: NO_MODEL, the model is not prepared; NO_EMBEDDER, it needs an extra that is not there.
        NotImplementedHere: `openai`.
    """
    if name == "none" or (name == "auto" and find_model(DEFAULT_MODEL, variant, folder) is None):
        return None
    if name == "deterministic":
        return HashEmbedder()
    if name == "auto" or name in _ONNX_NAMES:
        return QueryCache(OnnxEmbedder.load(variant=variant, folder=folder), query_cache)
    if any(spec.name == name for spec in KNOWN_MODELS):
        return QueryCache(OnnxEmbedder.load(name, variant=variant, folder=folder), query_cache)
    if name in _EXTRAS:
        raise FailedPrecondition(
            ErrorReason.NO_EMBEDDER,
            f"The embedder {name!r} needs the extra {_EXTRAS[name]!r}, which this version does not have.",
            hint="Use `onnx` (the default model) or `none`.",
            details={"embedder": name, "extra": _EXTRAS[name]},
        )
    if name == "openai":
        raise NotImplementedHere("embedder openai", "Embedding through an OpenAI-compatible endpoint is not available.")
    raise InvalidRequest.one(
        "embedder", ErrorReason.UNKNOWN_NAME, f"{name!r} is no embedder; valid: {', '.join(EMBEDDER_NAMES)}."
    )
