"""Every command and snippet of the documents is run, against a real server, from top to bottom."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from groundwire import Client
from groundwire_server.rpc import running_server
from groundwire_server.settings import load_settings
from tests.support.real_model import real_model

ROOT = Path(__file__).resolve().parents[2]
_BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_UNMARKED = re.compile(r"^```\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(document: str) -> list[tuple[str, str]]:
    """Language and code of each block that is meant to be run."""
    return _BLOCK.findall((ROOT / document).read_text(encoding="utf-8"))


def run(command: list[str], folder: Path, code: str, **environment: str) -> str:
    """Run code from standard input; it must end well and say nothing on standard error that is a traceback."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GROUNDWIRE_", "RAGSPINE_"))}
    done = subprocess.run(
        command,
        input=code,
        cwd=folder,
        env=kept | environment,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, f"{code}\n{done.stdout}\n{done.stderr}"
    assert "Traceback" not in done.stderr
    return done.stdout


@pytest.mark.model
def test_the_tour_of_the_readme_works(tmp_path: Path) -> None:
    models = str(real_model().folder.parent)
    (tmp_path / ".venv").symlink_to(ROOT / ".venv")
    found = blocks("README.md")
    shell = "".join(code for language, code in found if language == "sh")
    # `metric ... FY2023` finds nothing and says so; that is an answer, not an error.
    said = run(["bash", "-eu"], tmp_path, shell, GROUNDWIRE_MODELS=models)
    assert "1234.50 USD_M" in said
    assert "reports/2024.md" in said
    assert "not found" in said
    settings = load_settings(
        {"data": tmp_path / "groundwire-data", "models": models, "server.port": 0, "log.level": "error"}, environ={}
    )
    with running_server(settings) as address:
        for language, code in found:
            if language == "python":
                said = run([sys.executable, "-W", "error", "-"], tmp_path, code, GROUNDWIRE_ADDRESS=address)
                assert "EXACT" in said
                assert "StreamSummary" in said


def test_the_snippets_of_the_client_work(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "japan.md").write_text(
        "---\nyear: 2024\n---\n# Japan\n\nThe population shrank because fewer children were born.\n", encoding="utf-8"
    )
    (tmp_path / "facts.jsonl").write_text(
        '{"metric": "population", "entity": "Japan", "period": "2023", "value": "124516650", "unit": "persons", '
        '"source_doc": "estimates.csv", "locator": "row=2"}\n',
        encoding="utf-8",
    )
    settings = load_settings(
        {"data": tmp_path / "data", "server.port": 0, "log.level": "error", "embedding.backend": "none"}, environ={}
    )
    with running_server(settings) as address, Client(address) as client:
        said = [
            run([sys.executable, "-W", "error", "-"], tmp_path, code, GROUNDWIRE_ADDRESS=address)
            for _, code in blocks("clients/python/README.md")
        ]
        assert [library.documents for library in client.list_libraries()] == [3]
    _, asked, awaited, housekeeping, refused = said
    assert "fewer children" in asked
    assert "124516650 persons" in asked
    assert "StreamSummary" in asked
    assert "entity:ACME parent_of " in asked
    assert "stored 2" in awaited
    assert "StreamSummary" in awaited
    assert "notes/2024.md 1 " in housekeeping
    assert "SUCCEEDED" in housekeeping
    assert "VALUE_OUT_OF_RANGE" in refused


def test_the_make_targets_that_the_documents_name_exist() -> None:
    listed = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    targets = set(re.findall(r"^make ([a-z-]+)", listed, re.MULTILINE))
    for document in ("README.md", "CONTRIBUTING.md", "proto/README.md"):
        text = (ROOT / document).read_text(encoding="utf-8")
        fenced = "".join(_UNMARKED.findall(text))
        named = set(re.findall(r"^make ([a-z-]+)", fenced, re.MULTILINE)) | set(re.findall(r"`make ([a-z-]+)", text))
        assert named <= targets, document


def test_the_documents_link_to_files_that_exist() -> None:
    documents = [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/*.md"),
        ROOT / "proto/README.md",
        ROOT / "clients/python/README.md",
    ]
    assert len(documents) >= 9
    for document in documents:
        for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text(encoding="utf-8")):
            assert (document.parent / target).exists(), f"{document}: {target}"
