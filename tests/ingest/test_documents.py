from __future__ import annotations

import hashlib
from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.errors import ErrorReason
from groundwire_server.evidence import Attribute, Label, Locator, slice_text
from groundwire_server.ingest import DocumentHead, DocumentRules, PreparedDocument, RefusedDocument, prepare_documents
from groundwire_server.store import NewDocument
from tests.support.hostile_text import hostile_text

RULES = DocumentRules()
NOTES = """\
---
label: confidential
topic: results
pages: 3
valid_as_of: 2024-03-31
---
# Report

Revenue rose.

## Japan

売上高は増えた。
"""


def prepare(raw: str | bytes, head: DocumentHead | None = None, rules: DocumentRules = RULES) -> NewDocument:
    (prepared,) = prepare_documents(head or DocumentHead("a/notes.md"), _bytes(raw), rules)
    assert isinstance(prepared, PreparedDocument)
    return prepared.document


def refusal(raw: str | bytes, head: DocumentHead, rules: DocumentRules = RULES) -> RefusedDocument:
    (refused,) = prepare_documents(head, _bytes(raw), rules)
    assert isinstance(refused, RefusedDocument)
    return refused


def _bytes(raw: str | bytes) -> bytes:
    return raw.encode() if isinstance(raw, str) else raw


def test_a_markdown_file_becomes_a_document_with_places() -> None:
    document = prepare(NOTES, rules=DocumentRules(chunk_chars=30, overlap_chars=0))
    assert document.text == NOTES
    assert (document.title, document.media_type) == ("Report", "text/markdown")
    assert (document.raw_sha256, document.raw_bytes) == (hashlib.sha256(NOTES.encode()).digest(), len(NOTES.encode()))
    assert document.chunker == "paragraph(30,0)"
    assert document.label is Label.CONFIDENTIAL
    assert document.valid_as_of == datetime(2024, 3, 31, tzinfo=UTC)
    assert document.attributes == (Attribute("pages", 3), Attribute("topic", "results"))
    assert [slice_text(document.text, chunk.span) for chunk in document.chunks] == [
        "# Report\n\nRevenue rose.",
        "## Japan\n\n売上高は増えた。",
    ]
    assert [chunk.locator for chunk in document.chunks] == ["a/notes.md#line=7-9", "a/notes.md#line=11-13"]
    assert [chunk.heading for chunk in document.chunks] == ["Report", "Report > Japan"]
    assert {chunk.header for chunk in document.chunks} == {""}


def test_front_matter_never_stands_in_a_chunk() -> None:
    for chunker in ("paragraph", "whole"):
        document = prepare(NOTES, DocumentHead("a.md", chunker=chunker))
        assert all("confidential" not in slice_text(document.text, chunk.span) for chunk in document.chunks)


@pytest.mark.parametrize(
    ("head", "file", "default", "label"),
    [
        (None, "", Label.PUBLIC, Label.PUBLIC),
        (None, "", Label.RESTRICTED, Label.RESTRICTED),
        (None, "public", Label.CONFIDENTIAL, Label.PUBLIC),
        (Label.PUBLIC, "", Label.INTERNAL, Label.PUBLIC),
        (Label.PUBLIC, "confidential", Label.INTERNAL, Label.CONFIDENTIAL),
        (Label.RESTRICTED, "public", Label.INTERNAL, Label.RESTRICTED),
        (Label.PUBLIC, "Streng Geheim", Label.INTERNAL, Label.RESTRICTED),
    ],
)
def test_the_stricter_label_holds(head: Label | None, file: str, default: Label, label: Label) -> None:
    raw = f"---\nlabel: {file}\n---\ntext" if file else "text"
    document = prepare(raw, DocumentHead("a.md", label=head), DocumentRules(default_label=default))
    assert document.label is label


def test_the_head_wins_over_the_file_but_for_the_label() -> None:
    moment = datetime(2025, 1, 1, tzinfo=UTC)
    head = DocumentHead(
        "a.md",
        title="By the call",
        label=Label.PUBLIC,
        valid_as_of=moment,
        attributes=(Attribute("year", date(2025, 1, 1)), Attribute("pages", 4)),
    )
    document = prepare(NOTES, head)
    assert (document.title, document.valid_as_of, document.label) == ("By the call", moment, Label.CONFIDENTIAL)
    assert document.attributes == (
        Attribute("pages", 4),
        Attribute("topic", "results"),
        Attribute("year", date(2025, 1, 1)),
    )


def test_a_period_in_front_matter_is_typed() -> None:
    document = prepare('+++\nterm = {period = "FY2024"}\nnow = {period = "last year"}\n+++\ntext', DocumentHead("a.md"))
    (attribute,) = document.attributes
    assert getattr(attribute.value, "canonical", None) == "FY2024"


def test_json_lines_index_the_title_and_keep_it_out_of_the_text() -> None:
    raw = (
        '{"doc_id": "x1", "title": "Aruba", "text": "It is an island.", "meta": {"lang": "en"}}\n'
        '{"doc_id": "x2", "text": "b"}'
    )
    head = DocumentHead("corpus.jsonl", title="ignored", attributes=(Attribute("set", "demo"),), chunker="whole")
    first, second = prepare_documents(head, raw.encode(), RULES)
    assert isinstance(first, PreparedDocument)
    assert isinstance(second, PreparedDocument)
    assert (first.document.doc_id, first.document.title, first.document.text) == ("x1", "Aruba", "It is an island.")
    assert first.document.attributes == (Attribute("lang", "en"), Attribute("set", "demo"))
    (chunk,) = first.document.chunks
    assert (chunk.header, chunk.locator) == ("Aruba", "x1#line=1")
    assert [chunk.header for chunk in second.document.chunks] == [""]


