"""Figures that nobody has stored and that a formula of the glossary gives: computed, marked, every operand cited."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.evidence import (
    DegradationKind,
    DerivedFigure,
    EmptyFilterPolicy,
    Label,
    MetricFact,
    MetricFound,
    MetricNotFound,
    MetricQuery,
    Operation,
    Operator,
    Predicate,
    Principal,
    Refusal,
    RefusalReason,
    ReviewStatus,
)
from groundwire_server.glossary import EntityTerm, Glossary, MetricNature, MetricTerm, Synonym
from groundwire_server.library import Library
from groundwire_server.metric import Calculation, MetricRequest, VersionPolicy
from tests.metric.world import Answer, ask, figure, open_library

GLOSSARY = Glossary(
    [
        MetricTerm("REVENUE", "Revenue", (Synonym("売上高", "ja"), Synonym("营业收入", "zh"))),
        MetricTerm("COGS", "Cost of sales"),
        MetricTerm(
            "MARGIN",
            "Gross margin",
            (Synonym("粗利率", "ja"), Synonym("毛利率", "zh")),
            unit="PERCENT",
            nature=MetricNature.FLOW,
            derivation="(REVENUE - COGS) / REVENUE * 100",
        ),
        MetricTerm("PROFIT", "Gross profit", derivation="REVENUE - COGS"),
        MetricTerm("TWICE", "Twice the profit", derivation="PROFIT * 2"),
        MetricTerm("STORED", "Stored", derivation="REVENUE - COGS"),
        MetricTerm("LOOP", "Loop", derivation="LOOP + REVENUE"),
        EntityTerm("ACME", "Acme", (Synonym("アクメ", "ja"), Synonym("顶点公司", "zh"))),
    ]
)
FILED = datetime(2024, 3, 1, tzinfo=UTC)
FACTS = [
    figure("REVENUE", "ACME", "2022", "80.0"),
    figure("COGS", "ACME", "2022", "60"),
    figure("REVENUE", "ACME", "2023", "100.50", filed_at=FILED),
    figure("REVENUE", "ACME", "2023", "100.00", filed_at=FILED.replace(year=2025), author="audit", reason="restated"),
    figure("COGS", "ACME", "2023", "75", label=Label.CONFIDENTIAL),
    figure("COGS", "ACME", "2023", "70", source_doc="public.pdf", label=Label.PUBLIC),
    figure("REVENUE", "ACME", "2021", "50"),
    figure("COGS", "ACME", "2021", "40", review_status=ReviewStatus.PENDING),
    figure("REVENUE", "ACME", "2020", "50"),
    figure("COGS", "ACME", "2020", "40", source_doc="A"),
    figure("COGS", "ACME", "2020", "41", source_doc="B"),
    figure("REVENUE", "ACME", "2019", "50"),
    figure("COGS", "ACME", "2019", "40", unit="EUR"),
    figure("REVENUE", "ACME", "2018", "0"),
    figure("COGS", "ACME", "2018", "40"),
    figure("STORED", "ACME", "2022", "19.9"),
    figure("REVENUE", "ACME", "2022-12-31", "7"),
    figure("COGS", "ACME", "2022-12-31", "6"),
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    opened = open_library(tmp_path_factory.mktemp("formulas"), GLOSSARY, [FACTS])
    yield opened
    opened.close()


def _derived(answer: Answer) -> DerivedFigure:
    outcome = answer.outcomes[0].outcome
    assert isinstance(outcome, MetricFound)
    assert not outcome.conflicting
    (name,) = outcome.snippet_ids
    payload = answer.snippets[name].payload
    assert isinstance(payload, DerivedFigure)
    return payload


@pytest.mark.parametrize(
    ("query", "language", "statement"),
    [
        (("gross margin", "Acme", "2022"), "en", "Derived, not stored: Gross margin of Acme in 2022, by"),
        (
            ("粗利率", "アクメ", "2022年"),
            "ja",
            "計算による値（保存された数値ではありません）：アクメの 2022 の粗利率は",
        ),
        (("毛利率", "顶点公司", "2022年"), "zh", "计算所得，并非存储的数值：顶点公司 2022 的毛利率按"),
    ],
)
def test_a_metric_that_is_not_stored_is_computed(
    library: Library, query: tuple[str, str, str], language: str, statement: str
) -> None:
    answer = ask(library, MetricQuery(*query), language=language)
    derived = _derived(answer)
    assert (derived.operation, derived.value, derived.unit) == (Operation.FORMULA, "25.00", "PERCENT")
    assert derived.statement.startswith(statement)
    assert "25.00 PERCENT" in derived.statement
    assert [fact.value for fact in answer.facts(derived.operand_ids)] == ["80.0", "60"]
    assert (derived.key.metric, derived.key.entity, derived.key.period) == ("MARGIN", "ACME", "2022")


def test_the_unit_is_what_the_arithmetic_gives(library: Library) -> None:
    """A term cannot make hundredths of a ratio by its unit alone."""
    glossary = Glossary(
        [
            MetricTerm("SHARE", unit="PERCENT", derivation="COGS / REVENUE"),
            MetricTerm("HUNDREDTHS", unit="PERCENT", derivation="100 * COGS / REVENUE"),
            MetricTerm("UNSAID", derivation="COGS / REVENUE * 100"),
            MetricTerm("HALF", unit="EUR", derivation="COGS / 2"),
        ]
    )
    library.set_glossary(glossary)
    try:
        told = [_derived(ask(library, MetricQuery(name, "ACME", "2022"))) for name in sorted(glossary.metrics)]
        assert [(each.key.metric, each.value, each.unit) for each in told] == [
            ("HALF", "30", "USD"),
            ("HUNDREDTHS", "75", "PERCENT"),
            ("SHARE", "0.75", "RATIO"),
            ("UNSAID", "75.00", "RATIO"),
        ]
    finally:
        library.set_glossary(GLOSSARY)


def test_operands_that_are_computed_themselves_are_cited_down_to_the_facts(library: Library) -> None:
    answer = ask(library, MetricQuery("TWICE", "ACME", "2022"))
    derived = _derived(answer)
    (profit,) = [answer.snippets[name].payload for name in derived.operand_ids]
    assert isinstance(profit, DerivedFigure)
    assert (derived.value, profit.value) == ("40.0", "20.0")
    assert all(isinstance(answer.snippets[name].payload, MetricFact) for name in profit.operand_ids)


def test_what_is_stored_goes_before_what_is_computed(library: Library) -> None:
    answer = ask(library, MetricQuery("STORED", "ACME", "2022"))
    assert [fact.value for fact in answer.facts(list(answer.snippets))] == ["19.9"]
    assert answer.derived == []


@pytest.mark.parametrize(
    ("metric", "period"),
    [
        ("PROFIT", "2021"),  # one operand is pending
        ("PROFIT", "2020"),  # sources of one operand disagree
        ("PROFIT", "2019"),  # unlike units
        ("MARGIN", "2018"),  # a division by zero
        ("LOOP", "2022"),
        ("PROFIT", "1999"),
        ("MARGIN", "2022-12-31"),  # a flow is never answered with an instant
    ],
)
def test_what_cannot_be_computed_is_not_found(library: Library, metric: str, period: str) -> None:
    answer = ask(library, MetricQuery(metric, "ACME", period))
    assert isinstance(answer.outcomes[0].outcome, MetricNotFound)
    assert answer.snippets == {}


def test_hidden_operands_change_nothing(library: Library) -> None:
    seen = {
        clearance: ask(library, MetricQuery("PROFIT", "ACME", "2023"), principal=Principal("p", clearance))
        for clearance in (Label.PUBLIC, Label.INTERNAL, Label.CONFIDENTIAL)
    }
    assert isinstance(seen[Label.PUBLIC].outcomes[0].outcome, MetricNotFound)
    assert _derived(seen[Label.INTERNAL]).value == "30.00"
    # Who sees a source that disagrees has nothing to compute with.
    assert isinstance(seen[Label.CONFIDENTIAL].outcomes[0].outcome, MetricNotFound)
    labels = [snippet.label for snippet in seen[Label.INTERNAL].snippets.values()]
    assert max(labels) is Label.INTERNAL


def test_versions_are_those_that_the_call_asks_for(library: Library) -> None:
    query = MetricQuery("PROFIT", "ACME", "2023")
    told = {
        policy: _derived(ask(library, request=MetricRequest((query,), versions=policy))).value
        for policy in VersionPolicy
    }
    assert told == {VersionPolicy.LATEST: "30.00", VersionPolicy.AS_REPORTED: "30.50", VersionPolicy.ALL: "30.00"}
    then = ask(library, MetricQuery("REVENUE", "ACME", "2023"), known_at=FILED)
    assert [fact.value for fact in then.facts(list(then.snippets))] == ["100.50"]


def test_a_computed_figure_can_be_computed_with(library: Library) -> None:
    queries = (MetricQuery("PROFIT", "ACME", "2022"), MetricQuery("PROFIT", "ACME", "2023"))
    queries += (MetricQuery("PROFIT", "ACME", "2021"), MetricQuery("MARGIN", "ACME", "2022"))
    wanted = (
        Calculation(Operation.GROWTH, 0, 1),
        Calculation(Operation.DIFFERENCE, 0, 2),
        Calculation(Operation.RATIO, 0, 3),
    )
    answer = ask(library, request=MetricRequest(queries, calculations=wanted))
    first, second, third = (each.outcome for each in answer.calculations)
    assert isinstance(first, str)
    growth = answer.snippets[first].payload
    assert isinstance(growth, DerivedFigure)
    assert Decimal(growth.value) == Decimal("0.5")
    assert set(growth.operand_ids) <= set(answer.snippets)
    assert len(answer.snippets[first].lineage.members) == 3
    assert isinstance(second, Refusal)
    assert second.reason is RefusalReason.OPERAND_MISSING
    assert isinstance(third, Refusal)
    assert third.reason is RefusalReason.UNLIKE_UNITS


def test_a_hint_that_an_operand_does_not_fit_is_dropped_and_said_so(library: Library) -> None:
    query = MetricQuery("PROFIT", "ACME", "2022")
    fitting = Predicate("doc_id", Operator.EQ, ("report.pdf",))
    assert _derived(ask(library, query, hint=fitting)).value == "20.0"
    other = Predicate("doc_id", Operator.EQ, ("other.pdf",))
    dropped = ask(library, query, hint=other)
    assert _derived(dropped).value == "20.0"
    assert [each.kind for each in dropped.summary.degradations] == [DegradationKind.FILTER_DROPPED]
    kept = ask(library, query, hint=other, on_empty=EmptyFilterPolicy.NEVER_WIDEN)
    assert isinstance(kept.outcomes[0].outcome, MetricNotFound)
    assert kept.snippets == {}


def test_two_libraries_that_compute_unlike_values_conflict(tmp_path: Path) -> None:
    opened = [
        open_library(
            tmp_path,
            GLOSSARY,
            [[figure("REVENUE", "ACME", "2022", value), figure("COGS", "ACME", "2022", "1")]],
            name,
        )
        for name, value in (("one", "10"), ("two", "11"))
    ]
    answer = ask(opened, MetricQuery("PROFIT", "ACME", "2022"))
    outcome = answer.outcomes[0].outcome
    assert isinstance(outcome, MetricFound)
    assert outcome.conflicting
    values = [answer.snippets[name].payload for name in outcome.snippet_ids]
    assert [value.value for value in values if isinstance(value, DerivedFigure)] == ["9", "10"]
    for library in opened:
        library.close()


@given(
    st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**12), max_value=10**12),
    st.decimals(allow_nan=False, allow_infinity=False, places=5, min_value=-(10**12), max_value=10**12),
)
def test_differences_are_exact(tmp_path_factory: pytest.TempPathFactory, one: Decimal, two: Decimal) -> None:
    facts = [figure("REVENUE", "ACME", "2022", format(one, "f")), figure("COGS", "ACME", "2022", format(two, "f"))]
    library = open_library(tmp_path_factory.mktemp("exact"), GLOSSARY, [facts])
    derived = _derived(ask(library, MetricQuery("PROFIT", "ACME", "2022")))
    assert Decimal(derived.value) == one - two
    assert not derived.rounded
    library.close()
