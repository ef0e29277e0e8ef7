from __future__ import annotations

from datetime import UTC, date, timedelta, timezone
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.errors import Cause, ErrorReason
from groundwire_server.evidence import Attribute, Label, Period, PeriodKind
from groundwire_server.ingest import DocumentHead, DocumentOutcome, FactFileHead, RejectedRow
from groundwire_server.ingest.events import (
    RowsOutcome,
    decode_document_outcomes,
    decode_rows_outcome,
    encode_document_outcomes,
    encode_rows_outcome,
)
from groundwire_server.ingest.head import (
    decode_document_head,
    decode_fact_file_head,
    encode_document_head,
    encode_fact_file_head,
)
from groundwire_server.readers import ReadWarning

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
VALUES = st.one_of(
    WORDS,
    st.integers(-(2**63), 2**63 - 1),
    st.booleans(),
    st.floats(allow_nan=False),
    st.decimals(allow_nan=False, allow_infinity=False),
    st.dates(),
    st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=9))])),
    st.lists(WORDS, max_size=4).map(tuple),
    st.just(Period("FY2024", PeriodKind.FISCAL, date(2024, 1, 1), date(2024, 12, 31))),
)
ATTRIBUTES = st.lists(st.builds(Attribute, WORDS, VALUES), max_size=4).map(tuple)
LABELS = st.none() | st.sampled_from(Label)
CAUSES = st.builds(Cause, st.sampled_from(ErrorReason), WORDS, st.lists(st.tuples(WORDS, WORDS), max_size=3).map(tuple))
WARNINGS = st.lists(st.builds(ReadWarning, WORDS, WORDS), max_size=3).map(tuple)
ROWS = st.builds(RejectedRow, st.integers(1), WORDS, st.integers(0), WORDS, WORDS, st.sampled_from(ErrorReason), WORDS)


@given(
    st.builds(
        DocumentHead,
        WORDS,
        WORDS,
        WORDS,
        WORDS,
        LABELS,
        st.none() | st.datetimes(timezones=st.just(UTC)),
        ATTRIBUTES,
        st.binary(max_size=32),
        WORDS,
    )
)
def test_a_document_head_comes_back_with_its_types(head: DocumentHead) -> None:
    back = decode_document_head(encode_document_head(head))
    assert back == head
    assert [type(attribute.value) for attribute in back.attributes] == [type(a.value) for a in head.attributes]
    assert [str(attribute.value) for attribute in back.attributes] == [str(a.value) for a in head.attributes]


def test_a_decimal_keeps_its_digits() -> None:
    head = DocumentHead("a", attributes=(Attribute("price", Decimal("1.500")),))
    assert str(decode_document_head(encode_document_head(head)).attributes[0].value) == "1.500"


@given(st.builds(FactFileHead, WORDS, WORDS, WORDS, LABELS))
def test_a_fact_file_head_comes_back(head: FactFileHead) -> None:
    assert decode_fact_file_head(encode_fact_file_head(head)) == head


@given(
    st.lists(
        st.builds(
            DocumentOutcome,
            WORDS,
            st.integers(1),
            st.integers(0),
            st.integers(0),
            st.booleans(),
            st.none() | CAUSES,
            WARNINGS,
        ),
        max_size=4,
    )
)
def test_document_outcomes_come_back(outcomes: list[DocumentOutcome]) -> None:
    assert decode_document_outcomes(encode_document_outcomes(outcomes)) == outcomes


@given(
    st.builds(
        RowsOutcome,
        st.integers(1),
        st.integers(0),
        st.integers(0),
        st.integers(0),
        st.lists(ROWS, max_size=3).map(tuple),
    )
)
def test_rows_outcomes_come_back(outcome: RowsOutcome) -> None:
    assert decode_rows_outcome(encode_rows_outcome(outcome)) == outcome
