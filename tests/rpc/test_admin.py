"""Libraries, glossaries and citations over the wire."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from groundwire.v1 import (
    admin_pb2,
    evidence_pb2,
    glossary_pb2,
    graph_pb2,
    metric_pb2,
    narrative_pb2,
    tools_pb2,
)
from tests.rpc.house import TEXTS, House, furnish, glossary, house, snippets, term
from tests.rpc.serving import failure_of

Library = admin_pb2.Library


@pytest.fixture
def here(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path / "data") as running:
        yield running


def save(here: House, library_id: str, **fields: Any) -> admin_pb2.Library:
    request = admin_pb2.SaveLibraryRequest(library=Library(library_id=library_id, **fields))
    return here.admin.SaveLibrary(request).library


def libraries(here: House, **fields: Any) -> admin_pb2.ListLibrariesResponse:
    return here.admin.ListLibraries(admin_pb2.ListLibrariesRequest(**fields))


# ---- libraries -----------------------------------------------------------------------------------------------------


def test_a_library_is_listed_with_what_the_caller_may_read(furnished: House) -> None:
    (library,) = libraries(furnished).libraries
    assert library.library_id == "default"
    assert library.documents == len(TEXTS)
    assert (library.facts, library.relations) == (4, 1)
    assert not library.HasField("embedding_coverage")
    assert library.snapshot_id
    types = {each.name: each.value_type for each in library.attributes}
    assert types["doc_id"] == admin_pb2.ATTRIBUTE_TYPE_STRING
    assert types["valid_as_of"] == admin_pb2.ATTRIBUTE_TYPE_TIME
    assert (library.index.chunker, library.index.chunk_chars, library.index.embedder) == ("paragraph", 480, "auto")


def test_what_was_read_can_be_saved_again(here: House) -> None:
    made = save(here, "a", description="All about foxes", tuning={"fusion": "rrf"}, index={"chunk_chars": 200})
    assert (made.description, made.tuning.fusion, made.index.chunk_chars) == ("All about foxes", "rrf", 200)
    for name in ("snapshot_id", "documents", "active_chunks", "facts", "relations", "embedding_coverage"):
        made.ClearField(name)  # type: ignore[arg-type]
    again = here.admin.SaveLibrary(admin_pb2.SaveLibraryRequest(library=made)).library
    for name in ("description", "index", "tuning", "settings", "attributes"):
        assert getattr(again, name) == getattr(made, name)


def test_pages_follow_one_another(here: House) -> None:
    for name in ("c", "a", "d", "b"):
        save(here, name)
    seen, token = [], ""
    while True:
        page = libraries(here, page_size=3, page_token=token)
        seen.append([each.library_id for each in page.libraries])
        token = page.next_page_token
        if not token:
            break
    assert seen == [["a", "b", "c"], ["d"]]


def test_a_page_ends_before_it_is_too_large(here: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundwire_server.rpc.paging.MAX_PAGE_BYTES", 40_000)
    for place in range(5):
        save(here, f"l{place}", description="說" * 4096)
    first = libraries(here, page_size=1000)
    second = libraries(here, page_size=1000, page_token=first.next_page_token)
    pages = [[each.library_id for each in page.libraries] for page in (first, second)]
    assert pages == [["l0", "l1", "l2"], ["l3", "l4"]]
    assert first.ByteSize() < 41_000


@pytest.mark.parametrize(
    ("fields", "field"),
    [({"page_size": -1}, "page_size"), ({"page_token": "x"}, "page_token"), ({"page_token": "WzFd"}, "page_token")],
)
def test_a_page_that_cannot_be_is_refused(here: House, fields: dict[str, Any], field: str) -> None:
    failure = failure_of(lambda: libraries(here, **fields))
    assert [each[0] for each in failure.violations] == [field]


@pytest.mark.parametrize(
    ("library", "want"),
    [
        ({}, [("library.library_id", "VALUE_REQUIRED")]),
        ({"library_id": "Bad Id"}, [("library.library_id", "VALUE_MALFORMED")]),
        ({"library_id": "a", "documents": 3}, [("library.documents", "CONTRADICTION")]),
        (
            {
                "library_id": "a",
                "index": {"chunker": "scissors", "chunk_chars": 0, "tokenizer": "t5", "embedder": "big"},
                "tuning": {"fusion": "best"},
                "settings": [{"name": "k1", "value": "many"}, {"name": "colour"}, {"name": "b"}, {"name": "b"}],
            },
            [
                ("library.index.tokenizer", "UNKNOWN_NAME"),
                ("library.tuning.fusion", "UNKNOWN_NAME"),
                ("library.settings[0].value", "VALUE_MALFORMED"),
                ("library.settings[1].name", "UNKNOWN_NAME"),
                ("library.settings[2].value", "VALUE_MALFORMED"),
                ("library.settings[3].name", "CONTRADICTION"),
                ("library.index.chunk_chars", "VALUE_OUT_OF_RANGE"),
                ("library.index.chunker", "UNKNOWN_NAME"),
                ("library.index.embedder", "UNKNOWN_NAME"),
            ],
        ),
    ],
)
def test_a_library_that_cannot_be_is_refused_field_by_field(
    here: House, library: dict[str, Any], want: list[tuple[str, str]]
) -> None:
    request = admin_pb2.SaveLibraryRequest(library=Library(**library))
    failure = failure_of(lambda: here.admin.SaveLibrary(request))
    assert failure.code is grpc.StatusCode.INVALID_ARGUMENT
    assert [(field, reason) for field, reason, _ in failure.violations] == want
    assert not libraries(here).libraries


# ---- glossaries ----------------------------------------------------------------------------------------------------


def update(here: House, **fields: Any) -> admin_pb2.UpdateGlossaryResponse:
    request = admin_pb2.UpdateGlossaryRequest(**{"library_id": "default", **fields})
    return here.admin.UpdateGlossary(request)


def test_a_glossary_makes_names_known(here: House) -> None:
    assert update(here, put=glossary()).snapshot_id
    request = metric_pb2.QueryMetricRequest(queries=[{"metric": "人口", "entity": "日本", "period": "2020"}])
    frames = list(here.metric.QueryMetric(request))
    assert frames[1].outcomes.outcomes[0].WhichOneof("outcome") == "not_found"
    gone = admin_pb2.TermRef(kind=glossary_pb2.TERM_KIND_ENTITY, code="JPN")
    update(here, remove=[gone])
    frames = list(here.metric.QueryMetric(request))
    assert frames[1].outcomes.outcomes[0].unrecognized_param.param == "entity"


def test_a_shared_name_is_refused_and_named_unless_the_library_reports_it(here: House) -> None:
    shared = [term(glossary_pb2.TERM_KIND_METRIC, code, "turnover") for code in ("SALES", "ASSET_TURNOVER")]
    failure = failure_of(lambda: update(here, put=shared))
    assert (failure.code, failure.reason) == (grpc.StatusCode.ALREADY_EXISTS, "GLOSSARY_CONFLICT")
    assert failure.metadata["synonym"] == "turnover"
    assert "put[0]" in failure.message
    save(here, "default", settings=[{"name": "ambiguous", "value": "report"}])
    assert update(here, put=shared).snapshot_id


def test_terms_that_cannot_be_are_refused_one_by_one(here: House) -> None:
    put = [
        term(0, "A"),
        term(77, "B"),
        term(glossary_pb2.TERM_KIND_METRIC, ""),
        term(glossary_pb2.TERM_KIND_METRIC, "D", entity=glossary_pb2.EntityDetail()),
        term(glossary_pb2.TERM_KIND_DIMENSION_MEMBER, "E"),
    ]
    failure = failure_of(lambda: update(here, put=put, library_id=""))
    assert [(field, reason) for field, reason, _ in failure.violations] == [
        ("library_id", "VALUE_REQUIRED"),
        ("put[0].kind", "VALUE_REQUIRED"),
        ("put[1].kind", "UNKNOWN_NAME"),
        ("put[2].code", "VALUE_REQUIRED"),
        ("put[3].entity", "CONTRADICTION"),
        ("put[4].dimension.dimension", "VALUE_REQUIRED"),
    ]


def test_names_in_facts_that_no_term_has_are_found(here: House) -> None:
    furnish(here)
    without = [each for each in glossary() if each.code != "ACME"]
    update(here, put=without, replace_all=True, validate_only=True)
    found = update(here, put=without, replace_all=True, validate_only=True).findings
    assert [(each.term.code, each.fact_count) for each in found] == [("ACME", 2)]


def test_terms_are_described_with_the_periods_that_there_are(furnished: House) -> None:
    def describe(**fields: Any) -> list[tuple[str, int, list[str]]]:
        request = metric_pb2.DescribeMetricsRequest(**fields)
        answer = furnished.metric.DescribeMetrics(request)
        return [(each.term.code, each.fact_count, list(each.periods)) for each in answer.terms]

    everything = describe()
    assert everything == [
        ("POPULATION", 2, ["2020", "2021"]),
        ("REVENUE", 2, ["2020"]),
        ("ACME", 2, ["2020"]),
        ("ASIA", 0, []),
        ("JPN", 2, ["2020", "2021"]),
    ]
    assert describe(kinds=[glossary_pb2.TERM_KIND_METRIC], entity="日本") == [
        ("POPULATION", 2, ["2020", "2021"]),
        ("REVENUE", 0, []),
    ]
    paged: list[Any] = []
    token = ""
    while True:
        page = furnished.metric.DescribeMetrics(metric_pb2.DescribeMetricsRequest(page_size=2, page_token=token))
        assert len(page.terms) <= 2
        paged += [each.term.code for each in page.terms]
        token = page.next_page_token
        if not token:
            break
    assert paged == [code for code, _, _ in everything]


@pytest.mark.parametrize(
    ("fields", "want"),
    [
        ({"metric": "popularity"}, [("metric", "UNKNOWN_NAME")]),
        (
            {"kinds": [0, 77], "page_size": -1},
            [("kinds[0]", "VALUE_REQUIRED"), ("kinds[1]", "UNKNOWN_NAME"), ("page_size", "VALUE_OUT_OF_RANGE")],
        ),
        ({"page_token": "x"}, [("page_token", "VALUE_MALFORMED")]),
    ],
)
def test_terms_that_cannot_be_described_are_refused(
    furnished: House, fields: dict[str, Any], want: list[tuple[str, str]]
) -> None:
    failure = failure_of(lambda: furnished.metric.DescribeMetrics(metric_pb2.DescribeMetricsRequest(**fields)))
    assert [(field, reason) for field, reason, _ in failure.violations] == want


# ---- citations -----------------------------------------------------------------------------------------------------


def verdict(here: House, lineage: evidence_pb2.Lineage, **claim: Any) -> tools_pb2.VerifyCitationResponse:
    return here.tools.VerifyCitation(tools_pb2.VerifyCitationRequest(lineage=lineage, **claim))


def test_what_was_cited_is_exact_then_superseded_then_gone_from_sight(here: House) -> None:
    furnish(here)
    request = narrative_pb2.NarrativeRetrieveRequest(query="quick brown fox")
    (first, *_) = snippets(here.narrative.NarrativeRetrieve(request))
    assert verdict(here, first.lineage, quote="quick brown").verdict == tools_pb2.CITATION_VERDICT_EXACT
    assert verdict(here, first.lineage).verdict == tools_pb2.CITATION_VERDICT_EXACT
    assert verdict(here, first.lineage, quote="slow grey").verdict == tools_pb2.CITATION_VERDICT_NOT_FOUND
    here.store({"notes/fox.md": "New words.\n\n" + TEXTS["notes/fox.md"]})
    later = verdict(here, first.lineage, quote="quick brown fox")
    assert later.verdict == tools_pb2.CITATION_VERDICT_SUPERSEDED
    assert later.active.revision == 2
    lineage = evidence_pb2.Lineage(library_id="nowhere", doc_id="x", revision=1, source_locator="x#line=1")
    assert verdict(here, lineage, quote="x").verdict == tools_pb2.CITATION_VERDICT_NOT_FOUND


def test_figures_and_relations_are_verified(furnished: House) -> None:
    request = metric_pb2.QueryMetricRequest(queries=[{"metric": "population", "entity": "Japan", "period": "2020"}])
    (figure,) = snippets(furnished.metric.QueryMetric(request))
    assert verdict(furnished, figure.lineage, fact=figure.fact).verdict == tools_pb2.CITATION_VERDICT_EXACT
    wrong = evidence_pb2.MetricFact()
    wrong.CopyFrom(figure.fact)
    wrong.value = "126261001"
    assert verdict(furnished, figure.lineage, fact=wrong).verdict == tools_pb2.CITATION_VERDICT_NOT_FOUND
    around = graph_pb2.GraphTraceRequest(neighborhood={"node_ids": ["entity:JPN"]})
    (edge,) = snippets(furnished.graph.GraphTrace(around))
    assert verdict(furnished, edge.lineage, edge=edge.edge).verdict == tools_pb2.CITATION_VERDICT_EXACT


def test_a_citation_that_lacks_what_is_needed_is_refused(furnished: House) -> None:
    failure = failure_of(lambda: verdict(furnished, evidence_pb2.Lineage(), quote=""))
    assert failure.code is grpc.StatusCode.INVALID_ARGUMENT
    assert ("lineage.library_id", "VALUE_REQUIRED") in [each[:2] for each in failure.violations]
