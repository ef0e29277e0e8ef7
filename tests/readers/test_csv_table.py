from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.chunking import make_chunker
from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.evidence import Span
from groundwire_server.readers import Document, ReadOptions, Source, WarningKind
from groundwire_server.readers.csv_table import CsvReader
from tests.support.hostile_text import hostile_text
from tests.support.refusals import reason_of


def read(content: str | bytes, doc_id: str = "table.csv", options: ReadOptions | None = None) -> Document:
    raw = content.encode() if isinstance(content, str) else content
    (document,) = CsvReader().read(Source(doc_id, raw, options=options or ReadOptions()))
    assert isinstance(document, Document)
    return document


def place_of(document: Document, text: str) -> tuple[tuple[str, str], ...]:
    start = document.text.index(text)
    return document.places.locate(Span(start, start + len(text)))


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("Region,Q1,Q2\nEMEA,12,13\n", "Region; Q1; Q2\nRegion: EMEA; Q1: 12; Q2: 13"),
        ("Region;2022;2023\r\nEMEA;1,5;2,5\r\n", "Region; 2022; 2023\nRegion: EMEA; 2022: 1,5; 2023: 2,5"),
        ("地域\t売上高\t前年比\n欧州\t1,234百万円\t△3.5%\n",
         "地域; 売上高; 前年比\n地域: 欧州; 売上高: 1,234百万円; 前年比: △3.5%"),
        ("地区|收入\n华东|12亿元\n", "地区; 收入\n地区: 华东; 收入: 12亿元"),
        ("sep=;\nA;B\n1;2\n", "A; B\nA: 1; B: 2"),
        ("1,2,3\n4,5,6\n", "1; 2; 3\n4; 5; 6"),
        ("name\nAnn\nBob\n", "name\nAnn\nBob"),
        ("value\n1\n2\n", "value\nvalue: 1\nvalue: 2"),
        ("Sales\n\nRegion,Q1\nEMEA,\n", "Sales\n\nRegion; Q1\nEMEA"),
        ("Staff\n\nName,City\nAnn,Paris\n", "Staff\n\nName; City\nName: Ann; City: Paris"),
        ("A,B\n1,2\n\n3,4\n\nC,D\n5,6\n\nnote\n", "A; B\nA: 1; B: 2\n\nA: 3; B: 4\n\nC; D\nC: 5; D: 6\n\nnote"),
        (",2023,,2022,\nRegion,Q1,Q2,Q1,Q2\nEMEA,1,2,3,4\n",
         "2023; 2022\nRegion; Q1; Q2\nRegion: EMEA; 2023 Q1: 1; 2023 Q2: 2; 2022 Q1: 3; 2022 Q2: 4"),
        ("day,2024-01-31,2024-02-29\nsales,1,2\n",
         "day; 2024-01-31; 2024-02-29\nday: sales; 2024-01-31: 1; 2024-02-29: 2"),
        ("2024-01-31,12\n2024-02-29,13\n", "2024-01-31; 12\n2024-02-29; 13"),
        ("a,b\n1,2,3\n", "a; b\na: 1; b: 2; 3"),
    ],
)  # fmt: skip
def test_each_row_has_its_heads_beside_it(content: str, text: str) -> None:
    assert read(content).text == text


def test_rows_are_counted_as_a_spreadsheet_counts_them() -> None:
    document = read('name,notes\nAnn,"first\nsecond"\n\nBob,x\n')
    assert place_of(document, "name; notes") == (("row", "1"),)
    assert place_of(document, "notes: first second") == (("row", "2"),)
    assert place_of(document, "Bob") == (("row", "4"),)
    assert place_of(document, document.text) == (("row", "1-4"),)


def test_a_wide_row_is_several_lines_that_each_begin_with_its_first_cell() -> None:
    heads = ["Region", *(f"month {number}" for number in range(120))]
    document = read(",".join(heads) + "\nEMEA," + ",".join(str(number) for number in range(120)) + "\n")
    lines = document.text.split("\n")[1:]
    assert len(lines) > 3
    assert all(line.startswith("Region: EMEA; month ") and len(line) <= 480 for line in lines[0:])
    assert "; ".join(line.removeprefix("Region: EMEA; ") for line in lines) == "; ".join(
        f"month {number}: {number}" for number in range(120)
    )
    assert {place_of(document, line) for line in lines} == {(("row", "2"),)}


