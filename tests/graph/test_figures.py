"""Sums over relations and comparisons: no figure without its facts, nothing twice, gaps named, unlike units refused."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire_server.errors import ErrorReason, FailedPrecondition, InvalidRequest
from groundwire_server.evidence import (
    Attribute,
    DegradationKind,
    DerivedFigure,
    EndReason,
    Label,
    MetricFact,
    MetricFound,
    MetricNotFound,
    MetricOutcome,
    MetricQuery,
    MissingReason,
    Operation,
    Operator,
    Predicate,
    RefusalReason,
    ReviewStatus,
    UnrecognizedParam,
)
from groundwire_server.glossary import Additivity, EntityTerm, Glossary, MetricTerm, Synonym
from groundwire_server.graph import Compare, Direction, Rollup
from groundwire_server.graph.kept_below import Kept, KeptBelow
from groundwire_server.library import Library, Snapshot
from groundwire_server.metric import Below
from groundwire_server.security import SecurityGate
from groundwire_server.store import EdgeRecord, FactRecord
from tests.graph.graphs import EDGES, NODES, PERIODS, Ran, edge, homes, oracle, run, visible
from tests.support.libraries import make_library

GLOSSARY = Glossary(
    [
        MetricTerm("REVENUE", label="Revenue", additivity=Additivity.SUM),
        MetricTerm("MARGIN", label="Margin", synonyms=(Synonym("利益率", "ja"),)),
        EntityTerm("A", label="Alpha"),
        EntityTerm("B", label="Beta", synonyms=(Synonym("Group", "en"),)),
    ]
)


def fact(entity: str, value: str, metric: str = "REVENUE", year: int = 2020, **changes: Any) -> FactRecord:
    fields: dict[str, Any] = {
        "metric": metric,
        "entity": entity,
        "period": str(year),
        "period_first": date(year, 1, 1),
        "period_last": date(year, 12, 31),
        "channel": "TOTAL",
        "value": value,
        "unit": "USD",
        "source_doc": "facts.csv",
        "locator": f"{metric}{entity}{year}",
        **changes,
    }
    return FactRecord(**fields)


# A diamond A - B/C - D, a group "Group" of no figure between A and E, a cycle back from D to A.
EDGE_ROWS = [
    edge("A", "B"),
    edge("A", "C", valid_to="2020-06-30"),
    edge("B", "D", attributes=(Attribute("seat", "US"),)),
    edge("C", "D"),
    edge("D", "A"),
    edge("A", "Group"),
    edge("Group", "E"),
    edge("E", "X", label=Label.CONFIDENTIAL),
    edge("A", "F", relation="lends_to"),
]
FACTS = [
    fact("A", "1000"),
    fact("B", "10.50"),
    fact("C", "3"),
    fact("D", "0.0000000000000000001"),
    fact("E", "7", label=Label.CONFIDENTIAL),
    fact("X", "999", label=Label.CONFIDENTIAL),
    fact("F", "5", review_status=ReviewStatus.PENDING),
    fact("B", "4", year=2021),
    fact("B", "5", year=2021, source_doc="other.csv"),
    fact("D", "6", year=2021),
    fact("B", "1", year=2022),
    fact("D", "1", year=2022, unit="JPY"),
    fact("B", "12", metric="MARGIN", unit="PERCENT"),
]


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    folder = tmp_path_factory.mktemp("graph")
    return make_library(folder, edges=EDGE_ROWS, facts=FACTS, glossary=GLOSSARY).snapshot()


def rollup(entity: str = "A", period: str = "2020", metric: str = "REVENUE", **more: Any) -> Rollup:
    return Rollup(MetricQuery(metric, entity, period), **more)


def derived(ran: Ran) -> DerivedFigure:
    figure = ran.snippets[0].payload
    assert isinstance(figure, DerivedFigure)
    return figure


def outcomes(snapshot: Snapshot, operation: Rollup | Compare) -> tuple[MetricOutcome, ...]:
    return run(snapshot, operation).outcomes


@pytest.mark.parametrize(
    ("units", "total"), [(("USD", "usd"), "8"), (("mW", "MW"), ""), (("m", "M"), ""), (("MWh", "mWh"), "")]
)
def test_case_tells_units_apart_where_it_may_be_a_prefix(tmp_path: Path, units: tuple[str, str], total: str) -> None:
    facts = [fact("B", "5", unit=units[0]), fact("C", "3", unit=units[1])]
    library = make_library(tmp_path, edges=[edge("A", "B"), edge("A", "C")], facts=facts, glossary=GLOSSARY).snapshot()
    summed, compared = run(library, rollup()), run(library, Compare("REVENUE", "2020", ("B", "C")))
    if total:
        assert derived(summed).value == total
        assert len(compared.snippets) == 2
    for ran in () if total else (summed, compared):
        assert ran.snippets == []
        assert ran.summary.refusal is not None
        assert ran.summary.refusal.reason is RefusalReason.UNLIKE_UNITS


def test_operands_that_another_library_states_otherwise_are_marked(tmp_path: Path) -> None:
    libraries = [
        make_library(
            tmp_path / name,
            edges=[edge("A", "B"), edge("A", "C")],
            facts=[fact("B", value), fact("C", "3")],
            glossary=GLOSSARY,
            library_id=name,
        ).snapshot()
        for name, value in (("one", "10"), ("two", "20"))
    ]
    ran = run(libraries, rollup())
    (outcome,) = ran.outcomes
    assert isinstance(outcome.outcome, MetricFound)
    assert outcome.outcome.conflicting
    assert [each.payload.value for each in ran.snippets if isinstance(each.payload, DerivedFigure)] == ["13", "23"]
    operands = [each.payload for each in ran.snippets if isinstance(each.payload, MetricFact)]
    assert [(each.key.entity, each.conflicting) for each in operands] == [("B", True), ("C", False)] * 2


def test_a_sum_names_its_operands_and_what_is_missing(snapshot: Snapshot) -> None:
    ran = run(snapshot, rollup())
    figure = derived(ran)
    operands = [each.payload for each in ran.snippets[1:]]
    assert [(each.key.entity, each.value) for each in operands if isinstance(each, MetricFact)] == [
        ("B", "10.50"),
        ("C", "3"),
        ("D", "0.0000000000000000001"),
    ]
    assert (figure.operation, figure.expression, figure.value, figure.unit, figure.rounded) == (
        Operation.ROLLUP,
        "sum",
        "13.5000000000000000001",
        "USD",
        False,
    )
    assert figure.operand_ids == tuple(each.snippet_id for each in ran.snippets[1:])
    assert [member.source_locator for member in ran.snippets[0].lineage.members] == [
        "REVENUEB2020",
        "REVENUEC2020",
        "REVENUED2020",
    ]
    # E's figure is hidden and looks like none; the group above E is no gap of its own.
    assert [(each.key.entity, each.reason) for each in figure.missing] == [("E", MissingReason.NOT_FOUND)]
    assert figure.partial
    assert "not the whole" in figure.statement
    assert figure.value in figure.statement
    (outcome,) = outcomes(snapshot, rollup())
    assert isinstance(outcome.outcome, MetricFound)
    assert outcome.outcome.snippet_ids == (ran.snippets[0].snippet_id,)
    assert ran.summary.end_reason is EndReason.EXHAUSTED


def test_relations_hold_in_the_period_of_the_figure(snapshot: Snapshot) -> None:
    def summed(**more: Any) -> list[str]:
        ran = run(snapshot, rollup(**more.pop("of", {})), **more)
        return [each.payload.key.entity for each in ran.snippets[1:] if isinstance(each.payload, MetricFact)]

    assert summed() == ["B", "C", "D"]
    assert summed(valid_in="2021") == ["B", "D"]
    assert summed(valid_at=datetime(2021, 1, 1, tzinfo=UTC)) == ["B", "D"]
    assert summed(of={"max_depth": 1}) == ["B", "C"]
    assert summed(of={"entity": "Beta"}) == ["A", "C", "D"]  # D owns A again; Beta itself, below A, does not count
    assert summed(filter=Predicate("seat", Operator.PRESENT, (False,))) == ["B", "C", "D"]
    assert summed(filter=Predicate("seat", Operator.EQ, ("US",))) == []


def test_sources_that_disagree_are_no_operand(snapshot: Snapshot) -> None:
    figure = derived(run(snapshot, rollup(period="2021")))
    assert figure.value == "6"
    assert [(each.key.entity, each.reason) for each in figure.missing] == [
        ("B", MissingReason.CONFLICTING),
        ("E", MissingReason.NOT_FOUND),
    ]


def test_what_cannot_be_added_is_refused(snapshot: Snapshot) -> None:
    for operation, reason in (
        (rollup(period="2022"), RefusalReason.UNLIKE_UNITS),
        (rollup(metric="MARGIN"), RefusalReason.NOT_ADDITIVE),
    ):
        ran = run(snapshot, operation)
        assert (ran.snippets, ran.summary.end_reason) == ([], EndReason.REFUSED)
        assert ran.summary.refusal is not None
        assert ran.summary.refusal.reason is reason
        assert outcomes(snapshot, operation) == ()


def test_no_figure_below_is_not_found_and_unknown_names_are_named(snapshot: Snapshot) -> None:
    def outcome(operation: Rollup) -> object:
        (only,) = outcomes(snapshot, operation)
        return only.outcome

    assert isinstance(outcome(rollup(period="2019")), MetricNotFound)
    assert isinstance(outcome(rollup(entity="F")), MetricNotFound)
    # A code of the graph goes before another entity's synonym: the group is not Beta.
    assert isinstance(outcome(rollup(entity="Group")), MetricNotFound)
    assert isinstance(outcome(rollup(entity="entity:Group")), MetricNotFound)
    for operation, param in (
        (rollup(metric="PROFIT"), "metric"),
        (rollup(entity="Nobody"), "entity"),
        (rollup(entity="X"), "entity"),
        (rollup(period="soon"), "period"),
    ):
        unknown = outcome(operation)
        assert isinstance(unknown, UnrecognizedParam)
        assert unknown.param == param
    with pytest.raises(InvalidRequest) as raised:
        run(snapshot, rollup(relation="sells", max_depth=-1), valid_in="soon")
    assert [fault.field for fault in raised.value.violations] == ["rollup.max_depth", "valid_in", "rollup.relation"]


def test_a_bound_makes_the_sum_partial_and_is_named(snapshot: Snapshot) -> None:
    ran = run(snapshot, rollup(entity="C"), budget=(2, 0))
    assert (derived(ran).value, derived(ran).partial) == ("0.0000000000000000001", True)
    assert ran.summary.end_reason is EndReason.GRAPH_BUDGET
    assert [(each.kind, each.component) for each in ran.summary.degradations] == [(DegradationKind.BUDGET_CUT, "nodes")]
    with pytest.raises(FailedPrecondition):
        run(snapshot, rollup(), budget=(2, 0), forbid=frozenset({DegradationKind.BUDGET_CUT}))


def test_a_hint_that_leaves_no_figure_is_dropped_once(snapshot: Snapshot) -> None:
    ran = run(snapshot, rollup(), hint=Predicate("seat", Operator.EQ, ("FR",)))
    assert derived(ran).value == "13.5000000000000000001"
    assert [each.kind for each in ran.summary.degradations] == [DegradationKind.FILTER_DROPPED]


def test_entities_stand_side_by_side_in_the_order_asked(snapshot: Snapshot) -> None:
    operation = Compare("Revenue", "2020", ("C", "E", "Beta", "Nobody"))
    found = outcomes(snapshot, operation)
    assert [type(each.outcome) for each in found] == [MetricFound, UnrecognizedParam, MetricFound, UnrecognizedParam]
    assert [each.query_index for each in found] == [0, 1, 2, 3]
    ran = run(snapshot, operation)
    assert [each.payload.key.entity for each in ran.snippets if isinstance(each.payload, MetricFact)] == ["C", "B"]
    mixed = run(snapshot, Compare("REVENUE", "2022", ("B", "D")))
    assert mixed.summary.refusal is not None
    assert mixed.summary.refusal.reason is RefusalReason.UNLIKE_UNITS
    with pytest.raises(InvalidRequest) as raised:
        run(snapshot, Compare("REVENUE", "2022", ("B",)), valid_in="2020", budget=(1, 0))
    assert [(fault.field, fault.reason) for fault in raised.value.violations] == [
        ("compare.entities", ErrorReason.VALUE_REQUIRED),
        ("valid_in", ErrorReason.CONTRADICTION),
        ("budget.max_nodes", ErrorReason.CONTRADICTION),
    ]


def test_the_gate_stands_before_the_figures(snapshot: Snapshot) -> None:
    for operation in (rollup(entity="Initech"), Compare("REVENUE", "2020", ("A", "Initech"))):
        ran = run(snapshot, operation, gate=SecurityGate(["Initech"]))
        assert ran.summary.refusal is not None
        assert ran.summary.refusal.reason is RefusalReason.OUT_OF_SCOPE


VALUES = st.dictionaries(st.sampled_from(NODES), st.decimals("-1e9", "1e9", places=3), max_size=6)
HIDDEN = st.sets(st.sampled_from(NODES), max_size=2)


@settings(max_examples=25)
@given(edges=EDGES, values=VALUES, hidden=HIDDEN, top=st.sampled_from(NODES), period=PERIODS)
def test_a_sum_is_that_of_every_visible_descendant_once(
    tmp_path_factory: pytest.TempPathFactory,
    edges: Sequence[EdgeRecord],
    values: dict[str, Decimal],
    hidden: set[str],
    top: str,
    period: str,
) -> None:
    facts = [
        fact(entity, format(value, "f"), label=Label.CONFIDENTIAL if entity in hidden else Label.INTERNAL)
        for entity, value in values.items()
    ]
    folder = tmp_path_factory.mktemp("sum")

    def ask(library: Library) -> Ran:
        snapshot = library.snapshot()
        ran = run(snapshot, rollup(top, relation="r"), valid_in=period or "2020")
        library.close()
        return ran

    full = ask(make_library(folder / "full", edges=[*homes(), *edges], facts=facts, glossary=GLOSSARY))
    open_facts = [each for each in facts if each.label <= Label.INTERNAL]
    bare = ask(make_library(folder / "bare", edges=[*homes(), *visible(edges)], facts=open_facts, glossary=GLOSSARY))
    assert full.canonical() == bare.canonical()

    graph = oracle(edges, Direction.OUT, period or "2020", relations="r")
    below = {node.removeprefix("entity:") for node in nx.descendants(graph, f"entity:{top}")} - {top}
    having = sorted(below & {each.entity for each in open_facts})
    if not having:
        assert full.snippets == []
        return
    figure = derived(full)
    assert Decimal(figure.value) == sum((values[entity] for entity in having), Decimal(0))
    assert [each.payload.key.entity for each in full.snippets[1:] if isinstance(each.payload, MetricFact)] == having
    # Whoever lacks a figure is named, unless a way down from him ends at somebody.
    rest = graph.subgraph(f"entity:{node}" for node in below)
    ends = {node for node in rest if not rest.out_degree(node)}
    gaps = {node for node in rest if node in ends or not (nx.descendants(rest, node) & ends)}
    missing = sorted(node.removeprefix("entity:") for node in gaps if node.removeprefix("entity:") not in having)
    assert [each.key.entity for each in figure.missing] == missing
    assert figure.partial is bool(missing)


def test_ten_thousand_digits_are_added_without_rounding(tmp_path: Path) -> None:
    facts = [fact("B", "1" + "0" * 900), fact("C", "0." + "0" * 900 + "1")]
    library = make_library(tmp_path, edges=[edge("A", "B"), edge("A", "C")], facts=facts, glossary=GLOSSARY)
    assert derived(run(library.snapshot(), rollup())).value == "1" + "0" * 900 + "." + "0" * 900 + "1"


def test_operands_that_are_not_sent_count_and_are_named(tmp_path: Path) -> None:
    many = [f"N{at:03}" for at in range(130)]
    library = make_library(
        tmp_path,
        edges=[edge("TOP", each) for each in many],
        facts=[fact(each, "1") for each in many],
        glossary=GLOSSARY,
    )
    whole = run(library.snapshot(), rollup("TOP", max_operands=10_000))
    assert (derived(whole).value, len(derived(whole).operand_ids)) == ("130", 130)
    assert whole.summary.end_reason is EndReason.EXHAUSTED
    assert [each.snippet_id for each in whole.snippets[1:]] == list(derived(whole).operand_ids)
    for asked, sent in ((0, 100), (1, 1), (129, 129)):
        ran = run(library.snapshot(), rollup("TOP", max_operands=asked))
        assert ran.summary.end_reason is EndReason.TOP_K
        assert ran.snippets == whole.snippets[: sent + 1]


def fiscal(tmp_path: Path) -> Snapshot:
    """A year of B ends in March, that of C with the calendar's."""
    glossary = Glossary(
        [
            MetricTerm("REVENUE", additivity=Additivity.SUM),
            MetricTerm("COST", additivity=Additivity.SUM),
            MetricTerm("PROFIT", derivation="REVENUE - COST", additivity=Additivity.SUM),
            EntityTerm("B", fiscal_year_start="04-01"),
        ]
    )
    days: dict[str, Any] = {"period": "FY2020", "period_first": date(2019, 4, 1), "period_last": date(2020, 3, 31)}
    facts = [fact("B", "1", **days), fact("C", "2", period="FY2020"), fact("D", "4", period="FY2020")]
    facts += [fact("B", "1", metric="COST", **days), fact("C", "1", metric="COST", period="FY2020")]
    edges = [edge("A", each) for each in "BCD"] + [edge("M", each) for each in "CD"]
    return make_library(tmp_path, edges=edges, facts=facts, glossary=glossary).snapshot()


