"""Embedders by name, with the seeds' aliases."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from groundwire_server.dense import EMBEDDER_NAMES, HashEmbedder, make_embedder
from groundwire_server.errors import ErrorReason, FailedPrecondition, InvalidRequest, NotImplementedHere


@pytest.fixture(autouse=True)
def _no_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("GROUNDWIRE_MODELS", str(tmp_path / "models"))


def test_none_and_auto_without_a_model() -> None:
    assert make_embedder("none") is None
    assert make_embedder("auto") is None


def test_deterministic_is_for_tests_and_says_so() -> None:
    embedder = make_embedder("deterministic")
    assert isinstance(embedder, HashEmbedder)
    assert embedder.for_tests
    assert embedder.name == "deterministic"


@pytest.mark.parametrize("name", ["onnx", "minilm", "fastembed", "multilingual-e5-small"])
def test_a_model_that_is_not_prepared(name: str) -> None:
    with pytest.raises(FailedPrecondition) as caught:
        make_embedder(name)
    assert caught.value.reason is ErrorReason.NO_MODEL
    assert "groundwire models prepare multilingual-e5-small" in caught.value.hint
    assert "--lexical" in caught.value.hint


@pytest.mark.parametrize("name", ["st", "sentence-transformers", "qwen3"])
def test_an_extra_that_is_not_there(name: str) -> None:
    with pytest.raises(FailedPrecondition, match="extra 'sentence-transformers'") as caught:
        make_embedder(name)
    assert caught.value.reason is ErrorReason.NO_EMBEDDER


def test_openai_is_not_available() -> None:
    with pytest.raises(NotImplementedHere) as caught:
        make_embedder("openai")
    assert caught.value.reason is ErrorReason.NOT_IMPLEMENTED


@pytest.mark.parametrize("name", ["", "ONNX", "bert", "hash"])
def test_unknown_names_list_the_valid_ones(name: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        make_embedder(name)
    (violation,) = caught.value.violations
    assert (violation.field, violation.reason) == ("embedder", ErrorReason.UNKNOWN_NAME)
    assert all(valid in violation.description for valid in EMBEDDER_NAMES)


def test_hash_embedder() -> None:
    embedder = HashEmbedder(32)
    one = embedder.embed_passage("Population of Japan 日本")
    assert one.dtype == np.float32
    assert one.shape == (32,)
    assert not one.flags.writeable
    assert abs(float(np.linalg.norm(one)) - 1) < 1e-6
    assert one.tobytes() == embedder.embed_query("japan OF population 本 日").tobytes()
    assert embedder.embed_passage(" \ud800…").tolist() == [0.0] * 32
    assert embedder.token_count("Population of Japan 日本") == 5
    assert HashEmbedder(32).version == embedder.version != HashEmbedder(64).version


def test_nothing_heavy_is_imported_with_the_room() -> None:
    code = (
        "import sys, groundwire_server.dense as d; assert d.make_embedder('none') is None; d.list_models();"
        "print([m for m in ('onnxruntime', 'tokenizers', 'fastembed', 'onnx', 'sentencepiece') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
