"""`groundwire facts load` and `groundwire glossary load`."""

from __future__ import annotations

import io
from decimal import Decimal
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

from tests.cli.commands import FIGURES, GLOSSARY, run, write
from tests.ingest.tables import Book


def test_figures_go_in_once() -> None:
    write(".", {"figures.csv": FIGURES})
    assert run("facts", "load", "figures.csv", "--dry-run").out == "2 would be stored, 0 unchanged, 0 refused\n"
    assert run("facts", "load", "figures.csv").out == "2 stored, 0 unchanged, 0 refused\n"
    assert run("facts", "load", "figures.csv").out == "0 stored, 2 unchanged, 0 refused\n"


def test_relations_go_in_under_their_names() -> None:
    row = '{"subject": "INDIA", "relation": "part_of", "object": "ASIA", "source_doc": "r", "locator": "1"}\n'
    names = 'part_of = {inverse = "parent_of"}\n'
    write(".", {"regions.jsonl": row, "relations.toml": names})
    ran = run("facts", "load", "regions.jsonl", "--form", "relations_jsonl", "--mapping", "relations.toml")
    assert (ran.code, ran.out) == (0, "1 stored, 0 unchanged, 0 refused\n")


def test_a_bad_row_is_named_with_its_column_and_the_others_land() -> None:
    bad = "REVENUE,ACME,FY2022,about 7,USD_M,r.md,1\nREVENUE,ACME,someday,7,USD_M,r.md,1\n"
    write(".", {"figures.csv": FIGURES + bad})
    ran = run("facts", "load", "figures.csv")
    assert ran.code == 3
    assert ran.out == "2 stored, 0 unchanged, 2 refused\n"
    lines = ran.err.splitlines()
    assert lines[0].startswith("refused figures.csv row 4, value = 'about 7': ")
    assert lines[0].endswith("(FACT_VALUE_MALFORMED)")
    assert lines[1].startswith("refused figures.csv row 5, period = 'someday': ")
    told = run("facts", "load", "figures.csv", "--json")
    rows = [row for frame in told.frames for row in frame.get("rows", ())]
    assert [(row["row"], row["column"], row["reason"]) for row in rows] == [
        (4, "value", "FACT_VALUE_MALFORMED"),
        (5, "period", "FACT_PERIOD_MALFORMED"),
    ]
    assert told.frames[-1]["failed"] == 2


@pytest.mark.parametrize(
    ("files", "words", "code", "why"),
    [
        ({"f.txt": "x"}, ("f.txt",), 3, "refused f.txt: no form is known for '.txt'"),
        ({"f.jsonl": "{\n"}, ("f.jsonl",), 3, "refused f.jsonl row 1, '{': The line is no JSON."),
        ({"f.csv": b"\x00\x01"}, ("f.csv",), 3, "refused f.csv: the content is no text"),
        ({"f.csv": FIGURES, "m.toml": b"\xff"}, ("f.csv", "--mapping", "m.toml"), 1, "m.toml: it is no UTF-8 text"),
        ({"f.csv": FIGURES, "m.toml": "["}, ("f.csv", "--mapping", "m.toml"), 3, "is no TOML"),
        (
            {"f.csv": FIGURES, "m.toml": 'value = "Turnover"'},
            ("f.csv", "--mapping", "m.toml"),
            3,
            'value: a field; where it stands is said below [columns], as value = "name of the column"',
        ),
        ({"f.csv": FIGURES}, ("f.csv", "--form", "spreadsheet"), 2, "'spreadsheet' is not one of"),
        ({"f.csv": FIGURES}, ("f.csv", "none.csv"), 2, "'none.csv' does not exist"),
        ({"f.csv": FIGURES}, ("f.csv", "--library", "No Lib"), 1, "library"),
    ],
)
def test_files_that_do_not_hold(files: dict[str, str | bytes], words: tuple[str, ...], code: int, why: str) -> None:
    write(".", files)
    ran = run("facts", "load", *words)
    assert ran.code == code
    assert why in ran.err
    assert len(ran.err.splitlines()) == 1


def test_a_glossary_goes_in_all_or_nothing() -> None:
    write(".", {"glossary.toml": GLOSSARY, "more.toml": '[[entity]]\ncode = "BOLT"\n', "figures.csv": FIGURES})
    assert run("glossary", "load", "glossary.toml", "--dry-run").out == "2 terms checked\n"
    assert run("glossary", "load", "glossary.toml").out == "2 terms loaded\n"
    assert run("glossary", "load", "more.toml", "--add").out == "1 terms loaded\n"
    run("facts", "load", "figures.csv")
    assert run("metric", "sales", "Acme", "FY2024").out.count("found ") == 1
    assert run("glossary", "load", "more.toml", "--json").frames[0]["frame"] == "GlossaryUpdate"
    assert "unrecognized metric 'sales'" in run("metric", "sales", "ACME", "FY2024").out


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("g.txt", GLOSSARY, "g.txt: a glossary ends in .toml, .yaml or .jsonl"),
        ("g.yaml", GLOSSARY, "g.yaml: glossary: no YAML at line 2, column 1"),
        ("g.toml", b"\xff", "g.toml: it is no UTF-8 text"),
        ("g.toml", "[", "g.toml: "),
        ("g.toml", "[[metric]]\ncode = 1\n", "g.toml: metric[0].code: a text is needed"),
        ("g.jsonl", "{\n", "g.jsonl: line 1: no JSON"),
        (
            "g.toml",
            '[[metric]]\ncode = "A"\nsynonyms = {en = ["x"]}\n[[metric]]\ncode = "B"\nsynonyms = {en = ["x"]}\n',
            "g.toml: metric 'x' is a name of A (metric[0], line 1) and of B (metric[1], line 4)",
        ),
    ],
)
def test_a_glossary_that_does_not_hold(name: str, content: str | bytes, why: str) -> None:
    write(".", {name: content})
    ran = run("glossary", "load", name)
    assert ran.code == 1
    assert why in ran.complaint


