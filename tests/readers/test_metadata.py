from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.evidence import Attribute, Label, Period, PeriodKind
from groundwire_server.readers import parse_metadata_toml, read_metadata


def fiscal_2024(text: str) -> Period:
    if text != "FY2024":
        raise ValueError(text)
    return Period("FY2024", PeriodKind.FISCAL, date(2024, 1, 1), date(2024, 12, 31))


def test_values_keep_their_types() -> None:
    metadata = parse_metadata_toml(
        "a.md",
        """
        title = "Annual report"
        Topic = "results"
        pages = 12
        price = 1.50
        final = true
        signed = 2024-03-31
        tags = ["a", "b", "a"]
        term = {period = "FY2024"}
        rate = {decimal = "0.10"}
        label = "confidential"
        valid_as_of = 2024-03-31T09:00:00+09:00
        """,
        fiscal_2024,
    )
    assert metadata.title == "Annual report"
    assert metadata.label is Label.CONFIDENTIAL
    assert metadata.valid_as_of == datetime(2024, 3, 31, tzinfo=UTC)
    assert metadata.attributes == (
        Attribute("final", True),
        Attribute("pages", 12),
        Attribute("price", Decimal("1.50")),
        Attribute("rate", Decimal("0.10")),
        Attribute("signed", date(2024, 3, 31)),
        Attribute("tags", ("a", "b")),
        Attribute("term", fiscal_2024("FY2024")),
        Attribute("topic", "results"),
    )
    assert str({a.name: a.value for a in metadata.attributes}["price"]) == "1.50"
    assert metadata.warnings == ()


def test_a_day_alone_is_its_first_moment() -> None:
    assert read_metadata({"valid_as_of": date(2024, 3, 31)}).valid_as_of == datetime(2024, 3, 31, tzinfo=UTC)
    assert read_metadata({"valid_as_of": "2024-03-31"}).valid_as_of == datetime(2024, 3, 31, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "label"),
    [
        ({"label": "Public"}, Label.PUBLIC),
        ({"sensitivity": " ＩＮＴＥＲＮＡＬ "}, Label.INTERNAL),
        ({"label": "public", "Sensitivity": "confidential"}, Label.CONFIDENTIAL),
        ({"label": "top secret"}, Label.RESTRICTED),
        ({"label": ""}, Label.RESTRICTED),
        ({"label": 3}, Label.RESTRICTED),
        ({"label": ["public"]}, Label.RESTRICTED),
        ({"label": None}, None),
        ({}, None),
    ],
)
def test_the_stricter_label_holds_and_an_unreadable_one_is_restricted(
    said: dict[str, object], label: Label | None
) -> None:
    assert read_metadata(said).label is label


@pytest.mark.parametrize(
    ("said", "warning"),
    [
        ({"nested": {"a": 1, "b": 2}}, "nested"),
        ({"mixed": ["a", 1]}, "mixed"),
        ({"value": Decimal("NaN")}, "value"),
        ({"value": float("inf")}, "value"),
        ({"doc_id": "x"}, "doc_id"),
        ({"地域": "東京"}, "地域"),
        ({"long": "x" * 1025}, "1025"),
        ({"valid_as_of": "soon"}, "valid_as_of"),
        ({"when": datetime(2024, 1, 1, 9, tzinfo=UTC)}, "time of day"),
        ({"term": {"period": "someday"}}, "someday"),
        ({"Last Name": "a", "last-name": "b"}, "second time"),
    ],
)
def test_what_has_no_type_is_passed_over_with_a_warning(said: dict[str, object], warning: str) -> None:
    metadata = read_metadata(said, fiscal_2024)
    assert len(metadata.warnings) == 1
    assert warning in metadata.warnings[0]


def test_a_period_needs_somebody_who_reads_it() -> None:
    assert read_metadata({"term": {"period": "FY2024"}}).warnings == ("term: 'FY2024' cannot be read as a period",)


def test_broken_toml_is_refused_because_the_label_might_stand_in_it() -> None:
    with pytest.raises(DocumentRefused, match="line 4") as refused:
        parse_metadata_toml("a.md", 'title = "x"\nlabel = \n', first_line=3)
    assert refused.value.reason is ErrorReason.DOCUMENT_BROKEN
