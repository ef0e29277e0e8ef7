"""How a figure came to be: formulas in exact arithmetic, every step cited, versions of what is stored, refusals."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from groundwire_server.errors import ErrorReason, FailedPrecondition, InvalidRequest
from groundwire_server.evidence import (
    DegradationKind,
    DerivedFigure,
    EndReason,
    Label,
    MetricFact,
    MetricFound,
    MetricNotFound,
    MetricQuery,
    Operation,
    Operator,
    Predicate,
    RefusalReason,
    UnrecognizedParam,
)
from groundwire_server.glossary import Glossary, MetricTerm, read_derivation
from groundwire_server.graph import Derivation
from groundwire_server.library import Snapshot
from groundwire_server.metric.formula import Quantity, compute, written_with_numbers
from groundwire_server.security import SecurityGate
from groundwire_server.store import FactRecord
from tests.graph.graphs import Ran, run
from tests.graph.test_figures import fact
from tests.support.libraries import make_library

GLOSSARY = Glossary(
    [
        MetricTerm("REVENUE", label="Revenue"),
        MetricTerm("COGS", label="Cost of goods sold"),
        MetricTerm("STAFF", label="Staff"),
        MetricTerm("GROSS", label="Gross profit", derivation="REVENUE - COGS"),
        MetricTerm("MARGIN", label="Gross margin", derivation="GROSS / REVENUE"),
        MetricTerm("PERCENT", label="Gross margin in percent", derivation="MARGIN * 100"),
        MetricTerm("A_HEAD", label="Revenue a head", derivation="REVENUE / STAFF"),
        MetricTerm("MIXED", label="Mixed", derivation="REVENUE + STAFF"),
        MetricTerm("LOOP", label="Loop", derivation="POOL * 2"),
        MetricTerm("POOL", label="Pool", derivation="LOOP / 2"),
        MetricTerm("TWO", label="Two", derivation="1 + 1"),
        MetricTerm("BROKEN", label="Broken", derivation="REVENUE +"),
        MetricTerm("BY_ZERO", label="By zero", derivation="REVENUE / (COGS - COGS)"),
        MetricTerm("OF_SECRET", label="Of a secret", derivation="REVENUE - SECRET"),
        MetricTerm("SECRET", label="Secret"),
        MetricTerm("OF_DISPUTED", label="Of what is disputed", derivation="DISPUTED / 2"),
        MetricTerm("DISPUTED", label="Disputed"),
    ]
)
THEN, LATER = datetime(2021, 3, 1, tzinfo=UTC), datetime(2022, 3, 1, tzinfo=UTC)


def stated(metric: str, value: str, **more: Any) -> FactRecord:
    return fact("ACME", value, metric=metric, **more)


FACTS = [
    stated("REVENUE", "90", filed_at=THEN, source="annual report", source_doc="2020.pdf"),
    stated("REVENUE", "100.00", filed_at=LATER, source="annual report", source_doc="2021.pdf"),
    stated("COGS", "30.1"),
    stated("STAFF", "7", unit="PERSONS"),
    stated("SECRET", "1", label=Label.CONFIDENTIAL),
    stated("DISPUTED", "1"),
    stated("DISPUTED", "2", source_doc="other.csv"),
]


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    return make_library(tmp_path_factory.mktemp("derivation"), facts=FACTS, glossary=GLOSSARY).snapshot()


def of(metric: str, entity: str = "ACME", period: str = "2020") -> Derivation:
    return Derivation(MetricQuery(metric, entity, period))


def told(ran: Ran) -> list[str]:
    return [
        f"{one.payload.key.metric} {one.payload.value}"
        for one in ran.snippets
        if isinstance(one.payload, DerivedFigure | MetricFact)
    ]


def test_each_step_comes_with_what_it_is_made_of(snapshot: Snapshot) -> None:
    ran = run(snapshot, of("PERCENT"))
    # The figure, level by level what it is made of, and at last the version that was stated before.
    assert told(ran) == [
        "PERCENT 69.900",
        "MARGIN 0.699",
        "GROSS 69.90",
        "REVENUE 100.00",
        "COGS 30.1",
        "REVENUE 90",
    ]
    ids = [one.snippet_id for one in ran.snippets]
    derived = [one.payload for one in ran.snippets if isinstance(one.payload, DerivedFigure)]
    assert [(one.operation, one.expression, one.unit, one.rounded) for one in derived] == [
        (Operation.FORMULA, "#1 * 100", "RATIO", False),
        (Operation.FORMULA, "#1 / #2", "RATIO", False),
        (Operation.FORMULA, "#1 - #2", "USD", False),
    ]
    assert [one.operand_ids for one in derived] == [(ids[1],), (ids[2], ids[3]), (ids[3], ids[4])]
    assert [member.doc_id for member in ran.snippets[0].lineage.members] == ["2021.pdf", "facts.csv"]
    assert "69.900" in derived[0].statement
    versions = [one.payload.version for one in ran.snippets if isinstance(one.payload, MetricFact)]
    assert [one and (one.version, one.latest_version) for one in versions] == [(2, 2), None, (1, 2)]
    (outcome,) = ran.outcomes
    assert isinstance(outcome.outcome, MetricFound)
    assert (outcome.outcome.snippet_ids, outcome.outcome.key.metric) == ((ids[0],), "PERCENT")


def test_libraries_that_disagree_are_told_as_such(tmp_path: Path) -> None:
    def told_of(metric: str, *libraries: dict[str, str]) -> tuple[bool, list[bool]]:
        snapshots = []
        for facts in libraries:
            name = f"l{next(numbers)}"
            stored = [stated(code, value) for code, value in facts.items()]
            snapshots.append(make_library(tmp_path / name, facts=stored, glossary=GLOSSARY, library_id=name).snapshot())
        ran = run(snapshots, of(metric))
        (outcome,) = ran.outcomes
        assert isinstance(outcome.outcome, MetricFound)
        named = [each.payload for each in ran.snippets if each.snippet_id in outcome.outcome.snippet_ids]
        marks = [each.conflicting for each in named if isinstance(each, MetricFact)]
        return outcome.outcome.conflicting, marks

    numbers = count()
    assert told_of("REVENUE", {"REVENUE": "10"}, {"REVENUE": "20"}) == (True, [True, True])
    assert told_of("REVENUE", {"REVENUE": "10"}, {"REVENUE": "10.0"}) == (False, [False, False])
    for cogs, differs in (("3", False), ("4", True)):
        both = {"REVENUE": "10", "COGS": "3"}, {"REVENUE": "10", "COGS": cogs}
        assert told_of("GROSS", *both) == (differs, [])
        assert told_of("GROSS", {"GROSS": "7"}, both[1]) == (differs, [False])


@pytest.mark.parametrize(
    ("formula", "unit"),
    [
        ("HEADS + HEADS", ""),
        ("HEADS * 2", ""),
        ("2 * -HEADS", ""),
        ("HEADS / 2", ""),
        ("HEADS / HEADS", "RATIO"),
        ("SHARE * HEADS", ""),
        ("HEADS / SHARE", ""),
        ("SHARE / 2 + 1", "RATIO"),
        ("REVENUE * (1 + 1)", "USD"),
        ("HEADS + 1", None),
        ("HEADS + SHARE", None),
        ("HEADS * REVENUE", None),
        ("REVENUE / HEADS", None),
        ("1 / HEADS", None),
    ],
)
def test_a_figure_without_a_unit_is_given_none(tmp_path: Path, formula: str, unit: str | None) -> None:
    facts = [stated("HEADS", "5", unit=""), stated("SHARE", "0.1", unit="RATIO"), stated("REVENUE", "10")]
    terms = [MetricTerm(code, label=code.title()) for code in ("HEADS", "SHARE", "REVENUE")]
    glossary = Glossary([*terms, MetricTerm("MADE", label="Made", derivation=formula)])
    ran = run(make_library(tmp_path, facts=facts, glossary=glossary).snapshot(), of("MADE"))
    if unit is None:
        assert ran.summary.refusal is not None
        assert ran.summary.refusal.reason is RefusalReason.UNLIKE_UNITS
    else:
        figure = ran.snippets[0].payload
        assert isinstance(figure, DerivedFigure)
        assert figure.unit == unit
        assert "None" not in figure.statement


@pytest.mark.parametrize("formula", ["SIXTEEN", "DEEP", "TINY"])
def test_a_figure_is_told_whole_or_not_at_all(tmp_path: Path, formula: str) -> None:
    terms = [
        MetricTerm("P0", label="Base"),
        MetricTerm("SIXTEEN", label="sixteenth", derivation=" * ".join(["P0"] * 16)),
    ]
    terms += [MetricTerm(f"P{n}", label=f"power {n}", derivation=f"P{n - 1} * P{n - 1}") for n in range(1, 30)]
    terms += [
        MetricTerm("DEEP", label="deep", derivation="P29 + 0"),
        MetricTerm("TINY", label="tiny", derivation="1 / P4"),
    ]
    value = "7" * 900 if formula == "SIXTEEN" else f"1{'0' * 900}"
    library = make_library(tmp_path, facts=[stated("P0", value, unit="RATIO")], glossary=Glossary(terms)).snapshot()
    with pytest.raises(InvalidRequest) as refused:
        run(library, of(formula))
    assert [each.reason for each in refused.value.violations] == [ErrorReason.VALUE_OUT_OF_RANGE]


def test_a_stored_figure_came_from_its_source_in_every_version(snapshot: Snapshot) -> None:
    ran = run(snapshot, of("Revenue"))
    assert told(ran) == ["REVENUE 100.00", "REVENUE 90"]
    (outcome,) = ran.outcomes
    assert isinstance(outcome.outcome, MetricFound)
    assert (outcome.outcome.snippet_ids, outcome.outcome.conflicting) == ((ran.snippets[0].snippet_id,), False)
    disputed = run(snapshot, of("DISPUTED"))
    assert told(disputed) == ["DISPUTED 1", "DISPUTED 2"]
    assert all(one.payload.conflicting for one in disputed.snippets if isinstance(one.payload, MetricFact))
    before = run(snapshot, of("REVENUE"), known_at=THEN)
    assert told(before) == ["REVENUE 90"]


@pytest.mark.parametrize(
    ("metric", "reason"),
    [
        ("A_HEAD", RefusalReason.UNLIKE_UNITS),
        ("MIXED", RefusalReason.UNLIKE_UNITS),
        ("LOOP", RefusalReason.OPERAND_MISSING),
        ("TWO", RefusalReason.OPERAND_MISSING),
        ("BROKEN", RefusalReason.OPERAND_MISSING),
        ("OF_SECRET", RefusalReason.OPERAND_MISSING),
        ("OF_DISPUTED", RefusalReason.OPERAND_CONFLICTING),
        ("BY_ZERO", RefusalReason.DIVISION_BY_ZERO),
    ],
)
def test_what_cannot_be_computed_is_refused(snapshot: Snapshot, metric: str, reason: RefusalReason) -> None:
    ran = run(snapshot, of(metric))
    assert (ran.snippets, ran.outcomes, ran.summary.end_reason) == ([], (), EndReason.REFUSED)
    assert ran.summary.refusal is not None
    assert ran.summary.refusal.reason is reason


def test_what_is_not_there_is_an_outcome(snapshot: Snapshot) -> None:
    assert isinstance(run(snapshot, of("SECRET")).outcomes[0].outcome, UnrecognizedParam | MetricNotFound)
    assert isinstance(run(snapshot, of("REVENUE", period="1999")).outcomes[0].outcome, MetricNotFound)
    unknown = run(snapshot, of("PROFIT")).outcomes[0].outcome
    assert isinstance(unknown, UnrecognizedParam)
    assert unknown.param == "metric"
    with pytest.raises(InvalidRequest) as raised:
        run(snapshot, of("REVENUE"), filter=Predicate("relation", Operator.EQ, ("r",)))
    assert [fault.reason for fault in raised.value.violations] == [ErrorReason.CONTRADICTION]
    outside = run(snapshot, of("REVENUE", "Initech"), gate=SecurityGate(["Initech"])).summary.refusal
    assert outside is not None
    assert outside.reason is RefusalReason.OUT_OF_SCOPE


def test_hidden_figures_change_nothing(tmp_path: Path) -> None:
    bare = [each for each in FACTS if each.label <= Label.INTERNAL]
    answers = []
    for name, facts in (("full", FACTS), ("bare", bare)):
        library = make_library(tmp_path / name, facts=facts, glossary=GLOSSARY).snapshot()
        answers.append([run(library, of(metric)).canonical() for metric in GLOSSARY.metrics])
    assert answers[0] == answers[1]


NUMBERS = st.decimals("-1000", "1000", places=2, allow_nan=False).map(lambda value: format(value, "f"))
FORMULAS = st.recursive(
    st.sampled_from(["A", "B", "C", "2", "0.5"]),
    lambda inner: st.builds(
        lambda left, sign, right, shape: shape.format(f"{left} {sign} {right}"),
        inner,
        st.sampled_from("+-*/"),
        inner,
        st.sampled_from(["{}", "({})", "-({})"]),
    ),
    max_leaves=8,
)


def exact(text: str, values: dict[str, Fraction]) -> Fraction:
    """The same by Python's own reading of the formula, in fractions."""
    coded = re.sub(r"[0-9]+(\.[0-9]+)?", lambda number: f"Fraction('{number[0]}')", text)
    return Fraction(eval(coded, {"Fraction": Fraction}, values))


