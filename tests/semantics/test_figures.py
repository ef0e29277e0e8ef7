"""Semantics 10: QueryMetric gives exact figures or a typed refusal, and never another figure."""

import re
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire_server.errors import FailedPrecondition, GlossaryConflict, InvalidRequest
from groundwire_server.evidence import (
    Attribute,
    Call,
    CallOptions,
    DegradationKind,
    DerivedFigure,
    EmptyFilterPolicy,
    Header,
    Label,
    MetricFact,
    MetricFound,
    MetricKey,
    MetricNotFound,
    MetricQuery,
    Operation,
    Operator,
    Outcomes,
    Period,
    Predicate,
    Refusal,
    RefusalReason,
    ReviewStatus,
    Snippet,
    Snippets,
    Summary,
    UnrecognizedParam,
    make_refusal,
)
from groundwire_server.glossary import Glossary, Resolved, parse_period
from groundwire_server.library import Library
from groundwire_server.metric import Calculation, MetricProduct, MetricRequest, VersionPolicy, query_metric
from groundwire_server.store import FactRecord, make_fact_id
from tests.semantics.hostile import TEXTS, quick, some
from tests.semantics.shelf import START, Clock, call, document, fact, make_library, put

GLOSSARY = """
[[metric]]
code = "revenue"
additivity = "sum"
nature = "flow"
synonyms = {en = ["net sales"], zh = ["营业收入"], ja = ["売上高"]}
[[metric]]
code = "cash"
additivity = "none"
nature = "instant"
synonyms = {ja = ["現金"]}
[[metric]]
code = "margin"
unit = "PERCENT"
additivity = "none"
[[entity]]
code = "ACME"
label = "Acme Corporation"
synonyms = {zh = ["艾克美"], ja = ["アクメ"]}
[[entity]]
code = "APRIL"
fiscal_year_start = "04-01"
[[channel]]
code = "ONLINE"
synonyms = {ja = ["オンライン"], zh = ["线上"]}
"""
FISCAL_2025 = {"period": "FY2025", "period_first": date(2024, 4, 1), "period_last": date(2025, 3, 31)}


class Answer(NamedTuple):
    """All that came."""

    outcomes: list[Any]
    calculations: list[Any]
    snippets: dict[str, Snippet]
    summary: Summary

    def facts(self, place: int = 0) -> list[MetricFact]:
        """Figures of the outcome at a place."""
        outcome = self.outcomes[place]
        assert isinstance(outcome, MetricFound)
        payloads = [self.snippets[each].payload for each in outcome.snippet_ids]
        assert all(isinstance(payload, MetricFact) for payload in payloads)
        return payloads  # type: ignore[return-value]

    def values(self, place: int = 0) -> list[str]:
        """Values of the outcome at a place."""
        return [each.value for each in self.facts(place)]


def query(metric: str = "revenue", entity: str = "ACME", period: str = "2024", channel: str = "") -> MetricQuery:
    return MetricQuery(metric, entity, period, channel)


@contextmanager
def shelf(records: Sequence[FactRecord] = (), clock: Clock | None = None) -> Iterator[Library]:
    """A library with the glossary above and these figures."""
    with TemporaryDirectory() as folder, closing(make_library(Path(folder), clock)) as library:
        library.set_glossary(Glossary.from_toml(GLOSSARY))
        load(library, *records)
        yield library


def load(library: Library, *records: FactRecord) -> None:
    with library.writing() as writer:
        assert not writer.put_facts(records).refused


def ask(library: Library, *queries: MetricQuery, of: Call | None = None, **request: Any) -> Answer:
    frames = list(query_metric(MetricRequest(queries, **request), of or call(), [library.snapshot()]))
    assert isinstance(frames[0], Header)
    assert isinstance(frames[-1], Summary)
    outcomes: list[Any] = []
    calculations: list[Any] = []
    snippets: dict[str, Snippet] = {}
    promised: set[str] = set()
    for frame in frames[1:-1]:
        if isinstance(frame, Outcomes):
            outcomes += frame.outcomes
            calculations += frame.calculations
            for each in frame.outcomes:
                if isinstance(each.outcome, MetricFound):
                    promised |= set(each.outcome.snippet_ids)
            promised |= {each.outcome for each in frame.calculations if isinstance(each.outcome, str)}
        else:
            assert isinstance(frame, Snippets)
            for snippet in frame.snippets:
                assert snippet.snippet_id in promised  # its outcome came before
                snippets[snippet.snippet_id] = snippet
    assert set(snippets) == promised
    assert [each.query_index for each in outcomes] == list(range(len(outcomes)))
    return Answer([each.outcome for each in outcomes], [each.outcome for each in calculations], snippets, frames[-1])


def ask_one(records: Sequence[FactRecord], *queries: MetricQuery, **request: Any) -> Answer:
    with shelf(records) as library:
        return ask(library, *queries or (query(),), **request)


