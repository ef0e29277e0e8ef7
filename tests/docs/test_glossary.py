"""docs/glossary.md, run from top to bottom as a new user would; its table of periods is read as it says."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest

from groundwire_server.glossary import PeriodError, parse_period
from tests.cli.test_everyday import follow

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/glossary.md").read_text(encoding="utf-8")


@pytest.mark.timeout(300)  # some fifteen processes, one after the other
def test_the_tour(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    said = follow(PAGE, folder, GROUNDWIRE_EMBEDDING_BACKEND="none")
    for words in (
        "look   COGS (metric[1], line 8): additivity is not said",
        "'maybe' is none of none, sum (line 2)",
        "metric\tNet Sales\t(no term)\tUSD_M\t3\t3\t",
        "look at ACME: its fiscal year begins on 04-01, and figures for FY2025 were read by another one",
        "アクメの 2024 における売上高は 1234.50 USD_M です。",
        "Revenue of Acme Corporation for FY2025: 1300 USD_M.",
        "not found turnover / Acme / 2025",
        "metric\tREVENUE\tRevenue\tUSD_M\t3\t3\t2023\tFY2025\t",
        "従業員数は 87",
        "Revenue of Acme Corporation for 2024: 1234.50 USD_M.",
        "unrecognized metric 'net slaes'; near: net sales",
    ):
        assert words in said, (words, said)


def _rows() -> list[str]:
    table = PAGE.split("| written | read as |")[1].split("\n\n")[0]
    return [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]


@pytest.mark.parametrize("cell", _rows())
def test_every_form_of_the_table_is_read(cell: str) -> None:
    for text in re.findall("`([^`]+)`", cell):
        asked = f"2024年{text}" if text in ("上半年", "上半期", "第3四半期", "第三季度") else text
        parse_period(asked, reference=date(2025, 6, 30), fiscal_year_start="04-01")


def test_what_is_refused_is_refused() -> None:
    refused = PAGE.split("Refused, each with its reason:")[1].split("Two digits")[0]
    texts = re.findall("`([^`]+)`", refused)
    assert len(texts) > 8
    for text in texts:
        with pytest.raises(PeriodError):
            parse_period(text, reference=date(2025, 6, 30))