@given(formula=FORMULAS, values=st.tuples(NUMBERS, NUMBERS, NUMBERS))
def test_a_formula_gives_what_fractions_give(formula: str, values: tuple[str, str, str]) -> None:
    named = dict(zip("ABC", values, strict=True))
    fractions = {name: Fraction(value) for name, value in named.items()}
    read = read_derivation(formula, set("ABC"))
    computed = compute(read, {name: Quantity(Decimal(value), "", is_number=True) for name, value in named.items()})
    try:
        wanted = exact(formula, fractions)
    except ZeroDivisionError:
        assert computed is RefusalReason.DIVISION_BY_ZERO
        return
    assume(isinstance(computed, Quantity))  # a divisor that is 0 but for rounding
    assert isinstance(computed, Quantity)
    if computed.rounded:
        assert abs(Fraction(computed.value) - wanted) <= max(abs(wanted), Fraction(1)) * Fraction(1, 10**20)
    else:
        assert Fraction(computed.value) == wanted
    # The expression that is shown says the same.
    shown = written_with_numbers(read, {"A": 1, "B": 2, "C": 3})
    assert exact(re.sub(r"#([123])", lambda place: "ABC"[int(place[1]) - 1], shown), fractions) == wanted


def test_a_library_that_refuses_is_named_beside_one_that_answers(tmp_path: Path) -> None:
    snapshots = [
        make_library(
            tmp_path / name,
            facts=[stated(code, "10") for code in codes],
            glossary=GLOSSARY,
            library_id=name,
        ).snapshot()
        for name, codes in (("a", ["REVENUE", "COGS"]), ("b", ["REVENUE"]))
    ]
    ran = run(snapshots, of("GROSS"))
    assert isinstance(ran.outcomes[0].outcome, MetricFound)
    told = [(each.kind, each.component, each.library_id) for each in ran.summary.degradations]
    assert told == [(DegradationKind.LIBRARY_REFUSED, "derivation:OPERAND_MISSING", "b")]
    with pytest.raises(FailedPrecondition):
        run(snapshots, of("GROSS"), forbid=frozenset({DegradationKind.LIBRARY_REFUSED}))
