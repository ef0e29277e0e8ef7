"""Rows of figures: every digit kept, every bad row refused by itself, nothing guessed."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.errors import DocumentRefused, ErrorReason, InvalidRequest, RowRefused
from groundwire_server.evidence import Attribute, Dimension, Label, ReviewStatus
from groundwire_server.glossary import ChannelTerm, EntityTerm, Glossary, MemberTerm, MetricTerm, Synonym
from groundwire_server.ingest.fact_values import read_decimal
from groundwire_server.ingest.facts import FactFields, FactRules, read_fact, read_fact_file
from groundwire_server.store import FactRecord
from groundwire_server.store.rows import make_fact_id

GLOSSARY = Glossary(
    [
        MetricTerm("REVENUE", "Net sales", (Synonym("売上高", "ja"), Synonym("shared")), unit="USD"),
        MetricTerm("COST", synonyms=(Synonym("shared"),)),
        EntityTerm("ACME", "Acme Inc.", fiscal_year_start="04-01"),
        ChannelTerm("WEB", "Web shop"),
        MemberTerm("segment", "CLOUD", "Cloud services"),
    ],
    ambiguous="report",
)
RULES = FactRules(GLOSSARY)
ROW = {
    "metric": "REVENUE",
    "entity": "ACME",
    "period": "2024",
    "value": "12408.30",
    "source_doc": "a.pdf",
    "locator": "page=3",
}


def _load(*rows: object, rules: FactRules = RULES, mapping: str = "") -> list[tuple[int, FactRecord | RowRefused]]:
    raw = "\n".join(row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows).encode()
    return list(read_fact_file("facts.jsonl", "jsonl", raw, mapping, rules))


def _good(*rows: object, rules: FactRules = RULES, mapping: str = "") -> list[FactRecord]:
    loaded = [record for _, record in _load(*rows, rules=rules, mapping=mapping)]
    assert all(isinstance(record, FactRecord) for record in loaded), loaded
    return [record for record in loaded if isinstance(record, FactRecord)]


def _csv(text: str, mapping: str = "") -> list[tuple[int, FactRecord | RowRefused]]:
    return list(read_fact_file("facts.csv", "csv", text.encode(), mapping, RULES))


def test_a_row_becomes_a_record() -> None:
    (record,) = _good(ROW)
    assert record == FactRecord(
        "REVENUE",
        "ACME",
        "2024",
        date(2024, 1, 1),
        date(2024, 12, 31),
        "TOTAL",
        "12408.30",
        "USD",
        "a.pdf",
        "page=3",
    )


def test_names_become_codes_and_periods_canonical_in_the_entitys_fiscal_year() -> None:
    row = {**ROW, "metric": "ＮＥＴ－Sales", "entity": "acme inc", "period": "2024年度", "channel": "web shops"}
    (record,) = _good({**row, "dimensions": {"segment": "cloud services"}})
    assert (record.metric, record.entity, record.channel) == ("REVENUE", "ACME", "WEB")
    assert (record.period, record.period_first, record.period_last) == ("FY2025", date(2024, 4, 1), date(2025, 3, 31))
    assert record.dimensions == (Dimension("segment", "CLOUD"),)


def test_a_name_that_no_term_has_is_its_own_code() -> None:
    (record,) = _good({**ROW, "metric": " Ｎovel measure (US$) ", "unit": "x", "entity": "e-1", "channel": "Kiosk"})
    assert (record.metric, record.entity, record.channel, record.unit) == ("Novel measure (US$)", "e-1", "Kiosk", "x")


@pytest.mark.parametrize(
    ("unit", "stored"),
    [("", "USD"), ("usd", "usd"), ("US$", "USD"), ("EUR", "EUR"), ("USD_M", "USD_M"), ("ISK", "ISK")],
)
def test_the_unit_of_a_term_is_that_of_figures_that_name_none(unit: str, stored: str) -> None:
    (record,) = _good({**ROW, "metric": "REVENUE", "unit": unit})
    assert record.unit == stored


def test_a_note_in_brackets_is_no_second_try_when_figures_come_in() -> None:
    (record,) = _good({**ROW, "metric": "Net sales (pro forma)"})
    assert record.metric == "Net sales (pro forma)"


def test_without_a_glossary_names_are_codes() -> None:
    (record,) = _good({**ROW, "metric": "売上高", "period": "FY2024"}, rules=FactRules())
    assert (record.metric, record.period, record.unit) == ("売上高", "FY2024", "")


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ('"12408.30"', "12408.30"),
        ("12408.30", "12408.30"),
        ("0.1", "0.1"),
        ("1.0", "1.0"),
        ("3521418059.923445", "3521418059.923445"),
        ("123456789012345678901234567890.123456789", "123456789012345678901234567890.123456789"),
        ("-0.50", "-0.50"),
        ('"−312.50"', "-312.50"),
        ('"＋１２"', "12"),
        ('"007.0"', "7.0"),
        ('"-0"', "0"),
        ("1.20e3", "1200"),
        ('"1E-3"', "0.001"),
        ("12", "12"),
        ("1" + "0" * 40, "1" + "0" * 40),
    ],
)
def test_every_digit_is_kept(written: str, value: str) -> None:
    line = json.dumps({name: text for name, text in ROW.items() if name != "value"})
    (record,) = _good(f'{line[:-1]}, "value": {written}}}')
    assert record.value == value


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**30), max_value=10**30))
def test_decimals_survive_exactly(number: Decimal) -> None:
    text = format(number, "f")
    assert Decimal(read_decimal(text)) == number
    line = json.dumps({name: field for name, field in ROW.items() if name != "value"})
    (record,) = _good(f'{line[:-1]}, "value": {text}}}')
    assert Decimal(record.value) == number
    assert len(record.value.partition(".")[2]) == len(text.partition(".")[2])


def test_what_stood_there_is_kept_where_the_value_reads_otherwise() -> None:
    assert _good({**ROW, "value": "−12"})[0].as_written == "−12"
    assert _good({**ROW, "value": "-12"})[0].as_written == ""
    assert _good({**ROW, "value": "-12", "as_written": "(12)"})[0].as_written == "(12)"


@pytest.mark.parametrize(
    ("change", "reason", "column"),
    [
        ({"value": ""}, ErrorReason.FACT_VALUE_MISSING, "value"),
        ({"value": None}, ErrorReason.FACT_VALUE_MISSING, "value"),
        ({"value": "—"}, ErrorReason.FACT_VALUE_MISSING, "value"),
        ({"value": "n.a."}, ErrorReason.FACT_VALUE_MISSING, "value"),
        ({"value": "なし"}, ErrorReason.FACT_VALUE_MISSING, "value"),
        ({"value": "#N/A"}, ErrorReason.FACT_VALUE_MISSING, "value"),
        ({"value": "1,234"}, ErrorReason.FACT_VALUE_MALFORMED, "value"),
        ({"value": "(12)"}, ErrorReason.FACT_VALUE_MALFORMED, "value"),
        ({"value": "3/4"}, ErrorReason.FACT_VALUE_MALFORMED, "value"),
        ({"value": "12 %"}, ErrorReason.FACT_VALUE_MALFORMED, "value"),
        ({"value": "NaN"}, ErrorReason.FACT_VALUE_MALFORMED, "value"),
        ({"value": "Infinity"}, ErrorReason.FACT_VALUE_MALFORMED, "value"),
        ({"value": "二百五"}, ErrorReason.FACT_VALUE_MALFORMED, "value"),
        ({"value": "1e9999"}, ErrorReason.FACT_VALUE_MALFORMED, "value"),
        ({"value": "9" * 2000}, ErrorReason.FACT_VALUE_MALFORMED, "value"),
        ({"value": True}, ErrorReason.VALUE_MALFORMED, "value"),
        ({"value": [1]}, ErrorReason.VALUE_MALFORMED, "value"),
        ({"metric": " "}, ErrorReason.FACT_FIELD_MISSING, "metric"),
        ({"entity": None}, ErrorReason.FACT_FIELD_MISSING, "entity"),
        ({"period": ""}, ErrorReason.FACT_FIELD_MISSING, "period"),
        ({"period": "sometime"}, ErrorReason.FACT_PERIOD_MALFORMED, "period"),
        ({"period": "03/04/2024"}, ErrorReason.FACT_PERIOD_MALFORMED, "period"),
        ({"period": "Q3"}, ErrorReason.FACT_PERIOD_MALFORMED, "period"),
        ({"period": "last year"}, ErrorReason.FACT_PERIOD_MALFORMED, "period"),
        ({"period": "昨年第3四半期"}, ErrorReason.FACT_PERIOD_MALFORMED, "period"),
        ({"unit": "%"}, ErrorReason.FACT_UNIT_MISMATCH, "unit"),
        ({"unit": "USD per share"}, ErrorReason.FACT_UNIT_MISMATCH, "unit"),
        ({"metric": "shared"}, ErrorReason.UNKNOWN_NAME, "metric"),
        ({"metric": "a\tb"}, ErrorReason.VALUE_MALFORMED, "metric"),
        ({"entity": "x" * 600}, ErrorReason.VALUE_MALFORMED, "entity"),
        ({"locator": "x" * 5000}, ErrorReason.VALUE_OUT_OF_RANGE, "locator"),
        ({"decimals": "six"}, ErrorReason.VALUE_MALFORMED, "decimals"),
        ({"decimals": 99999}, ErrorReason.VALUE_MALFORMED, "decimals"),
        ({"filed": "2.2.2022"}, ErrorReason.VALUE_MALFORMED, "filed"),
        ({"valid_as_of": 2022}, ErrorReason.VALUE_MALFORMED, "valid_as_of"),
        ({"review_status": "maybe"}, ErrorReason.UNKNOWN_NAME, "review_status"),
        ({"dimensions": "CLOUD"}, ErrorReason.VALUE_MALFORMED, "dimensions"),
        ({"dimensions": {"segment": 3}}, ErrorReason.VALUE_MALFORMED, "dimensions"),
        (
            {"dimensions": [{"name": "a", "member": "1"}, {"name": "a", "member": "2"}]},
            ErrorReason.CONTRADICTION,
            "dimensions",
        ),
        ({"attributes": [1]}, ErrorReason.VALUE_MALFORMED, "attributes"),
        ({"extra": {"a": 1}}, ErrorReason.VALUE_MALFORMED, "extra"),
        ({"form": "a", "Form": "b"}, ErrorReason.CONTRADICTION, "Form"),
        ({"versions": {"value": "1"}}, ErrorReason.VALUE_MALFORMED, "versions"),
        ({"versions": [{"value": "12408.30"}]}, ErrorReason.FACT_FIELD_MISSING, "versions"),
        ({"versions": [{"value": "1", "filed": "2024-01-01"}]}, ErrorReason.CONTRADICTION, "value"),
    ],
)
def test_a_bad_row_is_refused_by_itself(change: dict[str, object], reason: ErrorReason, column: str) -> None:
    loaded = _load({**ROW, "period": "2023"}, {**ROW, **change}, {**ROW, "period": "2022"})
    assert [number for number, _ in loaded] == [1, 2, 3]
    assert isinstance(loaded[0][1], FactRecord)
    assert isinstance(loaded[2][1], FactRecord)
    refused = loaded[1][1]
    assert isinstance(refused, RowRefused)
    assert (refused.reason, refused.column) == (reason, column)
    assert len(refused.value) <= 200
    assert refused.message.endswith(".")


@pytest.mark.parametrize("line", ["{", "[]", "5", '{"value": NaN}', '{"metric": "\\ud800"}'])
def test_a_bad_line_is_refused_by_itself(line: str) -> None:
    loaded = _load(ROW, "", line)
    assert [(number, type(record)) for number, record in loaded] == [(1, FactRecord), (3, RowRefused)]


def test_everything_that_a_row_may_say() -> None:
    (record,) = _good(
        {
            **ROW,
            "unit": "usd",
            "decimals": -2,
            "as_written": "12,408.30",
            "valid_as_of": "2024-12-31",
            "filed": "2025-02-03T09:30:00+09:00",
            "review_status": "pending",
            "author": "audit",
            "reason": "re-read",
            "label": " ｐublic ",
            "attributes": {"checked": True},
            "form": "10-K",
            "fiscal_year": 2024,
            "weight": 1.50,
            "tags": ["a", "b"],
            "nothing": None,
            "備考": "no name of an attribute",
        }
    )
    assert (record.unit, record.decimals, record.as_written) == ("usd", -2, "12,408.30")
    assert record.valid_as_of == datetime(2024, 12, 31, tzinfo=UTC)
    assert record.filed_at == datetime(2025, 2, 3, 0, 30, tzinfo=UTC)
    assert record.review_status is ReviewStatus.PENDING
    assert (record.author, record.reason, record.label) == ("audit", "re-read", Label.PUBLIC)
    assert record.attributes == (
        Attribute("checked", True),
        Attribute("fiscal_year", 2024),
        Attribute("form", "10-K"),
        Attribute("tags", ("a", "b")),
        Attribute("weight", Decimal("1.5")),
    )


@pytest.mark.parametrize(
    ("label", "expected"), [("secret!", Label.RESTRICTED), ("", Label.PUBLIC), (None, Label.PUBLIC)]
)
def test_a_row_without_a_label_has_that_of_the_file(label: str | None, expected: Label) -> None:
    (record,) = _good({**ROW, "label": label}, rules=FactRules(GLOSSARY, Label.PUBLIC))
    assert record.label is expected


def test_a_row_without_a_source_has_the_file_and_its_line() -> None:
    bare = {name: ROW[name] for name in ("metric", "entity", "period", "value")}
    (record,) = _good("", bare)
    assert (record.source_doc, record.locator) == ("facts.jsonl", "line=2")


VERSIONS = [
    {"value": "101", "source_doc": "b.pdf", "filed": "2025-02-01", "form": "10-K/A", "reason": "restated"},
    {"value": "100", "source_doc": "a.pdf", "filed": "2024-02-01"},
]


def test_versions_are_one_figure_over_several_documents() -> None:
    row = {**ROW, "value": "101", "source_doc": "b.pdf", "valid_as_of": "2025-02-01", "versions": VERSIONS}
    first, second = _good(row)
    assert [(each.value, each.source_doc, each.source) for each in (first, second)] == [
        ("100", "a.pdf", ""),
        ("101", "b.pdf", "a.pdf"),
    ]
    assert make_fact_id(first) == make_fact_id(second)
    assert first.filed_at is not None
    assert second.filed_at is not None
    assert first.filed_at < second.filed_at
    assert (first.valid_as_of, second.valid_as_of) == (None, datetime(2025, 2, 1, tzinfo=UTC))
    assert (first.reason, second.reason) == ("", "restated")
    assert {each.locator for each in (first, second)} == {"page=3"}


def test_a_restatement_joins_what_was_stored_before() -> None:
    (before,) = _good({**ROW, "value": "100"})
    after = _good({**ROW, "value": "101", "source_doc": "b.pdf", "versions": VERSIONS})
    assert {make_fact_id(record) for record in (before, *after)} == {make_fact_id(before)}


def test_a_row_counts_with_all_of_its_versions_or_not_at_all() -> None:
    versions = [*VERSIONS, {"value": "n/a", "source_doc": "c.pdf", "filed": "2026-02-01"}]
    ((number, refused),) = _load({**ROW, "value": "101", "source_doc": "b.pdf", "versions": versions})
    assert number == 1
    assert isinstance(refused, RowRefused)
    assert refused.reason is ErrorReason.FACT_VALUE_MISSING


def test_two_values_of_one_source_are_both_refused() -> None:
    rows = [
        ROW,
        {**ROW, "value": "9", "locator": "page=4"},
        {**ROW, "source_doc": "b.pdf", "value": "9"},
        {**ROW, "period": "2023"},
    ]
    loaded = _load(*rows)
    kinds = [type(record) for _, record in loaded]
    assert kinds == [RowRefused, RowRefused, FactRecord, FactRecord]
    refused = loaded[0][1]
    assert isinstance(refused, RowRefused)
    assert refused.reason is ErrorReason.CONTRADICTION
    assert "rows 1, 2" in refused.message


@pytest.mark.parametrize(
    "change",
    [
        {"value": "12408.3"},  # the same value, written otherwise
        {"value": "9", "filed": "2025-01-01"},
        {"value": "9", "review_status": "PENDING"},
        {"value": "9", "channel": "WEB"},
        {"value": "9", "dimensions": {"segment": "CLOUD"}},
        {"value": "9", "period": "2024-01-01/2024-01-31"},
        {"value": "9", "metric": "COST", "unit": "EUR"},
    ],
)
def test_what_differs_in_its_key_or_filing_contradicts_nothing(change: dict[str, object]) -> None:
    assert len(_good(ROW, {**ROW, **change})) == 2


def test_units_contradict_without_case() -> None:
    rows = [{**ROW, "metric": "COST", "unit": unit, "value": value} for unit, value in (("USD", "1"), ("usd", "2"))]
    assert [type(record) for _, record in _load(*rows)] == [RowRefused, RowRefused]


# CSV.

HEADING = "metric,entity,period,value,source_doc,locator\n"


def test_csv_rows_count_the_heading() -> None:
    loaded = _csv(HEADING + 'REVENUE,ACME,2024,"1.50",a.pdf,p1\r\n\r\nREVENUE,ACME,2023,x,a.pdf,p1\r\n')
    assert [(number, type(record)) for number, record in loaded] == [(2, FactRecord), (4, RowRefused)]
    record = loaded[0][1]
    assert isinstance(record, FactRecord)
    assert (record.value, record.locator) == ("1.50", "p1")


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_csv_forms(delimiter: str, mark: str) -> None:
    cells = ["Metric", "ENTITY", "Period", "value", "dimension.segment", "Remark (internal)"]
    text = (
        mark + delimiter.join(cells) + "\n" + delimiter.join(["売上高", "ACME", "2024年", "7", "cloud services", "ok"])
    )
    ((number, record),) = _csv(text)
    assert number == 2
    assert isinstance(record, FactRecord)
    assert record.dimensions == (Dimension("segment", "CLOUD"),)
    assert record.attributes == (Attribute("remark_internal", "ok"),)
    assert (record.source_doc, record.locator) == ("facts.csv", "row=2")


def test_csv_in_another_charset() -> None:
    text = "metric,entity,period,value,備考\n" + "売上高,ACME,2024年,7,連結決算の数値です\n" * 3
    loaded = list(read_fact_file("facts.csv", "csv", text.encode("cp932"), "", RULES))
    assert {record.metric for _, record in loaded if isinstance(record, FactRecord)} == {"REVENUE"}


def test_csv_cells_hold_line_breaks_and_rows_may_be_short_or_long() -> None:
    heading = HEADING.replace("\n", ",note\n")
    text = heading + 'REVENUE,ACME,2024,7,a.pdf,p,"two\nlines"\nREVENUE,ACME,2023,7\nREVENUE,ACME,2022,7,a,p,,more\n'
    loaded = _csv(text)
    assert [(number, type(record)) for number, record in loaded] == [(2, FactRecord), (3, FactRecord), (4, RowRefused)]
    short = loaded[1][1]
    assert isinstance(short, FactRecord)
    assert (short.source_doc, short.locator) == ("facts.csv", "row=3")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", ErrorReason.FACT_FIELD_MISSING),
        ("metric,entity,value\nA,B,1\n", ErrorReason.FACT_FIELD_MISSING),
        ("metric,metric,entity,period,value\n", ErrorReason.CONTRADICTION),
        (HEADING + 'REVENUE,"ACME,2024,7\n', ErrorReason.DOCUMENT_BROKEN),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_whole(text: str, reason: ErrorReason) -> None:
    with pytest.raises(DocumentRefused) as raised:
        _csv(text)
    assert raised.value.reason is reason


def test_a_mapping_says_where_fields_stand() -> None:
    mapping = """
    [columns]
    metric = "Kennzahl"
    value = "Betrag"
    [constants]
    entity = "ACME"
    unit = "USD"
    [dimensions]
    segment = "Bereich"
    """
    ((_, record),) = _csv(
        "Kennzahl;Jahr;Betrag;Bereich;period;value\nNet sales;x;7;Cloud services;2024;ignored\n", mapping
    )
    assert isinstance(record, FactRecord)
    assert (record.metric, record.entity, record.value) == ("REVENUE", "ACME", "7")
    assert record.dimensions == (Dimension("segment", "CLOUD"),)
    assert record.attributes == (Attribute("jahr", "x"),)  # names of attributes are in lower case
    (mapped,) = _good('{"Kennzahl": "Net sales", "period": 2024, "Betrag": 7.10}', mapping=mapping)
    assert mapped.value == "7.10"


@pytest.mark.parametrize(
    "mapping",
    ["[columns", "[columns]\nprice = 'x'\n", "[columns]\nmetric = 5\n", "[fields]\na = 'b'\n", "columns = 'x'\n"],
)
def test_a_mapping_that_does_not_hold_is_refused(mapping: str) -> None:
    with pytest.raises(InvalidRequest, match="mapping_toml"):
        _csv(HEADING, mapping)


# Records of the wire.


def test_a_record_of_the_wire() -> None:
    fields = FactFields(
        "net sales",
        "acme inc.",
        "FY2024",
        value="1.0",
        source_doc="a.pdf",
        locator="p1",
        dimensions=(Dimension("segment", "cloud services"),),
        attributes=(Attribute("z", 1), Attribute("a", 2)),
    )
    record = read_fact(fields, RULES)
    assert (record.metric, record.entity, record.period) == ("REVENUE", "ACME", "FY2024")
    assert (record.period_first, record.label) == (date(2023, 4, 1), Label.INTERNAL)
    assert [attribute.name for attribute in record.attributes] == ["a", "z"]
    for missing in ("source_doc", "locator"):
        with pytest.raises(RowRefused) as raised:
            read_fact(
                FactFields("a", "b", "2024", value="1", **{"source_doc": "a", "locator": "b", missing: ""}), RULES
            )
        assert (raised.value.reason, raised.value.column) == (ErrorReason.FACT_FIELD_MISSING, missing)


HOSTILE = st.text(
    st.sampled_from('{}[]":,metricvalu 2024年度-0.5eE\r\n\t\u2028\x00é\u0301\ud83d😀\\nulfa'), max_size=60
)


@given(
    HOSTILE.map(lambda text: text.encode("utf-8", "replace")) | st.binary(max_size=60),
    st.sampled_from(["jsonl", "csv"]),
)
def test_any_bytes_are_rows_or_typed_refusals(raw: bytes, form: str) -> None:
    try:
        for number, record in read_fact_file("x", form, raw, "", RULES):
            assert number >= 1
            assert isinstance(record, FactRecord | RowRefused)
    except DocumentRefused:
        assert form == "csv"
