"""`groundwire models`, and what the commands do with a model."""

from __future__ import annotations

import json

import pytest

from tests.cli.commands import furnish, run, write
from tests.support.real_model import real_model


@pytest.fixture
def _no_models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDWIRE_MODELS", "no-models")
    monkeypatch.setenv("XDG_CACHE_HOME", "no-cache")


@pytest.fixture
def _real_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GROUNDWIRE_EMBEDDING_BACKEND")
    monkeypatch.setenv("GROUNDWIRE_MODELS", str(real_model().folder.parent))


@pytest.mark.usefixtures("_no_models")
def test_what_is_not_prepared_is_listed_as_such() -> None:
    ran = run("models", "list")
    assert ran.code == 0
    assert "* multilingual-e5-small:int8  not prepared" in ran.out
    assert not any(row["prepared"] for row in run("models", "list", "--json").frames)


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (("gpt-9",), 1, "model: 'gpt-9' is not a known model; valid: multilingual-e5-small"),
        (("--variant", "q9"), 1, "variant: 'q9' is no variant of multilingual-e5-small; valid: int8, q4, fp32"),
        (("--source", "attic"), 2, "'attic' is not one of"),
    ],
)
def test_a_model_that_there_is_not(words: tuple[str, ...], code: int, why: str) -> None:
    ran = run("models", "prepare", *words)
    assert ran.code == code
    assert why in ran.complaint


@pytest.mark.usefixtures("_no_models")
def test_a_models_folder_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDWIRE_MODELS", "/proc/models")
    ran = run("models", "prepare")
    assert ran.code == 1
    assert "cannot be written to /proc/models" in ran.complaint


@pytest.mark.model
@pytest.mark.usefixtures("_real_model")
def test_a_prepared_model_is_checked_and_not_fetched_again() -> None:
    prepared = real_model()
    ran = run("models", "prepare")
    assert ran.code == 0
    assert ran.out == f"multilingual-e5-small is ready: {prepared.folder} sha256 {prepared.version}\n"
    asked = run("models", "prepare", "--json").frames
    assert asked == [{"name": "multilingual-e5-small", "folder": str(prepared.folder), "sha256": prepared.version}]
    row = next(row for row in run("models", "list", "--json").frames if row["default"])
    assert (row["prepared"], row["sha256"]) == (True, prepared.version)


@pytest.mark.model
@pytest.mark.usefixtures("_real_model")
def test_meaning_is_searched_as_soon_as_the_ingest_says_that_it_is_done() -> None:
    furnish()
    write("more", {f"{number}.txt": f"A note about the harbour, number {number}." for number in range(20)})
    ran = run("ingest", "more")
    assert ran.code == 0
    assert "embedding 21/21 chunks" in ran.err
    found = run("retrieve", "エネルギーの契約", "--mode", "hybrid", "--strict", "--json")
    dense = next(step for step in found.frames[0]["plan"] if step["stage"] == "dense")
    assert dense["coverage"] == 1.0
    assert found.frames[1]["snippets"][0]["lineage"]["doc_id"] == "reports/2024.md"
    # A reading that has no use for the model does not load it.
    assert "dense" not in json.dumps(run("retrieve", "energy", "--mode", "lexical", "--json").frames)
