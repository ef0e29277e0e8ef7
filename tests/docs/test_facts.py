"""docs/facts.md, run from top to bottom as a new user would; its tables are what the reader does."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from groundwire_server.errors import RowRefused
from groundwire_server.ingest import propose_mapping
from groundwire_server.ingest.cell_value import CellRules, is_missing, read_cell
from groundwire_server.ingest.fact_files import FACT_FILE_FORMS
from groundwire_server.ingest.fact_mapping import FACT_FIELDS, FactMapping
from groundwire_server.ingest.facts import FactRules, read_fact_file
from groundwire_server.ingest.measure_reading import read_measure
from groundwire_server.ingest.table_rules import TABLE_KEYS
from tests.cli.commands import server
from tests.cli.test_everyday import follow

PAGE = (Path(__file__).resolve().parents[2] / "docs/facts.md").read_text(encoding="utf-8")
GLOSSARY = """\
[[metric]]
code = "REVENUE"
label = "Revenue"
unit = "JPY"
synonyms = { ja = ["売上高"] }

[[metric]]
code = "MARGIN"
unit = "percent"
synonyms = { ja = ["営業利益率"] }

[[entity]]
code = "ACME"
label = "アクメ株式会社"
"""


def _block(begins: str) -> str:
    blocks: list[str] = re.findall(r"^```\w*\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return next(block for block in blocks if block.startswith(begins))


@pytest.mark.timeout(300)  # some ten processes, one after the other
def test_the_tour(tmp_path: Path) -> None:
    (tmp_path / "accounts.csv").write_text(_block("アクメ"), encoding="utf-8")
    (tmp_path / "glossary.toml").write_text(GLOSSARY, encoding="utf-8")
    with server(tmp_path / "groundwire-data") as address:
        said = follow(PAGE, tmp_path, GROUNDWIRE_ADDRESS=address)
    lines = said.splitlines()
    for line in (
        "5 would be stored, 0 unchanged, 1 refused",
        "5 stored, 0 unchanged, 1 refused",
        "0 stored, 5 unchanged, 1 refused",
    ):
        assert line in lines, said
    assert "1345600000 JPY" in said


def test_the_row_that_is_refused() -> None:
    raw = _block("アクメ").encode()
    mapping = propose_mapping("accounts.csv", "csv", raw).replace("FILL IN", "ACME")
    ((number, refused),) = [
        (number, each)
        for number, each in read_fact_file("accounts.csv", "csv", raw, mapping, FactRules())
        if isinstance(each, RowRefused)
    ]
    told = f"row {number}, {refused.column} = {refused.value!r}: {refused.message} ({refused.reason.name})"
    assert _block("refused accounts").strip() == f"refused accounts.csv {told}"


def test_every_key_and_field_is_on_the_page() -> None:
    mapping = FactMapping.from_toml(_block("sheet = ").replace('period = "Fiscal year"\n', ""))
    assert mapping.table.wide is not None
    for key in TABLE_KEYS:
        assert re.search(rf"^\[?{key}\b", _block("sheet = "), re.MULTILINE) or f"`{key}`" in PAGE or key in PAGE, key
    for field in FACT_FIELDS:
        assert f"`{field}`" in PAGE, field
    for form in FACT_FILE_FORMS:
        assert f"`{form}`" in PAGE or form.startswith("relations") or form == "graphml", form


def test_the_table_of_cells() -> None:
    rows = [
        line.strip("| ").split(" | ")
        for line in PAGE.splitlines()
        if line.startswith("| `") or line.startswith("| blank")
    ]
    cells = {meant: re.findall(r"`([^`]+)`", written) for written, meant in (row for row in rows if len(row) == 2)}
    below = cells["below zero"]
    assert [read_cell(cell, CellRules()).number for cell in below] == [-12] * len(below)
    for cell in cells["separators where they belong; anywhere else refused"]:
        read_cell(cell, CellRules())
    for cell in cells["with its unit and scale"]:
        assert read_cell(cell, CellRules()).unit
    for cell in cells["a footnote behind the figure is taken off"]:
        assert read_cell(cell, CellRules()).number in (12, 1234)
    assert all(map(is_missing, cells["missing: refused as such, never zero"]))
    refused = cells["refused"]
    assert len(refused) == 7
    for cell in refused:
        with pytest.raises(RowRefused):
            read_cell(cell, CellRules())


def test_the_scales_of_the_page() -> None:
    said = PAGE.partition("## Which scale holds")[2].partition("A phrase counts")[0]
    phrases = [each for each in re.findall(r"`([^`]+)`", said) if each not in ("scale", "売上高（百万円）")]
    assert len(phrases) == 7
    assert all(read_measure(phrase).power for phrase in phrases)


def test_the_measured_table() -> None:
    lines = (Path(__file__).resolve().parents[2] / "docs/facts.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 4
    for line in map(json.loads, lines):
        ours = f"{line['rows']:,} | {line['rows_per_cpu_second']:,} | {line['memory_mb']}"
        theirs = f"{line['peer']} | {line['peer_rows_per_cpu_second']:,} | {line['ratio']}"
        assert f"| {line['form']} | {ours} | {theirs} |" in PAGE