def test_a_bad_line_is_one_refusal_and_the_others_land() -> None:
    raw = '{"doc_id": "x1", "text": "a"}\n{"doc_id": "x\\u0001", "text": "a"}\n{"doc_id": "x2", "text": ""}\n'
    outcomes = prepare_documents(DocumentHead("corpus.jsonl"), raw.encode(), RULES)
    assert [type(outcome).__name__ for outcome in outcomes] == [
        "PreparedDocument",
        "RefusedDocument",
        "RefusedDocument",
    ]
    assert [outcome.error.reason for outcome in outcomes if isinstance(outcome, RefusedDocument)] == [
        ErrorReason.INVALID_REQUEST,
        ErrorReason.DOCUMENT_NO_TEXT,
    ]


@pytest.mark.parametrize(
    ("head", "reason", "words"),
    [
        (DocumentHead(""), ErrorReason.INVALID_REQUEST, "doc_id is empty"),
        (DocumentHead("a\nb"), ErrorReason.INVALID_REQUEST, "control characters"),
        (DocumentHead("é" * 257), ErrorReason.INVALID_REQUEST, "514 bytes"),
        (DocumentHead("a.md", content_sha256=b"x"), ErrorReason.INVALID_REQUEST, "1 bytes, not 32"),
        (DocumentHead("a.md", attributes=(Attribute("A", 1),)), ErrorReason.INVALID_REQUEST, "'A'"),
        (DocumentHead("a.md", attributes=(Attribute("title", "x"),)), ErrorReason.INVALID_REQUEST, "built in"),
        (DocumentHead("a.md", attributes=(Attribute("a", 1),) * 2), ErrorReason.INVALID_REQUEST, "2 times"),
        (DocumentHead("a.md", title="a\x00"), ErrorReason.INVALID_REQUEST, "title"),
        (DocumentHead("a.md", content_sha256=bytes(32)), ErrorReason.DOCUMENT_HASH_MISMATCH, "SHA-256"),
        (DocumentHead("a.md", chunker="scissors"), ErrorReason.UNKNOWN_NAME, "laws, layout, paragraph"),
        (DocumentHead("a.odt"), ErrorReason.DOCUMENT_UNSUPPORTED, ".odt"),
        (DocumentHead("a.md", media_type="image/x-odd"), ErrorReason.DOCUMENT_UNSUPPORTED, "image/x-odd"),
        (DocumentHead("a.md", charset="klingon"), ErrorReason.DOCUMENT_UNSUPPORTED, "klingon"),
    ],
)
def test_a_bad_head_says_what_is_wrong(head: DocumentHead, reason: ErrorReason, words: str) -> None:
    refused = refusal("text", head)
    assert refused.doc_id == head.doc_id
    assert refused.error.reason is reason
    assert words in refused.error.message


def test_every_fault_of_a_head_is_named_at_once() -> None:
    head = DocumentHead("", attributes=(Attribute("doc_id", "x"), Attribute("Ü", "x")), content_sha256=b"short")
    message = refusal("text", head).error.message
    assert all(word in message for word in ("doc_id is empty", "built in", "'Ü'", "5 bytes"))


def test_the_right_hash_is_accepted() -> None:
    assert prepare("text", DocumentHead("a.md", content_sha256=hashlib.sha256(b"text").digest())).text == "text"


def test_many_warnings_are_cut_with_their_number() -> None:
    entries = "\n".join(f"k{number}: |" for number in range(150))
    (prepared,) = prepare_documents(DocumentHead("a.md"), f"---\n{entries}\n---\ntext".encode(), RULES)
    assert isinstance(prepared, PreparedDocument)
    assert len(prepared.warnings) == 100
    assert prepared.warnings[-1].message == "and 51 more"


@given(hostile_text(), st.sampled_from(["a.txt", "dir/ä#1,2.md"]), st.integers(1, 60))
def test_chunks_are_slices_and_locators_come_back(text: str, doc_id: str, most: int) -> None:
    rules = DocumentRules(chunk_chars=most, overlap_chars=most - 1)
    for outcome in prepare_documents(DocumentHead(doc_id), text.encode(), rules):
        if isinstance(outcome, RefusedDocument):
            assert outcome.doc_id == doc_id
            continue
        stored = outcome.document
        for chunk in stored.chunks:
            assert 0 < chunk.span.end - chunk.span.start <= most
            assert slice_text(stored.text, chunk.span).strip()
            assert Locator.parse(chunk.locator).doc_id == doc_id
            (part,) = Locator.parse(chunk.locator).parts
            assert part[0] == "line"


@given(st.binary(max_size=200), st.sampled_from(["a.txt", "a.md", "a.jsonl", "a.jsonl.gz", "a"]))
def test_no_bytes_raise(raw: bytes, doc_id: str) -> None:
    assert prepare_documents(DocumentHead(doc_id), raw, RULES)