# The three outcomes


def test_found() -> None:
    answer = ask_one([fact("1234.50")])
    assert isinstance(answer.outcomes[0], MetricFound)
    assert answer.outcomes[0].key == MetricKey("revenue", "ACME", "2024", "TOTAL")
    assert answer.values() == ["1234.50"]
    assert not answer.outcomes[0].conflicting
    (snippet,) = answer.snippets.values()
    assert snippet.lineage.doc_id == "facts.csv"
    assert snippet.lineage.source_locator == "facts.csv#line=2"


def test_not_found_carries_no_figure() -> None:
    answer = ask_one([fact("98765")], query(period="2023"), query("cash", period="2023-12-31"))
    for outcome in answer.outcomes:
        assert isinstance(outcome, MetricNotFound)
        assert "98765" not in outcome.refusal
        allowed = set(re.findall(r"\d+", outcome.key.period))
        assert set(re.findall(r"\d+", outcome.refusal)) <= allowed
    assert not answer.snippets


@pytest.mark.parametrize(
    ("asked", "param"),
    [
        (query("profit"), "metric"),
        (query(entity="nobody"), "entity"),
        (query(period="Q3"), "period"),
        (query(period="whenever"), "period"),
        (query(channel="shops"), "channel"),
        (query("profit", "nobody", "Q3", "shops"), "metric"),
        (query("revenue", "nobody", "Q3", "shops"), "entity"),
        (query("revenue", "ACME", "Q3", "shops"), "period"),
        (query("利益", "だれか", "上半期", "店舗"), "metric"),
        (query("売上高", "谁", "去年", "线上"), "entity"),
        (query("营业收入", "艾克美", "上半年", "线上"), "period"),
    ],
)
def test_the_first_unknown_of_metric_entity_period_channel(asked: MetricQuery, param: str) -> None:
    answer = ask_one([fact("98765")], asked)
    (outcome,) = answer.outcomes
    assert isinstance(outcome, UnrecognizedParam)
    assert outcome.param == param
    assert outcome.raw == getattr(asked, param)
    assert not answer.snippets
    assert "98765" not in outcome.explanation


def test_suggestions_are_never_applied() -> None:
    answer = ask_one([fact("1")], query("revenu"), query(entity="Acme Corporatio"))
    for outcome in answer.outcomes:
        assert isinstance(outcome, UnrecognizedParam)
        assert outcome.suggestions
    assert not answer.snippets


@pytest.mark.parametrize("raw", TEXTS[:-3], ids=range(len(TEXTS) - 3))
def test_hostile_names_are_unknown_and_nothing_breaks(world: Library, raw: str) -> None:
    answer = ask(world, query(raw), query(entity=raw), query(period=raw), query(channel=raw + "?!x"))
    params = [getattr(outcome, "param", None) for outcome in answer.outcomes]
    assert params == ["metric", "entity", "period", "channel"]


@pytest.mark.parametrize(
    "metric", ["revenue", "Net Sales", "売上高", "营业收入", "ｒｅｖｅｎｕｅ", "売上高（百万円）", "revenue (restated)"]
)
def test_any_name_finds_the_figure(world: Library, metric: str) -> None:
    entities = ("ACME", "アクメ", "艾克美", "ｱｸﾒ", "Acme Corporation", "アクメ（連結）")
    periods = ("2024", "2024年", "FY2024", "2024年度", "2024-01-01/2024-12-31", "令和6年", "２０２４")
    asked = [query(metric, entity, period) for entity in entities for period in periods]
    answer = ask(world, *asked)
    assert [answer.values(place) for place in range(len(asked))] == [["1234.50"]] * len(asked)


@pytest.fixture(scope="module")
def world() -> Iterator[Library]:
    with shelf(
        [
            fact("1234.50"),
            fact("200.1", channel="ONLINE"),
            fact("7", entity="APRIL", **FISCAL_2025),
            fact("55", metric="cash", period="2024-12-31", period_first=date(2024, 12, 31)),
            fact("12.5", metric="margin", unit="PERCENT"),
            fact("0", period="2022", period_first=date(2022, 1, 1), period_last=date(2022, 12, 31)),
        ]
    ) as library:
        yield library


def test_a_channel_is_its_own_figure_and_none_is_the_total(world: Library) -> None:
    answer = ask(world, query(), query(channel="オンライン"), query(channel="TOTAL"), query(channel="线上"))
    assert [answer.values(place) for place in range(4)] == [["1234.50"], ["200.1"], ["1234.50"], ["200.1"]]


def test_the_fiscal_year_is_that_of_the_entity(world: Library) -> None:
    answer = ask(world, query(entity="APRIL", period="FY2025"), query(entity="APRIL", period="2024年度"))
    assert answer.values(0) == answer.values(1) == ["7"]
    for period in ("2024", "FY2024", "2025", "2025年度"):
        (outcome,) = ask(world, query(entity="APRIL", period=period)).outcomes
        assert isinstance(outcome, MetricNotFound)


