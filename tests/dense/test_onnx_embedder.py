"""The ONNX embedder on a very small model."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from groundwire_server.dense import OnnxEmbedder, PreparedModel
from groundwire_server.dense.models.encoder_graph import encoder_model
from groundwire_server.dense.models.prepared import write_manifest
from groundwire_server.dense.models.tokenizer_file import tokenizer_json
from groundwire_server.dense.models.weights_file import WeightsFile
from groundwire_server.errors import ErrorReason, FailedPrecondition
from tests.dense.hostile import HOSTILE
from tests.dense.plain_encoder import plain_states
from tests.dense.tiny_model import HIDDEN, POSITIONS, data_file, tiny_spec


def _prepared(folder: Path, variant: str) -> PreparedModel:
    from groundwire_server.dense.models.prepared import read_prepared

    data = data_file()
    (folder / "tiny.bin").write_bytes(data)
    weights, spec = WeightsFile(folder / "tiny.bin"), tiny_spec(data)
    target = folder / f"tiny-{variant}"
    target.mkdir()
    (target / "model.onnx").write_bytes(encoder_model(weights, variant, {}))
    (target / "tokenizer.json").write_bytes(tokenizer_json(weights.vocabulary, spec.max_tokens))
    write_manifest(target, spec, variant, "a test")
    prepared = read_prepared(folder, spec, variant)
    assert prepared is not None
    return prepared


@pytest.fixture(scope="module", params=["int8", "q4"])
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> PreparedModel:
    return _prepared(tmp_path_factory.mktemp("models"), request.param)


@pytest.fixture(scope="module")
def embedder(model: PreparedModel) -> OnnxEmbedder:
    return OnnxEmbedder(model)


def test_is_the_mean_of_the_states(model: PreparedModel, embedder: OnnxEmbedder) -> None:
    from tokenizers import Tokenizer

    tokens = Tokenizer.from_file(str(model.tokenizer_file)).encode("passage: abc").ids
    mean = plain_states(WeightsFile(model.folder.parent / "tiny.bin"), tokens).mean(axis=0)
    vector = embedder.embed_passage("abc")
    assert float(vector @ mean / np.linalg.norm(mean)) > 0.998
    assert embedder.token_count("abc") == len(tokens)


@pytest.mark.parametrize("text", HOSTILE)
def test_any_text_gives_a_unit_vector(embedder: OnnxEmbedder, text: str) -> None:
    for vector in (embedder.embed_query(text), embedder.embed_passage(text)):
        assert vector.dtype == np.float32
        assert vector.shape == (HIDDEN,)
        assert abs(float(np.linalg.norm(vector.astype(np.float64))) - 1) < 1e-6
        assert not vector.flags.writeable


def test_prefixes_differ(embedder: OnnxEmbedder) -> None:
    assert embedder.embed_query("abc").tobytes() != embedder.embed_passage("abc").tobytes()


def test_long_texts_are_cut_and_counted(embedder: OnnxEmbedder) -> None:
    start = "a " * POSITIONS
    assert embedder.token_count(start) > embedder.max_tokens == POSITIONS
    assert embedder.embed_passage(start).tobytes() == embedder.embed_passage(start + "zzz").tobytes()
    assert embedder.embed_passage("b " + start).tobytes() != embedder.embed_passage(start).tobytes()


def test_bits_do_not_depend_on_order_threads_or_session(model: PreparedModel, embedder: OnnxEmbedder) -> None:
    texts = HOSTILE * 4
    alone = {text: embedder.embed_passage(text).tobytes() for text in HOSTILE}
    random.Random(1).shuffle(texts)
    other = OnnxEmbedder(model)
    for workers in (1, 2, 8):
        with ThreadPoolExecutor(workers) as pool:
            for one in (embedder, other):
                found = pool.map(one.embed_passage, texts)
                assert [vector.tobytes() for vector in found] == [alone[text] for text in texts]


def test_no_network_is_touched(model: PreparedModel) -> None:
    """With every socket refused, the model loads and answers."""
    code = f"""
import socket, sys
def refuse(*_, **__): raise AssertionError("a socket was opened")
socket.socket = socket.create_connection = socket.getaddrinfo = refuse
from pathlib import Path
sys.path.insert(0, {str(Path(__file__).resolve().parents[2])!r})
from tests.dense.tiny_model import data_file, tiny_spec
from groundwire_server.dense import OnnxEmbedder
from groundwire_server.dense.models.prepared import read_prepared
model = read_prepared(Path({str(model.folder.parent)!r}), tiny_spec(data_file()), {model.variant!r})
print(OnnxEmbedder(model).embed_query("abc").shape)
assert "fastembed" not in sys.modules and "huggingface_hub" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, f"({HIDDEN},)"), done.stderr


def test_files_that_changed_are_refused(tmp_path: Path) -> None:
    model = _prepared(tmp_path, "q4")
    with model.model_file.open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        last = file.read(1)
        file.seek(-1, os.SEEK_END)
        file.write(bytes([last[0] ^ 1]))
    with pytest.raises(FailedPrecondition) as caught:
        OnnxEmbedder(model)
    assert caught.value.reason is ErrorReason.NO_MODEL
    assert caught.value.details["file"] == "model.onnx"


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json"])
def test_files_that_cannot_be_loaded(tmp_path: Path, file: str) -> None:
    from groundwire_server.dense.models.prepared import read_prepared

    model = _prepared(tmp_path, "q4")
    (model.folder / file).write_bytes(b"nothing of the kind")
    write_manifest(model.folder, model.spec, "q4", "a test")
    again = read_prepared(tmp_path, model.spec, "q4")
    assert again is not None
    with pytest.raises(FailedPrecondition, match="cannot be loaded") as caught:
        OnnxEmbedder(again)
    assert caught.value.reason is ErrorReason.NO_MODEL
    assert "nothing of the kind" not in str(caught.value)
