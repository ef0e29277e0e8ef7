"""Citations hold, are superseded, or were never there; what is hidden looks like what never was."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire_server.citation import CitationCheck, CitationVerdict, Claim, VerifyRequest, verify_citation
from groundwire_server.errors import ErrorReason, InvalidRequest
from groundwire_server.evidence import (
    Attribute,
    Call,
    FactVersion,
    GraphEdge,
    GraphPath,
    Label,
    Lineage,
    MetricFact,
    MetricKey,
    MetricQuery,
    Period,
    PeriodKind,
    ReviewStatus,
    Snippet,
    Snippets,
    Span,
    TextPassage,
    slice_text,
    text_sha256,
)
from groundwire_server.glossary import EntityTerm, Glossary, MetricTerm
from groundwire_server.graph import Neighborhood, TraceRequest, trace
from groundwire_server.library import Library
from groundwire_server.metric import MetricRequest, VersionPolicy, query_metric
from groundwire_server.narrative import RetrievalMode, RetrieveRequest, retrieve
from groundwire_server.security import local_principal
from groundwire_server.store import EdgeRecord, FactRecord
from tests.support.hostile_text import hostile_text
from tests.support.libraries import Doc, make_library, new_document

EXACT, SUPERSEDED, NOT_FOUND = CitationVerdict.EXACT, CitationVerdict.SUPERSEDED, CitationVerdict.NOT_FOUND
CALLER = local_principal()
NOTES = "Revenue rose 😀. Cafe\u0301 opened.\r\nStaff travelled."


def library_of(folder: Path, *docs: Doc, **parts: object) -> Library:
    return make_library(folder, docs, **parts)  # type: ignore[arg-type]


def cited(library: Library, query: str) -> Snippet:
    request = RetrieveRequest(query, mode=RetrievalMode.LEXICAL)
    frames = retrieve(request, Call(CALLER), [library.snapshot()])
    return next(one for frame in frames if isinstance(frame, Snippets) for one in frame.snippets)


def verify(library: Library, lineage: Lineage, claim: Claim | None = None) -> CitationCheck:
    return verify_citation(VerifyRequest(lineage, claim), CALLER, [library.snapshot()])


def put(library: Library, doc: Doc) -> None:
    with library.writing() as writer:
        writer.replace_document(new_document(doc))


def test_what_was_retrieved_stands_where_it_says(tmp_path: Path) -> None:
    library = library_of(tmp_path, Doc("notes.md", NOTES, spans=(Span(0, 29), Span(29, len(NOTES)))))
    snippet = cited(library, "cafe\u0301")
    assert isinstance(snippet.payload, TextPassage)
    lineage, text = snippet.lineage, snippet.payload.text
    by_locator = replace(lineage, span=None, chunk_id="")
    by_chunk = replace(lineage, span=None, source_locator="")
    for place in (lineage, by_locator, by_chunk):
        assert verify(library, place) == CitationCheck(EXACT)
        assert verify(library, place, text) == CitationCheck(EXACT)
        assert verify(library, place, "Cafe\u0301 opened").verdict is EXACT
        assert verify(library, place, "Café opened").verdict is NOT_FOUND  # code point for code point
        assert verify(library, place, "Staff travelled.").verdict is NOT_FOUND  # elsewhere in the document
        assert verify(library, replace(place, text_sha256=text_sha256("x"))).verdict is NOT_FOUND


def test_places_that_never_were_are_not_found(tmp_path: Path) -> None:
    library = library_of(tmp_path, Doc("notes.md", NOTES))
    lineage = cited(library, "revenue").lineage
    never = [
        replace(lineage, library_id="elsewhere"),
        replace(lineage, doc_id="other.md"),
        replace(lineage, revision=2),
        replace(lineage, span=Span(0, len(NOTES) + 1)),
        replace(lineage, span=Span(1, len(NOTES))),
        replace(lineage, span=None, chunk_id="notes.md@1#c7"),
        replace(lineage, span=None, chunk_id="other.md@1#c0"),
        replace(lineage, span=None, chunk_id="no chunk id"),
        replace(lineage, span=None, chunk_id="", source_locator="notes.md#line=99"),
    ]
    for place in never:
        assert verify(library, place) == CitationCheck(NOT_FOUND)


def test_a_citation_of_which_a_part_was_changed_was_never_given_out(tmp_path: Path) -> None:
    text = "Revenue rose.\nRevenue rose.\nCosts fell."
    spans = (Span(0, 13), Span(14, 27), Span(28, len(text)))
    library = library_of(tmp_path, Doc("notes.md", text, spans=spans))
    lineage = cited(library, "costs").lineage
    part = replace(lineage, span=Span(34, 38), text_sha256=b"")
    assert verify(library, part, "fell").verdict is EXACT
    changed = [
        replace(lineage, chunk_id="notes.md@1#c1"),
        replace(lineage, chunk_id="notes.md@1#c9"),
        replace(lineage, chunk_id="other.md@1#c2"),
        replace(lineage, source_locator="notes.md#line=1"),
        replace(lineage, chunk_id="", source_locator="notes.md#line=1"),
        replace(lineage, span=None, source_locator="notes.md#line=1"),
        replace(lineage, text_sha256=text_sha256("Costs rose.")),
        replace(lineage, span=Span(14, 27)),
    ]
    for place in changed:
        assert verify(library, place) == CitationCheck(NOT_FOUND)
        for quote in ("Costs fell.", "Revenue rose."):
            assert verify(library, place, quote) == CitationCheck(NOT_FOUND)


def test_an_older_revision_is_superseded_and_the_text_is_found_again(tmp_path: Path) -> None:
    library = library_of(tmp_path, Doc("notes.md", "First. Revenue rose.", title="Old"))
    lineage = cited(library, "revenue").lineage
    text = "A heading. Revenue rose. More. Revenue rose."
    put(library, Doc("notes.md", text, title="New", spans=(Span(0, 10), Span(11, 24), Span(25, len(text)))))
    found = verify(library, lineage, "Revenue rose.")
    assert found.verdict is SUPERSEDED
    now = found.active
    assert now is not None
    assert now.span is not None
    assert (now.revision, now.title, now.chunk_id, now.source_locator) == (2, "New", "notes.md@2#c1", "notes.md#line=2")
    assert slice_text(text, now.span) == "Revenue rose."
    assert now.span.start == 11  # the one nearer to where it stood
    assert verify(library, now, "Revenue rose.").verdict is EXACT
    assert verify(library, now).verdict is EXACT
    assert verify(library, lineage) == CitationCheck(SUPERSEDED)  # the whole passage stands there no more
    put(library, Doc("notes.md", "Nothing of it."))
    assert verify(library, lineage, "Revenue rose.") == CitationCheck(SUPERSEDED)
    assert verify(library, lineage, "Revenue fell.") == CitationCheck(NOT_FOUND)


def test_a_withdrawn_document_is_superseded_by_nothing(tmp_path: Path) -> None:
    library = library_of(tmp_path, Doc("notes.md", NOTES))
    lineage = cited(library, "revenue").lineage
    with library.writing() as writer:
        writer.withdraw_document("notes.md")
    assert verify(library, lineage) == CitationCheck(SUPERSEDED)


def test_what_is_hidden_looks_like_what_never_was(tmp_path: Path) -> None:
    library = library_of(tmp_path, Doc("secret.md", NOTES, label=Label.RESTRICTED), Doc("notes.md", NOTES))
    lineage = cited(library, "revenue").lineage
    assert verify(library, replace(lineage, doc_id="secret.md")) == CitationCheck(NOT_FOUND)
    assert verify(library, replace(lineage, doc_id="secret.md", span=None, chunk_id="secret.md@1#c0")) == CitationCheck(
        NOT_FOUND
    )
    # A newer revision that is hidden is none: the document has gone, for this caller.
    put(library, Doc("notes.md", NOTES, label=Label.CONFIDENTIAL))
    assert verify(library, lineage) == CitationCheck(SUPERSEDED)
    assert verify(library, replace(lineage, revision=2)) == CitationCheck(NOT_FOUND)


@settings(max_examples=40)
@given(text=hostile_text().filter(bool), data=st.data())
def test_any_stretch_of_any_text_can_be_cited(
    tmp_path_factory: pytest.TempPathFactory, text: str, data: st.DataObject
) -> None:
    library = library_of(tmp_path_factory.mktemp("any"), Doc("any.md", text))
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    quote = text[start:end]
    lineage = Lineage("default", "any.md", 1, span=Span(start, end), text_sha256=text_sha256(quote))
    try:
        assert verify(library, lineage).verdict is EXACT
        assert verify(library, lineage, quote).verdict is EXACT
        assert verify(library, lineage, quote + "\0").verdict is NOT_FOUND
    finally:
        library.close()


# ---- figures ---------------------------------------------------------------------------------------------------------

GLOSSARY = Glossary([MetricTerm("REVENUE", label="Revenue"), EntityTerm("ACME", label="Acme")])


def fact(value: str, **changes: object) -> FactRecord:
    record = FactRecord(
        metric="REVENUE",
        entity="ACME",
        period="2023",
        period_first=date(2023, 1, 1),
        period_last=date(2023, 12, 31),
        channel="TOTAL",
        value=value,
        unit="USD",
        source_doc="report.xlsx",
        locator="report.xlsx#cell=C7",
    )
    return replace(record, **changes)  # type: ignore[arg-type]


def filed(year: int) -> datetime:
    return datetime(year, 3, 1, tzinfo=UTC)


def figures(library: Library) -> list[Snippet]:
    request = MetricRequest((MetricQuery("Revenue", "Acme", "2023"),), versions=VersionPolicy.ALL)
    frames = query_metric(request, Call(CALLER), [library.snapshot()])
    return [one for frame in frames if isinstance(frame, Snippets) for one in frame.snippets]


def check(library: Library, snippet: Snippet, **changes: object) -> CitationCheck:
    assert isinstance(snippet.payload, MetricFact)
    return verify(library, snippet.lineage, replace(snippet.payload, **changes))  # type: ignore[arg-type]


def file_fact(library: Library, *records: FactRecord) -> None:
    with library.writing() as writer:
        writer.put_facts(records)


def test_a_figure_holds_with_its_value_and_unit(tmp_path: Path) -> None:
    library = library_of(tmp_path, facts=[fact("10.50")], glossary=GLOSSARY)
    (snippet,) = figures(library)
    assert check(library, snippet) == CitationCheck(EXACT)
    assert check(library, snippet, statement="", key=MetricKey("", "", "", "")) == CitationCheck(EXACT)  # not given
    for key in (
        ("PROFIT", "ACME", "2023", "TOTAL"),
        ("", "GLOBEX", "", ""),
        ("", "", "2024", ""),
        ("", "", "", "ONLINE"),
    ):
        assert check(library, snippet, key=MetricKey(*key)) == CitationCheck(NOT_FOUND)
    assert check(library, snippet, value="10.5") == CitationCheck(NOT_FOUND)
    assert check(library, snippet, unit="EUR") == CitationCheck(NOT_FOUND)
    assert check(library, snippet, fact_id="0" * 32) == CitationCheck(NOT_FOUND)
    assert isinstance(snippet.payload, MetricFact)
    for wrong in ({"doc_id": "other.xlsx"}, {"source_locator": "report.xlsx#cell=C8"}, {"library_id": "other"}):
        assert verify(library, replace(snippet.lineage, **wrong), snippet.payload).verdict is NOT_FOUND  # type: ignore[arg-type]


def test_a_restated_figure_is_superseded_by_the_latest(tmp_path: Path) -> None:
    library = library_of(tmp_path, facts=[fact("10", filed_at=filed(2024))], glossary=GLOSSARY)
    (first,) = figures(library)
    assert check(library, first) == CitationCheck(EXACT)
    later = fact("11", filed_at=filed(2025), locator="report.xlsx#cell=D7", author="audit", reason="restated")
    file_fact(library, later)
    for one in (first, figures(library)[0]):
        found = check(library, one)
        assert found.verdict is SUPERSEDED
        assert found.active_version == FactVersion(2, 2, filed(2025), "audit", "restated")
        assert found.active is not None
        assert found.active.source_locator == "report.xlsx#cell=D7"
    second = figures(library)[1]
    assert check(library, second) == CitationCheck(EXACT)
    # An older filing that comes in late moves the numbers, not what was cited.
    file_fact(library, fact("9", filed_at=filed(2023), locator="report.xlsx#cell=B7"))
    assert check(library, second) == CitationCheck(EXACT)
    assert check(library, second, version=FactVersion(1, 1, filed(2023))) == CitationCheck(NOT_FOUND)


def test_a_figure_that_says_no_filing_is_known_by_a_number_that_it_has_had(tmp_path: Path) -> None:
    library = library_of(tmp_path, facts=[fact("10")], glossary=GLOSSARY)
    file_fact(library, fact("11"))
    first, second = figures(library)
    file_fact(library, fact("9", filed_at=filed(2023), locator="report.xlsx#cell=B7"))
    assert [one.payload.version.version for one in figures(library)] == [1, 2, 3]  # type: ignore[union-attr]
    assert check(library, first).verdict is SUPERSEDED
    assert check(library, second) == CitationCheck(EXACT)
    for never in (1, 4):
        assert check(library, second, version=FactVersion(never, 4)) == CitationCheck(NOT_FOUND)


def test_a_withdrawn_or_hidden_figure(tmp_path: Path) -> None:
    library = library_of(tmp_path, facts=[fact("10")], glossary=GLOSSARY)
    (snippet,) = figures(library)
    with library.writing() as writer:
        writer.withdraw_document("report.xlsx")
    assert check(library, snippet) == CitationCheck(SUPERSEDED)
    hidden = fact("12", metric="COST", label=Label.RESTRICTED)
    pending = fact("13", metric="PROFIT", review_status=ReviewStatus.PENDING)
    file_fact(library, hidden, pending)
    from groundwire_server.store import make_fact_id

    for record in (hidden, pending):
        changes = {"fact_id": make_fact_id(record), "value": record.value}
        assert check(library, snippet, **changes) == CitationCheck(NOT_FOUND)


# ---- relations -------------------------------------------------------------------------------------------------------


def edge(source: str, target: str, locator: str = "1", **changes: object) -> EdgeRecord:
    record = EdgeRecord("entity", source, "parent_of", "entity", target, "file", "group.jsonl", locator)
    return replace(record, **changes)  # type: ignore[arg-type]


def around(library: Library, node: str) -> Iterator[Snippet]:
    frames = trace(TraceRequest(Neighborhood((node,))), Call(CALLER), [library.snapshot()])
    return (one for frame in frames if isinstance(frame, Snippets) for one in frame.snippets)


def put_edges(library: Library, *records: EdgeRecord) -> None:
    with library.writing() as writer:
        writer.put_edges(records)


def test_a_relation_holds_by_its_sources(tmp_path: Path) -> None:
    library = library_of(tmp_path, edges=[edge("A", "B"), edge("A", "B", "2", source_doc="more.jsonl")])
    (snippet,) = around(library, "A")
    claim = snippet.payload
    assert isinstance(claim, GraphEdge)
    assert verify(library, snippet.lineage, claim) == CitationCheck(EXACT)
    assert verify(library, Lineage("default"), claim) == CitationCheck(EXACT)
    wrong = [
        replace(claim, relation="owns"),
        replace(claim, source=claim.target, target=claim.source),
        replace(claim, edge_id="0" * 32),
        replace(claim, valid_from="2020-01-01"),
        replace(claim, valid_to="2020-01-01"),
    ]
    assert [verify(library, snippet.lineage, each).verdict for each in wrong] == [NOT_FOUND] * 5
    elsewhere = replace(snippet.lineage, source_locator="9")
    assert verify(library, elsewhere, claim) == CitationCheck(NOT_FOUND)
    with library.writing() as writer:
        writer.withdraw_document("more.jsonl")
    found = verify(library, snippet.lineage, claim)
    assert found.verdict is SUPERSEDED
    assert found.active is not None
    assert found.active.doc_id == "group.jsonl"
    with library.writing() as writer:
        writer.withdraw_document("group.jsonl")
    assert verify(library, snippet.lineage, claim) == CitationCheck(SUPERSEDED)


def test_attributes_of_a_relation_are_those_of_a_source(tmp_path: Path) -> None:
    attributes = (
        Attribute("pct", Decimal("51.0")),
        Attribute("period", Period("FY2024", PeriodKind.FISCAL, date(2023, 4, 1), date(2024, 3, 31))),
    )
    first, second = edge("A", "B", attributes=attributes), edge("A", "B", "2", attributes=(Attribute("pct", 49),))
    library = library_of(tmp_path, edges=[first, second])
    (snippet,) = around(library, "A")
    claim = snippet.payload
    assert isinstance(claim, GraphEdge)
    assert claim.attributes == attributes
    called = replace(attributes[1], value="FY2024")
    for right in (attributes, (), attributes[:1], (Attribute("pct", 49),), (called,)):
        assert verify(library, snippet.lineage, replace(claim, attributes=right)) == CitationCheck(EXACT)
    for wrong in (
        (Attribute("pct", 99),),
        (Attribute("pct", "51.0"),),
        (Attribute("pct", 49), called),
        (Attribute("seat", "Osaka"),),
    ):
        assert verify(library, snippet.lineage, replace(claim, attributes=wrong)) == CitationCheck(NOT_FOUND)
    found_by = [verify(library, snippet.lineage, replace(claim, extractor=name)).verdict for name in ("", "glossary")]
    assert found_by == [EXACT, NOT_FOUND]
    put_edges(library, replace(first, attributes=(Attribute("pct", Decimal("60.0")), attributes[1])))
    changed = verify(library, snippet.lineage, claim)
    assert changed.verdict is SUPERSEDED
    assert changed.active is not None


def test_a_chain_hangs_together_without_its_nodes_too(tmp_path: Path) -> None:
    pairs = [("A", "B"), ("B", "A"), ("C", "B"), ("C", "D"), ("D", "D")]
    library = library_of(tmp_path, edges=[edge(*pair, "".join(pair)) for pair in pairs])
    found = {
        (one.payload.source.node_id, one.payload.target.node_id): replace(one.payload, sources=(one.lineage,))
        for node in "ACD"
        for one in around(library, node)
        if isinstance(one.payload, GraphEdge)
    }

    def verdict(*names: str) -> CitationVerdict:
        path = GraphPath(tuple(found[f"entity:{a}", f"entity:{b}"] for a, b in names), ())
        return verify(library, Lineage("default"), path).verdict

    for chain in (("AB", "CB", "CD"), ("AB", "BA"), ("CD", "DD"), ("BA", "AB", "CB")):
        assert verdict(*chain) is EXACT
    for heap in (("AB", "CD"), ("AB", "CB", "AB"), ("BA", "DD")):
        assert verdict(*heap) is NOT_FOUND


def test_a_chain_is_as_good_as_its_worst_link(tmp_path: Path) -> None:
    library = library_of(tmp_path, edges=[edge("A", "B"), edge("B", "C", source_doc="more.jsonl")])
    found = [(one.payload, one.lineage) for one in around(library, "B")]
    edges = [replace(edge, sources=(source,)) for edge, source in found if isinstance(edge, GraphEdge)]
    path = GraphPath(tuple(edges), ("entity:A", "entity:B", "entity:C"))
    lineage = Lineage("default")
    assert verify(library, lineage, path) == CitationCheck(EXACT, members=(EXACT, EXACT))
    broken = replace(path, node_ids=("entity:A", "entity:C", "entity:B"))
    assert verify(library, lineage, broken) == CitationCheck(NOT_FOUND, members=(EXACT, EXACT))
    with library.writing() as writer:
        writer.withdraw_document("more.jsonl")
    assert verify(library, lineage, path) == CitationCheck(SUPERSEDED, members=(EXACT, SUPERSEDED))
    never = replace(path, edges=(path.edges[0], replace(path.edges[1], edge_id="0" * 32)))
    assert verify(library, lineage, never) == CitationCheck(NOT_FOUND, members=(EXACT, NOT_FOUND))


def test_a_hidden_relation_was_never_there(tmp_path: Path) -> None:
    library = library_of(tmp_path, edges=[edge("A", "B")])
    (snippet,) = around(library, "A")
    assert isinstance(snippet.payload, GraphEdge)
    put_edges(library, edge("A", "B", label=Label.RESTRICTED))
    assert verify(library, snippet.lineage, snippet.payload) == CitationCheck(SUPERSEDED)
    bare = make_library(tmp_path, library_id="bare", edges=[edge("A", "B", label=Label.RESTRICTED)])
    cited_there = replace(snippet.lineage, library_id="bare")
    assert verify(bare, cited_there, snippet.payload) == CitationCheck(NOT_FOUND)


# ---- requests --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lineage", "claim", "fields"),
    [
        (
            Lineage(""),
            None,
            ["lineage.library_id", "lineage.doc_id", "lineage.revision", "lineage.span", "lineage.text_sha256"],
        ),
        (Lineage("a", "b", 1, span=Span(4, 4)), "", ["lineage.span", "quote"]),
        (Lineage("a", "b", 1, span=Span(-1, 4), text_sha256=b"short"), None, ["lineage.span", "lineage.text_sha256"]),
        (Lineage("a"), GraphPath((), ()), ["path.edges"]),
    ],
)
def test_what_is_missing_is_named_at_once(lineage: Lineage, claim: Claim | None, fields: list[str]) -> None:
    with pytest.raises(InvalidRequest) as raised:
        verify_citation(VerifyRequest(lineage, claim), CALLER, [])
    assert [fault.field for fault in raised.value.violations] == fields
    assert {fault.reason for fault in raised.value.violations} <= {
        ErrorReason.VALUE_REQUIRED,
        ErrorReason.VALUE_OUT_OF_RANGE,
    }