def test_relative_words_go_by_the_clock_of_the_call(world: Library) -> None:
    for period in ("last year", "昨年", "去年"):
        assert ask(world, query(period=period), of=call(reference_date=date(2025, 6, 30))).values() == ["1234.50"]
        (outcome,) = ask(world, query(period=period), of=call(reference_date=date(2022, 6, 30))).outcomes
        assert isinstance(outcome, MetricNotFound)


def test_flow_and_instant_never_answer_for_each_other(world: Library) -> None:
    assert ask(world, query("cash", period="2024-12-31")).values() == ["55"]
    assert ask(world, query("現金", period="2024年末")).values() == ["55"]
    for asked in (query(period="2024-12-31"), query(period="2024年末"), query("cash", period="2024-12-31/2024-12-31")):
        (outcome,) = ask(world, asked).outcomes
        assert not isinstance(outcome, MetricFound)


def test_missing_differs_from_zero(world: Library) -> None:
    answer = ask(world, query(period="2022"), query(period="2021"))
    assert answer.values(0) == ["0"]
    assert isinstance(answer.outcomes[1], MetricNotFound)


def test_a_product_comes_in_order_the_last_varying_fastest(world: Library) -> None:
    product = MetricProduct(("revenue", "cash"), ("ACME", "nobody"), ("2024", "2023"), ("TOTAL", "ONLINE"))
    answer = ask(world, query("margin"), product=product)
    expected = [
        (metric, entity, period, channel)
        for metric in ("revenue", "cash")
        for entity in ("ACME", "nobody")
        for period in ("2024", "2023")
        for channel in ("TOTAL", "ONLINE")
    ]
    assert len(answer.outcomes) == 1 + len(expected)
    for outcome, (metric, entity, period, channel) in zip(answer.outcomes[1:], expected, strict=True):
        if entity == "nobody":
            assert isinstance(outcome, UnrecognizedParam)
        else:
            assert outcome.key == MetricKey(metric, entity, period, channel)


def test_no_query_at_all_is_an_invalid_request(world: Library) -> None:
    for request in (MetricRequest(), MetricRequest(product=MetricProduct((), ("ACME",), ("2024",)))):
        with pytest.raises(InvalidRequest):
            list(query_metric(request, call(), [world.snapshot()]))


# Decimals from end to end


decimals = st.one_of(
    st.sampled_from(["0", "0.0", "-0.10", "1.10", "100", "0.1", "12345678901234567890.123456789012345678901234567890"]),
    st.builds(
        lambda sign, whole, part: f"{sign}{whole}{'.' + part if part else ''}",
        st.sampled_from(["", "-"]),
        st.integers(1, 10**30).map(str),
        st.text(alphabet="0123456789", max_size=30),
    ),
)


@settings(some, max_examples=5)
@given(st.lists(decimals, min_size=5, max_size=20))
def test_a_value_keeps_every_digit_and_the_statement_prints_it_with_its_unit(values: list[str]) -> None:
    with shelf([in_year(2000 + n, value, unit="JPY million") for n, value in enumerate(values)]) as library:
        answer = ask(library, *(query(period=str(2000 + n)) for n in range(len(values))))
    for n, value in enumerate(values):
        (figure,) = answer.facts(n)
        assert figure.value == value
        assert figure.unit == "JPY million"
        assert "JPY million" in figure.statement
        printed = figure.statement.replace(",", "").replace("\u2212", "-")
        assert re.search(rf"(?<![\d.]){re.escape(value)}(?![\d.]*\d)", printed), figure.statement


@pytest.mark.parametrize("language", ["en", "zh", "ja"])
def test_a_statement_is_built_from_the_fact_in_every_language(world: Library, language: str) -> None:
    (figure,) = ask(world, query(), of=call(language=language)).facts()
    assert figure.value == "1234.50"
    assert "1234.50" in figure.statement.replace(",", "")
    assert "USD" in figure.statement
    assert "2024" in figure.statement
    numbers = set(re.findall(r"\d[\d,.]*\d|\d", figure.statement))
    assert {number.replace(",", "") for number in numbers} <= {"1234.50", "2024"}


def test_the_refusal_in_every_language_has_no_figure_but_the_period(world: Library) -> None:
    for language in ("en", "zh", "ja"):
        (outcome,) = ask(world, query(period="2023Q4"), of=call(language=language)).outcomes
        assert isinstance(outcome, MetricNotFound)
        assert outcome.refusal
        assert set(re.findall(r"\d+", outcome.refusal)) <= {"2023", "4"}


# Sources, versions, conflicts


OTHER = {"source_doc": "other.csv", "locator": "other.csv#line=9"}


