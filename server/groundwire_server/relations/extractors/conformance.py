"""What any extractor of relations must do. A check is a function whose docstring is the sentence that it holds."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from groundwire_server.conformance import Failure, expect, failures
from groundwire_server.evidence import Label, Span
from groundwire_server.glossary import EntityTerm, Glossary, MetricTerm, Synonym
from groundwire_server.relations.extractors.edges import evidence_span, extract_edges
from groundwire_server.relations.extractors.extraction import Extraction, Passage, RelationExtractor, SourceDocument
from groundwire_server.store import EdgeRecord

__all__ = ["CHECKS", "GLOSSARY", "Failure", "MakeExtractor", "run_checks", "sample_documents"]

MakeExtractor = Callable[[Glossary], RelationExtractor]
"""Makes an extractor for a glossary. What a model is asked by it must be answered alike each time."""

GLOSSARY = Glossary(
    [
        EntityTerm("ACME", "Acme", (Synonym("アクメ", "ja"), Synonym("顶点公司", "zh"))),
        EntityTerm("BETA", "Beta Works", (Synonym("ベータ工業", "ja"), Synonym("贝塔", "zh"))),
        EntityTerm("KYOTO", "Kyoto", (Synonym("京都", "ja"),)),
        MetricTerm("REVENUE", "Revenue", (Synonym("売上高", "ja"), Synonym("营业收入", "zh"))),
    ]
)
_TEXTS = (
    "Acme owns Beta Works. Its revenue rose.\nBeta Works makes pumps in Kyoto.",
    "アクメはベータ工業の親会社である。\n売上高は京都で伸びた。",
    "顶点公司拥有贝塔。\n营业收入增长。",
    "ACME\r\nowns\tＢｅｔａ Works\u2028e\u0301 👩\u200d👩 \x00 𠮷野家\ufeff Kyoto",
    "",
    "Acme " * 400 + "Beta Works",
)


def sample_documents() -> tuple[SourceDocument, ...]:
    """Documents in three languages, with hostile text, an empty one, and passages that overlap."""
    return tuple(_document(f"d{number}.md", text) for number, text in enumerate(_TEXTS))


def run_checks(make: MakeExtractor) -> list[Failure]:
    """Every check that an extractor fails; an exception of it is a failure too."""
    return failures(CHECKS, make)


def it_says_what_it_is(make: MakeExtractor) -> None:
    """An extractor has a name and a version, and is shown nothing that is RESTRICTED."""
    extractor = make(GLOSSARY)
    expect(bool(extractor.name) and bool(extractor.version), "a name and a version")
    expect(extractor.clearance < Label.RESTRICTED, "a clearance below RESTRICTED")
    expect(make(GLOSSARY).version == extractor.version, "equal versions of equal extractors")


def what_it_finds_stands_in_its_passage(make: MakeExtractor) -> None:
    """Each relation names a passage and a stretch of it that is not empty; the edge says the same place."""
    extractor = make(GLOSSARY)
    for document in sample_documents():
        edges, found = extract_edges(extractor, document)
        for edge, relation in zip(edges, found.relations, strict=True):
            expect(0 <= relation.passage < len(document.passages), "the number of a passage")
            within = document.passages[relation.passage].span
            span = relation.span
            expect(within.start <= span.start < span.end <= within.end, f"{span} lies in {within}")
            expect(evidence_span(edge.locator) == span, f"{edge.locator} names {span}")


def edges_are_of_their_document(make: MakeExtractor) -> None:
    """Edges carry the extractor's name, the document's id and its label; both ends are nodes."""
    extractor = make(GLOSSARY)
    for label in (Label.PUBLIC, extractor.clearance):
        for document in sample_documents():
            edges, _ = extract_edges(extractor, replace(document, label=label))
            for edge in edges:
                said = (edge.extractor, edge.source_doc, edge.label)
                expect(said == (extractor.name, document.doc_id, label), f"{said}")
                ends = (edge.source_kind, edge.source, edge.relation, edge.target_kind, edge.target)
                expect(all(ends), f"no empty end: {ends}")
                expect((edge.source_kind, edge.source) != (edge.target_kind, edge.target), "two ends, not one")


def nothing_is_found_twice(make: MakeExtractor) -> None:
    """A relation is found once at a place, also where two passages overlap."""
    for document in sample_documents():
        _, found = extract_edges(make(GLOSSARY), document)
        places = [(each.source, each.relation, each.target, each.span) for each in found.relations]
        expect(len(places) == len(set(places)), "each once a place")


def what_is_too_strict_is_not_looked_at(make: MakeExtractor) -> None:
    """Of a document above its clearance, and of a RESTRICTED one, an extractor finds nothing."""
    extractor = make(GLOSSARY)
    for label in Label:
        if label > extractor.clearance:
            for document in sample_documents():
                found = extractor.extract(replace(document, label=label))
                expect(found == Extraction(), f"nothing of {label.name}")


def the_same_comes_of_the_same(make: MakeExtractor) -> None:
    """Equal documents give equal findings, whatever came before, of another extractor, and in any thread."""
    documents = sample_documents()
    extractor = make(GLOSSARY)
    first = [_edges(extractor, document) for document in documents]
    second = [_edges(extractor, document) for document in reversed(documents)][::-1]
    expect(first == second, "the same in another order")
    expect(first == [_edges(make(GLOSSARY), document) for document in documents], "the same of another extractor")
    with ThreadPoolExecutor(4) as pool:
        expect(first == list(pool.map(lambda document: _edges(extractor, document), documents)), "the same in threads")


def it_ends_when_it_is_told(make: MakeExtractor) -> None:
    """What `check` raises ends the work and comes out, unless there is nothing to do."""
    extractor = make(GLOSSARY)

    def stop() -> None:
        raise _Stopped

    for document in sample_documents():
        looked: list[None] = []
        extractor.extract(document, lambda looked=looked: looked.append(None))  # type: ignore[misc]
        if not looked:
            expect(not extractor.extract(document).relations, "work that cannot be ended")
            continue
        try:
            extractor.extract(document, stop)
        except _Stopped:
            continue
        expect(False, "the work goes on")


CHECKS: tuple[Callable[[MakeExtractor], None], ...] = (
    it_says_what_it_is,
    what_it_finds_stands_in_its_passage,
    edges_are_of_their_document,
    nothing_is_found_twice,
    what_is_too_strict_is_not_looked_at,
    the_same_comes_of_the_same,
    it_ends_when_it_is_told,
)
"""All checks, in the order of the protocol."""


class _Stopped(Exception):
    pass


def _edges(extractor: RelationExtractor, document: SourceDocument) -> tuple[EdgeRecord, ...]:
    return extract_edges(extractor, document)[0]


def _document(doc_id: str, text: str) -> SourceDocument:
    """Passages of 48 code points, each of which begins 8 before the end of the one before."""
    before = "before the text. "
    stops = [Span(start, min(len(text), start + 48)) for start in range(0, len(text), 40)]
    passages = tuple(
        Passage(text[span.start : span.end], Span(span.start + len(before), span.end + len(before)), f"{doc_id}#n={n}")
        for n, span in enumerate(stops)
    )
    return SourceDocument(doc_id, Label.PUBLIC, passages)