def test_a_shared_name_is_told_with_the_setting_that_takes_it() -> None:
    same = GLOSSARY + '[[metric]]\ncode = "UNITS"\nunit = "items"\nsynonyms = { en = ["Sales"] }\n'
    write(".", {"g.toml": same})
    assert run("libraries", "create", "odd").code == 0
    complaint = run("glossary", "load", "g.toml", "--library", "odd").complaint
    way_out = complaint.partition("For the latter: groundwire ")[2].removesuffix(" (GLOSSARY_CONFLICT)")
    assert run(*way_out.split()).code == 0
    assert run("glossary", "load", "g.toml", "--library", "odd").code == 0


def test_a_mapping_is_drafted_filled_in_and_used() -> None:
    table = '（単位：百万円）\n,2023年3月期,2024年3月期\n売上高,"1,200",△5\n営業利益率,12.5%,n.a.\n'
    write(".", {"accounts.csv": table})
    drafted = run("facts", "mapping", "accounts.csv")
    assert drafted.code == 0
    assert "# '（単位：百万円）' is read as JPY, times 10^6." in drafted.out
    write(".", {"accounts.toml": drafted.out})
    ran = run("facts", "load", "accounts.csv", "--mapping", "accounts.toml")
    assert (ran.code, ran.out) == (3, "0 stored, 0 unchanged, 1 refused\n")
    assert "mapping_toml.constants.entity: is to be filled in" in ran.err
    write(".", {"accounts.toml": drafted.out.replace("FILL IN", "Acme")})
    ran = run("facts", "load", "accounts.csv", "--mapping", "accounts.toml", "--dry-run")
    assert (ran.code, ran.out) == (3, "3 would be stored, 0 unchanged, 1 refused\n")
    assert (
        "refused accounts.csv row 4, 2024年3月期 = 'n.a.': C4: There is no value, and missing is not zero." in ran.err
    )
    assert (
        run("facts", "load", "accounts.csv", "--mapping", "accounts.toml").out == "3 stored, 0 unchanged, 1 refused\n"
    )
    assert (
        run("facts", "load", "accounts.csv", "--mapping", "accounts.toml").out == "0 stored, 3 unchanged, 1 refused\n"
    )
    values = [(each["fact"]["value"], each["fact"]["unit"]) for each in run("facts", "list", "--json").frames]
    assert sorted(values) == [("-5000000", "JPY"), ("12.5", "PERCENT"), ("1200000000", "JPY")]


def test_what_is_no_table_has_no_mapping() -> None:
    write(".", {"f.csv": "", "f.xlsx": "x"})
    for name in ("f.csv", "f.xlsx"):
        ran = run("facts", "mapping", name)
        assert ran.code == 1
        assert ran.err.startswith(f"{name}: ") or name in ran.err


def test_workbooks_parquet_and_company_facts_go_in_by_their_names() -> None:
    book = Book()
    book.sheet(
        "P&L, 2024", [["(USD in millions)"], ["Item", "FY2024"], ["Revenue", 1.5], ["Margin", 0.125]], {"B4": "0.0%"}
    )
    table = io.BytesIO()
    parquet.write_table(
        pyarrow.table({"metric": ["Staff"], "entity": ["Acme"], "period": ["2024"], "value": [Decimal("161.50")]}),
        table,
    )
    facts = Path(__file__).parents[1] / "ingest/files/company_facts.json"
    mapping = '[columns]\nmetric = "#A"\n[constants]\nentity = "Acme"\n[wide]\nheading = "period"\n'
    files = {"b.xlsx": book.raw(), "t.parquet": table.getvalue(), "CIK1.json": facts.read_bytes(), "m.toml": mapping}
    write(".", files)
    for name, words in (("b.xlsx", ("--mapping", "m.toml")), ("t.parquet", ()), ("CIK1.json", ())):
        ran = run("facts", "load", name, *words)
        assert ran.code == 0, ran
    listed = run("facts", "list", "--json").frames
    places = {
        (each["fact"]["metric"], each["fact"]["period"]): (each["fact"]["value"], each["lineage"]["source_locator"])
        for each in listed
    }
    assert places["Revenue", "FY2024"] == ("1500000", "sheet=P&L%2C 2024,cell=B3")
    assert places["Margin", "FY2024"] == ("12.5", "sheet=P&L%2C 2024,cell=B4")
    assert places["Staff", "2024"] == ("161.50", "row=2")
    assert places["Assets", "2022-12-31"][0] == "352583000000"
    assert places["EarningsPerShareDiluted", "2023-01-01/2023-12-31"][0] == "6.10"
    again = run("facts", "load", "CIK1.json")
    assert (again.code, again.out) == (0, "0 stored, 13 unchanged, 0 refused\n")