def test_two_sources_that_agree_are_both_there() -> None:
    for one, other in (("100", "100"), ("100", "100.0"), ("-5", "-5.00")):
        answer = ask_one([fact(one), fact(other, **OTHER)])
        assert sorted(answer.values()) == sorted([one, other])
        assert not answer.outcomes[0].conflicting
        assert not any(each.conflicting for each in answer.facts())


def test_two_sources_that_disagree_are_found_conflicting_and_all_there() -> None:
    answer = ask_one(
        [fact("100"), fact("200", **OTHER), fact("100", source_doc="third.csv", locator="third.csv#line=1")]
    )
    assert sorted(answer.values()) == ["100", "100", "200"]
    assert answer.outcomes[0].conflicting
    assert {snippet.lineage.doc_id for snippet in answer.snippets.values()} == {"facts.csv", "other.csv", "third.csv"}


@pytest.mark.parametrize(
    ("one", "other", "conflicting"),
    [
        (("1234567", 0), ("1235000", -3), False),
        (("1234567", 0), ("1234000", -3), True),
        (("1234567", 0), ("1236000", -3), True),
        (("12.34", 2), ("12.3", 1), False),
        (("12.36", 2), ("12.3", 1), True),
        (("12.3", 1), ("12.30", 2), False),
        (("1", 0), ("2", 0), True),
        (("0", 0), ("-0.0", 1), False),
    ],
)
def test_disagreement_counts_beyond_the_stated_precision(
    one: tuple[str, int], other: tuple[str, int], conflicting: bool
) -> None:
    answer = ask_one([fact(one[0], decimals=one[1]), fact(other[0], decimals=other[1], **OTHER)])
    assert answer.outcomes[0].conflicting is conflicting
    assert sorted(answer.values()) == sorted([one[0], other[0]])


def test_a_conflict_with_what_may_not_be_seen_is_none() -> None:
    for label in (Label.CONFIDENTIAL, Label.RESTRICTED):
        answer = ask_one([fact("100"), fact("200", label=label, **OTHER)])
        assert answer.values() == ["100"]
        assert not answer.outcomes[0].conflicting


def filed(value: str, month: int, **changes: Any) -> FactRecord:
    return fact(value, filed_at=datetime(2024, month, 1, tzinfo=UTC), locator=f"facts.csv#line={month}", **changes)


def test_the_latest_filed_value_is_the_default_in_any_order_of_loading() -> None:
    versions = [filed("100", 1), filed("110", 2), filed("120", 3)]
    for order in (versions, versions[::-1], [versions[1], versions[2], versions[0]]):
        answer = ask_one(order)
        assert answer.values() == ["120"]
        assert not answer.outcomes[0].conflicting


def test_known_at_reads_the_restatement_of_that_time() -> None:
    with shelf([filed("100", 1), filed("110", 2), filed("120", 3)]) as library:
        for month, value in ((1, "100"), (2, "110"), (3, "120"), (12, "120")):
            of = call(known_at=datetime(2024, month, 15, tzinfo=UTC))
            assert ask(library, query(), of=of).values() == [value]
        (outcome,) = ask(library, query(), of=call(known_at=datetime(2023, 12, 1, tzinfo=UTC))).outcomes
        assert isinstance(outcome, MetricNotFound)


def test_a_value_without_a_filing_date_is_known_from_its_ingestion() -> None:
    clock = Clock()
    with shelf([fact("100")], clock) as library:
        before = clock.go_on()
        load(library, fact("110", locator="facts.csv#line=3"))
        assert ask(library, query()).values() == ["110"]
        assert ask(library, query(), of=call(known_at=before)).values() == ["100"]


def test_versions_may_be_asked_for() -> None:
    with shelf([filed("100", 1), filed("110", 2), filed("120", 3)]) as library:
        assert ask(library, query(), versions=VersionPolicy.AS_REPORTED).values() == ["100"]
        assert sorted(ask(library, query(), versions=VersionPolicy.ALL).values()) == ["100", "110", "120"]


def test_one_visible_fact_for_each_source() -> None:
    records = [
        filed("100", 1),
        filed("110", 2),
        filed("7", 1, source_doc="other.csv"),
        filed("110", 3, source_doc="other.csv"),
    ]
    answer = ask_one(records)
    assert answer.values() == ["110", "110"]
    assert len({each.fact_id for each in answer.facts()}) == 2
    assert not answer.outcomes[0].conflicting


@pytest.mark.parametrize("status", [ReviewStatus.APPROVED, ReviewStatus.AUTO_APPROVED])
def test_a_pending_re_read_never_hides_an_approved_fact(status: ReviewStatus) -> None:
    approved = filed("100", 1, review_status=status)
    for pending in (
        filed("999", 2, review_status=ReviewStatus.PENDING),
        filed("999", 1, review_status=ReviewStatus.PENDING),
    ):
        for order in ([approved, pending], [pending, approved]):
            answer = ask_one(order)
            assert answer.values() == ["100"]
            assert not answer.outcomes[0].conflicting


