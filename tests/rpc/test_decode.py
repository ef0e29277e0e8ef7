"""Requests into our own types: every violation at once with its path, and nothing that is set is passed over."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from google.protobuf import json_format
from hypothesis import given
from hypothesis import strategies as st

from groundwire.v1 import filter_pb2, narrative_pb2, stream_pb2, value_pb2
from groundwire_server.errors import ErrorReason, InvalidRequest, NotImplementedHere
from groundwire_server.evidence import (
    AllOf,
    AnyOf,
    CallOptions,
    DegradationKind,
    EmptyFilterPolicy,
    ExplainLevel,
    Filter,
    Negate,
    Operator,
    Period,
    PeriodKind,
    Pin,
    Position,
    Predicate,
    Resume,
)
from groundwire_server.narrative import RetrievalMode
from groundwire_server.rpc.cursor import Cursor
from groundwire_server.rpc.decode_filter import decode_filter
from groundwire_server.rpc.decode_narrative import decode_tuning
from groundwire_server.rpc.decode_options import decode_options
from groundwire_server.rpc.decode_value import decode_attributes, decode_dimensions
from groundwire_server.rpc.encode_value import encode_filter
from groundwire_server.rpc.findings import Findings

DAY = date(2025, 6, 30)


def options(**fields: Any) -> CallOptions:
    findings = Findings()
    message = json_format.ParseDict(fields, stream_pb2.CallOptions(), ignore_unknown_fields=False)
    decoded = decode_options(message, findings, request_id="q")
    findings.settle()
    return decoded


def faults(**fields: Any) -> list[tuple[str, ErrorReason]]:
    with pytest.raises(InvalidRequest) as caught:
        options(**fields)
    return [(each.field, each.reason) for each in caught.value.violations]


# ---- filters -------------------------------------------------------------------------------------------------------

VALUES = st.one_of(
    st.text(st.characters(exclude_categories=("Cs",)), max_size=20),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.dates(),
    st.datetimes(timezones=st.just(UTC)),
    st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**20), max_value=10**20),
    st.sampled_from([Period("2024", PeriodKind.CALENDAR, date(2024, 1, 1), date(2024, 12, 31))]),
)
FIELDS = st.text("abc_09", min_size=1, max_size=8)
ONE = st.sampled_from([Operator.EQ, Operator.NE, Operator.GT, Operator.GTE, Operator.LT, Operator.LTE])
PREDICATES = st.one_of(
    st.builds(Predicate, FIELDS, ONE, st.tuples(VALUES)),
    st.builds(Predicate, FIELDS, st.just(Operator.BETWEEN), st.tuples(VALUES, VALUES)),
    st.builds(
        Predicate,
        FIELDS,
        st.sampled_from([Operator.IN, Operator.NIN]),
        st.lists(VALUES, min_size=1, max_size=4).map(tuple),
    ),
    st.builds(Predicate, FIELDS, st.just(Operator.PRESENT), st.tuples(st.booleans())),
)
FILTERS: st.SearchStrategy[Filter] = st.recursive(
    PREDICATES,
    lambda inner: st.one_of(
        st.builds(AllOf, st.lists(inner, min_size=1, max_size=3).map(tuple)),
        st.builds(AnyOf, st.lists(inner, min_size=1, max_size=3).map(tuple)),
        st.builds(Negate, inner),
    ),
    max_leaves=10,
)


def depth(tree: Filter) -> int:
    match tree:
        case AllOf(members) | AnyOf(members):
            return 1 + max(map(depth, members))
        case Negate(inner):
            return 1 + depth(inner)
        case _:
            return 1


@given(FILTERS)
def test_a_filter_comes_back_as_it_went_out(tree: Filter) -> None:
    findings = Findings()
    decoded = decode_filter(encode_filter(tree), "options.filter", findings, DAY)
    if depth(tree) > 8:
        assert [each.reason for each in findings.violations] == [ErrorReason.FILTER_TOO_LARGE]
    else:
        findings.settle()
        assert decoded == tree


def test_every_fault_of_a_filter_is_named_with_its_path() -> None:
    tree = {
        "allOf": {
            "filters": [
                {"predicate": {"field": " ", "eq": {"stringValue": "x"}}},
                {"predicate": {"field": "a"}},
                {"predicate": {"field": "a", "gt": {"doubleValue": "NaN"}}},
                {"predicate": {"field": "a", "in": {"values": []}}},
                {"predicate": {"field": "a", "between": {"low": {"dateValue": "30.6.2025"}}}},
                {"anyOf": {"filters": []}},
                {},
                {"negate": {"predicate": {"field": "a", "lt": {"decimalValue": "1e5"}}}},
                {"predicate": {"field": "a", "eq": {"periodValue": "03/04/2024"}}},
                {"predicate": {"field": "a", "eq": {"stringListValue": {"values": ["x"]}}}},
                {"predicate": {"field": "a", "eq": {"stringValue": "x" * 1025}}},
            ]
        }
    }
    assert faults(filter=tree) == [
        ("options.filter.all_of[0].predicate.field", ErrorReason.VALUE_REQUIRED),
        ("options.filter.all_of[1].predicate", ErrorReason.FILTER_EMPTY),
        ("options.filter.all_of[2].predicate.gt.double_value", ErrorReason.VALUE_MALFORMED),
        ("options.filter.all_of[3].predicate.one_of", ErrorReason.FILTER_EMPTY),
        ("options.filter.all_of[4].predicate.between.low.date_value", ErrorReason.VALUE_MALFORMED),
        ("options.filter.all_of[4].predicate.between.high", ErrorReason.VALUE_REQUIRED),
        ("options.filter.all_of[5].any_of", ErrorReason.FILTER_EMPTY),
        ("options.filter.all_of[6]", ErrorReason.FILTER_EMPTY),
        ("options.filter.all_of[7].negate.predicate.lt.decimal_value", ErrorReason.VALUE_MALFORMED),
        ("options.filter.all_of[8].predicate.eq.period_value", ErrorReason.VALUE_MALFORMED),
        ("options.filter.all_of[9].predicate.eq.string_list_value", ErrorReason.FILTER_TYPE_MISMATCH),
        ("options.filter.all_of[10].predicate.eq.string_value", ErrorReason.VALUE_OUT_OF_RANGE),
    ]


def test_a_filter_that_is_too_deep_or_too_large_is_not_read() -> None:
    deep = filter_pb2.Filter()
    at = deep
    for _ in range(60):
        at = at.negate
    at.predicate.field = "a"
    findings = Findings()
    assert decode_filter(deep, "f", findings, DAY) is None
    wide = filter_pb2.Filter()
    for _ in range(300):
        wide.any_of.filters.add()
    assert decode_filter(wide, "f", findings, DAY) is None
    assert [each.description for each in findings.violations] == ["61 levels, at most 8", "301 nodes, at most 256"]


def test_a_period_in_a_filter_counts_from_the_day_of_the_call() -> None:
    decoded = options(
        reference_date="2021-05-01", filter={"predicate": {"field": "p", "eq": {"periodValue": "last year"}}}
    )
    assert isinstance(decoded.filter, Predicate)
    (period,) = decoded.filter.values
    assert isinstance(period, Period)
    assert period.first.year == 2020


# ---- options -------------------------------------------------------------------------------------------------------


def test_options_come_in_our_own_types() -> None:
    decoded = options(
        libraryIds=["b", "a", "b"],
        onEmpty="EMPTY_FILTER_POLICY_NEVER_WIDEN",
        knownAt="2024-02-29T12:00:00.123456789Z",
        validAt="2025-06-30T23:59:59Z",
        explain="EXPLAIN_LEVEL_PLAN",
        language="ja",
        forbid=["DEGRADATION_KIND_VECTOR_OFF"],
    )
    assert decoded == CallOptions(
        request_id="q",
        library_ids=("b", "a"),
        on_empty=EmptyFilterPolicy.NEVER_WIDEN,
        known_at=datetime(2024, 2, 29, 12, 0, 0, 123456, tzinfo=UTC),
        valid_at=datetime(2025, 6, 30, 23, 59, 59, tzinfo=UTC),
        explain=ExplainLevel.PLAN,
        language="ja",
        forbid=frozenset({DegradationKind.VECTOR_OFF}),
    )
    assert options() == CallOptions(request_id="q")


def test_every_wrong_option_is_named_at_once() -> None:
    message = stream_pb2.CallOptions(
        request_id="x" * 129,
        library_ids=[f"l{n}" for n in range(33)],
        language="fr",
        reference_date="2025-02-30",
        token_budget=-1,
    )
    message.soft_budget.nanos = -1
    message.on_empty = 9  # type: ignore[assignment]
    message.explain = 9  # type: ignore[assignment]
    message.strictness = 9  # type: ignore[assignment]
    message.forbid.extend([0, 99])  # type: ignore[list-item]
    message.known_at.seconds = 10**15
    message.valid_at.nanos = -1
    message.hint.SetInParent()
    findings = Findings()
    decode_options(message, findings, request_id="q")
    assert [(each.field, each.reason) for each in findings.violations] == [
        ("options.request_id", ErrorReason.VALUE_MALFORMED),
        ("options.known_at", ErrorReason.VALUE_MALFORMED),
        ("options.valid_at", ErrorReason.VALUE_MALFORMED),
        ("options.reference_date", ErrorReason.VALUE_MALFORMED),
        ("options.language", ErrorReason.UNKNOWN_NAME),
        ("options.soft_budget", ErrorReason.VALUE_OUT_OF_RANGE),
        ("options.token_budget", ErrorReason.VALUE_OUT_OF_RANGE),
        ("options.library_ids", ErrorReason.VALUE_OUT_OF_RANGE),
        ("options.hint", ErrorReason.FILTER_EMPTY),
        ("options.on_empty", ErrorReason.UNKNOWN_NAME),
        ("options.explain", ErrorReason.UNKNOWN_NAME),
        ("options.forbid[0]", ErrorReason.VALUE_REQUIRED),
        ("options.forbid[1]", ErrorReason.UNKNOWN_NAME),
        ("options.strictness", ErrorReason.UNKNOWN_NAME),
    ]
    assert "EXPLAIN_LEVEL_PLAN" in findings.violations[10].description


def test_a_cursor_says_from_which_day_and_where_the_stream_goes_on() -> None:
    resume = Resume((Pin("default", 7, "a" * 32, "b" * 32),), Position(snippets=3))
    cursor = Cursor(resume, date(2024, 2, 29), bytes(24))
    findings = Findings()
    decoded = decode_options(stream_pb2.CallOptions(), findings, request_id="q", cursor=cursor)
    assert (decoded.resume, decoded.reference_date) == (resume, date(2024, 2, 29))
    given = stream_pb2.CallOptions(reference_date="2025-01-01")
    assert decode_options(given, findings, request_id="q", cursor=cursor).reference_date == date(2025, 1, 1)


def test_strictness_forbids_all_but_what_the_call_itself_asked_for() -> None:
    strict = "STRICTNESS_POLICY_FAIL_ON_DEGRADED"
    assert options(strictness=strict).forbid == frozenset(DegradationKind)
    widening = options(strictness=strict, onEmpty="EMPTY_FILTER_POLICY_RETRY_WITHOUT_MARKED")
    assert frozenset(DegradationKind) - widening.forbid == {DegradationKind.FILTER_DROPPED}
    named = options(strictness=strict, onEmpty=2, forbid=["DEGRADATION_KIND_FILTER_DROPPED"])
    assert named.forbid == frozenset(DegradationKind)
    findings = Findings()
    message = stream_pb2.CallOptions(strictness=stream_pb2.STRICTNESS_POLICY_FAIL_ON_DEGRADED)
    bounded = decode_options(message, findings, request_id="q", own_budget=True)
    assert frozenset(DegradationKind) - bounded.forbid == {DegradationKind.BUDGET_CUT}
    for own in ({"tokenBudget": 5}, {"softBudget": "1.5s"}):
        assert frozenset(DegradationKind) - options(strictness=strict, **own).forbid == {DegradationKind.BUDGET_CUT}


def test_budgets_are_read() -> None:
    assert options(tokenBudget=7, softBudget="1.5s").token_budget == 7
    assert options(softBudget="1.5s").soft_budget == timedelta(seconds=1.5)
    assert options(softBudget="315576000000s").soft_budget == timedelta(days=1)
    assert options(softBudget="0s").soft_budget == timedelta()
    assert options().soft_budget is None


# ---- values --------------------------------------------------------------------------------------------------------


def test_attributes_are_sorted_and_each_fault_is_named() -> None:
    def attribute(name: str, **value: Any) -> value_pb2.Attribute:
        return value_pb2.Attribute(name=name, value=value_pb2.Value(**value))

    findings = Findings()
    good = decode_attributes(
        [attribute("b", string_value="x"), attribute("a", decimal_value="1.50")], "head.attributes", findings, DAY
    )
    assert [(each.name, each.value) for each in good] == [("a", Decimal("1.50")), ("b", "x")]
    decode_attributes(
        [
            attribute("A", int_value=1),
            attribute("valid_as_of", int_value=1),
            attribute("a", int_value=1),
            attribute("a", int_value=2),
            attribute("t", time_value={"seconds": 1}),
            attribute("n"),
        ],
        "head.attributes",
        findings,
        DAY,
    )
    assert [(each.field, each.reason) for each in findings.violations] == [
        ("head.attributes[0].name", ErrorReason.VALUE_MALFORMED),
        ("head.attributes[1].name", ErrorReason.VALUE_MALFORMED),
        ("head.attributes[3].name", ErrorReason.CONTRADICTION),
        ("head.attributes[4].value.time_value", ErrorReason.VALUE_MALFORMED),
        ("head.attributes[5].value", ErrorReason.VALUE_REQUIRED),
    ]


def test_dimensions_are_named_once() -> None:
    findings = Findings()
    decode_dimensions(
        [value_pb2.Dimension(name="s", member="a"), value_pb2.Dimension(name="s", member="b"), value_pb2.Dimension()],
        "queries[0].dimensions",
        findings,
    )
    assert [(each.field, each.reason) for each in findings.violations] == [
        ("queries[0].dimensions[1].name", ErrorReason.CONTRADICTION),
        ("queries[0].dimensions[2].name", ErrorReason.VALUE_REQUIRED),
        ("queries[0].dimensions[2].member", ErrorReason.VALUE_REQUIRED),
    ]


def test_a_stage_that_is_not_built_may_be_switched_off_and_not_on() -> None:
    findings = Findings()
    decode_tuning(narrative_pb2.RetrievalTuning(tree=False), findings)
    findings.settle()
    decode_tuning(narrative_pb2.RetrievalTuning(tree=True), findings)
    with pytest.raises(NotImplementedHere):
        findings.settle()


def test_modes_are_those_of_the_contract() -> None:
    numbers = {
        value.name.removeprefix("RETRIEVAL_MODE_"): value.number
        for value in narrative_pb2.RetrievalMode.DESCRIPTOR.values
    }
    assert {mode.name: mode.value for mode in RetrievalMode} == {k: v for k, v in numbers.items() if v}
