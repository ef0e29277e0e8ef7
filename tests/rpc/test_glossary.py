"""Glossaries over the wire: names that come after the figures, what is told of them, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from groundwire.v1 import admin_pb2, glossary_pb2, ingest_pb2, metric_pb2, tools_pb2
from tests.rpc.house import House, fact, house, term
from tests.rpc.serving import failure_of

METRIC, ENTITY, CHANNEL = (
    glossary_pb2.TERM_KIND_METRIC,
    glossary_pb2.TERM_KIND_ENTITY,
    glossary_pb2.TERM_KIND_CHANNEL,
)
LOADED = [
    fact("Total Revenues", "Acme Corporation", "2020", "1234.50", unit="USD"),
    fact("Total Revenues", "Acme Corporation", "2022", "1300.00", unit="USD"),
    fact("Total Revenues", "Acme Corporation", "2020", "400", unit="USD", channel="Online Stores", locator="row=3"),
    fact("総資産", "アクメ株式会社", "2020-12-31", "99", unit="JPY", locator="row=4"),
    fact("Vault gold", "Secretville", "2020", "7", unit="kg", label=ingest_pb2.LABEL_CONFIDENTIAL, locator="row=5"),
]


@pytest.fixture
def here(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path / "data") as house_:
        house_.store_facts(ingest_pb2.FactRecords(facts=LOADED))
        yield house_


def update(here: House, *put: glossary_pb2.Term, **more: Any) -> admin_pb2.UpdateGlossaryResponse:
    request = admin_pb2.UpdateGlossaryRequest(library_id="default", put=put, **more)
    response: admin_pb2.UpdateGlossaryResponse = here.admin.UpdateGlossary(request)
    return response


def ask(here: House, *names: str) -> metric_pb2.MetricOutcome:
    request = metric_pb2.QueryMetricRequest(queries=[metric_pb2.MetricQuery(**dict(zip(KEYS, names, strict=False)))])
    frames = list(here.metric.QueryMetric(request))
    (outcome,) = [each for frame in frames for each in frame.outcomes.outcomes]
    here.snippets = [s for frame in frames for s in frame.batch.snippets]  # type: ignore[attr-defined]
    return outcome


KEYS = ("metric", "entity", "period", "channel")
TERMS = [
    term(METRIC, "REVENUE", "total revenue", "売上高", metric=glossary_pb2.MetricDetail(unit="USD")),
    term(METRIC, "ASSETS", "総資産", "total assets", metric=glossary_pb2.MetricDetail(unit="USD")),
    term(ENTITY, "ACME", "Acme Corporation", "アクメ株式会社"),
    term(CHANNEL, "WEB", "online store"),
]


def test_figures_come_under_the_names_that_a_later_glossary_has(here: House) -> None:
    assert ask(here, "売上高", "ACME", "2020").WhichOneof("outcome") == "unrecognized_param"
    cited = ask(here, "Total Revenues", "Acme Corporation", "2020")
    (old,) = here.snippets  # type: ignore[attr-defined]
    update(here, *TERMS)
    found = ask(here, "売上高", "アクメ株式会社", "2020").found
    assert (found.key.metric, found.key.entity, found.key.channel) == ("REVENUE", "ACME", "TOTAL")
    (snippet,) = here.snippets  # type: ignore[attr-defined]
    assert (snippet.fact.value, snippet.fact.metric) == ("1234.50", "REVENUE")
    assert snippet.snippet_id == old.snippet_id == cited.found.snippet_ids[0]
    # By the name under which it was stored as well, on its channel, and in calculations.
    assert ask(here, "Total Revenues", "Acme Corporation", "2020").found.key == found.key
    assert ask(here, "REVENUE", "ACME", "2020", "Online Stores").found.key.channel == "WEB"
    # What was cited before still holds, under its old names and under its new ones.
    for claim in (old, snippet):
        request = tools_pb2.VerifyCitationRequest(lineage=claim.lineage, fact=claim.fact)
        assert here.tools.VerifyCitation(request).verdict == tools_pb2.CITATION_VERDICT_EXACT
    # A glossary that loses the term gives the names back.
    update(here, remove=[admin_pb2.TermRef(kind=METRIC, code="REVENUE")])
    assert ask(here, "売上高", "ACME", "2020").unrecognized_param.param == "metric"
    assert ask(here, "Total Revenues", "ACME", "2020").found.key.metric == "Total Revenues"


def test_a_restatement_under_the_new_name_is_no_second_source(here: House) -> None:
    update(here, *TERMS)
    again = fact("REVENUE", "ACME", "2020", "1240.00", unit="USD", locator="row=9")
    here.store_facts(ingest_pb2.FactRecords(facts=[again]))
    found = ask(here, "REVENUE", "ACME", "2020").found
    assert not found.conflicting
    (snippet,) = here.snippets  # type: ignore[attr-defined]
    assert (snippet.fact.value, snippet.fact.version.version, snippet.fact.version.latest_version) == (
        "1240.00",
        2,
        2,
    )


def describe(here: House, **more: Any) -> list[metric_pb2.TermDescription]:
    response = here.metric.DescribeMetrics(metric_pb2.DescribeMetricsRequest(with_unlisted=True, **more))
    return list(response.terms)


def test_everything_that_may_be_asked_for_is_told(here: House) -> None:
    told = [(each.term.code, each.unlisted, each.fact_count) for each in describe(here)]
    assert told == [
        ("Total Revenues", True, 3),
        ("総資産", True, 1),
        ("Acme Corporation", True, 3),
        ("アクメ株式会社", True, 1),
        ("Online Stores", True, 1),
    ]
    update(here, *TERMS)
    (assets, revenue, acme, web) = describe(here)
    assert [each.unlisted for each in (assets, revenue, acme, web)] == [False] * 4
    assert (revenue.fact_count, list(revenue.periods), list(revenue.gaps)) == (3, ["2020", "2022"], ["2021"])
    assert (revenue.period_count, revenue.gap_count, list(revenue.units)) == (2, 1, ["USD"])
    assert (list(acme.units), acme.fact_count, web.fact_count) == (["JPY", "USD"], 4, 1)
    # Bounded by a code that no term has, page by page.
    here.store_facts(ingest_pb2.FactRecords(facts=[fact("Own KPI", "ACME", "2021", "5", locator="row=8")]))
    assert [each.fact_count for each in describe(here, metric="own  kpi", kinds=[ENTITY])] == [1]
    paged, token = [], ""
    while True:
        page = metric_pb2.DescribeMetricsRequest(with_unlisted=True, page_size=1, page_token=token)
        response = here.metric.DescribeMetrics(page)
        paged += [each.term.code for each in response.terms]
        token = response.next_page_token
        if not token:
            break
    assert paged == ["ASSETS", "Own KPI", "REVENUE", "ACME", "WEB"]


def test_findings_say_what_they_are_about(here: House) -> None:
    rate = glossary_pb2.MetricDetail(additivity_assumed=True, derivation="REVENUE / STAFF")
    response = update(here, *TERMS[:2], term(METRIC, "PER_HEAD", "revenue per head", metric=rate))
    kind = admin_pb2.GlossaryFindingKind
    assert [(kind.Name(each.kind)[22:], each.term.code, each.fact_count) for each in response.findings] == [
        ("DERIVATION", "PER_HEAD", 0),
        ("ASSUMED", "PER_HEAD", 0),
        ("UNIT", "PER_HEAD", 0),
        ("UNIT", "ASSETS", 1),  # its facts are in yen
        ("UNLISTED", "Acme Corporation", 3),
        ("UNLISTED", "アクメ株式会社", 1),
        ("UNLISTED", "Online Stores", 1),
    ]
    (told,) = [each.term for each in describe(here, kinds=[METRIC]) if each.term.code == "PER_HEAD"]
    assert told.metric.additivity == glossary_pb2.ADDITIVITY_NONE
    assert told.metric.additivity_assumed


def test_a_code_that_several_terms_claim_is_told(here: House) -> None:
    library = admin_pb2.Library(library_id="default", settings=[admin_pb2.Setting(name="ambiguous", value="report")])
    here.admin.SaveLibrary(admin_pb2.SaveLibraryRequest(library=library))
    response = update(here, *(term(METRIC, code, "Total Revenues") for code in ("NET", "GROSS")))
    (finding,) = [each for each in response.findings if each.kind == admin_pb2.GLOSSARY_FINDING_KIND_AMBIGUOUS]
    assert (finding.term.code, finding.fact_count) == ("Total Revenues", 3)
    assert finding.message == "it is a name of GROSS and of NET, and so of none"
    asked = ask(here, "total revenue", "Acme Corporation", "2020").unrecognized_param
    assert (asked.ambiguous, list(asked.suggestions)) == (True, ["GROSS", "NET"])


def test_findings_beyond_a_thousand_are_counted(tmp_path: Path) -> None:
    with house(tmp_path / "data") as here:
        many = [fact(f"KPI {n:04}", "E", "2020", "1", locator=f"row={n}") for n in range(1010)]
        here.store_facts(ingest_pb2.FactRecords(facts=many))
        response = update(here, validate_only=True)
        assert (len(response.findings), response.findings_omitted) == (1000, 11)


@pytest.mark.parametrize(
    ("terms", "field", "why"),
    [
        ([("A", "A + 1")], "put[0].metric.derivation", "'A' is derived from itself"),
        ([("A", "B"), ("B", "A")], "put[1].metric.derivation", "'B' is derived from itself"),
        ([("A", "(B")], "put[0].metric.derivation", "'(B' is no formula: a bracket is not closed"),
        ([("A", "2 * 3")], "put[0].metric.derivation", "'2 * 3' names no metric"),
    ],
)
def test_a_derivation_that_is_no_formula_changes_nothing(
    here: House, terms: list[tuple[str, str]], field: str, why: str
) -> None:
    put = [
        term(METRIC, code, metric=glossary_pb2.MetricDetail(unit="USD", derivation=derivation))
        for code, derivation in terms
    ]
    failure = failure_of(lambda: update(here, *put))
    assert (field, "VALUE_MALFORMED" if "itself" not in why else "CONTRADICTION", why) in failure.violations
    assert [each.unlisted for each in describe(here, kinds=[METRIC])] == [True, True]


def test_an_edited_file_holds_and_one_that_does_not_is_told(here: House, tmp_path: Path) -> None:
    update(here, *TERMS)
    file = tmp_path / "data/libraries/default/glossary.toml"
    file.write_text("[[metric]]\nlabel = 'x'\n")
    (finding, *_) = update(here, validate_only=True).findings if _seen(here) else ()
    assert finding.kind == admin_pb2.GLOSSARY_FINDING_KIND_FILE
    assert not finding.HasField("term")
    assert "metric[0].code: a text is needed (line 1)" in finding.message
    failure = failure_of(lambda: update(here, term(METRIC, "NEW")))
    assert (failure.code, failure.reason) == (grpc.StatusCode.ABORTED, "CONFLICTING_CHANGE")
    assert ask(here, "REVENUE", "ACME", "2020").HasField("found")
    file.write_text('[[metric]]\ncode = "REV"\nsynonyms = ["total revenue"]\n')
    update(here, term(METRIC, "NEW"))
    assert ask(here, "REV", "Acme Corporation", "2020").found.key.metric == "REV"
    assert 'code = "NEW"' in file.read_text()


def _seen(here: House) -> bool:
    """Have the server look at the file, at which it looks once a second by itself."""
    (library,) = here.server.engine._libraries.held()
    library.adopt_glossary()
    return bool(library.glossary_fault)


def test_a_hidden_name_is_in_no_description_and_no_finding(here: House) -> None:
    update(here, *TERMS)
    told = str(describe(here)) + str(update(here, validate_only=True))
    assert "gold" not in told
    assert "Secretville" not in told


def test_a_correction_and_a_withdrawal_find_what_was_stored_under_another_name(here: House) -> None:
    update(here, *TERMS)

    def say(**more: Any) -> None:
        record = fact("REVENUE", "ACME", "2020", unit="USD", **{"value": "", **more})
        here.store_facts(ingest_pb2.FactRecords(facts=[record]))

    say(value="1235.00", author="auditor", reason="a slip of the pen")
    assert not ask(here, "REVENUE", "ACME", "2020").found.conflicting
    (corrected,) = here.snippets  # type: ignore[attr-defined]
    assert (corrected.fact.value, corrected.fact.version.author) == ("1235.00", "auditor")
    say(withdraw=True)
    assert ask(here, "REVENUE", "ACME", "2020").WhichOneof("outcome") == "not_found"
    assert ask(here, "REVENUE", "ACME", "2022").WhichOneof("outcome") == "found"


def test_figures_that_the_nature_of_their_metric_keeps_from_answering_are_told(here: House) -> None:
    periods = ("FY2023", "2024-03-31", "2024-01-01/2024-01-01")
    facts = [fact("Own KPI", "Acme Corporation", period, "5", locator=period) for period in periods]
    here.store_facts(ingest_pb2.FactRecords(facts=facts))
    for nature, told in (
        (glossary_pb2.METRIC_NATURE_INSTANT, "figures for FY2023, 2024-01-01/2024-01-01 are for spans"),
        (glossary_pb2.METRIC_NATURE_FLOW, "figures for 2024-03-31 are for days"),
    ):
        response = update(here, term(METRIC, "Own KPI", "own kpi", metric=glossary_pb2.MetricDetail(nature=nature)))
        (finding,) = [each for each in response.findings if each.kind == admin_pb2.GLOSSARY_FINDING_KIND_PERIOD]
        assert finding.term.code == "Own KPI"
        assert told in finding.message


def test_a_fiscal_year_that_was_read_by_another_one_answers_nothing(here: House) -> None:
    """Loaded while nobody told when the year begins, it has the days of another year than the one it is called."""
    record = fact("Own KPI", "Acme Corporation", "FY2024", "5", locator="row=7")
    here.store_facts(ingest_pb2.FactRecords(facts=[record]))
    update(here, term(ENTITY, "ACME", "Acme Corporation"))
    assert ask(here, "Own KPI", "ACME", "2024").found.key.period == "2024"  # a year from January on, as far as is told
    detail = glossary_pb2.EntityDetail(fiscal_year_start="04-01")
    response = update(here, term(ENTITY, "ACME", "Acme Corporation", entity=detail))
    (finding,) = [each for each in response.findings if each.kind == admin_pb2.GLOSSARY_FINDING_KIND_PERIOD]
    assert (finding.term.code, "FY2024" in finding.message) == ("ACME", True)
    for period in ("2024", "FY2024"):
        assert ask(here, "Own KPI", "ACME", period).WhichOneof("outcome") == "not_found"
    here.store_facts(ingest_pb2.FactRecords(facts=[record]))
    assert ask(here, "Own KPI", "ACME", "FY2024").WhichOneof("outcome") == "found"
    assert ask(here, "Own KPI", "ACME", "2024").WhichOneof("outcome") == "not_found"
