"""QueryMetric from end to end over a real library."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from groundwire_server.errors import FailedPrecondition, InvalidRequest
from groundwire_server.evidence import (
    Attribute,
    Call,
    CallCancelled,
    CancelToken,
    Degradation,
    DegradationKind,
    Dimension,
    EmptyFilterPolicy,
    EndReason,
    Label,
    MetricFact,
    MetricFound,
    MetricKey,
    MetricNotFound,
    MetricQuery,
    Operator,
    Outcomes,
    Predicate,
    Principal,
    RefusalReason,
    ReviewStatus,
    Snippets,
    UnrecognizedParam,
)
from groundwire_server.glossary import (
    ChannelTerm,
    EntityTerm,
    Glossary,
    Identifier,
    MemberTerm,
    MetricNature,
    MetricTerm,
    Synonym,
)
from groundwire_server.library import Library
from groundwire_server.metric import MetricProduct, MetricRequest, VersionPolicy, query_metric
from groundwire_server.security import SecurityGate
from tests.metric.world import READER, ask, figure, open_library, recorded


def _names(*texts: str, language: str = "en") -> tuple[Synonym, ...]:
    return tuple(Synonym(text, language) for text in texts)


GLOSSARY = Glossary(
    [
        MetricTerm(
            "REVENUE", "Revenue", _names("net sales") + _names("売上高", language="ja"), nature=MetricNature.FLOW
        ),
        MetricTerm("SALES_GROSS", "Gross sales", _names("売上高", language="ja")),
        MetricTerm("CASH", "Cash", nature=MetricNature.INSTANT),
        MetricTerm("STAFF", "Employees"),
        MetricTerm("RATE", "Exchange rate"),
        EntityTerm("ACME", "Acme Inc.", _names("アクメ", language="ja"), (Identifier("ticker", "ACM"),)),
        EntityTerm("NOVA", "Nova", fiscal_year_start="02-01"),
        EntityTerm("SPAN", "Span"),
        ChannelTerm("WEB", "Web shop"),
        MemberTerm("segment", "CLOUD", "Cloud services"),
    ],
    ambiguous="report",
)
FILED = datetime(2024, 3, 1, tzinfo=UTC)
FACTS = [
    figure("REVENUE", "ACME", "2023", "12408.30"),
    figure("REVENUE", "ACME", "2023", "700", channel="WEB"),
    figure("REVENUE", "ACME", "2023", "55", dimensions=(Dimension("segment", "CLOUD"),)),
    figure("REVENUE", "ACME", "2022-01-01/2022-12-31", "11000"),
    figure("REVENUE", "ACME", "2023-12-31", "999"),
    figure("CASH", "ACME", "2023-12-31", "40", unit="usd"),
    figure("CASH", "ACME", "2023", "41"),
    figure("REVENUE", "NOVA", "2023-01-30/2024-01-28", "5"),
    figure("REVENUE", "SPAN", "2022-01-31/2023-01-29", "6"),
    figure("REVENUE", "SPAN", "2023-01-30/2024-01-28", "7"),
    figure("RATE", "ACME", "2023", "4000", unit="COP"),
    figure("RATE", "ACME", "2023", "3.7", unit="PEN"),
    figure("STAFF", "ACME", "2023", "0", unit="persons"),
    figure("Unlisted measure", "ACME", "2023", "8", channel="Pop-up stores"),
    figure("SALES_GROSS", "NOVA", "2023", "9"),
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    opened = open_library(tmp_path_factory.mktemp("metric"), GLOSSARY, [FACTS])
    yield opened
    opened.close()


def _one(library: Library, *names: str, **options: object) -> tuple[object, list[str]]:
    """The outcome of one query, and the values that it names."""
    answer = ask(library, MetricQuery(*names), **options)
    (outcome,) = answer.outcomes
    ids = outcome.outcome.snippet_ids if isinstance(outcome.outcome, MetricFound) else ()
    return outcome.outcome, [fact.value for fact in answer.facts(ids)]


@pytest.mark.parametrize(
    ("names", "value"),
    [
        (("REVENUE", "ACME", "2023"), "12408.30"),
        (("Net-Sales", "acme inc", "2023年"), "12408.30"),
        (("revenues", "ACM", "FY2023"), "12408.30"),
        (("Revenue (restated)", "アクメ", "2023-01-01/2023-12-31", "total"), "12408.30"),
        (("REVENUE", "ACME", "2023", "web shops"), "700"),
        (("REVENUE", "ACME", "2022"), "11000"),
        (("cash", "ACME", "2023年末"), "40"),
        (("REVENUE", "NOVA", "FY2024"), "5"),
        (("REVENUE", "SPAN", "FY2023"), "6"),
        (("REVENUE", "SPAN", "2024会計年度"), "7"),
        (("employee", "ACME", "2023"), "0"),
        (("unlisted MEASURE", "ACME", "2023", "pop-up store"), "8"),
        (("売上高", "ACME", "2023"), "12408.30"),
        (("売上高", "NOVA", "2023"), "9"),
    ],
)
def test_found(library: Library, names: tuple[str, ...], value: str) -> None:
    outcome, values = _one(library, *names)
    assert isinstance(outcome, MetricFound)
    assert values == [value]
    assert not outcome.conflicting


@pytest.mark.parametrize(
    "names",
    [
        ("REVENUE", "ACME", "2021"),
        ("REVENUE", "ACME", "2023-12-31"),  # a flow is never answered with an instant
        ("CASH", "ACME", "2023"),  # nor the reverse
        ("CASH", "ACME", "FY2023"),
        ("REVENUE", "ACME", "2023H1"),
        ("REVENUE", "NOVA", "2023"),  # bare years are calendar
        ("REVENUE", "NOVA", "FY2023"),
        ("REVENUE", "SPAN", "FY2022"),
        ("STAFF", "NOVA", "2023"),
    ],
)
def test_not_found(library: Library, names: tuple[str, ...]) -> None:
    outcome, _ = _one(library, *names)
    assert isinstance(outcome, MetricNotFound)
    assert outcome.refusal.startswith("No figure is stored")


@pytest.mark.parametrize(
    ("names", "param", "ambiguous"),
    [
        (("profit", "Umbrella", "soon", "nowhere"), "metric", False),
        (("REVENUE", "Umbrella", "soon", "nowhere"), "entity", False),
        (("REVENUE", "ACME", "soon", "nowhere"), "period", False),
        (("REVENUE", "ACME", "2023", "nowhere"), "channel", False),
        (("", "ACME", "2023"), "metric", False),
        (("REVENUE", "ACME", "Q3"), "period", False),
        (("REVENUE", "ACME", "03/04/2024"), "period", True),
        (("REVENUE", "ACME", "since 2020"), "period", False),
        (("売上高", "SPAN", "2023"), "metric", True),  # neither has a figure
        (("売上高", "Umbrella", "2023"), "metric", True),  # no figure can decide it
    ],
)
def test_unrecognized(library: Library, names: tuple[str, ...], param: str, ambiguous: bool) -> None:
    outcome, _ = _one(library, *names)
    assert isinstance(outcome, UnrecognizedParam)
    assert (outcome.param, outcome.ambiguous) == (param, ambiguous)
    assert outcome.raw == dict(zip(("metric", "entity", "period", "channel"), names, strict=False))[param]
    # What is simply not known needs no reason.
    assert bool(outcome.explanation) is (ambiguous or param == "period")


@pytest.mark.parametrize(
    ("names", "decided"),
    [
        (("売上高", "ACME", "2023"), [("metric", "売上高", ("REVENUE", "SALES_GROSS"))]),
        (("売上高", "NOVA", "2023"), [("metric", "売上高", ("REVENUE", "SALES_GROSS"))]),
        (("net sales", "ACME", "2023"), []),
    ],
)
def test_a_name_that_the_figures_decide_is_told_of(
    library: Library, names: tuple[str, ...], decided: list[tuple[str, str, tuple[str, ...]]]
) -> None:
    outcome, _ = _one(library, *names)
    assert isinstance(outcome, MetricFound)
    assert [(each.param, each.raw, each.candidates) for each in outcome.decided] == decided


def test_suggestions_are_names_nearest_first_and_are_not_applied(library: Library) -> None:
    outcome, _ = _one(library, "Revenu", "ACME", "2023")
    assert isinstance(outcome, UnrecognizedParam)
    assert outcome.suggestions[0] == "REVENUE"
    outcome, _ = _one(library, "REVENUE", "ACME", "2023", "Pop up shop")
    assert isinstance(outcome, UnrecognizedParam)
    assert outcome.suggestions[0] == "Pop-up stores"


def test_periods_that_have_figures_are_suggested(library: Library) -> None:
    outcome, _ = _one(library, "REVENUE", "ACME", "sometime")
    assert isinstance(outcome, UnrecognizedParam)
    assert outcome.suggestions == ("2023", "2022-01-01/2022-12-31")
    outcome, _ = _one(library, "REVENUE", "ACME", "03/04/2024")
    assert isinstance(outcome, UnrecognizedParam)
    assert outcome.suggestions == ("2024-03-04", "2024-04-03")


def test_a_fiscal_year_with_several_readings_is_not_picked(tmp_path: Path) -> None:
    facts = [
        figure("REVENUE", "SPAN", "2020-01-05/2021-01-02", "1"),
        figure("REVENUE", "SPAN", "2021-01-03/2021-12-25", "2"),
    ]
    library = open_library(tmp_path, GLOSSARY, [facts])
    outcome, _ = _one(library, "REVENUE", "SPAN", "FY2021")
    assert isinstance(outcome, UnrecognizedParam)
    assert (outcome.param, outcome.ambiguous) == ("period", True)
    assert outcome.suggestions == ("2020-01-05/2021-01-02", "2021-01-03/2021-12-25")
    library.close()


def test_further_axes(library: Library) -> None:
    whole = MetricQuery("REVENUE", "ACME", "2023")
    cloud = MetricQuery("REVENUE", "ACME", "2023", dimensions=(Dimension("segment", "cloud service"),))
    unknown = MetricQuery("REVENUE", "ACME", "2023", dimensions=(Dimension("segment", "Rain"),))
    no_axis = MetricQuery("REVENUE", "ACME", "2023", dimensions=(Dimension("region", "Cloud"),))
    answer = ask(library, whole, cloud, unknown, no_axis)
    found = [each.outcome for each in answer.outcomes]
    assert isinstance(found[1], MetricFound)
    assert [fact.value for fact in answer.facts(found[1].snippet_ids)] == ["55"]
    assert found[1].key == MetricKey("REVENUE", "ACME", "2023", "TOTAL", (Dimension("segment", "CLOUD"),))
    assert isinstance(found[2], UnrecognizedParam)
    assert (found[2].param, found[2].raw) == ("segment", "Rain")
    assert isinstance(found[3], UnrecognizedParam)
    assert found[3].param == "region"


def test_figures_in_two_units_are_both_given_and_are_no_conflict(library: Library) -> None:
    outcome, values = _one(library, "RATE", "ACME", "2023")
    assert isinstance(outcome, MetricFound)
    assert values == ["4000", "3.7"]
    assert not outcome.conflicting


def test_a_product_varies_its_last_list_fastest(library: Library) -> None:
    product = MetricProduct(("REVENUE", "CASH"), ("ACME", "NOVA"), ("2023", "2022"), ("", "WEB"))
    first = MetricQuery("STAFF", "ACME", "2023")
    answer = ask(library, request=MetricRequest((first,), product))
    asked = [(o.query.metric, o.query.entity, o.query.period, o.query.channel) for o in answer.outcomes]
    assert asked[0] == ("STAFF", "ACME", "2023", "")
    assert asked[1:4] == [
        ("REVENUE", "ACME", "2023", ""),
        ("REVENUE", "ACME", "2023", "WEB"),
        ("REVENUE", "ACME", "2022", ""),
    ]
    assert len(asked) == 17
    assert [outcome.query_index for outcome in answer.outcomes] == list(range(17))


def test_one_hundred_and_more_queries_come_in_order_each_before_its_snippets(library: Library) -> None:
    queries = [MetricQuery("REVENUE", "ACME", "2023"), MetricQuery("REVENUE", "ACME", "2022")] * 130
    answer = ask(library, *queries)
    assert [outcome.query_index for outcome in answer.outcomes] == list(range(260))
    named: set[str] = set()
    sent: list[str] = []
    for frame in answer.frames:
        if isinstance(frame, Outcomes):
            named |= {
                each for o in frame.outcomes if isinstance(o.outcome, MetricFound) for each in o.outcome.snippet_ids
            }
        if isinstance(frame, Snippets):
            sent += [snippet.snippet_id for snippet in frame.snippets]
            assert named.issuperset(sent)
    assert sorted(sent) == sorted(named)
    assert answer.summary.candidates == 260


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (MetricRequest(), "queries"),
        (MetricRequest((MetricQuery("a", "b", "c"),) * 1001), "queries"),
        (MetricRequest(product=MetricProduct((), ("a",), ("b",))), "product.metrics"),
        (MetricRequest(product=MetricProduct(("a",), ("a",) * 40, ("b",) * 40)), "queries"),
        (
            MetricRequest((MetricQuery("a", "b", "c", "", (Dimension("x", "1"), Dimension("x", "2"))),)),
            "queries[0].dimensions",
        ),
    ],
)
def test_a_bad_request_names_its_field(library: Library, request_: MetricRequest, field: str) -> None:
    with pytest.raises(InvalidRequest) as raised:
        ask(library, request=request_)
    assert [violation.field for violation in raised.value.violations] == [field]


def test_the_stream_says_what_it_did(library: Library) -> None:
    answer = ask(library, MetricQuery("REVENUE", "ACME", "2023"))
    assert [step.stage for step in answer.header.plan] == ["names", "lookup", "exit"]
    assert [state.library_id for state in answer.header.snapshots] == ["lib"]
    assert answer.summary.end_reason is EndReason.EXHAUSTED
    assert answer.summary.timings[0].items_out == 1


def test_the_same_request_gives_the_same_snippets(library: Library) -> None:
    query = MetricQuery("REVENUE", "ACME", "2023")
    assert ask(library, query).snippets == ask(library, query).snippets


# Versions, sources, review, labels, time.


def _restated(**more: object) -> list[object]:
    return [
        figure("REVENUE", "ACME", "2020", "100", source="A", source_doc="A", filed_at=FILED, **more),
        figure(
            "REVENUE",
            "ACME",
            "2020",
            "101",
            source="A",
            source_doc="B",
            filed_at=FILED.replace(year=2025),
            author="audit",
            reason="restated",
            **more,
        ),
    ]


def test_versions_of_a_restated_figure(tmp_path: Path) -> None:
    library = open_library(tmp_path, GLOSSARY, [_restated()])  # type: ignore[list-item]
    query = MetricQuery("REVENUE", "ACME", "2020")
    shown = {}
    for policy in VersionPolicy:
        answer = ask(library, request=MetricRequest((query,), versions=policy))
        outcome = answer.outcomes[0].outcome
        assert isinstance(outcome, MetricFound)
        assert not outcome.conflicting
        facts = answer.facts(outcome.snippet_ids)
        assert len({fact.fact_id for fact in facts}) == 1
        shown[policy] = [(f.value, f.version.version, f.version.latest_version) for f in facts if f.version is not None]
    assert shown == {
        VersionPolicy.LATEST: [("101", 2, 2)],
        VersionPolicy.AS_REPORTED: [("100", 1, 2)],
        VersionPolicy.ALL: [("100", 1, 2), ("101", 2, 2)],
    }
    then = ask(library, query, known_at=datetime(2024, 6, 1, tzinfo=UTC))
    (snippet,) = then.snippets.values()
    (fact,) = then.facts([snippet.snippet_id])
    assert (fact.value, fact.version, snippet.lineage.doc_id) == ("100", None, "A")
    before = ask(library, query, known_at=datetime(2023, 6, 1, tzinfo=UTC))
    assert isinstance(before.outcomes[0].outcome, MetricNotFound)
    latest = ask(library, query)
    (snippet,) = latest.snippets.values()
    (fact,) = latest.facts([snippet.snippet_id])
    assert fact.version is not None
    assert (fact.version.author, fact.version.reason, snippet.lineage.doc_id) == ("audit", "restated", "B")
    library.close()


def test_a_figure_without_a_filing_date_is_known_from_when_it_was_recorded(tmp_path: Path) -> None:
    library = open_library(tmp_path, GLOSSARY, [[], [figure("REVENUE", "ACME", "2020", "1")]])
    query = MetricQuery("REVENUE", "ACME", "2020")
    assert isinstance(ask(library, query, known_at=recorded(0)).outcomes[0].outcome, MetricNotFound)
    assert isinstance(ask(library, query, known_at=recorded(1)).outcomes[0].outcome, MetricFound)
    library.close()


def test_conflicting_sources_are_all_given(tmp_path: Path) -> None:
    facts = [
        figure("REVENUE", "ACME", "2020", "12408.3", source_doc="A"),
        figure("REVENUE", "ACME", "2020", "12408", decimals=0, source_doc="B"),
        figure("REVENUE", "ACME", "2020", "12500", source_doc="C"),
        figure("REVENUE", "ACME", "2020", "9", unit="EUR", source_doc="D"),
    ]
    library = open_library(tmp_path, GLOSSARY, [facts])
    answer = ask(library, MetricQuery("REVENUE", "ACME", "2020"))
    outcome = answer.outcomes[0].outcome
    assert isinstance(outcome, MetricFound)
    assert outcome.conflicting
    marked = {fact.value: fact.conflicting for fact in answer.facts(outcome.snippet_ids)}
    assert marked == {"12408.3": True, "12408": True, "12500": True, "9": False}
    library.close()


def test_sources_that_agree_within_their_precision_are_no_conflict(tmp_path: Path) -> None:
    facts = [
        figure("REVENUE", "ACME", "2020", "12408.3", source_doc="A"),
        figure("REVENUE", "ACME", "2020", "12408", source_doc="B"),
        figure("REVENUE", "ACME", "2020", "12000", decimals=-3, source_doc="C", unit="usd"),
    ]
    library = open_library(tmp_path, GLOSSARY, [facts])
    outcome, values = _one(library, "REVENUE", "ACME", "2020")
    assert isinstance(outcome, MetricFound)
    assert not outcome.conflicting
    assert values == ["12408.3", "12408", "12000"]
    library.close()


def test_pending_is_invisible_and_hides_nothing(tmp_path: Path) -> None:
    pending = ReviewStatus.PENDING
    facts = [
        figure("REVENUE", "ACME", "2020", "1", filed_at=FILED),
        figure("REVENUE", "ACME", "2020", "2", filed_at=FILED.replace(year=2025), review_status=pending),
        figure("REVENUE", "ACME", "2021", "3", review_status=pending),
        figure("Secret draft", "ACME", "2021", "4", review_status=pending),
    ]
    library = open_library(tmp_path, GLOSSARY, [facts])
    outcome, values = _one(library, "REVENUE", "ACME", "2020")
    assert values == ["1"]
    answer = ask(library, MetricQuery("REVENUE", "ACME", "2020"))
    assert [fact.version for fact in answer.facts(list(answer.snippets))] == [None]
    outcome, _ = _one(library, "REVENUE", "ACME", "2021")
    assert isinstance(outcome, MetricNotFound)
    outcome, _ = _one(library, "Secret draft", "ACME", "2021")
    assert isinstance(outcome, UnrecognizedParam)
    assert "Secret draft" not in outcome.suggestions
    with library.writing() as writer:
        writer.put_facts([figure("REVENUE", "ACME", "2021", "3", review_status=ReviewStatus.APPROVED)])
    assert _one(library, "REVENUE", "ACME", "2021")[1] == ["3"]
    library.close()


def test_a_hidden_figure_does_not_exist(tmp_path: Path) -> None:
    facts = [
        figure("REVENUE", "ACME", "2020", "1", source_doc="A"),
        figure("REVENUE", "ACME", "2020", "2", source_doc="B", label=Label.CONFIDENTIAL),
        figure("REVENUE", "ACME", "2020", "3", source_doc="C", label=Label.RESTRICTED),
        figure("Hidden measure", "Hidden firm", "2021", "4", channel="Hidden way", label=Label.CONFIDENTIAL),
    ]
    library = open_library(tmp_path, GLOSSARY, [facts])
    bare = open_library(tmp_path, GLOSSARY, [facts[:1]], "bare")
    queries = [
        MetricQuery("REVENUE", "ACME", "2020"),
        MetricQuery("Hidden measure", "ACME", "2020"),
        MetricQuery("REVENUE", "Hidden firm", "2020"),
        MetricQuery("REVENUE", "ACME", "2020", "Hidden way"),
        MetricQuery("REVENUE", "ACME", "nonsense"),
    ]
    assert [o.outcome for o in ask(library, *queries[1:]).outcomes] == [
        o.outcome for o in ask(bare, *queries[1:]).outcomes
    ]
    assert _one(library, "REVENUE", "ACME", "2020")[1] == ["1"]
    cleared = Principal("cleared", Label.CONFIDENTIAL)
    assert _one(library, "REVENUE", "ACME", "2020", principal=cleared)[1] == ["1", "2"]
    assert isinstance(
        _one(library, "Hidden measure", "Hidden firm", "2021", "hidden way", principal=cleared)[0], MetricFound
    )
    most = Principal("most", Label.RESTRICTED)
    assert _one(library, "REVENUE", "ACME", "2020", principal=most)[1] == ["1", "2"]
    library.close()
    bare.close()


def test_valid_at_leaves_out_what_holds_later(tmp_path: Path) -> None:
    facts = [
        figure("REVENUE", "ACME", "2020", "1", source_doc="A"),
        figure("REVENUE", "ACME", "2020", "2", source_doc="B", valid_as_of=datetime(2024, 1, 1, tzinfo=UTC)),
    ]
    library = open_library(tmp_path, GLOSSARY, [facts])
    assert _one(library, "REVENUE", "ACME", "2020", valid_at=datetime(2023, 1, 1, tzinfo=UTC))[1] == ["1"]
    assert _one(library, "REVENUE", "ACME", "2020", valid_at=datetime(2024, 1, 1, tzinfo=UTC))[1] == ["1", "2"]
    library.close()


# Filter, hint, gate, cancellation, languages, libraries.


@pytest.fixture
def filed(tmp_path: Path) -> Iterator[Library]:
    facts = [
        figure("REVENUE", "ACME", "2020", "1", source_doc="A", attributes=(Attribute("form", "10-K"),)),
        figure("REVENUE", "ACME", "2020", "2", source_doc="B", attributes=(Attribute("form", "10-Q"),)),
    ]
    opened = open_library(tmp_path, GLOSSARY, [facts])
    yield opened
    opened.close()


def _form(value: str) -> Predicate:
    return Predicate("form", Operator.EQ, (value,))


def test_a_filter_tests_attributes_of_figures(filed: Library) -> None:
    assert _one(filed, "REVENUE", "ACME", "2020", filter=_form("10-Q"))[1] == ["2"]
    assert _one(filed, "REVENUE", "ACME", "2020", filter=Predicate("doc_id", Operator.EQ, ("A",)))[1] == ["1"]
    assert isinstance(_one(filed, "REVENUE", "ACME", "2020", filter=_form("8-K"))[0], MetricNotFound)
    with pytest.raises(InvalidRequest, match="no attribute"):
        _one(filed, "REVENUE", "ACME", "2020", filter=Predicate("pages", Operator.EQ, (1,)))


def test_a_hint_narrows_or_is_dropped_and_told(filed: Library) -> None:
    query = MetricQuery("REVENUE", "ACME", "2020")
    answer = ask(filed, query, hint=_form("10-K"))
    assert [fact.value for fact in answer.facts(list(answer.snippets))] == ["1"]
    assert answer.header.hint_applied == _form("10-K")
    answer = ask(filed, query, hint=_form("8-K"))
    assert [fact.value for fact in answer.facts(list(answer.snippets))] == ["1", "2"]
    assert answer.header.hint_applied is None
    assert [each.kind for each in answer.summary.degradations] == [DegradationKind.FILTER_DROPPED]
    narrow = ask(filed, query, hint=_form("8-K"), on_empty=EmptyFilterPolicy.NEVER_WIDEN)
    assert isinstance(narrow.outcomes[0].outcome, MetricNotFound)
    with pytest.raises(FailedPrecondition):
        ask(filed, query, hint=_form("8-K"), forbid=frozenset({DegradationKind.FILTER_DROPPED}))


def test_a_name_behind_the_gate_ends_the_call(library: Library) -> None:
    queries = (MetricQuery("REVENUE", "ACME", "2023"), MetricQuery("REVENUE", "Umbrella", "2023"))
    gate = SecurityGate(["Umbrella"])
    frames = list(query_metric(MetricRequest(queries), Call(READER), [library.snapshot()], gate=gate))
    assert len(frames) == 2
    assert frames[1].end_reason is EndReason.REFUSED  # type: ignore[union-attr]
    assert frames[1].refusal.reason is RefusalReason.OUT_OF_SCOPE  # type: ignore[union-attr]
    assert frames[0].snapshots == ()  # type: ignore[union-attr]
    frames = list(query_metric(MetricRequest(queries[:1]), Call(READER), [library.snapshot()], gate=gate))
    assert frames[0].plan[0].stage == "gate"  # type: ignore[union-attr]


def test_a_cancelled_call_stops(library: Library) -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(CallCancelled):
        list(
            query_metric(MetricRequest((MetricQuery("a", "b", "c"),)), Call(READER, cancel=token), [library.snapshot()])
        )


def test_degradations_of_the_choice_are_told(library: Library) -> None:
    choice = Degradation(DegradationKind.LIBRARY_UNREACHABLE, "library", "other")
    request = MetricRequest((MetricQuery("REVENUE", "ACME", "2023"),))
    frames = list(query_metric(request, Call(READER), [library.snapshot()], degradations=(choice,)))
    assert frames[-1].degradations == (choice,)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("language", "statement", "refusal"),
    [
        ("en", "Revenue of Acme Inc. (Web shop) for 2023: 700 USD.", "No figure is stored"),
        ("ja", "アクメ（Web shop）の 2023 における売上高は 700 USD です。", "この指標"),
        ("zh", "Acme Inc.（Web shop）在 2023 的Revenue为 700 USD。", "没有存储"),
        ("de", "Revenue of Acme Inc. (Web shop) for 2023: 700 USD.", "No figure is stored"),
    ],
)
def test_sentences_in_the_language_of_the_call(library: Library, language: str, statement: str, refusal: str) -> None:
    queries = (MetricQuery("REVENUE", "ACME", "2023", "WEB"), MetricQuery("REVENUE", "ACME", "1999"))
    answer = ask(library, *queries, language=language)
    assert [fact.statement for fact in answer.facts(list(answer.snippets))] == [statement]
    missing = answer.outcomes[1].outcome
    assert isinstance(missing, MetricNotFound)
    assert missing.refusal.startswith(refusal)


def test_without_a_language_that_of_the_names_counts(library: Library) -> None:
    answer = ask(library, MetricQuery("CASH", "アクメ", "2023年末"))
    assert [fact.statement for fact in answer.facts(list(answer.snippets))] == [
        "2023-12-31 時点のアクメのCashは 40 usd です。"
    ]


@pytest.mark.parametrize(
    ("entity", "language", "value"), [("ACME", "ja", "4"), ("ACME", "zh", "3"), ("アクメ", "", "4"), ("ACME", "", None)]
)
def test_the_year_before_needs_a_language(tmp_path: Path, entity: str, language: str, value: str | None) -> None:
    facts = [figure("REVENUE", "ACME", "2023", "3"), figure("REVENUE", "ACME", "2024", "4")]
    library = open_library(tmp_path, GLOSSARY, [facts])
    outcome, values = _one(library, "REVENUE", entity, "前年", language=language)
    if value is None:
        assert isinstance(outcome, UnrecognizedParam)
        assert outcome.suggestions == ("2024", "2023")
    else:
        assert values == [value]
    library.close()


def test_several_libraries_answer_together(tmp_path: Path) -> None:
    other = Glossary([MetricTerm("UMSATZ", "Revenue"), EntityTerm("ACME", "Acme Inc.")])
    one = open_library(tmp_path, GLOSSARY, [[figure("REVENUE", "ACME", "2020", "1")]], "one")
    two = open_library(
        tmp_path, other, [[figure("UMSATZ", "ACME", "2020", "2"), figure("UMSATZ", "ACME", "2021", "3")]], "two"
    )
    queries = (
        MetricQuery("Revenue", "ACME", "2020"),
        MetricQuery("Revenue", "ACME", "2021"),
        MetricQuery("Revenue", "ACME", "2022"),
        MetricQuery("CASH", "ACME", "2022"),
        MetricQuery("Revenue", "NOVA", "2022"),
        MetricQuery("Revenue", "Umbrella", "2022"),
        MetricQuery("売上高", "ACME", "2022"),
    )
    answer = ask([two, one], *queries)
    found = [each.outcome for each in answer.outcomes]
    assert isinstance(found[0], MetricFound)
    assert found[0].conflicting
    assert [answer.snippets[each].lineage.library_id for each in found[0].snippet_ids] == ["one", "two"]
    assert found[0].key.metric == "REVENUE"
    assert isinstance(found[1], MetricFound)
    assert found[1].key.metric == "UMSATZ"
    assert [type(each) for each in found[2:5]] == [MetricNotFound] * 3
    assert isinstance(found[5], UnrecognizedParam)
    assert found[5].param == "entity"
    assert isinstance(found[6], UnrecognizedParam)
    assert found[6].ambiguous
    one.close()
    two.close()


def test_equal_figures_of_two_libraries_stay_two(tmp_path: Path) -> None:
    opened = [open_library(tmp_path, GLOSSARY, [[figure("REVENUE", "ACME", "2020", "1")]], name) for name in ("a", "b")]
    answer = ask(opened, MetricQuery("REVENUE", "ACME", "2020"))
    assert len(answer.snippets) == 2
    for library in opened:
        library.close()


def test_versions_that_say_the_same_stay_apart(tmp_path: Path) -> None:
    """100, then 110, then 100 again from one cell: three versions, each with an id of its own."""
    batches = [[figure("REVENUE", "ACME", "2020", value)] for value in ("100", "110", "100")]
    library = open_library(tmp_path, GLOSSARY, batches)
    request = MetricRequest((MetricQuery("REVENUE", "ACME", "2020"),), versions=VersionPolicy.ALL)
    answer = ask(library, request=request)
    outcome = answer.outcomes[0].outcome
    assert isinstance(outcome, MetricFound)
    told = [(fact.value, fact.version.version) for fact in answer.facts(outcome.snippet_ids) if fact.version]
    assert told == [("100", 1), ("110", 2), ("100", 3)]
    assert len(set(outcome.snippet_ids)) == 3
    # An id does not change with what came later.
    then = ask(library, MetricQuery("REVENUE", "ACME", "2020"), known_at=recorded(0))
    assert list(then.snippets) == [outcome.snippet_ids[0]]
    library.close()


def test_a_figure_that_gets_its_date_of_filing_is_not_the_last_for_ever(tmp_path: Path) -> None:
    batches = [
        [figure("REVENUE", "ACME", "2020", "100")],
        [figure("REVENUE", "ACME", "2020", "100", filed_at=FILED)],
        [
            figure(
                "REVENUE",
                "ACME",
                "2020",
                "101",
                source="report.pdf",
                source_doc="next.pdf",
                filed_at=FILED.replace(month=6),
            )
        ],
    ]
    library = open_library(tmp_path, GLOSSARY, batches)
    (latest,) = ask(library, MetricQuery("REVENUE", "ACME", "2020")).snippets.values()
    assert isinstance(latest.payload, MetricFact)
    assert latest.payload.value == "101"
    assert latest.payload.version is not None
    assert (latest.payload.version.version, latest.payload.version.latest_version) == (2, 2)
    library.close()


def test_what_one_filing_says_in_several_places_is_one_version(tmp_path: Path) -> None:
    facts = [
        figure("REVENUE", "ACME", "2020", value, locator=f"page={page}", filed_at=filed)
        for page, (value, filed) in enumerate(
            (("100", FILED), ("100.0", FILED), ("101", FILED.replace(month=9)), ("101", FILED.replace(month=9)))
        )
    ]
    library = open_library(tmp_path, GLOSSARY, [facts])
    query = MetricQuery("REVENUE", "ACME", "2020")
    told = {}
    for policy in VersionPolicy:
        answer = ask(library, request=MetricRequest((query,), versions=policy))
        outcome = answer.outcomes[0].outcome
        assert isinstance(outcome, MetricFound)
        shown = [(answer.snippets[each], answer.facts([each])[0]) for each in outcome.snippet_ids]
        told[policy] = [
            (s.lineage.source_locator, f.value, f.version.version, f.version.latest_version)
            for s, f in shown
            if f.version
        ]
    assert told == {
        VersionPolicy.LATEST: [("page=3", "101", 2, 2)],
        VersionPolicy.AS_REPORTED: [("page=1", "100.0", 1, 2)],
        VersionPolicy.ALL: [("page=1", "100.0", 1, 2), ("page=3", "101", 2, 2)],
    }
    library.close()


def test_a_name_that_means_several_things_goes_before_an_axis_that_nobody_knows(library: Library) -> None:
    query = MetricQuery("売上高", "ACME", "2023", dimensions=(Dimension("tier", "GOLD"),))
    outcome = ask(library, query).outcomes[0].outcome
    assert isinstance(outcome, UnrecognizedParam)
    assert (outcome.param, outcome.ambiguous) == ("metric", True)