def test_a_pending_fact_alone_is_never_shown() -> None:
    answer = ask_one([fact("999", review_status=ReviewStatus.PENDING)])
    assert isinstance(answer.outcomes[0], MetricNotFound)
    assert not answer.snippets


def test_a_repeated_load_changes_nothing() -> None:
    records = [fact("100"), fact("200", **OTHER), fact("1", metric="margin", unit="PERCENT")]
    with shelf(records) as library:
        before = ask(library, query())[:3]
        generation = library.snapshot().generation
        load(library, *records)
        load(library, *records[::-1])
        assert library.snapshot().generation == generation
        assert ask(library, query())[:3] == before


def test_a_withdrawn_source_takes_its_facts_along() -> None:
    with shelf([fact("100"), fact("200", **OTHER)]) as library:
        with library.writing() as writer:
            writer.withdraw_document("other.csv")
        answer = ask(library, query())
        assert answer.values() == ["100"]
        assert not answer.outcomes[0].conflicting


# Units


def test_figures_in_two_units_are_never_converted_nor_merged() -> None:
    answer = ask_one([fact("100", unit="USD"), fact("15000", unit="JPY", **OTHER)])
    pairs = {(each.value, each.unit) for each in answer.facts()}
    assert pairs == {("100", "USD"), ("15000", "JPY")}


def test_units_compare_without_case_and_print_as_stored() -> None:
    assert make_fact_id(fact("1", unit="USD")) == make_fact_id(fact("1", unit="usd"))
    assert make_fact_id(fact("1", unit="USD")) != make_fact_id(fact("1", unit="JPY"))
    (figure,) = ask_one([fact("1", unit="Usd Million")]).facts()
    assert figure.unit == "Usd Million"
    assert "Usd Million" in figure.statement


def test_the_id_of_a_fact_is_that_of_its_key_and_source() -> None:
    base = make_fact_id(fact("1"))
    assert len(base) == 32
    int(base, 16)
    assert base == make_fact_id(fact("2", locator="elsewhere", decimals=3))
    assert base == make_fact_id(fact("1", period="2024-01-01/2024-12-31"))
    others: list[dict[str, Any]] = [
        {"metric": "cash"},
        {"entity": "APRIL"},
        {"channel": "ONLINE"},
        {"unit": "JPY"},
        {"source_doc": "other.csv"},
        {"period": "2023", "period_first": date(2023, 1, 1), "period_last": date(2023, 12, 31)},
    ]
    assert len({base, *(make_fact_id(fact("1", **other)) for other in others)}) == len(others) + 1


@quick
@given(st.text(min_size=1, max_size=6), st.text(min_size=1, max_size=6))
def test_parts_of_a_key_never_run_together(one: str, other: str) -> None:
    pairs = {(one + other, "x"), (one, other + "x"), (one + other + "x", "")}
    assert len({make_fact_id(fact("1", metric=a, entity=b)) for a, b in pairs}) == len(pairs)


# Computed figures


def computed(records: Sequence[FactRecord], operation: Operation, *queries: MetricQuery) -> Any:
    answer = ask_one(records, *queries, calculations=(Calculation(operation, 0, 1),))
    (outcome,) = answer.calculations
    if isinstance(outcome, Refusal):
        return outcome.reason
    figure = answer.snippets[outcome].payload
    assert isinstance(figure, DerivedFigure)
    assert len(figure.operand_ids) == 2
    assert set(figure.operand_ids) <= set(answer.snippets)
    return figure


def in_year(year: int, value: str, **changes: Any) -> FactRecord:
    return fact(value, period=str(year), period_first=date(year, 1, 1), period_last=date(year, 12, 31), **changes)


YEARS = (query(period="2023"), query(period="2024"))


@pytest.mark.parametrize(
    ("one", "other"), [("100", "110.5"), ("0.1", "0.3"), ("-5", "5"), ("1e3", "7"), ("99999999999999999999.9", "0.1")]
)
def test_a_difference_is_exact(one: str, other: str) -> None:
    if "e" in one:
        one = str(int(float(one)))
    figure = computed([in_year(2023, one), in_year(2024, other)], Operation.DIFFERENCE, *YEARS)
    assert abs(Decimal(figure.value)) == abs(Decimal(other) - Decimal(one))
    assert figure.unit == "USD"
    assert not figure.rounded


def test_growth_is_over_the_size_of_the_first() -> None:
    figure = computed([in_year(2023, "80"), in_year(2024, "100")], Operation.GROWTH, *YEARS)
    assert Decimal(figure.value) in (Decimal("0.25"), Decimal("25"))
    figure = computed([in_year(2023, "-80"), in_year(2024, "-100")], Operation.GROWTH, *YEARS)
    assert Decimal(figure.value) in (Decimal("-0.25"), Decimal("-25"))


