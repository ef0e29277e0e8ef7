from __future__ import annotations

import gzip
import hashlib
import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.evidence import Attribute, Label, Span
from groundwire_server.readers import Document, JsonLinesReader, ReadOptions, RefusedPart, Source
from tests.support.hostile_text import hostile_text
from tests.support.refusals import reason_of


def read(raw: bytes, options: ReadOptions | None = None) -> list[Document | RefusedPart]:
    return JsonLinesReader().read(Source("corpus.jsonl", raw, options=options or ReadOptions()))


def line(**fields: object) -> bytes:
    return json.dumps({"doc_id": "d1", "title": "T", "text": "text", **fields}, ensure_ascii=False).encode()


def refusal(raw: bytes) -> DocumentRefused:
    (part,) = read(raw)
    assert isinstance(part, RefusedPart)
    assert part.doc_id == "corpus.jsonl"
    return part.error


def test_a_line_is_a_document() -> None:
    raw = line(text="one\u2028two\r\nthree", meta={"lang": "en", "page": 3, "ok": True, "x": 1.5, "tags": ["a"]})
    (document,) = read(raw + b"\n")
    assert isinstance(document, Document)
    assert (document.doc_id, document.title, document.text) == ("d1", "T", "one\u2028two\r\nthree")
    assert document.index_title
    assert document.body == Span(0, len(document.text))
    assert (document.raw_sha256, document.raw_bytes) == (hashlib.sha256(raw).digest(), len(raw))
    assert document.attributes == (
        Attribute("lang", "en"),
        Attribute("ok", True),
        Attribute("page", 3),
        Attribute("tags", ("a",)),
        Attribute("x", Decimal("1.5")),
    )
    assert document.places.locate(Span(0, 10)) == (("line", "1-2"),)


@pytest.mark.parametrize(
    ("fields", "label"),
    [
        ({}, None),
        ({"label": "public"}, Label.PUBLIC),
        ({"sensitivity": "CONFIDENTIAL"}, Label.CONFIDENTIAL),
        ({"meta": {"sensitivity": "confidential"}, "label": "public"}, Label.CONFIDENTIAL),
        ({"meta": {"label": "??"}}, Label.RESTRICTED),
    ],
)
def test_labels(fields: dict[str, object], label: Label | None) -> None:
    (document,) = read(line(**fields))
    assert isinstance(document, Document)
    assert document.label is label


def test_the_title_may_be_missing_and_stays_empty() -> None:
    (document,) = read(b'{"doc_id": "a", "text": "b"}')
    assert isinstance(document, Document)
    assert document.title == ""


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"{", "no JSON"),
        (b"[1]", "no JSON object"),
        (b"\xff\xfe{}", "no UTF-8"),
        (b'{"text": "a"}', "doc_id is missing"),
        (b'{"doc_id": "", "text": "a"}', "doc_id is empty"),
        (b'{"doc_id": 7, "text": "a"}', "doc_id is no text"),
        (b'{"doc_id": "a"}', "text is missing"),
        (b'{"doc_id": "a", "text": ["b"]}', "text is no text"),
        (b'{"doc_id": "a", "text": "b", "title": 1}', "title is no text"),
        (b'{"doc_id": "a", "text": "b", "meta": []}', "meta is no object"),
        (b'{"doc_id": "a", "text": "\\ud800"}', "half a character"),
        (b'{"doc_id": "a", "text": "b", "meta": {"c": "\\udc00"}}', "half a character"),
        (b'{"doc_id": "a", "text": "b\\u0000"}', "NUL"),
        (b'{"doc_id": "a", "text": "b", "meta": {"c": NaN}}', "no JSON"),
        (b'{"doc_id": "a", "text": ' + b"[" * 100_000, "no JSON"),
        (b'{"doc_id": "a", "text": "b", "meta": {"c": ' + b"9" * 5000 + b"}}", "no JSON"),
    ],
)
def test_a_bad_line_says_what_is_wrong(raw: bytes, words: str) -> None:
    error = refusal(raw)
    assert error.reason is ErrorReason.DOCUMENT_BROKEN
    assert words in error.message
    assert error.details["line"] == "1"


@pytest.mark.parametrize("text", ["", " \n\u3000"])
def test_a_line_without_text(text: str) -> None:
    assert refusal(line(text=text)).reason is ErrorReason.DOCUMENT_NO_TEXT


def test_the_others_go_on_after_a_bad_line() -> None:
    outputs = read(line(doc_id="a") + b"\n{\n\n" + line(doc_id="b") + b"\r\n" + line(doc_id="a"))
    assert [type(output).__name__ for output in outputs] == ["Document", "RefusedPart", "Document", "RefusedPart"]
    last = outputs[-1]
    assert isinstance(last, RefusedPart)
    assert "stands in line 1 already" in last.error.message
    assert last.error.details["line"] == "5"


def test_unknown_fields_are_told() -> None:
    (document,) = read(line(url="http://x"))
    assert isinstance(document, Document)
    assert [warning.locator for warning in document.warnings] == ["corpus.jsonl#line=1"]


def test_gzip_gives_the_same() -> None:
    raw = b"\n".join(line(doc_id=str(number)) for number in range(50))
    assert read(gzip.compress(raw)) == read(raw)
    assert read(gzip.compress(raw[:1000]) + gzip.compress(raw[1000:])) == read(raw)


def test_a_gzip_bomb_ends_early() -> None:
    with pytest.raises(DocumentRefused) as refused:
        read(gzip.compress(b" " * 10_000_000), ReadOptions(max_unpacked_bytes=1_000_000))
    assert refused.value.reason is ErrorReason.DOCUMENT_TOO_LARGE


@pytest.mark.parametrize("damage", [lambda raw: raw[:-9], lambda raw: raw[:20], lambda raw: raw + b"junk"])
def test_a_damaged_gzip_is_broken(damage: object) -> None:
    assert callable(damage)
    with pytest.raises(DocumentRefused) as refused:
        read(damage(gzip.compress(line() * 3)))
    assert refused.value.reason is ErrorReason.DOCUMENT_BROKEN


def test_a_file_without_a_line_holds_no_text() -> None:
    with pytest.raises(DocumentRefused) as refused:
        read(b"\n \n")
    assert refused.value.reason is ErrorReason.DOCUMENT_NO_TEXT


@given(st.lists(hostile_text(20), max_size=8), st.booleans())
def test_texts_come_back_as_they_went_in(texts: list[str], escaped: bool) -> None:
    lines = [
        json.dumps({"doc_id": f"d{number}", "text": text}, ensure_ascii=escaped).encode()
        for number, text in enumerate(texts)
    ]
    readable = {f"d{number}": text for number, text in enumerate(texts) if text.strip() and "\x00" not in text}
    outputs = read(b"\n".join(lines)) if lines else []
    assert {output.doc_id: output.text for output in outputs if isinstance(output, Document)} == readable
    assert len(outputs) == len(texts)


@given(st.binary(max_size=300))
def test_any_bytes_end_typed(raw: bytes) -> None:
    assert reason_of(lambda: read(raw)) in (None, ErrorReason.DOCUMENT_NO_TEXT, ErrorReason.DOCUMENT_BROKEN)
