"""Every command of docs/graph-building.md is run, from top to bottom, and its picture is what it says."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from xml.etree import ElementTree

from groundwire_server.cli.pictures.picture import MAX_BOXES
from groundwire_server.ingest.relation_names import RELATION_FIELDS
from groundwire_server.library import LibraryConfig
from groundwire_server.rpc import running_server
from groundwire_server.settings import load_settings
from tests.docs.test_documents import ROOT, blocks, run

PAGE = "docs/graph-building.md"


def test_the_graph_is_built_and_looked_at_as_it_says(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "groundwire"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -W error -m groundwire_server.cli "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    shell = "".join(code for language, code in blocks(PAGE) if language == "sh")
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    settings = load_settings(
        {"data": tmp_path / "data", "server.port": 0, "log.level": "error", "embedding.backend": "none"}, environ={}
    )
    with running_server(settings) as address:
        said = run(["bash", "-eu"], tmp_path, shell, GROUNDWIRE_ADDRESS=address, PATH=path)
    for line in (
        "entity:ACME\tparent_of\tentity:ACME_JP",
        "metric:COGS\tderives\tmetric:MARGIN",
        "q3.md#attribute=entity",
        "3 stored, 0 unchanged, 0 refused",
        "flowchart TD",
    ):
        assert line in said, said
    drawn = "\n".join(ElementTree.fromstring((tmp_path / "sum.svg").read_text("utf-8")).itertext())
    for shown in ("200.50 USD", "120.50 USD", "book.xlsx#sheet=PL,cell=C7", "owners.csv#row=2", "Acme Osaka"):
        assert shown in drawn, drawn
    assert (tmp_path / "group.dot").read_text("utf-8").startswith("digraph trace {")


def test_names_and_bounds_are_those_of_the_code() -> None:
    page = " ".join((ROOT / PAGE).read_text(encoding="utf-8").split())
    assert f"`{', '.join(RELATION_FIELDS)}`" in page
    assert f"At most {MAX_BOXES:,} boxes" in page
    assert f"`{LibraryConfig().relations_from}`" in page
