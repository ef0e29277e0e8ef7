"""What was not read as one would expect is told with its kind, and refuses the document where the caller says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from groundwire_server.errors import ErrorReason
from groundwire_server.evidence import Span
from groundwire_server.ingest import DocumentHead, DocumentRules, IngestOpening, prepare_documents
from groundwire_server.ingest.documents import PreparedDocument
from groundwire_server.ingest.events import DocumentOutcome, decode_document_outcomes, encode_document_outcomes
from groundwire_server.readers import Document, PlaceMap, ReadWarning, WarningKind
from groundwire_server.readers import registry as registry_module
from tests.ingest.support import INGEST, desk_for, make_library, outcomes

WITH_WARNING = b"---\nnested:\n  a: 1\n---\nApples."


def ingest(tmp_path: Path, refuse: frozenset[WarningKind]) -> list[DocumentOutcome]:
    library = make_library(tmp_path)
    opening = IngestOpening(INGEST, refuse_warnings=refuse)
    with desk_for(library).open_documents(library, opening, DocumentRules) as stream:
        events = [*stream.opening()]
        for seq, (name, raw) in enumerate((("a.md", WITH_WARNING), ("b.md", b"Pears.")), 1):
            events += stream.feed(seq, DocumentHead(name), raw, last_part=True)
        return outcomes([*events, *stream.finish(2)])


def test_a_warning_is_told_with_its_kind(tmp_path: Path) -> None:
    first, second = ingest(tmp_path, frozenset())
    assert first.error is None
    assert [warning.kind for warning in first.warnings] == [WarningKind.METADATA_SKIPPED]
    assert second.warnings == ()


def test_a_kind_that_the_caller_does_not_take_refuses_the_document_alone(tmp_path: Path) -> None:
    first, second = ingest(tmp_path, frozenset({WarningKind.METADATA_SKIPPED}))
    assert first.error is not None
    assert first.error.reason is ErrorReason.DEGRADATION_FORBIDDEN
    assert dict(first.error.details) == {"kind": "METADATA_SKIPPED"}
    assert first.revision == 0
    assert second.error is None


def test_another_kind_refuses_nothing(tmp_path: Path) -> None:
    assert [outcome.error for outcome in ingest(tmp_path, frozenset({WarningKind.PAGE_WITHOUT_TEXT}))] == [None, None]


def test_an_outcome_that_an_earlier_version_kept_is_read() -> None:
    raw = b'[["a.md",1,1,1,false,null,[["a.md","x was passed over"]]]]'
    (outcome,) = decode_document_outcomes(raw)
    assert outcome.warnings == (ReadWarning("a.md", "x was passed over", WarningKind.METADATA_SKIPPED),)
    assert decode_document_outcomes(encode_document_outcomes([outcome])) == [outcome]


def test_of_many_warnings_one_of_each_kind_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    many = [ReadWarning("a.txt", f"{number}") for number in range(150)]
    late = ReadWarning("a.txt#line=9", "late", WarningKind.PART_SKIPPED)
    document = Document(
        "a.txt", "a", "text/plain", "text", Span(0, 4), PlaceMap(), bytes(32), 4, warnings=(*many, late)
    )
    monkeypatch.setattr(registry_module.PLAIN_TEXT.__class__, "read", lambda reader, source: [document])
    (prepared,) = prepare_documents(DocumentHead("a.txt"), b"text", DocumentRules())
    assert isinstance(prepared, PreparedDocument)
    assert len(prepared.warnings) == 100
    assert late in prepared.warnings
    assert prepared.warnings[0] == many[0]
    assert (prepared.warnings[-1].kind, prepared.warnings[-1].message) == (WarningKind.MORE, "and 52 more")
