"""Typed values and messages have the same fields, and what goes over and back is equal."""

from __future__ import annotations

import dataclasses
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from google.protobuf.message import Message
from hypothesis import given
from hypothesis import strategies as st

import groundwire
from groundwire._model.named import NamedEnum
from groundwire._wire.filter import decode_filter, encode_filter
from groundwire._wire.mirror import decode, fill
from groundwire._wire.table import ENUMS, MIRRORS
from groundwire._wire.value import decode_value, encode_value
from groundwire.v1 import evidence_pb2, filter_pb2, glossary_pb2, ingest_pb2, metric_pb2, stream_pb2, value_pb2

# What only the client has: where a frame belongs, which record a row was, the bytes that travel beside the head.
CLIENT_ONLY = {"branch", "record", "content"}


@pytest.mark.parametrize(("cls", "message"), MIRRORS.items(), ids=lambda each: each.__name__)
def test_fields_are_those_of_the_message(cls: type, message: type[Message]) -> None:
    descriptor = message.DESCRIPTOR
    ours = {field.name for field in dataclasses.fields(cls)} - CLIENT_ONLY
    oneofs = ours & set(descriptor.oneofs_by_name)
    in_oneofs = {field.name for name in oneofs for field in descriptor.oneofs_by_name[name].fields}
    theirs = (set(descriptor.fields_by_name) - in_oneofs) | oneofs
    assert ours == theirs


@pytest.mark.parametrize(("ours", "wrapper"), ENUMS.items(), ids=lambda each: getattr(each, "__name__", ""))
def test_enums_are_those_of_the_contract(ours: type[NamedEnum], wrapper: Any) -> None:
    prefix = wrapper.DESCRIPTOR.values_by_number[0].name.removesuffix("UNSPECIFIED")
    theirs = {value.name.removeprefix(prefix): value.number for value in wrapper.DESCRIPTOR.values}
    assert {member.name: member.value for member in ours} == theirs


def _fill_all(target: Message, depth: int) -> None:
    """Set every field, so many levels deep."""
    field: Any
    for field in target.DESCRIPTOR.fields:
        place = getattr(target, field.name)
        if field.message_type is None:
            examples = {
                field.CPPTYPE_STRING: b"12" if field.type == field.TYPE_BYTES else "12",
                field.CPPTYPE_BOOL: True,
            }
            value = examples.get(field.cpp_type, 1)
            place.append(value) if hasattr(place, "append") else setattr(target, field.name, value)
        elif depth:
            inner = place.add() if hasattr(place, "add") else place
            inner.SetInParent()
            if not field.message_type.full_name.startswith("google.protobuf."):
                _fill_all(inner, depth - 1)


# The head of an upload only goes in: its content travels beside it and never comes back.
_COMING_BACK = [
    (cls, message)
    for cls, message in MIRRORS.items()
    if "content" not in {field.name for field in dataclasses.fields(cls)}
]


@pytest.mark.parametrize(("cls", "message"), _COMING_BACK, ids=lambda each: each.__name__)
def test_every_message_decodes_with_all_fields_set_and_with_none(cls: type, message: type[Message]) -> None:
    full = message()
    _fill_all(full, 3)
    for example in (message(), full):
        assert isinstance(decode(example), cls)