@pytest.mark.parametrize(("language", "words"), [("en", "same days"), ("zh", "不尽相同"), ("ja", "同じではありません")])
def test_a_sum_of_unlike_days_says_so_or_is_refused(tmp_path: Path, language: str, words: str) -> None:
    snapshot = fiscal(tmp_path)
    ran = run(snapshot, rollup("A", "FY2020"), language=language)
    assert (derived(ran).value, derived(ran).unlike_days) == ("7", True)
    assert words in derived(ran).statement
    assert [(each.kind, each.component) for each in ran.summary.degradations] == [
        (DegradationKind.UNLIKE_DAYS, "rollup")
    ]
    alike = run(snapshot, rollup("M", "FY2020"), language=language)
    assert (derived(alike).value, derived(alike).unlike_days, alike.summary.degradations) == ("6", False, ())
    assert words not in derived(alike).statement
    with pytest.raises(FailedPrecondition):
        run(snapshot, rollup("A", "FY2020"), forbid=frozenset({DegradationKind.UNLIKE_DAYS}))


@pytest.mark.parametrize("metric", ["REVENUE", "PROFIT"])
def test_figures_of_unlike_days_side_by_side_are_marked_or_refused(tmp_path: Path, metric: str) -> None:
    snapshot = fiscal(tmp_path)
    ran = run(snapshot, Compare(metric, "FY2020", ("B", "C")))
    assert [type(each.outcome) for each in ran.outcomes] == [MetricFound, MetricFound]
    assert [(each.kind, each.component) for each in ran.summary.degradations] == [
        (DegradationKind.UNLIKE_DAYS, "compare")
    ]
    assert run(snapshot, Compare("REVENUE", "FY2020", ("D", "C"))).summary.degradations == ()
    with pytest.raises(FailedPrecondition):
        run(snapshot, Compare(metric, "FY2020", ("B", "C")), forbid=frozenset({DegradationKind.UNLIKE_DAYS}))


