"""How documents, records and files are cut into parts."""

from __future__ import annotations

import hashlib
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from groundwire import DocumentUpload, FactFile, FactRecord, RelationRecord
from groundwire._ingest.parts import PART_BYTES, DocumentCutter, FactCutter, cut
from groundwire.v1 import ingest_pb2

contents = st.one_of(st.binary(max_size=200), st.lists(st.binary(max_size=60), max_size=6))


@given(st.lists(contents, max_size=5), st.integers(1, 64))
def test_documents_join_to_what_they_were(given_contents: list[bytes | list[bytes]], size: int) -> None:
    uploads = [DocumentUpload(f"d{place}", content) for place, content in enumerate(given_contents)]
    parts = list(cut(uploads, DocumentCutter(size)))
    assert [part.seq for part in parts] == list(range(1, len(parts) + 1))
    joined: dict[str, bytes] = {}
    current = ""
    for part in parts:
        assert isinstance(part.message, ingest_pb2.IngestDocumentsRequest)
        piece = part.message.part
        assert piece.HasField("head") is (current == "")
        current = piece.head.doc_id or current
        joined[current] = joined.get(current, b"") + piece.content
        assert len(piece.content) <= size
        assert piece.last_part is part.complete
        if piece.last_part:
            current = ""
    assert current == ""
    assert joined == {
        upload.doc_id: upload.content if isinstance(upload.content, bytes) else b"".join(upload.content)
        for upload in uploads
    }


def test_the_hash_is_computed_where_the_bytes_are_at_hand(tmp_path: Path) -> None:
    path = tmp_path / "sub" / "ä b.md"
    path.parent.mkdir()
    path.write_bytes("# 見出し\r\n".encode())
    uploads = [
        DocumentUpload("a", b"bytes"),
        DocumentUpload("b", b"bytes", content_sha256=b"given"),
        DocumentUpload.from_file(path, root=tmp_path),
    ]
    heads = [part.message.part.head for part in cut(uploads, DocumentCutter()) if part.message is not None]  # type: ignore[union-attr]
    assert [head.content_sha256 for head in heads] == [hashlib.sha256(b"bytes").digest(), b"given", b""]
    assert heads[2].doc_id == "sub/ä b.md"
    assert heads[2].media_type == "text/markdown"


def test_a_file_is_not_read_before_its_parts_are_asked_for(tmp_path: Path) -> None:
    parts = cut([DocumentUpload.from_file(tmp_path / "missing"), DocumentUpload("b", b"")], DocumentCutter())
    (tmp_path / "missing").write_bytes(b"now it is here")
    assert [part.complete for part in parts] == [True, True]


def test_records_travel_together_and_remember_their_places() -> None:
    items: list[FactRecord | RelationRecord | FactFile] = [
        RelationRecord("A", "parent_of", "B", "s", "l"),
        FactRecord("m", "e", "2024", "1", "s", "l"),
        FactRecord("m", "e", "2025", "2", "s", "l"),
        FactFile("facts.csv", b"metric,entity\n" * 3),
        FactRecord("m", "e", "2026", "3", "s", "l"),
    ]
    parts = list(cut(items, FactCutter()))
    assert [part.seq for part in parts] == [1, 2, 3]
    assert [part.records for part in parts] == [(1, 2, 0), (), (4,)]
    assert [part.complete for part in parts] == [True, True, True]
    first = parts[0].message
    assert isinstance(first, ingest_pb2.IngestFactsRequest)
    assert [fact.period for fact in first.part.records.facts] == ["2024", "2025"]
    assert first.part.records.relations[0].object == "B"


def test_no_part_is_over_its_bound() -> None:
    items = [FactRecord("m" * 500, "e", str(year), "1", "s", "l") for year in range(3000)]
    parts = list(cut(items, FactCutter()))
    places = [place for part in parts for place in part.records]
    assert places == list(range(3000))
    for part in parts:
        assert isinstance(part.message, ingest_pb2.IngestFactsRequest)
        assert part.message.part.records.ByteSize() <= PART_BYTES
    many = (FactRecord("m", "e", str(n), "1", "s", "l") for n in range(2500))
    assert len(list(cut(many, FactCutter()))) == 3
