"""Texts put together block by block: places cover them, locators come back, bytes and back again."""

from __future__ import annotations

from bisect import bisect_right
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.chunking import ParagraphChunker
from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.evidence import Attribute, Label, Locator, Span
from groundwire_server.readers import (
    Document,
    ReadOptions,
    ReadWarning,
    RefusedPart,
    Source,
    WarningKind,
    pack_places,
    unpack_places,
)
from groundwire_server.readers.document_codec import decode_outputs, decode_refusal, encode_outputs, encode_refusal
from groundwire_server.readers.text_builder import TextBuilder, clean_text
from tests.support.hostile_text import hostile_text

BLOCKS = st.lists(
    st.tuples(hostile_text(6), st.integers(1, 3), st.integers(0, 3), st.booleans(), st.booleans()),
    min_size=1,
    max_size=12,
)


def build(blocks: list[tuple[str, int, int, bool, bool]]) -> tuple[TextBuilder, list[tuple[str, int, int]]]:
    """A builder with these blocks (text, pages to go on by, level, close, in a table), and what was really added."""
    builder = TextBuilder(Source("ä#1.pdf", b"raw"), (("page", "para"), ("table",)), name_headings=True)
    page, para, added = 1, 0, []
    for text, step, level, close, table in blocks:
        if step > 1:
            page, para = page + step - 1, 0
        place: dict[str, str | int] = {"page": page, "para": para + 1, **({"table": 7} if table else {})}
        if builder.add(text, place, level=level, close=close):
            para += 1
            added.append((clean_text(text).strip(), page, para))
    return builder, added


@given(BLOCKS)
def test_each_block_is_found_at_its_place(blocks: list[tuple[str, int, int, bool, bool]]) -> None:
    builder, added = build(blocks)
    if not added:
        with pytest.raises(DocumentRefused) as refused:
            builder.document("application/pdf", title="")
        assert refused.value.reason is ErrorReason.DOCUMENT_NO_TEXT
        return
    document = builder.document("application/pdf", title="")
    offset = 0
    for text, page, para in added:
        start = document.text.index(text, offset)
        assert document.text[offset:start] in ("", "\n", "\n\n")
        named = dict(document.places.locate(Span(start, start + len(text))))
        assert (named["page"], named["para"]) == (str(page), str(para))
        offset = start + len(text)
    assert offset == len(document.text)


