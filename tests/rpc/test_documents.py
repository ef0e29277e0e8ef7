"""Documents one by one over the wire: lists, texts, chunks, revisions, and what changed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import grpc
import pytest

from groundwire.v1 import admin_pb2, ingest_pb2, narrative_pb2, tools_pb2
from groundwire_server.evidence import Label, Principal
from groundwire_server.rpc.encode_document import encode_revision
from groundwire_server.rpc.encode_snippet import HiddenSnippet
from groundwire_server.store import StoredRevision
from tests.rpc.house import HIDDEN_TEXT, TEXTS, House, document_part, finish, house, snippets, start
from tests.rpc.serving import failure_of
from tests.support.hostile_text import HOSTILE_PIECES

HOSTILE = "".join(HOSTILE_PIECES)
CANARY = "kanarienvogel"
CONFIDENTIAL, RESTRICTED = ingest_pb2.LABEL_CONFIDENTIAL, ingest_pb2.LABEL_RESTRICTED
HOSTILE_IDS = [
    "a b#c@1,d=e%20?.md",
    "レポート/二〇二四年度.md",
    "报告/收入.txt",
    "e\u0301/\u200d👩‍👧.md",
    "../../etc/passwd",
    "'; DROP TABLE chunk; --",
    "%_[a-z]*",
    "\U0010ffff\U0010ffff",
    "n" * 512,
]


@pytest.fixture
def here(tmp_path: Path) -> Iterator[House]:
    with house(tmp_path / "data") as running:
        yield running


def listed(here: House, **fields: Any) -> list[admin_pb2.DocumentRevision]:
    """All pages."""
    request = admin_pb2.ListDocumentsRequest(**{"library_id": "default", **fields})
    found: list[admin_pb2.DocumentRevision] = []
    while True:
        page = here.admin.ListDocuments(request)
        assert page.ByteSize() <= 1 << 20
        found += page.documents
        if not page.next_page_token:
            return found
        assert page.documents
        request.page_token = page.next_page_token


def revisions(here: House, doc_id: str, **fields: Any) -> list[int]:
    request = admin_pb2.ListRevisionsRequest(library_id="default", doc_id=doc_id, **fields)
    found: list[int] = []
    while True:
        page = here.admin.ListRevisions(request)
        found += [each.revision for each in page.revisions]
        if not page.next_page_token:
            return found
        request.page_token = page.next_page_token


def get(here: House, doc_id: str, **fields: Any) -> list[admin_pb2.GetDocumentResponse]:
    return list(here.admin.GetDocument(admin_pb2.GetDocumentRequest(library_id="default", doc_id=doc_id, **fields)))


def text_of(here: House, doc_id: str, revision: int = 0) -> str:
    return "".join(frame.text for frame in get(here, doc_id, revision=revision, include_text=True))


def diff(here: House, doc_id: str, old: int = 0, new: int = 0) -> list[admin_pb2.TextChange]:
    request = admin_pb2.DiffRevisionsRequest(library_id="default", doc_id=doc_id, old_revision=old, new_revision=new)
    frames = list(here.admin.DiffRevisions(request))
    assert all(frame.changes and frame.ByteSize() <= 1 << 20 for frame in frames)
    return [change for frame in frames for change in frame.changes]


def store_long(here: House, doc_id: str, text: str) -> None:
    """A document in parts."""
    raw, kind = text.encode(), ingest_pb2.IngestDocumentsRequest
    pieces = [raw[at : at + 200_000] for at in range(0, len(raw), 200_000)]
    parts = [document_part(1, doc_id, pieces[0])]
    parts += [ingest_pb2.DocumentPart(seq=seq, content=piece) for seq, piece in enumerate(pieces[1:], 2)]
    for part in parts:
        part.last_part = part is parts[-1]
    frames = [start(kind), *(kind(part=part) for part in parts), finish(kind, len(parts))]
    list(here.ingest.IngestDocuments(iter(frames)))


def withdraw(here: House, doc_id: str) -> Any:
    return here.ingest.WithdrawDocument(ingest_pb2.WithdrawDocumentRequest(library_id="default", doc_id=doc_id))


# ---- lists ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_documents_are_listed_in_pages_by_id(furnished: House, size: int) -> None:
    found = listed(furnished, page_size=size)
    assert [each.doc_id for each in found] == sorted(TEXTS)
    assert all((each.revision, each.active, each.HasField("retired_at")) == (1, True, False) for each in found)
    (fox,) = listed(furnished, doc_id_prefix="notes/fox", page_size=size)
    raw = TEXTS["notes/fox.md"].encode()
    assert (fox.title, fox.content_bytes, fox.text_chars, fox.chunks) == ("Foxes", len(raw), len(raw), 1)
    assert len(fox.content_sha256) == 32
    assert [each.doc_id for each in listed(furnished, doc_id_prefix="many/03", page_size=size)] == [
        f"many/{number:03}.txt" for number in range(30, 40)
    ]
    assert listed(furnished, doc_id_prefix="none", page_size=size) == []


def test_withdrawn_documents_are_listed_on_demand(here: House) -> None:
    here.store({"a": "one", "b": "two", "c": "three"})
    here.store({"b": "two again"})
    withdraw(here, "b")
    assert [each.doc_id for each in listed(here)] == ["a", "c"]
    everything = listed(here, include_withdrawn=True, page_size=1)
    assert [(each.doc_id, each.revision, each.active) for each in everything] == [
        ("a", 1, True),
        ("b", 2, False),
        ("c", 1, True),
    ]
    assert everything[1].HasField("retired_at")
    here.store({"b": "three times"})
    assert revisions(here, "b", page_size=2) == [3, 2, 1]


@pytest.mark.parametrize("include_withdrawn", [False, True])
def test_pages_are_stable_while_others_write(here: House, include_withdrawn: bool) -> None:
    """What is there all the while comes exactly once."""
    stays = [f"doc/{number:03}" for number in range(60)]
    here.store({doc_id: f"text of {doc_id}" for doc_id in stays})
    done = threading.Event()
    faults: list[BaseException] = []

    def write() -> None:
        number = 0
        try:
            while not done.is_set() and number < 400:
                at = number % 60
                here.store({f"doc/{at:03}+": f"new {number}", f"doc/{at:03}-x": "x", stays[at]: f"changed {number}"})
                withdraw(here, f"doc/{at:03}-x")
                number += 1
        except BaseException as fault:  # noqa: BLE001 - shown where the test waits
            faults.append(fault)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(6):
            found = [each.doc_id for each in listed(here, page_size=3, include_withdrawn=include_withdrawn)]
            assert found == sorted(set(found))
            assert [doc_id for doc_id in found if doc_id in set(stays)] == stays
    finally:
        done.set()
        writer.join()
    assert faults == []


def test_hostile_ids_are_listed_and_read_as_they_are(here: House) -> None:
    here.store({doc_id: f"{doc_id[:40]}\n{HOSTILE}" for doc_id in HOSTILE_IDS})
    assert [each.doc_id for each in listed(here, page_size=2)] == sorted(HOSTILE_IDS)
    for doc_id in HOSTILE_IDS:
        assert [each.doc_id for each in listed(here, doc_id_prefix=doc_id)] == [doc_id]
        assert text_of(here, doc_id) == f"{doc_id[:40]}\n{HOSTILE}"
        assert revisions(here, doc_id) == [1]


@pytest.mark.parametrize("doc_id", ["nowhere", "NOTES/FOX.MD", "notes/fox", "日本", "\x00", "x" * 100_000, "a%"])
def test_what_is_not_there_is_unknown(furnished: House, doc_id: str) -> None:
    calls = [
        lambda: furnished.admin.ListRevisions(admin_pb2.ListRevisionsRequest(library_id="default", doc_id=doc_id)),
        lambda: get(furnished, doc_id),
        lambda: diff(furnished, doc_id),
    ]
    for call in calls:
        failure = failure_of(call)
        assert (failure.code, failure.reason) == (grpc.StatusCode.NOT_FOUND, "UNKNOWN_DOCUMENT")


@pytest.mark.parametrize(
    ("method", "fields", "violations"),
    [
        ("ListDocuments", {}, ["library_id"]),
        ("ListDocuments", {"library_id": "default", "page_size": -1, "page_token": "x"}, ["page_size", "page_token"]),
        ("GetDocument", {"revision": -1}, ["library_id", "doc_id", "revision"]),
        ("ListRevisions", {"doc_id": " "}, ["library_id", "doc_id"]),
        (
            "DiffRevisions",
            {"old_revision": -1, "new_revision": -2},
            ["library_id", "doc_id", "old_revision", "new_revision"],
        ),
        ("DiffRevisions", {"library_id": "default", "doc_id": "notes/fox.md", "old_revision": 2}, ["old_revision"]),
    ],
)
def test_every_fault_of_a_request_is_named(
    furnished: House, method: str, fields: dict[str, Any], violations: list[str]
) -> None:
    request = getattr(admin_pb2, f"{method}Request")(**fields)
    failure = failure_of(lambda: getattr(furnished.admin, method)(request))
    assert failure.code is grpc.StatusCode.INVALID_ARGUMENT
    assert [field for field, _, _ in failure.violations] == violations


def test_a_token_of_another_list_is_refused(furnished: House) -> None:
    first = furnished.admin.ListDocuments(admin_pb2.ListDocumentsRequest(library_id="default", page_size=1))
    for other in ({"doc_id_prefix": "many"}, {"include_withdrawn": True}):
        request = admin_pb2.ListDocumentsRequest(library_id="default", page_token=first.next_page_token, **other)
        failure = failure_of(lambda request=request: furnished.admin.ListDocuments(request))  # type: ignore[misc]
        assert [(field, reason) for field, reason, _ in failure.violations] == [("page_token", "CONTRADICTION")]
    wider = admin_pb2.ListDocumentsRequest(library_id="default", page_token=first.next_page_token, page_size=1000)
    assert len(furnished.admin.ListDocuments(wider).documents) == len(TEXTS) - 1


# ---- hidden rows ---------------------------------------------------------------------------------------------------


def test_what_is_hidden_is_in_no_list_count_or_error(furnished: House) -> None:
    everything = listed(furnished, include_withdrawn=True, page_size=1)
    assert [each.doc_id for each in everything] == sorted(TEXTS)
    for hidden in ("secret/vault.md", "secret/never.md"):
        for call in (
            lambda doc_id=hidden: get(furnished, doc_id),  # type: ignore[misc]
            lambda doc_id=hidden: revisions(furnished, doc_id),  # type: ignore[misc]
            lambda doc_id=hidden: diff(furnished, doc_id),  # type: ignore[misc]
            lambda doc_id=hidden: get(furnished, doc_id, revision=1),  # type: ignore[misc]
        ):
            failure, never = failure_of(call), failure_of(lambda: get(furnished, "secret/xxxxx.md"))
            assert (failure.code, failure.reason) == (never.code, never.reason)
            assert HIDDEN_TEXT.encode() not in failure.raw


def test_revisions_are_counted_over_those_that_can_be_read(tmp_path: Path) -> None:
    with house(tmp_path / "data") as here:
        here.store({"a": "one fox"})
        here.store({"a": "a secret fox"}, label=CONFIDENTIAL)
        assert [each.active for each in listed(here, include_withdrawn=True)] == [False]
        assert listed(here) == []
        frames = here.store({"a": "three foxes"})
        told = [frame.outcome.revision for frame in frames if frame.WhichOneof("message") == "outcome"]
        here.store({"a": "never a fox"}, label=RESTRICTED)
        here.store({"a": "five foxes"})
        assert told == [2]
        assert revisions(here, "a") == [3, 2, 1]
        assert [text_of(here, "a", number) for number in (0, 1, 2, 3)] == [
            "five foxes",
            "one fox",
            "three foxes",
            "five foxes",
        ]
        assert failure_of(lambda: get(here, "a", revision=4)).reason == "UNKNOWN_DOCUMENT"
        assert [(change.old_text, change.new_text) for change in diff(here, "a")] == [("thre", "fiv")]
        (snippet,) = snippets(here.narrative.NarrativeRetrieve(narrative_pb2.NarrativeRetrieveRequest(query="foxes")))
        assert (snippet.lineage.revision, snippet.lineage.chunk_id) == (3, "a@3#c0")
        check = tools_pb2.VerifyCitationRequest(lineage=snippet.lineage, quote="five foxes")
        assert here.tools.VerifyCitation(check).verdict == tools_pb2.CITATION_VERDICT_EXACT
        assert withdraw(here, "a").revision == 3
        old = tools_pb2.VerifyCitationRequest(lineage=snippet.lineage, quote="five foxes")
        assert here.tools.VerifyCitation(old).verdict == tools_pb2.CITATION_VERDICT_SUPERSEDED
    with house(tmp_path / "data", access__local_clearance="CONFIDENTIAL") as here:
        assert revisions(here, "a") == [4, 3, 2, 1]
        assert text_of(here, "a", 2) == "a secret fox"
    with house(tmp_path / "data", access__local_clearance="PUBLIC") as here:
        assert failure_of(lambda: get(here, "a")).reason == "UNKNOWN_DOCUMENT"


def test_a_token_tells_nothing_of_hidden_documents(tmp_path: Path) -> None:
    """With one secret, a server with hidden documents gives the very tokens of one without them."""
    tokens: list[list[str]] = []
    for name, hidden in (("bare", False), ("mixed", True)):
        with house(tmp_path / name, secret="0" * 64) as here:
            for number in range(6):
                if hidden:
                    here.store({f"d{number}": "hidden", f"d{number}/x": "hidden"}, label=CONFIDENTIAL)
                    here.store({f"d{number}/y": "hidden"}, label=RESTRICTED)
                here.store({f"d{number}": f"text {number}"})
            found, request = [], admin_pb2.ListDocumentsRequest(library_id="default", page_size=2)
            while True:
                page = here.admin.ListDocuments(request)
                found.append(page.next_page_token)
                if not page.next_page_token:
                    break
                request.page_token = page.next_page_token
            tokens.append(found)
    assert tokens[0] == tokens[1]
    assert len(tokens[0]) == 3


@pytest.mark.parametrize("label", [Label.CONFIDENTIAL, Label.RESTRICTED])
def test_the_encoder_refuses_a_hidden_revision(label: Label) -> None:
    moment = datetime(2024, 1, 1, tzinfo=UTC)
    hidden = StoredRevision(
        CANARY, 1, CANARY, "text/plain", b"", 0, 0, "whole", 0, label, None, (), moment, None, born=1, died=None
    )
    with pytest.raises(HiddenSnippet) as refused:
        encode_revision(hidden, Principal("local", Label.INTERNAL))
    assert CANARY not in str(refused.value)


# ---- one document --------------------------------------------------------------------------------------------------


def test_a_document_comes_as_it_was_stored(furnished: House) -> None:
    frames = get(furnished, "notes/japan.md", include_text=True, include_chunks=True)
    assert [frame.WhichOneof("frame") for frame in frames] == ["revision", "text", "chunks"]
    text = TEXTS["notes/japan.md"]
    assert frames[1].text == text
    chunks = list(frames[2].chunks.chunks)
    assert [chunk.chunk_id for chunk in chunks] == [f"notes/japan.md@1#c{n}" for n in range(len(chunks))]
    assert len(chunks) == frames[0].revision.chunks
    assert "".join(text[c.span.start : c.span.end] for c in chunks).replace("\n", "") == text.replace("\n", "")
    assert all(chunk.source_locator.startswith("notes/japan.md#line=") and not chunk.embedded for chunk in chunks)
    assert [frame.WhichOneof("frame") for frame in get(furnished, "notes/japan.md")] == ["revision"]


def test_a_long_text_comes_in_stretches_and_chunks_in_batches(here: House) -> None:
    text = "".join(f"{number}. 売上は{number}円。The price was {number}.5 👩‍👧\r\n" for number in range(12_000))
    store_long(here, "long.txt", text)
    frames = get(here, "long.txt", include_text=True, include_chunks=True)
    stretches = [frame.text for frame in frames if frame.WhichOneof("frame") == "text"]
    assert "".join(stretches) == text
    assert len(stretches) > 2
    assert all(len(stretch) == 64 * 1024 for stretch in stretches[:-1])
    batches = [frame.chunks.chunks for frame in frames if frame.WhichOneof("frame") == "chunks"]
    assert len(batches) > 1
    assert max(frame.ByteSize() for frame in frames) <= 1 << 20
    places = [int(chunk.chunk_id.rpartition("#c")[2]) for batch in batches for chunk in batch]
    assert places == list(range(frames[0].revision.chunks))


def test_a_call_that_nobody_reads_any_more_holds_nothing(here: House) -> None:
    store_long(here, "a", "x " * 200_000)
    for _ in range(5):
        call = here.admin.GetDocument(admin_pb2.GetDocumentRequest(library_id="default", doc_id="a", include_text=True))
        next(call)
        call.cancel()
    assert text_of(here, "a") == "x " * 200_000


# ---- differences ---------------------------------------------------------------------------------------------------

TEXTS_IN_TIME = [
    "Revenue rose 3.5 %.\n売上は12億円だった。\n收入增长。\n",
    "Revenue rose 3.6 %.\n売上は15億円だった。\n收入增长。\n新的一行。\n",
    "新的一行。\r\n👩‍👧 e\u0301\n",
    "",
    HOSTILE,
]


def test_changes_make_the_newer_text_of_the_older_one(here: House) -> None:
    for text in TEXTS_IN_TIME:
        here.store({"a": f"{text}end"})
    for old in range(1, len(TEXTS_IN_TIME) + 1):
        for new in range(old, len(TEXTS_IN_TIME) + 1):
            before, after = (f"{TEXTS_IN_TIME[number - 1]}end" for number in (old, new))
            made, at = "", 0
            for change in diff(here, "a", old, new):
                assert before[change.old_span.start : change.old_span.end] == change.old_text
                assert after[change.new_span.start : change.new_span.end] == change.new_text
                made += before[at : change.old_span.start] + change.new_text
                at = change.old_span.end
            assert made + before[at:] == after
    assert [(change.old_text, change.new_text) for change in diff(here, "a", 1, 2)] == [
        ("5", "6"),
        ("2", "5"),
        ("", "新的一行。\n"),
    ]
    assert diff(here, "a") == diff(here, "a", 4, 5)
    assert diff(here, "a", 0, 2) == diff(here, "a", 1, 2)
    assert diff(here, "a", 3, 3) == []
    assert failure_of(lambda: diff(here, "a", 0, 1)).reason == "UNKNOWN_DOCUMENT"
    assert failure_of(lambda: diff(here, "a", 1, 9)).reason == "UNKNOWN_DOCUMENT"


def test_a_long_change_comes_in_stretches(here: House) -> None:
    here.store({"a": "x\n" * 10})
    store_long(here, "a", "漢字\n" * 60_000)
    changes = diff(here, "a")
    assert len(changes) > 2
    assert all(len(change.new_text) <= 64 * 1024 for change in changes)
    assert all(one.new_span.end <= other.new_span.start for one, other in pairwise(changes))