def test_a_long_table_is_many_chunks_each_traceable_to_its_rows() -> None:
    content = "code,city,sales\n" + "".join(f"c{number},town {number},{number * 7}\n" for number in range(2, 1500))
    document = read(content)
    chunks = make_chunker("paragraph", 480, 80).chunk(document.text)
    assert len(chunks) > 100
    for chunk in chunks:
        assert document.text[chunk.span.start : chunk.span.end] == chunk.text
        ((key, rows),) = document.places.locate(chunk.span)
        first, _, last = rows.partition("-")
        assert key == "row"
        if int(first) > 1:
            assert chunk.text.startswith(f"code: c{first}; city: town {first}; sales: ")
        assert f"code: c{last or first}; " in chunk.text


def test_stray_quotes_take_no_other_row_along() -> None:
    document = read('name,notes\nBob,"open\nCarl,x\nDora,5" pipe\nEve,"quoted"tail\n')
    assert document.text.split("\n")[1:] == [
        'name: Bob; notes: "open',
        "name: Carl; notes: x",
        'name: Dora; notes: 5" pipe',
        "name: Eve; notes: quotedtail",
    ]
    assert [(each.locator, each.kind) for each in document.warnings] == [
        ("table.csv#row=2", WarningKind.TEXT_UNCERTAIN),
    ]


def test_a_file_of_open_quotes_is_refused_before_it_takes_long() -> None:
    content = "a,b\n" + 'x,"open\ny,\n' * 401
    with pytest.raises(DocumentRefused, match=r"row \d+") as refused:
        read(content)
    assert refused.value.reason is ErrorReason.DOCUMENT_BROKEN
    assert refused.value.hint


def test_a_charset_in_doubt_is_told() -> None:
    (warning,) = read("東京都,3\n".encode("cp932")).warnings
    assert warning.kind is WarningKind.TEXT_UNCERTAIN
    assert "charset" in warning.message


@pytest.mark.parametrize(
    ("content", "options", "limit"),
    [
        (",".join("x" * 100_000) + "\n", ReadOptions(), "max_columns"),
        ("a,b\n" + "x" * 131_072 + "y,1\n", ReadOptions(), "max_cell_chars"),
        ("head of a column,another head\n" + "1,2\n" * 100, ReadOptions(max_text_chars=2000), "max_text_chars"),
    ],
)
def test_what_no_spreadsheet_holds_is_too_large(content: str, options: ReadOptions, limit: str) -> None:
    with pytest.raises(DocumentRefused) as refused:
        read(content, options=options)
    assert refused.value.reason is ErrorReason.DOCUMENT_TOO_LARGE
    assert limit in refused.value.details
    assert refused.value.hint


def test_heads_repeated_beyond_all_bounds_end_early() -> None:
    wide = ",".join(f"a head that is as long as they come {number}" for number in range(2000))
    content = wide + "\n" + (",".join("1" * 2000) + "\n") * 2000
    with pytest.raises(DocumentRefused, match="over the limit") as refused:
        read(content, options=ReadOptions(max_text_chars=500_000))
    assert refused.value.reason is ErrorReason.DOCUMENT_TOO_LARGE


@pytest.mark.parametrize("content", ["", "\n\n", " , ,\n", '""\n'])
def test_a_table_without_content_holds_no_text(content: str) -> None:
    assert reason_of(lambda: read(content)) is ErrorReason.DOCUMENT_NO_TEXT


def test_formulas_are_text_and_nothing_more() -> None:
    document = read("name,sum\n\"=cmd|' /C calc'!A0\",@SUM(1+9)\n")
    assert document.text.endswith("name: =cmd|' /C calc'!A0; sum: @SUM(1+9)")


@given(st.lists(st.lists(hostile_text(max_pieces=4), min_size=1, max_size=5), min_size=1, max_size=12))
def test_every_cell_is_in_the_text_and_every_line_has_its_row(rows: list[list[str]]) -> None:
    stream = io.StringIO(newline="")
    csv.writer(stream).writerows(rows)
    raw = stream.getvalue().encode()
    outcome = reason_of(lambda: read(raw))
    assert outcome in (None, *ErrorReason)
    if outcome is not None:
        return
    document = read(raw)
    starts = {0} | {at + 1 for at, char in enumerate(document.text) if char == "\n"}
    numbers = [int(dict(document.places.locate(Span(at, at + 1)))["row"]) for at in sorted(starts)]
    assert numbers == sorted(numbers)
