"""Drafts of mappings: what they find, and that what they say loads."""

from __future__ import annotations

import pytest

from groundwire_server.errors import DocumentRefused, InvalidRequest
from groundwire_server.ingest import propose_mapping
from tests.ingest.tables import Book, as_text, good, read


def _load(text: str, **filled: str) -> list[str]:
    drafted = propose_mapping("f.csv", "csv", text.encode())
    for name, value in filled.items():
        drafted = drafted.replace(f'{name} = "FILL IN"', f'{name} = "{value}"')
    return as_text(good(read("f.csv", text.encode(), drafted)))


@pytest.mark.parametrize(
    ("text", "filled", "figures"),
    [
        (
            "（単位：百万円）\n,2023年3月期,2024年3月期\n売上高,1,2\n",
            {"entity": "Acme"},
            ["REVENUE ACME 2022-04-01/2023-03-31 1000000 JPY", "REVENUE ACME 2023-04-01/2024-03-31 2000000 JPY"],
        ),
        (
            "Acme Corp\n(USD in millions)\n,2023,,2024,\nItem,Q1,Q2,Q1,Q2\nRevenue,1,2,3,4\n",
            {"entity": "Acme"},
            [
                f"REVENUE ACME {period} {n}000000 USD"
                for n, period in enumerate(("2023Q1", "2023Q2", "2024Q1", "2024Q2"), 1)
            ],
        ),
        (
            "会社名,決算期,売上高（百万円）,従業員数（人）\nAcme,2024年3月期,1,20\n",
            {},
            ["REVENUE ACME 2023-04-01/2024-03-31 1000000 JPY", "STAFF ACME 2023-04-01/2024-03-31 20 persons"],
        ),
        ("公司,报告期,科目,金额,单位\nAcme,2024年,营业收入,1.5,万元\n", {}, ["REVENUE ACME 2024 15000 CNY"]),
        ("Company;Year;Revenue (EUR m)\nAcme;2023;1.234,5\n", {}, ["REVENUE ACME 2023 1234500000 EUR"]),
        ("metric,entity,period,value\nRevenue,Acme,2024,1\n", {}, ["REVENUE ACME 2024 1"]),
    ],
)
def test_what_is_drafted_loads(text: str, filled: dict[str, str], figures: list[str]) -> None:
    assert _load(text, **filled) == figures


def test_what_nothing_tells_is_left_to_fill_in_and_refused_until_then() -> None:
    text = "Item,2023,2024\nRevenue,1,2\n"
    drafted = propose_mapping("f.csv", "csv", text.encode())
    assert 'entity = "FILL IN"' in drafted
    with pytest.raises(InvalidRequest, match="is to be filled in"):
        read("f.csv", text.encode(), drafted)


def test_the_sheet_with_most_numbers_is_taken_and_the_others_named() -> None:
    book = Book()
    book.sheet("Cover", [["Annual report"]])
    book.sheet("PL", [["(in millions)"], ["Item", "2023", "2024"], ["Revenue", 1, 2]])
    drafted = propose_mapping("b.xlsx", "xlsx", book.raw())
    assert "# Sheets: Cover, PL; this mapping reads the one with most numbers." in drafted
    assert 'sheet = "PL"' in drafted


def test_a_charset_that_is_guessed_is_written_down() -> None:
    text = "项目,2023年,2024年\n营业收入,1,2\n净利润,3,4\n"
    drafted = propose_mapping("f.csv", "csv", text.encode("gb18030"))
    filled = drafted.replace("FILL IN", "Acme")
    assert len(good(read("f.csv", text.encode("gb18030"), filled))) == 4


@pytest.mark.parametrize(
    ("name", "raw"), [("f.csv", b""), ("f.csv", b"only words\nand more\n"), ("f.xlsx", b"x"), ("f.parquet", b"x")]
)
def test_what_holds_no_table_is_refused(name: str, raw: bytes) -> None:
    with pytest.raises(DocumentRefused):
        propose_mapping(name, name.rpartition(".")[2], raw)
