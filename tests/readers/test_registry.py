from __future__ import annotations

import gzip

import pytest

from groundwire_server.errors import DocumentRefused, ErrorReason
from groundwire_server.readers import READERS, Document, ReadOptions, can_read, read_document


@pytest.mark.parametrize(
    ("doc_id", "media_type", "expected"),
    [
        ("a.txt", "", "text/plain"),
        ("a.MD", "", "text/markdown"),
        ("README", "", "text/plain"),
        (".hidden", "", "text/plain"),
        ("a.b/c", "", "text/plain"),
        ("a.md", "text/plain", "text/plain"),
        ("a.bin", " Text/Markdown ; charset=utf-8", "text/markdown"),
        ("a.md", "application/octet-stream", "text/markdown"),
    ],
)
def test_the_media_type_wins_over_the_name(doc_id: str, media_type: str, expected: str) -> None:
    (document,) = read_document(doc_id, b"# Title\n", media_type)
    assert isinstance(document, Document)
    assert document.media_type == expected


@pytest.mark.parametrize(("doc_id", "raw"), [("c.jsonl", b'{"doc_id": "a", "text": "b"}'), ("c.jsonl.gz", b"")])
def test_json_lines_by_name(doc_id: str, raw: bytes) -> None:
    packed = raw or gzip.compress(b'{"doc_id": "a", "text": "b"}')
    (document,) = read_document(doc_id, packed)
    assert document.doc_id == "a"


@pytest.mark.parametrize("doc_id", ["a.odt", "a.doc", "movie.mp4", "a.weird"])
def test_an_unknown_ending_lists_the_known_ones(doc_id: str) -> None:
    assert not can_read(doc_id)
    with pytest.raises(DocumentRefused) as refused:
        read_document(doc_id, b"text")
    assert refused.value.reason is ErrorReason.DOCUMENT_UNSUPPORTED
    assert ".md" in refused.value.message
    assert ".txt" in refused.value.message


def test_an_unknown_media_type_lists_the_known_ones() -> None:
    with pytest.raises(DocumentRefused, match=r"application/jsonl, .*text/markdown, text/plain") as refused:
        read_document("a.txt", b"text", "application/x-weird")
    assert refused.value.reason is ErrorReason.DOCUMENT_UNSUPPORTED


def test_the_charset_may_stand_in_the_media_type() -> None:
    raw = "売上".encode("cp932")
    (document,) = read_document("a.txt", raw, 'text/plain; charset="Shift_JIS"')
    assert isinstance(document, Document)
    assert document.text == "売上"


def test_a_file_over_the_limit_is_too_large() -> None:
    with pytest.raises(DocumentRefused) as refused:
        read_document("a.txt", b"12345", options=ReadOptions(max_bytes=4))
    assert refused.value.reason is ErrorReason.DOCUMENT_TOO_LARGE


@pytest.mark.parametrize("raw", [b"", b" \r\n\t\n", "\u3000".encode()])
def test_a_blank_file_holds_no_text(raw: bytes) -> None:
    for doc_id in ("a.txt", "a.md"):
        with pytest.raises(DocumentRefused) as refused:
            read_document(doc_id, raw)
        assert refused.value.reason is ErrorReason.DOCUMENT_NO_TEXT


def test_no_two_readers_claim_the_same() -> None:
    suffixes = [suffix for reader in READERS for suffix in reader.suffixes]
    types = [kind for reader in READERS for kind in (reader.media_type, *reader.aliases)]
    assert len(set(suffixes)) == len(suffixes)
    assert len(set(types)) == len(types)
