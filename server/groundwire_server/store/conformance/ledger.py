"""Ingest streams, embeddings and named texts."""

from __future__ import annotations

from datetime import timedelta

from groundwire_server.errors import Aborted
from groundwire_server.evidence import Label
from groundwire_server.store.conformance.check import Places, expect, raises, same
from groundwire_server.store.conformance.samples import START, TickingClock, make_document
from groundwire_server.store.rows import IngestState

__all__ = ["CHECKS"]


def an_ingest_is_resumed_where_it_was(places: Places) -> None:
    """Parts up to durable_seq survive, with the head and content of the open document and every outcome in order."""
    place = places()
    store = place(TickingClock())
    with store.writer() as writer:
        same(writer.start_ingest("i", "documents"), IngestState("i", "documents", 0, False, b"", ()), "a new ingest")
        writer.spool("i", 1, b"head", b"one ")
        writer.spool("i", 2, None, b"\x00two")
    with store.writer() as writer:
        writer.spool("i", 3, None, b"")
        writer.start_ingest("other", "facts")
        writer.spool("other", 9, b"h", b"other")
    store.close()
    store = place(TickingClock())
    same(store.reader().ingest("i"), IngestState("i", "documents", 3, False, b"head", ()), "it after opening again")
    same(store.reader().spooled("i"), b"one \x00two", "its content")
    with store.writer() as writer:
        same(writer.start_ingest("i", "documents").durable_seq, 3, "where it goes on")
        writer.replace_document(make_document("a"))
        writer.finish_part("i", 4, b"first")
    same(store.reader().ingest("i"), IngestState("i", "documents", 4, False, b"", (b"first",)), "after a document")
    same(store.reader().spooled("i"), b"", "content after a document")
    same(store.reader().spooled("other"), b"other", "content of another ingest")
    with store.writer() as writer:
        writer.finish_part("i", 5, b"second")
        writer.finish_ingest("i")
    same(store.reader().ingest("i"), IngestState("i", "documents", 5, True, b"", (b"first", b"second")), "the end")
    same(store.reader().ingest("unknown"), None, "an unknown ingest")
    store.close()


def parts_go_forward(places: Places) -> None:
    """A part that lies before what is durable, an unknown ingest and an id of another kind are refused."""
    store = places()(TickingClock())
    with store.writer() as writer:
        writer.start_ingest("i", "documents")
        writer.spool("i", 2, b"h", b"x")
        raises(ValueError, lambda: writer.spool("i", 2, None, b"y"), "the same part again")
        raises(ValueError, lambda: writer.finish_part("i", 1, b"o"), "a part before")
        writer.finish_part("i", 2, b"o")
        raises(KeyError, lambda: writer.spool("unknown", 1, b"h", b""), "an unknown ingest")
        raises(KeyError, lambda: writer.finish_ingest("unknown"), "finishing an unknown ingest")
        raises(Aborted, lambda: writer.start_ingest("i", "facts"), "an id of another kind")
    same(store.reader().ingest("i"), IngestState("i", "documents", 2, False, b"", (b"o",)), "what is left")
    store.close()


def old_ingests_are_forgotten(places: Places) -> None:
    """Ingests that were last written before a moment are dropped with all that is theirs."""
    clock = TickingClock()
    store = places()(clock)
    with store.writer() as writer:
        writer.start_ingest("old", "documents")
        writer.spool("old", 1, b"h", b"x")
    clock.moment = START + timedelta(days=2)
    with store.writer() as writer:
        writer.start_ingest("new", "documents")
        writer.finish_part("new", 1, b"o")
    with store.writer() as writer:
        same(writer.forget_ingests(START + timedelta(days=1)), 1, "how many are dropped")
    reader = store.reader()
    same((reader.ingest("old"), reader.spooled("old")), (None, b""), "the old one")
    expect(reader.ingest("new") is not None, "the new one is there")
    store.close()


def equal_texts_share_a_vector(places: Places) -> None:
    """Vectors are kept by index text and model; a chunk never takes one from a text of a stricter label."""
    store = places()(TickingClock())
    with store.writer() as writer:
        writer.replace_document(make_document("a", "same\nother"))  # rows 1, 2
        writer.replace_document(make_document("b", "same", header="h"))  # 3
        writer.replace_document(make_document("c", "same", label=Label.CONFIDENTIAL))  # 4
        writer.replace_document(make_document("d", "same", label=Label.PUBLIC))  # 5
        writer.replace_document(make_document("e", "same", label=Label.RESTRICTED))  # 6

    def without() -> list[int]:
        return [row for row, _ in store.reader().rows_without_embedding("m")]

    same(
        list(store.reader().rows_without_embedding("m"))[:3],
        [(1, "same"), (2, "other"), (3, "h\nsame")],
        "what to embed",
    )
    same(without(), [1, 2, 3, 4, 5], "rows without a vector, RESTRICTED left out")
    with store.writer() as writer:
        same(writer.put_embeddings("m", [(4, b"conf"), (6, b"never")]), [(4, b"conf")], "rows by a CONFIDENTIAL text")
    same(without(), [1, 2, 3, 5], "rows without a vector after it")
    with store.writer() as writer:
        covered = writer.put_embeddings("m", [(1, b"vect")])
    same(covered, [(1, b"vect"), (4, b"vect")], "rows by an INTERNAL text")
    same(without(), [2, 3, 5], "rows without a vector after both")
    for label, known in (
        (Label.PUBLIC, {}),
        (Label.INTERNAL, {"same": b"vect"}),
        (Label.CONFIDENTIAL, {"same": b"vect"}),
    ):
        found_texts = store.reader().vectors_of_texts("m", ["other", "same", "h\nsame", "同じ"], label)
        same(found_texts, known, f"texts with a vector up to {label.name}")
    same(store.reader().vectors_of_texts("other", ["same"], Label.CONFIDENTIAL), {}, "texts and another model")
    found = list(store.reader().embeddings("m", 1, 6))
    same([row for row, _ in found], [1, 2, 3, 4, 5, 6], "rows in order")
    same([vector is not None for _, vector in found], [True, False, False, True, False, False], "which have one")
    same([v for _, v in store.reader().embeddings("other", 1, 6)], [None] * 6, "vectors of another model")
    with store.writer() as writer:
        writer.replace_document(make_document("f", "new\nsame"))  # 7, 8
    same(dict(store.reader().embeddings("m", 7, 8)), {7: None, 8: b"vect"}, "a text that was embedded before")
    with store.writer() as writer:
        raises(KeyError, lambda: writer.put_embeddings("m", [(99, b"x")]), "a row that is not there")
        writer.withdraw_document("b")
    same(without(), [2, 5, 7], "rows without a vector, dead ones left out")
    same([r for r, _ in store.reader().rows_without_embedding("m", 2)], [5, 7], "those after a row")
    store.close()


def named_texts_have_generations(places: Places) -> None:
    """A named text of the library is read as it was at the reader's generation."""
    store = places()(TickingClock())
    same(store.reader().meta("glossary"), None, "a text that was never set")
    readers = []
    for value in ("one", "", "二\x00"):
        with store.writer() as writer:
            writer.set_meta("glossary", "thrown away")
            writer.set_meta("glossary", value)
        readers.append(store.reader())
    same([reader.meta("glossary") for reader in readers], ["one", "", "二\x00"], "the text at each generation")
    store.close()


CHECKS = (
    an_ingest_is_resumed_where_it_was,
    parts_go_forward,
    old_ingests_are_forgotten,
    equal_texts_share_a_vector,
    named_texts_have_generations,
)
