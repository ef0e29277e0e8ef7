"""What a library's settings ask of a store: declared types of attributes, and documents cut in another way."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from groundwire_server.errors import DocumentRefused
from groundwire_server.evidence import Attribute, AttributeType, Family, Label, Span
from groundwire_server.store.conformance.check import Places, expect, raises, same
from groundwire_server.store.conformance.samples import START, TickingClock, make_document, make_edge, make_fact
from groundwire_server.store.rows import NewChunk

__all__ = ["CHECKS"]


def a_declared_type_binds(places: Places) -> None:
    """A declared attribute takes values of its type alone, whatever was its first use; the others keep theirs."""
    store = places()(TickingClock())
    with store.writer() as writer:
        writer.replace_document(make_document("a", attributes=(Attribute("n", "x"), Attribute("k", "x"))))
    types = {"n": AttributeType.INTEGER, "new": AttributeType.STRING_LIST}
    with store.writer(types) as writer:
        for place, refused in enumerate((Attribute("n", "x"), Attribute("n", 1.5), Attribute("new", "x"))):
            document = make_document("b", attributes=(refused,))
            raises(DocumentRefused, lambda document=document: writer.replace_document(document), f"value {place}")  # type: ignore[misc]
        raises(
            DocumentRefused,
            lambda: writer.replace_document(make_document("b", attributes=(Attribute("k", 1),))),
            "another family than the first use of an attribute that is not declared",
        )
        taken = (Attribute("n", 3), Attribute("new", ("x", "y")))
        writer.replace_document(make_document("c", attributes=taken))
        writer.replace_document(make_document("d", attributes=(Attribute("n", Decimal("4.0")),)))
        facts = writer.put_facts([make_fact(attributes=(Attribute("n", "x"),)), make_fact("2")])
        edges = writer.put_edges([make_edge(attributes=(Attribute("n", "x"),)), make_edge("B")])
        same([place for place, _ in (*facts.refused, *edges.refused)], [0, 0], "refused figures and relations")
    reader = store.reader()
    same([r.doc_id for r in reader.documents(clearance=None)], ["a", "c", "d"], "documents")
    same(reader.attribute_schema(None)["new"], Family.TEXTS, "family of first use")
    store.close()


def cutting_anew_keeps_all_else(places: Places) -> None:
    """A document that is cut anew is its next revision with the same content; the one before stays as it was."""
    store = places()(TickingClock())
    attributes = (Attribute("n", "x"),)
    document = make_document("a", label=Label.RESTRICTED, valid_as_of=START, attributes=attributes)
    with store.writer() as writer:
        writer.replace_document(document)
    before = store.reader()
    chunks = tuple(
        NewChunk(Span(start, start + 1), f"a#char={start}", header="h") for start in range(len(document.text))
    )
    with store.writer({"n": AttributeType.INTEGER}) as writer:
        cut = writer.recut_document("a", 1, "letters", chunks)
        assert cut is not None
        same((cut.revision, cut.chunks, cut.unchanged), (2, len(document.text), False), "what became of it")
        expect(writer.recut_document("a", 1, "letters", chunks) is None, "a revision that has ended was cut")
        expect(writer.recut_document("b", 1, "letters", ()) is None, "a document that is not there was cut")
        again = writer.recut_document("a", 2, "letters", chunks)
        expect(again is not None and again.unchanged, "an equal cut made a revision")
        outside = (NewChunk(Span(0, len(document.text) + 1), "x"),)
        raises(ValueError, lambda: writer.recut_document("a", 2, "x", outside), "a span outside of the text")
    reader = store.reader()
    old, new = before.active_revision("a", clearance=None), reader.active_revision("a", clearance=None)
    assert old is not None
    assert new is not None
    moved = {"revision": 2, "chunker": "letters", "chunks": len(chunks), "ingested_at": new.ingested_at}
    same(new, replace(old, born=new.born, **moved), "the revision")  # type: ignore[arg-type]
    same(reader.source_text("a", 2, clearance=None), document.text, "text")
    found = list(reader.iter_chunks(clearance=None, doc_id="a"))
    same("".join(chunk.text for chunk in found), document.text, "chunks")
    same({chunk.header for chunk in found}, {"h"}, "headers")
    ended = reader.revision("a", 1, clearance=None)
    same(ended and ended.died, new.born, "end of the revision before")
    store.close()


CHECKS = (a_declared_type_binds, cutting_anew_keeps_all_else)
