"""Differences, ratios and growth: decimal, cited, marked as derived, or refused."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.errors import InvalidRequest
from groundwire_server.evidence import (
    CalculationOutcome,
    DerivedFigure,
    Label,
    MetricKey,
    MetricQuery,
    Operation,
    Refusal,
    RefusalReason,
    Snippets,
    Trust,
)
from groundwire_server.glossary import Glossary
from groundwire_server.library import Library
from groundwire_server.metric import Calculation, MetricRequest, VersionPolicy
from groundwire_server.metric.calculation import _compute
from tests.metric.world import Answer, ask, figure, open_library

FACTS = [
    figure("revenue", "acme", "2022", "80", label=Label.PUBLIC),
    figure("revenue", "acme", "2023", "100.50"),
    figure("revenue", "acme", "2021", "0.00"),
    figure("revenue", "acme", "2020", "-80", unit="usd"),
    figure("staff", "acme", "2023", "3", unit="persons"),
    figure("rate", "acme", "2023", "3", unit="EUR"),
    figure("rate", "acme", "2023", "4", unit="JPY"),
    figure("cost", "acme", "2023", "7", source_doc="A"),
    figure("cost", "acme", "2023", "9", source_doc="B"),
    figure("tax", "acme", "2023", "7", source_doc="A"),
    figure("tax", "acme", "2023", "7.04", source_doc="B"),
    figure("debt", "acme", "2023", "7", source_doc="A"),
    figure("debt", "acme", "2023", "7.00", source_doc="B"),
]
NAMES = ["revenue 2022", "revenue 2023", "revenue 2021", "revenue 2020", "revenue 1999", "staff 2023", "rate 2023"]
NAMES += ["cost 2023", "tax 2023", "debt 2023"]
QUERIES = tuple(MetricQuery(name.split()[0], "acme", name.split()[1]) for name in NAMES)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    opened = open_library(tmp_path_factory.mktemp("calculation"), Glossary(), [FACTS])
    yield opened
    opened.close()


def _calculate(library: Library, operation: Operation, first: int, second: int, **options: object) -> Answer:
    request = MetricRequest(QUERIES, calculations=(Calculation(operation, first, second),))
    return ask(library, request=request, **options)


@pytest.mark.parametrize(
    ("operation", "first", "second", "value", "unit", "rounded"),
    [
        (Operation.DIFFERENCE, 1, 0, "20.50", "USD", False),
        (Operation.DIFFERENCE, 0, 1, "-20.50", "USD", False),
        (Operation.DIFFERENCE, 0, 3, "160", "USD", False),
        (Operation.RATIO, 1, 0, "1.25625", "RATIO", False),
        (Operation.RATIO, 0, 1, "0.7960199004975124378109452736318408", "RATIO", True),
        (Operation.GROWTH, 0, 1, "0.25625", "RATIO", False),
        (Operation.GROWTH, 3, 0, "2", "RATIO", False),
        (Operation.RATIO, 2, 0, "0", "RATIO", False),
        (Operation.DIFFERENCE, 9, 9, "0.00", "USD", False),
        # Sources that agree: the most precise one.
        (Operation.DIFFERENCE, 8, 0, "-72.96", "USD", False),
        (Operation.RATIO, 8, 9, "1.005714285714285714285714285714286", "RATIO", True),
    ],
)
def test_a_figure_is_computed_with_its_operands_cited(
    library: Library, operation: Operation, first: int, second: int, value: str, unit: str, rounded: bool
) -> None:
    answer = _calculate(library, operation, first, second)
    (outcome,) = answer.calculations
    assert isinstance(outcome.outcome, str)
    snippet = answer.snippets[outcome.outcome]
    derived = snippet.payload
    assert isinstance(derived, DerivedFigure)
    assert Decimal(derived.value) == Decimal(value)
    assert (derived.unit.upper(), derived.rounded, derived.operation) == (unit, rounded, operation)
    assert set(derived.operand_ids) <= set(answer.snippets)
    assert len(snippet.lineage.members) == 2
    assert snippet.trust is Trust.CITABLE
    assert derived.statement.startswith("Derived, not stored")
    assert derived.value in derived.statement


def test_operands_are_in_the_order_of_the_expression(library: Library) -> None:
    answer = _calculate(library, Operation.GROWTH, 0, 1)
    (derived,) = answer.derived
    values = [fact.value for fact in answer.facts(derived.operand_ids)]
    assert (derived.expression, values) == ("(#2 - #1) / |#1|", ["80", "100.50"])
    assert derived.key == MetricKey("revenue", "acme", "", "TOTAL")


def test_a_computed_figure_is_as_secret_as_its_strictest_operand(library: Library) -> None:
    answer = _calculate(library, Operation.DIFFERENCE, 0, 1)
    labels = [snippet.label for snippet in answer.snippets.values() if isinstance(snippet.payload, DerivedFigure)]
    assert labels == [Label.INTERNAL]


@pytest.mark.parametrize(
    ("operation", "first", "second", "reason"),
    [
        (Operation.DIFFERENCE, 0, 4, RefusalReason.OPERAND_MISSING),
        (Operation.RATIO, 4, 0, RefusalReason.OPERAND_MISSING),
        (Operation.DIFFERENCE, 0, 7, RefusalReason.OPERAND_CONFLICTING),
        (Operation.DIFFERENCE, 7, 6, RefusalReason.OPERAND_CONFLICTING),
        (Operation.DIFFERENCE, 6, 6, RefusalReason.UNLIKE_UNITS),
        (Operation.DIFFERENCE, 6, 4, RefusalReason.OPERAND_MISSING),
        (Operation.RATIO, 0, 5, RefusalReason.UNLIKE_UNITS),
        (Operation.RATIO, 0, 6, RefusalReason.UNLIKE_UNITS),
        (Operation.RATIO, 0, 2, RefusalReason.DIVISION_BY_ZERO),
        (Operation.GROWTH, 2, 0, RefusalReason.DIVISION_BY_ZERO),
    ],
)
def test_a_calculation_is_refused(
    library: Library, operation: Operation, first: int, second: int, reason: RefusalReason
) -> None:
    (outcome,) = _calculate(library, operation, first, second, language="ja").calculations
    assert isinstance(outcome.outcome, Refusal)
    assert outcome.outcome.reason is reason
    assert not any(char.isdigit() for char in outcome.outcome.text)


def test_calculations_come_after_all_outcomes_and_before_their_snippets(library: Library) -> None:
    wanted = tuple(Calculation(Operation.DIFFERENCE, 1, place % 2) for place in range(4))
    answer = ask(library, request=MetricRequest(QUERIES[:2], calculations=wanted))
    assert [outcome.calculation_index for outcome in answer.calculations] == [0, 1, 2, 3]
    kinds = [type(frame).__name__ for frame in answer.frames]
    assert kinds == ["Header", "Outcomes", "Snippets", "Outcomes", "Snippets", "Summary"]
    last = answer.frames[-2]
    assert isinstance(last, Snippets)
    assert len(last.snippets) == 2  # equal calculations are one figure
    assert [step.stage for step in answer.header.plan][-2:] == ["calculate", "exit"]


def test_of_all_versions_the_latest_is_computed_with(tmp_path: Path) -> None:
    from tests.metric.world import recorded

    facts = [figure("a", "b", "2023", value, filed_at=recorded(n)) for n, value in enumerate(("1", "2"))]
    library = open_library(tmp_path, Glossary(), [facts])
    calculations = (Calculation(Operation.DIFFERENCE, 0, 0),)
    request = MetricRequest((MetricQuery("a", "b", "2023"),), calculations=calculations, versions=VersionPolicy.ALL)
    answer = ask(library, request=request)
    (derived,) = answer.derived
    assert [fact.value for fact in answer.facts(derived.operand_ids)] == ["2", "2"]
    library.close()


@pytest.mark.parametrize(
    ("calculation", "field"),
    [
        (Calculation(Operation.RATIO, 0, 2), "calculations[0].second"),
        (Calculation(Operation.RATIO, -1, 0), "calculations[0].first"),
        (Calculation(Operation.ROLLUP, 0, 1), "calculations[0].operation"),
        (Calculation(Operation.FORMULA, 0, 1), "calculations[0].operation"),
    ],
)
def test_a_bad_calculation_names_its_field(library: Library, calculation: Calculation, field: str) -> None:
    with pytest.raises(InvalidRequest) as raised:
        ask(library, request=MetricRequest(QUERIES[:2], calculations=(calculation,)))
    assert [violation.field for violation in raised.value.violations] == [field]


DECIMALS = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**18), max_value=10**18, places=6)


@given(DECIMALS, DECIMALS)
def test_arithmetic_against_fractions(first: Decimal, second: Decimal) -> None:
    one, two = Fraction(first), Fraction(second)
    difference = _compute(Operation.DIFFERENCE, first, second)
    assert difference is not None
    assert (Fraction(difference[0]), difference[1]) == (one - two, False)
    for operation, exact in (
        (Operation.RATIO, one / two if two else None),
        (Operation.GROWTH, (two - one) / abs(one) if one else None),
    ):
        computed = _compute(operation, first, second)
        if exact is None:
            assert computed is None
            continue
        assert computed is not None
        value, rounded = computed
        assert rounded is (Fraction(value) != exact)
        assert len(value.as_tuple().digits) <= 34
        if exact:
            assert abs(Fraction(value) - exact) <= abs(exact) * Fraction(1, 2 * 10**33)


def test_calculation_outcomes_are_values() -> None:
    assert CalculationOutcome(0, "x") == CalculationOutcome(0, "x")