@pytest.mark.parametrize(
    "value",
    [
        groundwire.MetricQuery("売上", "ACME", "FY2024", dimensions=(groundwire.Dimension("segment", "Cloud"),)),
        groundwire.RetrievalTuning(reranker="maxsim", postprocessors=("mmr",), glossary_variants=False),
        groundwire.MetricFact("M", "E", "2024", "TOTAL", "1.50", "USD", decimals=-6),
        groundwire.RelationRecord("A", "parent_of", "B", "a.pdf", "page=1"),
        groundwire.GraphPath(
            (groundwire.GraphEdge("e", groundwire.GraphNode("entity:A"), groundwire.GraphNode("entity:B"), "owns"),),
            ("entity:A", "entity:B"),
        ),
        groundwire.Lineage(
            "finance",
            "a%40.md",
            3,
            span=groundwire.Span(0, 7),
            ingested_at=datetime(2024, 1, 2, 3, 4, 5, 678901, UTC),
            attributes=(groundwire.Attribute("year", 2024), groundwire.Attribute("tags", ("a", "é"))),
            members=(groundwire.Lineage("other"),),
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_over_and_back(value: Any) -> None:
    message = MIRRORS[type(value)]()
    fill(message, value)
    assert decode(message) == value


scalars = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.decimals(allow_nan=False, allow_infinity=False),
    st.dates(),
    st.datetimes(timezones=st.just(UTC)),
    st.builds(groundwire.Period, st.text(st.characters(exclude_categories=["Cs"]))),
)


@given(st.one_of(scalars, st.lists(st.text(st.characters(exclude_categories=["Cs"]))).map(tuple)))
def test_values_over_and_back(value: groundwire.Value) -> None:
    read = decode_value(value_pb2.Value.FromString(encode_value(value).SerializeToString()))
    assert read == value
    assert isinstance(value, int) or type(read) is type(value)


predicates = st.one_of(
    st.builds(
        groundwire.Predicate,
        st.text(st.characters(codec="ascii")),
        st.sampled_from(["eq", "ne", "gt", "gte", "lt", "lte"]),
        st.tuples(scalars),
    ),
    st.builds(groundwire.Predicate, st.just("f"), st.sampled_from(["in", "nin"]), st.lists(scalars).map(tuple)),
    st.builds(groundwire.Predicate, st.just("f"), st.just("between"), st.tuples(scalars, scalars)),
    st.builds(groundwire.Predicate, st.just("f"), st.just("present"), st.tuples(st.booleans())),
)
filters: st.SearchStrategy[groundwire.Filter] = st.recursive(
    predicates,
    lambda inner: st.one_of(
        st.builds(groundwire.AllOf, st.lists(inner, max_size=3).map(tuple)),
        st.builds(groundwire.AnyOf, st.lists(inner, max_size=3).map(tuple)),
        st.builds(groundwire.Negate, inner),
    ),
    max_leaves=6,
)


@given(filters)
def test_filters_over_and_back(tree: groundwire.Filter) -> None:
    assert decode_filter(filter_pb2.Filter.FromString(encode_filter(tree).SerializeToString())) == tree


def test_a_day_is_its_first_moment_in_utc_and_offsets_are_converted() -> None:
    head = ingest_pb2.DocumentHead()
    fill(head, groundwire.DocumentUpload("a", b"", valid_as_of=date(2024, 3, 31)))
    assert head.valid_as_of.ToJsonString() == "2024-03-31T00:00:00Z"
    tokyo = timezone(timedelta(hours=9))
    fill(head, groundwire.DocumentUpload("a", b"", valid_as_of=datetime(2024, 3, 31, 9, tzinfo=tokyo)))
    assert head.valid_as_of.ToJsonString() == "2024-03-31T00:00:00Z"


def test_an_instant_without_a_time_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="time zone"):
        encode_value(datetime(2024, 1, 1))


def test_a_value_of_a_foreign_type_is_refused() -> None:
    with pytest.raises(TypeError, match="a value is a str"):
        encode_value({"a": 1})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given_value", "text"),
    [
        (Decimal("1E+3"), "1000"),
        (7, "7"),
        ("1.250", "1.250"),
        (Decimal("-0.00000000000000000001"), "-0." + "0" * 19 + "1"),
    ],
)
def test_figures_are_sent_as_exact_decimal_text(given_value: Any, text: str) -> None:
    record = ingest_pb2.FactRecord()
    fill(record, groundwire.FactRecord("m", "e", "2024", given_value, "a.csv", "row=1"))
    assert record.value == text


@pytest.mark.parametrize("wrong", [1.5, Decimal("NaN"), Decimal("Infinity")])
def test_figures_that_are_not_exact_are_refused(wrong: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        fill(ingest_pb2.FactRecord(), groundwire.FactRecord("m", "e", "2024", wrong, "a.csv", "row=1"))


def test_what_is_not_known_is_passed_over() -> None:
    batch = stream_pb2.SnippetBatch()
    batch.snippets.add(snippet_id="known", rank=1).text.text = "here"
    batch.snippets.add(snippet_id="from the future", rank=2)
    assert [snippet.snippet_id for snippet in decode(batch).snippets] == ["known"]
    assert decode(evidence_pb2.Snippet(trust=99)).trust is groundwire.Trust.UNSPECIFIED  # type: ignore[arg-type]
    assert decode_filter(filter_pb2.Filter()) is None
    assert decode_value(value_pb2.Value()) is None
    outcome = metric_pb2.MetricOutcome(query_index=1)
    assert decode(outcome).outcome is None


def test_enums_are_read_by_member_and_name_only() -> None:
    assert groundwire.Route.read("narrative") is groundwire.Route.NARRATIVE
    with pytest.raises(ValueError, match="valid: structured, narrative, composite"):
        groundwire.Route.read("graph")
    with pytest.raises(TypeError):
        groundwire.RetrievalMode.read(groundwire.Route.NARRATIVE)  # type: ignore[arg-type]


def test_enums_in_records_are_read_by_name_too() -> None:
    by_name, by_member = glossary_pb2.Term(), glossary_pb2.Term()
    fill(by_name, groundwire.Term("entity", "A"))  # type: ignore[arg-type]
    fill(by_member, groundwire.Term(groundwire.TermKind.ENTITY, "A"))
    assert by_name == by_member
    with pytest.raises(ValueError, match="'thing' is no TermKind; valid: "):
        fill(by_name, groundwire.Term("thing", "A"))  # type: ignore[arg-type]
