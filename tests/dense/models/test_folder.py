"""Where models are looked for, and what the catalogue says."""

from __future__ import annotations

from pathlib import Path

import pytest

from groundwire_server.dense.models import (
    KNOWN_MODELS,
    find_model,
    known_model,
    list_models,
    models_folder,
    models_folders,
)
from groundwire_server.dense.models.prepared import write_manifest
from groundwire_server.errors import ErrorReason, FailedPrecondition, InvalidRequest

NAME = KNOWN_MODELS[0].name


def test_configured_then_setting_then_cache() -> None:
    home = {"HOME": "/home/a"}
    cache = Path("/home/a/.cache/groundwire/models")
    assert models_folders(environ=home) == (cache,)
    assert models_folders(environ={**home, "GROUNDWIRE_MODELS": "/m"}) == (Path("/m"), cache)
    assert models_folders(Path("/n"), {**home, "GROUNDWIRE_MODELS": "/m"}) == (Path("/n"), cache)
    assert models_folders(environ={**home, "GROUNDWIRE_MODELS": ""}) == (cache,)
    assert models_folders(cache, home) == (cache,)
    assert models_folder(environ={**home, "GROUNDWIRE_MODELS": "/m"}) == Path("/m")


def test_the_users_cache() -> None:
    assert models_folders(environ={"HOME": "/h", "XDG_CACHE_HOME": "/c"}) == (Path("/c/groundwire/models"),)
    # the XDG specification: a relative path is to be ignored
    assert models_folders(environ={"HOME": "/h", "XDG_CACHE_HOME": "c"}) == (Path("/h/.cache/groundwire/models"),)
    assert models_folders(Path("rel"), {"HOME": "/h"})[0] == Path.cwd() / "rel"


def test_no_home_and_nothing_configured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    with pytest.raises(FailedPrecondition) as caught:
        models_folder(environ={})
    assert caught.value.reason is ErrorReason.NO_MODEL
    assert "GROUNDWIRE_MODELS" in caught.value.hint


def _put(models: Path, variant: str) -> None:
    folder = models / f"{NAME}-{variant}"
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(b"m")
    (folder / "tokenizer.json").write_bytes(b"t")
    write_manifest(folder, known_model(NAME), variant, "a test")


def test_catalogue_and_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("GROUNDWIRE_MODELS", str(tmp_path / "configured"))
    assert [(entry.variant, entry.is_default, entry.prepared) for entry in list_models()] == [
        ("int8", True, None),
        ("q4", False, None),
        ("fp32", False, None),
    ]
    assert find_model(NAME) is None
    _put(tmp_path / "cache" / "groundwire" / "models", "q4")
    found = find_model(NAME)
    assert found is not None
    assert (found.variant, found.size, found.source) == ("q4", 2, "a test")
    _put(tmp_path / "configured", "q4")
    found = find_model(NAME)
    assert found is not None
    assert found.folder.parent == tmp_path / "configured"
    _put(tmp_path / "configured", "int8")
    found = find_model(NAME)
    assert found is not None
    assert found.variant == "int8"
    found.verify()
    assert [entry.prepared is not None for entry in list_models()] == [True, True, False]
    assert find_model(NAME, "fp32") is None


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format": 2}', '{"format": 1, "name": "x", "variant": "int8"}'])
def test_a_manifest_that_says_nothing(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    _put(tmp_path, "int8")
    (tmp_path / f"{NAME}-int8" / "manifest.json").write_text(text)
    assert find_model(NAME, folder=tmp_path) is None


def test_unknown_names() -> None:
    with pytest.raises(InvalidRequest, match=NAME):
        find_model("bert")
    with pytest.raises(InvalidRequest, match="int8, q4, fp32"):
        find_model(NAME, "int4")
