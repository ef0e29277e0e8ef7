"""Documents whose places do not follow from their text: kept with each revision, and there when they are cut anew."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import docx
import pytest

from groundwire_server.evidence import Label, Locator, slice_text
from groundwire_server.ingest import DocumentHead, DocumentRules, recut
from groundwire_server.library import Library, LibraryConfig
from groundwire_server.readers import unpack_places
from tests.ingest.dying_recut import control_of
from tests.ingest.support import make_library, opened, send

PAGE = (
    "<h1>Costs</h1><p>They fell in the first quarter.<p>They rose in the second.<h2>Why</h2><p>燃料が値上がりした。"
).encode()


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    made = make_library(tmp_path)
    yield made
    made.close()


def word_file(*paragraphs: str) -> bytes:
    document: Any = docx.Document()
    for text in paragraphs:
        document.add_paragraph(text)
    stream = io.BytesIO()
    document.save(stream)
    return stream.getvalue()


def locators(library: Library, doc_id: str) -> list[tuple[str, str, str]]:
    """Text, locator and heading of the active chunks of a document."""
    chunks = library.store.reader().iter_chunks(clearance=None)
    return [(chunk.text, chunk.locator, chunk.heading) for chunk in chunks if chunk.doc_id == doc_id]


def test_places_are_kept_for_texts_that_do_not_tell_them(library: Library) -> None:
    send(library, ("a.html", PAGE), ("a.md", b"# A\n\ntext"), ("a.docx", word_file("one", "two")))
    reader = library.store.reader()
    for doc_id, revision in (("a.html", 1), ("a.docx", 1)):
        body, places = unpack_places(reader.source_places(doc_id, revision, clearance=None))
        text = reader.source_text(doc_id, revision, clearance=None)
        assert text is not None
        assert body.end == len(text)
        for chunk in reader.iter_chunks(clearance=None):
            if chunk.doc_id == doc_id:
                assert slice_text(text, chunk.span) == chunk.text
                assert str(Locator(doc_id, places.locate(chunk.span))) == chunk.locator
    assert reader.source_places("a.md", 1, clearance=None) == b""
    assert reader.source_places("gone", 1, clearance=None) == b""


def test_hidden_places_look_like_none(library: Library) -> None:
    send(library, ("a.html", PAGE), label=Label.CONFIDENTIAL)
    reader = library.store.reader()
    assert reader.source_places("a.html", 1, clearance=Label.INTERNAL) == b""
    assert reader.source_places("a.html", 1, clearance=Label.CONFIDENTIAL)


def test_what_is_cut_anew_has_its_places_again_and_again(library: Library, tmp_path: Path) -> None:
    files = {"a.html": PAGE, "a.docx": word_file("First paragraph of it.", "Second paragraph of it.")}
    send(library, *files.items())
    for turn, chars in enumerate((30, 200, 30)):
        library.set_config(LibraryConfig(chunk_chars=chars, overlap_chars=0))
        board = tmp_path / f"board{turn}"
        board.mkdir()
        with control_of(board, library) as control:
            recut(library, control)
        fresh = make_library(tmp_path, f"fresh{turn}")
        try:
            with opened(fresh, rules=DocumentRules.of(library.config)) as (stream, _):
                for seq, (doc_id, raw) in enumerate(files.items(), 1):
                    stream.feed(seq, DocumentHead(doc_id), raw, True)
                stream.finish(len(files))
            for doc_id in files:
                assert locators(library, doc_id) == locators(fresh, doc_id)
        finally:
            fresh.close()
    assert ("燃料が値上がりした。", "a.html#para=5,heading=Why", "Costs > Why") in locators(library, "a.html")