@pytest.mark.parametrize("period", ["2020", "FY2020"])
def test_a_figure_that_was_read_by_another_fiscal_year_is_no_part(tmp_path: Path, period: str) -> None:
    glossary = Glossary([MetricTerm("REVENUE", additivity=Additivity.SUM), EntityTerm("B", fiscal_year_start="04-01")])
    facts = [fact("B", "1", period="FY2020"), fact("C", "2", period="FY2020")]
    library = make_library(tmp_path, edges=[edge("A", "B"), edge("A", "C")], facts=facts, glossary=glossary)
    ran = run(library.snapshot(), rollup("A", period))
    assert derived(ran).value == "2"
    assert [(each.key.entity, each.reason) for each in derived(ran).missing] == [("B", MissingReason.NOT_FOUND)]


@pytest.mark.parametrize("period", ["2020", "FY2020", "2020-12-31"])
def test_reading_many_figures_at_once_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, period: str
) -> None:
    glossary = Glossary(
        [
            MetricTerm("REVENUE", additivity=Additivity.SUM),
            EntityTerm("N3", fiscal_year_start="04-01"),
            EntityTerm("N4", fiscal_year_start="04-01", fiscal_year_named_by="start"),
        ]
    )
    facts = [fact(f"N{at}", str(at), label=Label.CONFIDENTIAL if at == 5 else Label.PUBLIC) for at in range(8)]
    facts += [fact("N1", "1.0", source_doc="other.csv"), fact("N2", "9", source_doc="other.csv")]
    facts += [fact("N6", "66", filed_at=datetime(2100, 1, 1, tzinfo=UTC), author="a", reason="restated")]
    facts += [
        fact(f"N{at}", f"{at}00", period="FY2020", period_first=date(year, 4, 1), period_last=date(year + 1, 3, 31))
        for at, year in ((3, 2019), (4, 2020), (6, 2019))
    ]
    facts.append(fact("N7", "70", period="2020-12-31", period_first=date(2020, 12, 31)))
    edges = [edge("TOP", f"N{at}") for at in range(8)]
    snapshot = make_library(tmp_path, edges=edges, facts=facts, glossary=glossary).snapshot()
    answers = []
    for one_by_one in (False, True):
        if one_by_one:
            monkeypatch.setattr("groundwire_server.metric.rollup._Adder._read", lambda _: None)
        answers.append(run(snapshot, rollup("TOP", period)).canonical())
    assert answers[0] == answers[1]
    assert answers[0][0]


def test_a_walk_that_was_made_before_is_bounded_as_one_that_was_not(snapshot: Snapshot) -> None:
    bounds = [(0, 0), (1, 0), (2, 0), (3, 0), (0, 1), (0, 2), (100, 100)]
    fresh = [run(snapshot, rollup(max_depth=depth), budget=bound).canonical() for bound in bounds for depth in (0, 1)]
    again = [run(snapshot, rollup(max_depth=depth), budget=bound).canonical() for bound in bounds for depth in (0, 1)]
    assert again == fresh
    assert len({repr(each) for each in fresh}) > len(bounds) // 2


def test_walks_are_kept_up_to_a_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundwire_server.graph.kept_below._MOST_KEPT", 5)
    kept = Kept()
    walks = {
        name: KeptBelow([Below(name)] * size, size, size) for name, size in (("a", 2), ("b", 1), ("c", 9), ("d", 2))
    }
    for name, walk in walks.items():
        kept.put(name, walk)
    assert [kept.get(name) for name in "abcd"] == [None, walks["b"], None, walks["d"]]