def test_what_cannot_be_computed_is_refused_with_its_reason() -> None:
    unlike = [in_year(2023, "80"), in_year(2024, "100", unit="JPY")]
    assert computed(unlike, Operation.DIFFERENCE, *YEARS) is RefusalReason.UNLIKE_UNITS
    assert computed(unlike, Operation.GROWTH, *YEARS) is RefusalReason.UNLIKE_UNITS
    assert computed([in_year(2024, "100")], Operation.DIFFERENCE, *YEARS) is RefusalReason.OPERAND_MISSING
    assert (
        computed([in_year(2023, "0"), in_year(2024, "1")], Operation.GROWTH, *YEARS) is RefusalReason.DIVISION_BY_ZERO
    )
    torn = [in_year(2023, "1"), in_year(2023, "2", **OTHER), in_year(2024, "3")]
    assert computed(torn, Operation.DIFFERENCE, *YEARS) is RefusalReason.OPERAND_CONFLICTING


# Labels, filters, ambiguity


@pytest.mark.parametrize("clearance", list(Label))
def test_a_figure_above_the_clearance_does_not_exist(clearance: Label) -> None:
    records = [in_year(2020 + label.value, "98765", label=label) for label in Label]
    with shelf(records) as library:
        for label in Label:
            answer = ask(library, query(period=str(2020 + label.value)), of=call(clearance))
            seen = label <= clearance and label is not Label.RESTRICTED
            assert isinstance(answer.outcomes[0], MetricFound if seen else MetricNotFound)
            assert seen or "98765" not in repr(answer)


def test_the_code_of_a_hidden_figure_is_no_name() -> None:
    records = [fact("1"), fact("2", metric="codename_x", entity="SECRET_CO", label=Label.CONFIDENTIAL)]
    with shelf(records) as library:
        answer = ask(
            library, query("codename_x"), query(entity="SECRET_CO"), query("codename_y"), query(entity="SECRET_C")
        )
        assert all(isinstance(outcome, UnrecognizedParam) for outcome in answer.outcomes)
        assert "codename_x" not in [name for outcome in answer.outcomes for name in outcome.suggestions]
        assert "SECRET_CO" not in [name for outcome in answer.outcomes for name in outcome.suggestions]
        seen = ask(library, query("codename_x", "SECRET_CO"), of=call(Label.CONFIDENTIAL))
        assert seen.values() == ["2"]


def test_hidden_figures_change_nothing_of_an_answer() -> None:
    hidden = [
        fact("999", label=Label.CONFIDENTIAL, **OTHER),
        filed("998", 9, label=Label.RESTRICTED),
        in_year(2023, "997", label=Label.CONFIDENTIAL),
        fact("996", metric="hidden metric", label=Label.RESTRICTED, attributes=(Attribute("secret", "x"),)),
    ]
    asked = (query(), query(period="2023"), query("hidden metric"), query("margin"))
    plain = ask_one([fact("1")], *asked)
    mixed = ask_one([*hidden[:2], fact("1"), *hidden[2:]], *asked)
    assert mixed.outcomes == plain.outcomes
    assert mixed.snippets.keys() == plain.snippets.keys()
    assert [each.payload for each in mixed.snippets.values()] == [each.payload for each in plain.snippets.values()]
    assert mixed.summary.candidates == plain.summary.candidates


def test_a_hard_filter_on_facts_is_never_dropped() -> None:
    with shelf([fact("100"), fact("200", **OTHER)]) as library:
        only = Predicate("doc_id", Operator.EQ, ("other.csv",))
        assert ask(library, query(), of=call(only=only)).values() == ["200"]
        nothing = Predicate("doc_id", Operator.EQ, ("third.csv",))
        assert isinstance(ask(library, query(), of=call(only=nothing)).outcomes[0], MetricNotFound)
        with pytest.raises(InvalidRequest):
            ask(library, query(), of=call(only=Predicate("nosuch", Operator.EQ, ("x",))))


def test_one_source_that_agrees_with_two_does_not_reconcile_them() -> None:
    rough = fact("12.3", decimals=1)
    fine = [fact("12.34", decimals=2, **OTHER), fact("12.26", decimals=2, source_doc="third.csv")]
    assert not ask_one([rough, fine[0]]).outcomes[0].conflicting
    assert not ask_one([rough, fine[1]]).outcomes[0].conflicting
    assert ask_one([rough, *fine]).outcomes[0].conflicting


def test_a_period_that_cannot_be_read_says_why_and_is_not_guessed(world: Library) -> None:
    for raw in ("03/04/2024", "since 2020", "YTD", "第3四半期", "平成32年", "last twelve months"):
        (outcome,) = ask(world, query(period=raw)).outcomes
        assert isinstance(outcome, UnrecognizedParam)
        assert (outcome.param, outcome.raw) == ("period", raw)
        assert outcome.explanation


