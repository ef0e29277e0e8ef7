"""Documents, revisions and chunks."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from groundwire_server.errors import DocumentRefused, UnknownResource
from groundwire_server.evidence import Attribute, Family, Label, Span, text_sha256
from groundwire_server.store.conformance.check import Places, expect, raises, same
from groundwire_server.store.conformance.samples import (
    HOSTILE,
    START,
    TickingClock,
    every_attribute,
    make_document,
    make_edge,
    make_fact,
)
from groundwire_server.store.protocol import Store
from groundwire_server.store.rows import NewChunk, NewDocument, Replaced

__all__ = ["CHECKS"]


def _put(store: Store, *documents: NewDocument) -> list[Replaced]:
    with store.writer() as writer:
        return [writer.replace_document(document) for document in documents]


def what_goes_in_comes_out(places: Places) -> None:
    """Text, spans, places and attributes come out exactly as they went in, hostile text included."""
    store = places()(TickingClock())
    chunk = NewChunk(
        Span(2, 20),
        "a,b#line=1",
        header="head\n2",
        heading="H",
        parent_id="p",
        parent_span=Span(0, 30),
        parent_locator="L",
    )
    document = replace(
        make_document("å/日本 %@#?,=.md", HOSTILE, valid_as_of=START, attributes=every_attribute()),
        chunks=(chunk, NewChunk(Span(20, 20), "empty"), NewChunk(Span(0, len(HOSTILE)), "all")),
        title=HOSTILE,
    )
    same(_put(store, document), [Replaced(document.doc_id, 1, 3, unchanged=False)], "what became of it")
    reader = store.reader()
    same(reader.source_text(document.doc_id, 1, clearance=None), HOSTILE, "the source text")
    revision = reader.revision(document.doc_id, 1, clearance=None)
    if revision is None:
        raise AssertionError("the revision is not there")
    same(
        (revision.title, revision.media_type, revision.raw_sha256, revision.raw_bytes, revision.text_chars),
        (document.title, document.media_type, document.raw_sha256, document.raw_bytes, len(HOSTILE)),
        "the revision",
    )
    same((revision.chunker, revision.chunks, revision.label), ("lines", 3, document.label), "how it was cut")
    same((revision.valid_as_of, revision.attributes), (START, document.attributes), "time and attributes")
    same((revision.retired_at, revision.died), (None, None), "its end")
    chunks = reader.chunks([1, 2, 3])
    same([c.text for c in chunks], [HOSTILE[2:20], "", HOSTILE], "texts of the chunks")
    first = chunks[0]
    same((first.span, first.locator, first.header, first.heading), (chunk.span, *_places(chunk)), "the first chunk")
    same((first.parent_id, first.parent_span, first.parent_locator), ("p", Span(0, 30), "L"), "its parent")
    same((first.doc_id, first.revision, first.seq, first.title), (document.doc_id, 1, 0, HOSTILE), "where it stands")
    same(first.text_sha256, text_sha256(HOSTILE[2:20]), "its hash")
    same((first.label, first.valid_as_of, first.attributes), (document.label, START, document.attributes), "the rest")
    same(first.ingested_at, revision.ingested_at, "when it came")
    same(chunks[1].parent_span, None, "the parent of one that has none")
    texts = [(1, f"head\n2\n{HOSTILE[2:20]}"), (2, ""), (3, HOSTILE)]
    same(list(reader.index_texts(1, 3)), texts, "texts to index")
    store.close()


def _places(chunk: NewChunk) -> tuple[str, str, str]:
    return chunk.locator, chunk.header, chunk.heading


def replacing_is_one_step(places: Places) -> None:
    """Replacing retires the active revision and stores revision max + 1 in the same transaction."""
    store = places()(TickingClock())
    _put(store, make_document("a", "one\ntwo"))
    first = store.reader()
    same(_put(store, make_document("a", "three")), [Replaced("a", 2, 1, unchanged=False)], "the second revision")
    reader = store.reader()
    same([(r.revision, r.died is None) for r in reader.revisions("a", clearance=None)], [(2, True), (1, False)], "both")
    old, new = reader.revision("a", 1, clearance=None), reader.revision("a", 2, clearance=None)
    if old is None or new is None:
        raise AssertionError("a revision is not there")
    same(old.died, new.born, "the death of the old one")
    same(old.retired_at, new.ingested_at, "when the old one ended")
    same(reader.active_revision("a", clearance=None), new, "the active one")
    same(reader.source_text("a", 1, clearance=None), "one\ntwo", "the text of the old one")
    same(reader.counts(Label.INTERNAL), (1, 1, 0, 0), "counts")
    alive = [m.chunk_row for m in reader.chunk_metas() if m.died is None]
    same(alive, [3], "living chunk rows")
    same(
        [c.text for c in reader.chunks([3, 1, 2])], ["three", "one", "two"], "chunks in the order asked, dead ones too"
    )
    same(first.chunk_count(), 2, "chunk rows before")
    same(reader.chunk_count(), 3, "chunk rows after")
    store.close()


def equal_content_makes_no_revision(places: Places) -> None:
    """Equal content changes nothing, and the answer says so; the order of attributes is no content."""
    store = places()(TickingClock())
    attributes = (Attribute("b", "x"), Attribute("a", 1))
    document = make_document("a", attributes=attributes, valid_as_of=START)
    _put(store, document)
    before = store.reader()
    repeated = replace(document, attributes=tuple(reversed(attributes)), raw_sha256=b"\1" * 32)
    same(_put(store, document, repeated), [Replaced("a", 1, 2, unchanged=True)] * 2, "a repeat")
    after = store.reader()
    same(after.generation, before.generation, "the generation")
    same(after.revisions("a", clearance=None), before.revisions("a", clearance=None), "revisions")
    same(after.chunk_count(), before.chunk_count(), "chunk rows")
    store.close()


def any_difference_makes_a_revision(places: Places) -> None:
    """Another text, title, media type, label, valid_as_of, attribute, chunker or chunk makes a new revision."""
    store = places()(TickingClock())
    base = make_document("a", "one\ntwo", attributes=(Attribute("n", 1),))
    changed = [
        base,
        replace(base, text="one\ntwO"),
        replace(base, title="Other"),
        replace(base, media_type="text/markdown"),
        replace(base, label=Label.PUBLIC),
        replace(base, valid_as_of=START),
        replace(base, valid_as_of=START + timedelta(microseconds=1)),
        replace(base, attributes=(Attribute("n", 2),)),
        replace(base, attributes=()),
        replace(base, chunker="whole"),
        replace(base, chunks=base.chunks[:1]),
        replace(base, chunks=(replace(base.chunks[0], header="h"), base.chunks[1])),
        replace(base, chunks=(replace(base.chunks[0], locator="x"), base.chunks[1])),
        replace(base, chunks=()),
    ]
    for number, document in enumerate(changed, 1):
        same(_put(store, document)[0], Replaced("a", number, len(document.chunks), unchanged=False), "a difference")
    store.close()


def a_document_may_have_no_chunks(places: Places) -> None:
    """An empty tuple of chunks is a document without chunks."""
    store = places()(TickingClock())
    _put(store, replace(make_document("a", ""), chunks=()), make_document("b", "text"))
    reader = store.reader()
    same(reader.counts(Label.INTERNAL), (2, 1, 0, 0), "counts")
    same(reader.source_text("a", 1, clearance=None), "", "its text")
    same([s.doc_id for s in reader.revision_spans()], ["b"], "revisions with chunks")
    same([s.doc_id for s in reader.revision_details()], ["b"], "details of revisions with chunks")
    store.close()


def rows_ascend_and_spans_cover_them(places: Places) -> None:
    """Chunk rows ascend with insertion; those of a revision follow one another in seq order; nothing is left out."""
    store = places()(TickingClock())
    _put(store, make_document("b", "1\n2\n3"), make_document("a", "4"))
    middle = store.reader()
    _put(store, make_document("b", "5\n6"))
    with store.writer() as writer:
        writer.withdraw_document("a")
        writer.replace_document(make_document("hidden", "7\n8", label=Label.RESTRICTED))
    reader = store.reader()
    metas = list(reader.chunk_metas())
    same([m.chunk_row for m in metas], list(range(1, 9)), "chunk rows")
    same(
        [(m.doc_id, m.revision, m.seq) for m in metas[:4]], [("b", 1, 0), ("b", 1, 1), ("b", 1, 2), ("a", 1, 0)], "keys"
    )
    spans = list(reader.revision_spans())
    spread = [
        (s.first_row + seq, s.doc_id, s.revision, seq, s.label, s.valid_as_of, s.born, s.died)
        for s in spans
        for seq in range(s.chunks)
    ]
    wanted = [(m.chunk_row, m.doc_id, m.revision, m.seq, m.label, m.valid_as_of, m.born, m.died) for m in metas]
    same(spread, wanted, "spans against metas")
    same([d.first_row for d in reader.revision_details()], [s.first_row for s in spans], "details against spans")
    for after in range(reader.chunk_count() + 1):
        rest = [s.first_row for s in spans if s.first_row + s.chunks - 1 > after]
        same([s.first_row for s in reader.revision_spans(after)], rest, f"spans above row {after}")
        same([d.first_row for d in reader.revision_details(after)], rest, f"details above row {after}")
        rows = [m.chunk_row for m in reader.chunk_metas(after)]
        same(rows, [m.chunk_row for m in metas if m.chunk_row > after], f"metas above row {after}")
    died = sorted((s.first_row, s.died) for s in reader.retired_spans(middle.generation))
    same(died, sorted((s.first_row, s.died) for s in spans if s.died), "spans that died")
    same(list(reader.retired_spans(reader.generation)), [], "spans that died after now")
    same([t for _, t in reader.index_texts(2, 6)], ["2", "3", "4", "5", "6"], "a range of texts")
    same(list(reader.index_texts(7, 3)), [], "an empty range")
    raises(KeyError, lambda: reader.chunks([1, 99]), "an unknown row")
    raises(KeyError, lambda: middle.chunks([5]), "a row of a later generation")
    store.close()


def chunks_are_picked_by_equal_attributes(places: Places) -> None:
    """Chunks come in row order, picked by document and equal attributes together; ended ones on demand."""
    store = places()(TickingClock())
    english = (Attribute("lang", "en"), Attribute("year", 2024))
    _put(
        store,
        make_document("a", "1\n2", attributes=english),
        make_document("b", "3", attributes=(Attribute("lang", "ja"), Attribute("year", 2024.0))),
        make_document("c", "4", label=Label.CONFIDENTIAL, attributes=english),
        make_document("d", "5"),
    )
    _put(store, make_document("a", "6\n7", attributes=english))
    reader = store.reader()
    for options, wanted in (
        ({}, "3567"),
        ({"include_inactive": True}, "123567"),
        ({"doc_id": "a"}, "67"),
        ({"doc_id": "a", "include_inactive": True, "equal": {"lang": "en"}}, "1267"),
        ({"equal": {"year": 2024}}, "367"),
        ({"equal": {"year": 2024, "lang": "ja"}}, "3"),
        ({"equal": {"year": "2024"}}, ""),
        ({"equal": {"unknown": 1}}, ""),
        ({"doc_id": "c"}, ""),
    ):
        found = "".join(c.text for c in reader.iter_chunks(clearance=Label.INTERNAL, **options))
        same(found, wanted, f"chunks by {options}")
    same("".join(c.text for c in reader.iter_chunks(clearance=None)), "34567", "chunks for the house's own work")
    store.close()


def withdrawing_takes_everything(places: Places) -> None:
    """Withdrawing retires the active revision, and the facts and edges whose source_doc it is; revisions stay."""
    store = places()(TickingClock())
    with store.writer() as writer:
        writer.replace_document(make_document("report.pdf"))
        writer.replace_document(make_document("other.pdf"))
        writer.put_facts([make_fact("1"), make_fact("2", source_doc="other.pdf")])
        writer.put_edges([make_edge(source_doc="report.pdf"), make_edge(source_doc="other.pdf")])
    with store.writer() as writer:
        out = writer.withdraw_document("report.pdf")
    same((out.revision, out.withdrawn_now), (1, True), "the answer")
    reader = store.reader()
    same(reader.counts(Label.INTERNAL), (1, 2, 1, 1), "counts")
    same([f.record.source_doc for f in reader.facts(Label.INTERNAL)], ["other.pdf"], "figures that are left")
    edges = reader.edges(Label.INTERNAL, [("entity", "ACME")], outgoing=True)
    same([e.record.source_doc for e in edges], ["other.pdf"], "relations that are left")
    same(reader.source_text("report.pdf", 1, clearance=None), "first paragraph\nsecond paragraph", "the old text")
    with store.writer() as writer:
        again = writer.withdraw_document("report.pdf")
    same((again.revision, again.withdrawn_now), (1, False), "the answer to a repeat")
    same(_put(store, make_document("report.pdf"))[0].revision, 2, "the revision of a document that comes back")
    same(store.reader().counts(Label.INTERNAL), (2, 4, 1, 1), "figures do not come back by themselves")
    store.close()


def withdrawing_knows_what_was_there(places: Places) -> None:
    """A source of facts or edges alone is withdrawn likewise, with revision 0; what never was is unknown."""
    store = places()(TickingClock())
    with store.writer() as writer:
        writer.put_facts([make_fact(source_doc="gdp.csv")])
        writer.put_edges([make_edge(source_doc="edges.csv")])
    for source in ("gdp.csv", "edges.csv"):
        for now in (True, False):
            with store.writer() as writer:
                out = writer.withdraw_document(source)
            same((out.revision, out.withdrawn_now), (0, now), f"withdrawing {source}")
    same(store.reader().counts(Label.INTERNAL), (0, 0, 0, 0), "counts")

    def unknown() -> None:
        with store.writer() as writer:
            writer.withdraw_document("never.pdf")

    raises(UnknownResource, unknown, "withdrawing what never was")
    store.close()


def documents_are_listed_in_order(places: Places) -> None:
    """Active revisions are sorted by doc_id in code-point order, from a prefix on, after a place, up to a limit."""
    store = places()(TickingClock())
    ids = ["a", "a/1", "a/2", "a0", "B", "é", "ﬀ", "𝔸", "a\U0010ffff", "\U0010ffff\U0010ffffz", "a%", "a_"]
    _put(store, *(make_document(doc_id, doc_id) for doc_id in ids))
    with store.writer() as writer:
        writer.withdraw_document("a0")
        writer.replace_document(make_document("a/2", "again"))
    left = sorted(set(ids) - {"a0"})
    reader = store.reader()

    def listed(prefix: str = "", after: str = "", limit: int | None = None) -> list[str]:
        return [r.doc_id for r in reader.documents(prefix, after, limit, clearance=None)]

    same(listed(), left, "all")
    for prefix in ["a", "a/", "a\U0010ffff", "\U0010ffff", "x", "a%", "a_"]:
        same(listed(prefix), [d for d in left if d.startswith(prefix)], f"those that start with {prefix!r}")
    same(listed(after="a/1"), [d for d in left if d > "a/1"], "those after a place")
    same(listed("a", "a/1", 2), [d for d in left if d.startswith("a") and d > "a/1"][:2], "a page")
    store.close()


def first_use_fixes_a_family(places: Places) -> None:
    """The first use of an attribute fixes its family; a document with another one is refused and nothing of it kept."""
    store = places()(TickingClock())
    _put(store, make_document("a", attributes=(Attribute("year", 2024), Attribute("lang", "en"))))
    with store.writer() as writer:
        wrong = make_document("b", attributes=(Attribute("new", "x"), Attribute("year", "2024")))
        raises(DocumentRefused, lambda: writer.replace_document(wrong), "another family")
        twice = make_document("b", attributes=(Attribute("k", 1), Attribute("k", 2)))
        raises(DocumentRefused, lambda: writer.replace_document(twice), "a name given twice")
        writer.replace_document(make_document("c", attributes=(Attribute("year", 1.5),)))
    reader = store.reader()
    same([r.doc_id for r in reader.documents(clearance=None)], ["a", "c"], "documents")
    same(reader.attribute_schema(None), {"lang": Family.TEXT, "year": Family.NUMBER}, "families")
    with store.writer() as writer:
        writer.withdraw_document("a")
        writer.withdraw_document("c")
    same(store.reader().attribute_schema(None), {"lang": Family.TEXT, "year": Family.NUMBER}, "families afterwards")
    with store.writer() as writer:
        counts = writer.put_facts([make_fact(attributes=(Attribute("year", "x"),)), make_fact("2")])
        same([place for place, _ in counts.refused], [0], "refused figures")
        counts = writer.put_edges([make_edge(attributes=(Attribute("lang", 3),)), make_edge("B")])
        same([place for place, _ in counts.refused], [0], "refused relations")
    same(store.reader().counts(Label.INTERNAL), (0, 0, 1, 1), "counts")
    store.close()


def text_without_utf8_is_refused(places: Places) -> None:
    """Half a surrogate pair, which has no UTF-8 form, is refused in any field; the others go on."""
    store = places()(TickingClock())
    with store.writer() as writer:
        for document in (
            replace(make_document("a"), text="x\ud800" * 20),
            replace(make_document("a"), title="\udfff"),
            make_document("a", attributes=(Attribute("k", "\ud83d"),)),
            make_document("a", attributes=(Attribute("k", ("x", "\ud83d")),)),
        ):
            raises(DocumentRefused, lambda document=document: writer.replace_document(document), "half a pair")  # type: ignore[misc]
        counts = writer.put_facts([make_fact(entity="\ud800"), make_fact(author="\ud800"), make_fact()])
        same(([place for place, _ in counts.refused], counts.stored), ([0, 1], 1), "figures")
        edges = writer.put_edges([make_edge("\ud800"), make_edge(locator="\ud800"), make_edge()])
        same(([place for place, _ in edges.refused], edges.stored), ([0, 1], 1), "relations")
        writer.replace_document(make_document("b"))
    same(store.reader().counts(Label.INTERNAL), (1, 2, 1, 1), "counts")
    store.close()


def a_chunk_lies_in_its_text(places: Places) -> None:
    """A chunk whose span lies outside of the text is a fault of the caller's."""
    store = places()(TickingClock())
    document = replace(make_document("a", "abc"), chunks=(NewChunk(Span(1, 4), "x"),))

    def put() -> None:
        _put(store, document)

    raises(ValueError, put, "a span outside of the text")
    expect(store.reader().active_revision("a", clearance=None) is None, "it was stored")
    store.close()


CHECKS = (
    what_goes_in_comes_out,
    replacing_is_one_step,
    equal_content_makes_no_revision,
    any_difference_makes_a_revision,
    a_document_may_have_no_chunks,
    rows_ascend_and_spans_cover_them,
    chunks_are_picked_by_equal_attributes,
    withdrawing_takes_everything,
    withdrawing_knows_what_was_there,
    documents_are_listed_in_order,
    first_use_fixes_a_family,
    text_without_utf8_is_refused,
    a_chunk_lies_in_its_text,
)