@given(BLOCKS, st.integers(5, 60))
def test_chunks_are_slices_whose_locators_come_back(blocks: list[tuple[str, int, int, bool, bool]], most: int) -> None:
    builder, added = build(blocks)
    if not added:
        return
    document = builder.document("application/pdf", title="")
    for chunk in ParagraphChunker(most, most // 2).chunk(document.text):
        assert document.text[chunk.span.start : chunk.span.end] == chunk.text
        locator = Locator(document.doc_id, document.places.locate(chunk.span))
        assert Locator.parse(str(locator)) == locator
        assert locator.parts[0][0] == "page"


@given(BLOCKS, st.data())
def test_what_is_packed_locates_the_same(blocks: list[tuple[str, int, int, bool, bool]], data: st.DataObject) -> None:
    builder, added = build(blocks)
    if not added:
        return
    document = builder.document("application/pdf", title="")
    body, places = unpack_places(pack_places(document.body, document.places))
    assert body == document.body
    start = data.draw(st.integers(0, len(document.text)))
    span = Span(start, data.draw(st.integers(start, len(document.text))))
    assert places.locate(span) == document.places.locate(span)
    assert places.heading(span) == document.places.heading(span)
    (again,) = decode_outputs(encode_outputs([document]))
    assert isinstance(again, Document)
    assert again.text == document.text
    assert again.places.locate(span) == document.places.locate(span)


def test_a_document_comes_back_from_a_process_of_its_own() -> None:
    builder = TextBuilder(Source("a.pdf", b"raw"), (("page",),))
    builder.add("text", {"page": 1})
    builder.warnings.append(ReadWarning("a.pdf#page=2", "scan", WarningKind.PAGE_WITHOUT_TEXT))
    attributes = (
        Attribute("a", "text"),
        Attribute("b", date(2024, 3, 31)),
        Attribute("c", Decimal("1.50")),
        Attribute("d", ("x", "y")),
        Attribute("e", True),
        Attribute("f", datetime(2024, 3, 31, tzinfo=UTC)),
        Attribute("g", 7),
    )
    document = builder.document("application/pdf", title="T", attributes=attributes)
    part = RefusedPart("b.pdf", DocumentRefused(ErrorReason.DOCUMENT_BROKEN, "no", hint="do", details={"a": "b"}))
    again, refused = decode_outputs(encode_outputs([document, part]))
    assert isinstance(again, Document)
    assert isinstance(refused, RefusedPart)
    assert again.attributes == attributes
    assert again.warnings == document.warnings
    assert (again.title, again.raw_sha256, again.raw_bytes) == ("T", document.raw_sha256, 3)
    assert (refused.error.cause(), refused.error.hint) == (part.error.cause(), "do")
    assert decode_refusal(encode_refusal(part.error)).cause() == part.error.cause()


def test_labels_and_days_come_back() -> None:
    document = Document(
        "a", "t", "text/html", "x", Span(0, 1), unpack_places(pack_places(Span(0, 1), build([])[0]._places()))[1],
        bytes(32), 1, label=Label.CONFIDENTIAL, valid_as_of=datetime(2024, 1, 1, tzinfo=UTC), index_title=True,
    )  # fmt: skip
    (again,) = decode_outputs(encode_outputs([document]))
    assert isinstance(again, Document)
    assert (again.label, again.valid_as_of, again.index_title) == (document.label, document.valid_as_of, True)


def test_text_over_the_bound_is_too_large() -> None:
    builder = TextBuilder(Source("a.pdf", b"", options=ReadOptions(max_text_chars=10)), ())
    builder.add("12345", {})
    with pytest.raises(DocumentRefused) as refused:
        builder.add("123456", {})
    assert (refused.value.reason, refused.value.details) == (ErrorReason.DOCUMENT_TOO_LARGE, {"max_text_chars": "10"})


def test_headings_that_are_not_in_the_text_hold_for_what_comes_next() -> None:
    builder = TextBuilder(Source("a.pptx", b""), (("slide",),))
    builder.add("one", {"slide": 1}, level=1)
    builder.put_under("Not shown", 2)
    builder.add("two", {"slide": 1})
    builder.put_under("", 1)
    builder.add("three", {"slide": 2})
    document = builder.document("x", title="")
    places = [
        document.places.heading(Span(document.text.index(word), len(document.text))) for word in ("one", "two", "three")
    ]
    assert places == ["one", "one > Not shown", ""]


def test_a_span_over_places_without_a_name_of_one_kind_names_the_wider_one() -> None:
    builder = TextBuilder(Source("a.pptx", b""), (("slide", "para", "notes"),))
    builder.add("body", {"slide": 2, "para": 1})
    builder.add("said", {"slide": 2, "notes": 1})
    builder.add("next", {"slide": 3, "para": 1})
    places = builder.document("x", title="").places
    assert places.locate(Span(0, 4)) == (("slide", "2"), ("para", "1"))
    assert places.locate(Span(6, 10)) == (("slide", "2"), ("notes", "1"))
    assert places.locate(Span(0, 10)) == (("slide", "2"),)
    assert places.locate(Span(6, 16)) == (("slide", "2-3"),)


def test_steps_grow() -> None:
    builder, _ = build([("a", 1, 0, False, False), ("b", 1, 0, True, False), ("c", 2, 0, False, False)])
    for axis in builder.document("x", title="").places.axes:
        assert list(axis.starts) == sorted(set(axis.starts))
        assert bisect_right(axis.starts, 0) == 1