def test_the_clock_is_that_of_the_call_else_of_the_server_in_utc() -> None:
    tokyo = timezone(timedelta(hours=9))

    def reader(**options: Any) -> Call:
        clock = datetime(2025, 1, 1, 0, 30, tzinfo=tokyo)
        return Call(call().principal, CallOptions(**options), now=lambda: clock)

    assert reader().reference_day == date(2024, 12, 31)
    assert reader(valid_at=datetime(2020, 5, 5, tzinfo=UTC)).reference_day == date(2020, 5, 5)
    given_day = date(2019, 1, 1)
    assert reader(reference_date=given_day, valid_at=datetime(2020, 5, 5, tzinfo=UTC)).reference_day == given_day
    with shelf([in_year(2023, "5")]) as library:
        assert ask(library, query(period="last year"), of=reader()).values() == ["5"]


def test_a_question_that_is_asked_twice_is_answered_twice(world: Library) -> None:
    answer = ask(world, query(), query("nosuch"), query())
    assert answer.outcomes[0] == answer.outcomes[2]
    assert answer.values(0) == answer.values(2) == ["1234.50"]


def test_too_many_queries_are_an_invalid_request(world: Library) -> None:
    product = MetricProduct(("revenue",) * 11, ("ACME",) * 10, ("2024",) * 10)
    with pytest.raises(InvalidRequest):
        list(query_metric(MetricRequest(product=product), call(), [world.snapshot()]))
    with pytest.raises(InvalidRequest):
        list(query_metric(MetricRequest((query(), query())), call(), [world.snapshot()], most=1))


@pytest.mark.parametrize("reason", list(RefusalReason))
@pytest.mark.parametrize("language", ["en", "zh", "ja", "xx", ""])
def test_a_refusal_has_a_text_without_any_figure(reason: RefusalReason, language: str) -> None:
    refusal = make_refusal(reason, language)
    assert refusal.reason is reason
    assert refusal.text.strip()
    assert not any(c.isnumeric() and not c.isalpha() for c in refusal.text)


def test_a_hint_may_be_dropped_once_unless_the_call_forbids_it() -> None:
    nothing = Predicate("doc_id", Operator.EQ, ("third.csv",))
    with shelf([fact("100"), fact("200", **OTHER)]) as library:
        kept = ask(library, query(), of=call(hint=Predicate("doc_id", Operator.EQ, ("other.csv",))))
        assert kept.values() == ["200"]
        assert not kept.summary.degradations
        dropped = ask(library, query(), of=call(hint=nothing))
        assert sorted(dropped.values()) == ["100", "200"]
        assert [each.kind for each in dropped.summary.degradations] == [DegradationKind.FILTER_DROPPED]
        never = ask(library, query(), of=call(hint=nothing, on_empty=EmptyFilterPolicy.NEVER_WIDEN))
        assert isinstance(never.outcomes[0], MetricNotFound)
        assert not never.summary.degradations
        with pytest.raises(FailedPrecondition):
            ask(library, query(), of=call(hint=nothing, forbid=frozenset([DegradationKind.FILTER_DROPPED])))


def test_two_libraries_that_disagree_are_found_conflicting_with_both() -> None:
    for other, conflicting in (("200", True), ("100.0", False)):
        with shelf([fact("100")]) as one, TemporaryDirectory() as folder:
            two = Library(Path(folder), "two", secret=b"0" * 32, config=one.config)
            with closing(two):
                two.set_glossary(Glossary.from_toml(GLOSSARY))
                load(two, fact(other))
                snapshots = [one.snapshot(), two.snapshot()]
                frames = list(query_metric(MetricRequest((query(),)), call(), snapshots))
                (outcome,) = [
                    each.outcome for frame in frames if isinstance(frame, Outcomes) for each in frame.outcomes
                ]
                assert isinstance(outcome, MetricFound)
                assert outcome.conflicting is conflicting
                seen = [each for frame in frames if isinstance(frame, Snippets) for each in frame.snippets]
                assert {(each.lineage.library_id, getattr(each.payload, "value", "")) for each in seen} == {
                    ("lib", "100"),
                    ("two", other),
                }
                assert {each.snippet_id for each in seen} == set(outcome.snippet_ids)


def test_valid_at_keeps_what_was_valid_by_then() -> None:
    with shelf([fact("100", valid_as_of=datetime(2024, 6, 1, tzinfo=UTC))]) as library:
        assert ask(library, query(), of=call(valid_at=datetime(2024, 6, 1, tzinfo=UTC))).values() == ["100"]
        (outcome,) = ask(library, query(), of=call(valid_at=datetime(2024, 5, 31, tzinfo=UTC))).outcomes
        assert isinstance(outcome, MetricNotFound)


def test_known_at_before_a_withdrawal_still_knows_the_figure() -> None:
    clock = Clock()
    with shelf([fact("100")], clock) as library:
        before = clock.go_on()
        with library.writing() as writer:
            writer.withdraw_document("facts.csv")
        assert isinstance(ask(library, query()).outcomes[0], MetricNotFound)
        assert ask(library, query(), of=call(known_at=before)).values() == ["100"]


def test_a_glossary_is_per_library_and_reloadable() -> None:
    with shelf([fact("100")]) as library:
        held = library.snapshot()
        library.set_glossary(Glossary.from_toml(GLOSSARY.replace("売上高", "収益")))
        assert ask(library, query("収益")).values() == ["100"]
        assert isinstance(ask(library, query("売上高")).outcomes[0], UnrecognizedParam)
        assert isinstance(held.glossary.resolve_metric("売上高"), Resolved)
        shared = 'code = "other"\nsynonyms = {ja = ["収益"]}\n'
        torn = Glossary.from_toml(f"{GLOSSARY.replace('売上高', '収益')}\n[[metric]]\n{shared}", ambiguous="report")
        with pytest.raises(GlossaryConflict):
            library.set_glossary(torn)
        assert ask(library, query("収益")).values() == ["100"]


def test_what_is_no_plain_decimal_is_refused_by_itself_and_the_others_land() -> None:
    wrong = [
        "",
        " ",
        "abc",
        "NaN",
        "Infinity",
        "-inf",
        "1,000",
        "12-",
        "(12)",
        "△12",
        "3/4",
        "二百五",
        "-",
        "n.a.",
        "0x10",
    ]
    wrong += ["1_000", "１２", "1\n", "#N/A", "1e", "--1", "1.2.3", "\u22121", "٣"]
    records = [fact(value, source_doc=f"{n}.csv") for n, value in enumerate(wrong)]
    with shelf() as library:
        with library.writing() as writer:
            counts = writer.put_facts([fact("1"), *records, fact("2", **OTHER)])
        assert counts.stored == 2
        assert [place for place, _ in counts.refused] == list(range(1, len(wrong) + 1))
        assert [(error.column, error.value) for _, error in counts.refused] == [("value", value) for value in wrong]
        assert sorted(ask(library, query()).values()) == ["1", "2"]


def test_a_shared_synonym_is_a_typed_ambiguity_and_never_a_pick() -> None:
    shared = "".join(f'[[metric]]\ncode="{code}"\nsynonyms={{ja=["売上"]}}\n' for code in "ab")
    shared += '[[entity]]\ncode="ACME"\n'
    with TemporaryDirectory() as folder, closing(make_library(Path(folder))) as library:
        library.set_config(library.config.__class__(embedder="none", ambiguous="report"))
        library.set_glossary(Glossary.from_toml(shared, ambiguous="report"))
        load(library, fact("1", metric="a"), fact("2", metric="b"), in_year(2023, "3", metric="b"))
        (outcome,) = ask(library, query("売上")).outcomes
        assert isinstance(outcome, UnrecognizedParam)
        assert outcome.ambiguous
        assert set(outcome.suggestions) == {"a", "b"}
        assert ask(library, query("売上", period="2023")).values() == ["3"]  # one of them alone has a figure
        load(library, in_year(2022, "4", metric="a"), in_year(2022, "4.0", metric="b", **OTHER))
        assert sorted(ask(library, query("売上", period="2022")).values()) == ["4", "4.0"]  # all give the same


def test_text_never_becomes_a_figure() -> None:
    with shelf([fact("1", entity="APRIL", **FISCAL_2025)]) as library:
        put(library, document("news.txt", "Revenue of ACME in 2024 was 98765 USD. アクメの2024年の売上高は98765。"))
        answer = ask(library, query())
        assert isinstance(answer.outcomes[0], MetricNotFound)
        assert "98765" not in repr(answer)


def test_the_same_question_gives_the_same_answer_in_any_order_of_loading() -> None:
    records = [fact("100"), fact("200", **OTHER), in_year(2023, "5"), fact("9", channel="ONLINE"), filed("101", 5)]
    asked = (query(), query(period="2023"), query(channel="ONLINE"), query("cash", period="2024-12-31"))
    first = ask_one(records, *asked)
    for order in (records[::-1], records[2:] + records[:2]):
        again = ask_one(order, *asked)
        assert again.outcomes == first.outcomes
        assert list(again.snippets) == list(first.snippets)
        assert [each.payload for each in again.snippets.values()] == [each.payload for each in first.snippets.values()]


def test_a_parsed_period_and_a_stored_one_meet_by_their_days() -> None:
    for stored, asked in (
        ("2024", "FY2024"),
        ("FY2024", "2024"),
        ("2024-01-01/2024-12-31", "2024年"),
        ("2024Q1", "2024-01-01/2024-03-31"),
    ):
        period: Period = parse_period(stored, reference=date(2025, 1, 1))
        record = fact("5", period=period.canonical, period_first=period.first, period_last=period.last)
        assert ask_one([record], query(period=asked)).values() == ["5"]


def test_start_is_before_every_call() -> None:
    assert call().now() > START
